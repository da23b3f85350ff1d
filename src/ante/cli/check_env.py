"""`ante check-env`: whether a variant of the environment keeps its promises."""

from dataclasses import asdict, dataclass
from typing import Annotated

from tyro.conf import arg


@dataclass(frozen=True)
class CheckEnv:
    """Check a variant of the environment: Gymnasium's own check, masks, seeds, spaces, auto-reset; explained in a table.

    Try:
      ante check-env
      ante check-env --observation masked --reward sparse --stake 8
      ante check-env --actions structured --json
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
    json: Annotated[bool, arg(name="json")] = False
    """Print the findings as JSON."""

    def run(self) -> int:
        """Check, print; answers 1 where a promise is broken."""
        from ante.cli.shown import show
        from ante.wrappers.check import check_variant

        options = {name: value for name, value in asdict(self).items() if name != "json"}
        findings = check_variant(options)
        cells = [("yes" if each.kept else "NO", each.promise, each.seen) for each in findings]
        show([asdict(each) for each in findings], ("kept", "promise", "what was seen"), cells, self.json)
        return 0 if all(each.kept for each in findings) else 1
