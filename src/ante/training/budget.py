"""What happens when memory runs short: a warning first, then smaller minibatches, then fewer games. No Ray, no torch."""

from dataclasses import dataclass, replace

FULL = 0.8  # share of the budget from which on something is done
LEAST_MINIBATCH = 64
LEAST_GAMES = 8


@dataclass(frozen=True)
class Sizes:
    """What a run's memory grows with.

    minibatch  steps of one gradient step
    games      stepped together by each env runner
    """

    minibatch: int
    games: int

    def smaller(self) -> "Sizes | None":
        """Half the minibatch; from its floor on half the games; None where both are at their floors."""
        if self.minibatch > LEAST_MINIBATCH:
            return replace(self, minibatch=max(LEAST_MINIBATCH, self.minibatch // 2))
        if self.games > LEAST_GAMES:
            return replace(self, games=max(LEAST_GAMES, self.games // 2))
        return None


@dataclass(frozen=True)
class Verdict:
    """What to say, and the sizes to go on with; None for neither."""

    words: str | None = None
    sizes: Sizes | None = None


class Budget:
    """Judges readings of the gauge: the first one at 80 % or above warns, each later one makes something smaller."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._warned = self._spent = False

    def judge(self, used: float, sizes: Sizes) -> Verdict:
        """What to do about `used` GB. Nothing where there is no budget, or nothing left to do that was not said."""
        if not self.limit or used < FULL * self.limit or self._spent:
            return Verdict()
        state = f"memory: {used:.2f} of {self.limit:g} GB in use ({used / self.limit:.0%})"
        if not self._warned:
            self._warned = True
            return Verdict(f"{state}; if it stays so, minibatch and games become smaller (--memory-gb sets the budget)")
        smaller = sizes.smaller()
        if smaller is None:
            self._spent = True
            least = f"minibatch {sizes.minibatch} and {sizes.games} games are not made smaller"
            return Verdict(f"{state}; {least}: the run goes on as it is; fewer --runners would help")
        return Verdict(f"{state}; {changed(sizes, smaller)}", smaller)


def changed(before: Sizes, now: Sizes) -> str:
    """A step down in words."""
    if now.minibatch != before.minibatch:
        return f"minibatch {before.minibatch} becomes {now.minibatch}"
    return f"games per runner {before.games} become {now.games}"
