"""Memory limit: a warning first, then smaller minibatches, then fewer games. Imports neither Ray nor torch."""

from collections.abc import Callable
from dataclasses import dataclass, replace

FULL = 0.8  # share of the budget from which on something is done
LEAST_MINIBATCH = 64
LEAST_GAMES = 8


@dataclass(frozen=True)
class Sizes:
    """Sizes that determine a run's memory use.

    minibatch  steps of one gradient step
    games      stepped together by each env runner
    """

    minibatch: int
    games: int

    def smaller(self, fits: Callable[["Sizes"], bool] = lambda _: True) -> "Sizes | None":
        """Return half the minibatch, else half the games; None where both are at their floors or do not fit."""
        halves = (
            replace(self, minibatch=max(LEAST_MINIBATCH, self.minibatch // 2)),
            replace(self, games=max(LEAST_GAMES, self.games // 2)),
        )
        least = (self.minibatch <= LEAST_MINIBATCH, self.games <= LEAST_GAMES)
        return next((half for half, done in zip(halves, least, strict=True) if not done and fits(half)), None)


@dataclass(frozen=True)
class Verdict:
    """A message and the sizes to continue with; None if not needed."""

    words: str | None = None
    sizes: Sizes | None = None


class Budget:
    """Judges readings of the gauge: the first one at 80 % or above warns, each later one makes something smaller.

    Args:
        limit: Memory of the run in GB; 0 for no limit.
        fits: Whether the run's other settings allow these sizes.
    """

    def __init__(self, limit: float, fits: Callable[[Sizes], bool] = lambda _: True) -> None:
        self.limit, self._fits = limit, fits
        self._warned = self._spent = False

    def judge(self, used: float, sizes: Sizes) -> Verdict:
        """Return what to do about `used` GB. Nothing where there is no budget, or no new action left."""
        if not self.limit or used < FULL * self.limit or self._spent:
            return Verdict()
        state = f"memory: {used:.2f} of {self.limit:g} GB in use ({used / self.limit:.0%})"
        if not self._warned:
            self._warned = True
            return Verdict(
                f"{state}; if it stays so, minibatch and games become smaller (--resources.memory-gb sets the budget)"
            )
        smaller = sizes.smaller(self._fits)
        if smaller is None:
            self._spent = True
            least = f"minibatch {sizes.minibatch} and {sizes.games} games are not made smaller"
            return Verdict(f"{state}; {least}: the run goes on as it is; fewer --resources.runners would help")
        return Verdict(f"{state}; {changed(sizes, smaller)}", smaller)


def changed(before: Sizes, now: Sizes) -> str:
    """Return a reduction of sizes as text."""
    if now.minibatch != before.minibatch:
        return f"minibatch {before.minibatch} becomes {now.minibatch}"
    return f"games per runner {before.games} become {now.games}"
