"""Memory limit: first a warning, then smaller minibatches, then fewer games. Imports neither Ray nor torch."""

from collections.abc import Callable
from dataclasses import dataclass, replace

FULL = 0.8  # share of the budget from which action is taken
LEAST_MINIBATCH = 64
LEAST_GAMES = 8


@dataclass(frozen=True)
class Sizes:
    """Sizes that determine a run's memory use.

    minibatch  steps of one gradient step
    games      games of each env runner
    """

    minibatch: int
    games: int

    def smaller(self, fits: Callable[["Sizes"], bool] = lambda _: True) -> "Sizes | None":
        """Return half the minibatch, else half the games; None if both are at their minimum or do not fit."""
        halves = (
            replace(self, minibatch=max(LEAST_MINIBATCH, self.minibatch // 2)),
            replace(self, games=max(LEAST_GAMES, self.games // 2)),
        )
        least = (self.minibatch <= LEAST_MINIBATCH, self.games <= LEAST_GAMES)
        return next((half for half, done in zip(halves, least, strict=True) if not done and fits(half)), None)


@dataclass(frozen=True)
class Verdict:
    """A message and the sizes to continue with; each is None if not needed."""

    words: str | None = None
    sizes: Sizes | None = None


class Budget:
    """Judges readings of the gauge: the first one at or above 80 % warns, each later one reduces a size.

    Args:
        limit: Memory of the run in GB; 0 for no limit.
        fits: Returns whether the run's other settings allow these sizes.
    """

    def __init__(self, limit: float, fits: Callable[[Sizes], bool] = lambda _: True) -> None:
        self.limit, self._fits = limit, fits
        self._warned = self._spent = False

    def judge(self, used: float, sizes: Sizes) -> Verdict:
        """Return what to do about `used` GB; nothing without a budget, or if no action is left."""
        if not self.limit or used < FULL * self.limit or self._spent:
            return Verdict()
        state = f"memory: {used:.2f} of {self.limit:g} GB in use ({used / self.limit:.0%})"
        if not self._warned:
            self._warned = True
            return Verdict(
                f"{state}; if it remains, minibatch and games are reduced (--resources.memory-gb sets the budget)"
            )
        smaller = sizes.smaller(self._fits)
        if smaller is None:
            self._spent = True
            least = f"minibatch {sizes.minibatch} and {sizes.games} games cannot be reduced further"
            return Verdict(f"{state}; {least}: the run continues; use fewer --resources.runners")
        return Verdict(f"{state}; {changed(sizes, smaller)}", smaller)


def changed(before: Sizes, now: Sizes) -> str:
    """Return a reduction of sizes as text."""
    if now.minibatch != before.minibatch:
        return f"minibatch reduced from {before.minibatch} to {now.minibatch}"
    return f"games per runner reduced from {before.games} to {now.games}"
