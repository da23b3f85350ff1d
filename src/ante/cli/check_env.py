"""`ante check-env`: whether a variant of the environment keeps its promises."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from tyro.conf import arg


@dataclass(frozen=True)
class CheckEnv:
    """Check a variant of the environment: Gymnasium's own check, masks, seeds, spaces, auto-reset; explained in a table.

    Try:
      ante check-env
      ante check-env --observation masked --reward sparse --stake 8
      ante check-env --actions structured --json
      ante check-env --pixels fused --pixel-size 84 112
    """

    observation: str = "dict"
    """dict, flat or masked."""
    actions: str = "discrete"
    """discrete or structured."""
    reward: str = "shaped"
    """Reward by name: ante reward list."""
    reorder: str = "all"
    """Re-ordering on offer: none, jokers or all."""
    deck: str = "b_red"
    """Deck by key or name."""
    stake: int = 1
    """1 White to 8 Gold."""
    challenge: str | None = None
    """One of the 20 challenges, instead of deck and stake."""
    illegal: str = "raise"
    """What an illegal action does: raise an error, or ignore: nothing."""
    endless: bool = False
    """A won run goes on."""
    pixels: Literal["off", "alone", "fused"] = "off"
    """Pictures as observations: none, instead of the others, or beside them (wrappers.Pixels)."""
    pixel_size: tuple[int, int] = (84, 112)
    """Height and width of a picture."""
    pixel_colour: bool = False
    """Three channels a frame instead of a grey one."""
    frame_stack: int = 4
    """Frames that are seen together."""
    json: Annotated[bool, arg(name="json")] = False
    """Print the findings as JSON."""

    def run(self) -> int:
        """Check, print; answers 1 where a promise is broken."""
        from ante.cli.shown import show
        from ante.wrappers.check import check_variant

        own = ("json", "pixels", "pixel_size", "pixel_colour", "frame_stack")
        options = {name: value for name, value in asdict(self).items() if name not in own}
        findings = check_variant(options, self.wrapped)
        cells = [("yes" if each.kept else "NO", each.promise, each.seen) for each in findings]
        show([asdict(each) for each in findings], ("kept", "promise", "what was seen"), cells, self.json)
        return 0 if all(each.kept for each in findings) else 1

    def wrapped(self, env: Any) -> Any:
        """The environment, with pictures where they are asked for."""
        from ante.wrappers import Pixels

        if self.pixels == "off":
            return env
        return Pixels(env, self.pixels, self.pixel_size, self.pixel_colour, self.frame_stack)
