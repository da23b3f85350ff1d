"""`ante check-env`: check a variant of the environment."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from tyro.conf import arg

from ante.cli.options import Frames, Side, Stake


@dataclass(frozen=True)
class CheckEnv:
    """Check a variant of the environment: Gymnasium's checker, masks, seeds, spaces and auto-reset.

    Try:
      ante check-env
      ante check-env --observation masked --reward sparse --stake 8
      ante check-env --actions structured --json
      ante check-env --pixels fused --pixel-size 84 112
    """

    observation: str = "dict"
    """Observation: dict, flat or masked."""
    actions: str = "discrete"
    """Action space: discrete or structured."""
    reward: str = "shaped"
    """Reward by name (ante reward list), or module:Class."""
    reorder: str = "all"
    """Reordering actions: none, jokers or all."""
    deck: str = "b_red"
    """Deck by key or name."""
    stake: Stake = 1
    """Stake, from 1 (White) to 8 (Gold)."""
    challenge: str | None = None
    """One of the 20 challenges, instead of deck and stake."""
    illegal: str = "raise"
    """Handling of an illegal action: raise raises an error, ignore has no effect."""
    endless: bool = False
    """Continue the game after it is won."""
    pixels: Literal["off", "alone", "fused"] = "off"
    """Images as observations: none, instead of the other observations, or in addition (wrappers.Pixels)."""
    pixel_size: tuple[Side, Side] = (84, 112)
    """Height and width of an image, in pixels."""
    pixel_colour: bool = False
    """Use three colour channels per frame instead of one grey channel."""
    frame_stack: Frames = 4
    """Number of stacked frames per observation."""
    json: Annotated[bool, arg(name="json")] = False
    """Print the findings as JSON."""

    def run(self) -> int:
        """Check and print; return 1 if a check fails."""
        from ante.cli.shown import show
        from ante.wrappers.check import check_variant

        own = ("json", "pixels", "pixel_size", "pixel_colour", "frame_stack")
        options = {name: value for name, value in asdict(self).items() if name not in own}
        findings = check_variant(options, self.wrapped)
        cells = [("yes" if each.kept else "NO", each.promise, each.seen) for each in findings]
        show([asdict(each) for each in findings], ("passed", "property", "result"), cells, self.json)
        return 0 if all(each.kept for each in findings) else 1

    def wrapped(self, env: Any) -> Any:
        """Return the environment, wrapped in Pixels if requested."""
        from ante.wrappers import Pixels

        if self.pixels == "off":
            return env
        return Pixels(env, self.pixels, self.pixel_size, self.pixel_colour, self.frame_stack)
