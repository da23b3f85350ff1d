"""Comparison of root decisions by racing over shared worlds.

In each stage all remaining candidates are simulated in the same new worlds. The player's own decision, the default, is
never dropped, so each difference to it is measured in equal worlds. What is believed of a candidate's advantage over
the default combines these differences with a prior of the phase (`phases.py`), so that a few lucky worlds do not replace
it. Candidates that can hardly be better any more are dropped, and a race ends as soon as its winner is clear.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ante.search.phases import KNOWN, LOSS, Prior

STAGES = 4
LEAST_WORLDS = 4  # of a candidate in the first stage; fewer candidates are compared with a small budget
DIGITS = 5


@dataclass
class Comparison:
    """The candidates of one decision, and their ratings so far.

    decisions  (m,) int64, the default first
    worlds     (w,) uint64, seeds of the worlds
    allowance  simulations at most
    prior      of advantages
    doubt      a candidate is dropped if its advantage is below 0 by this many standard deviations
    ratings    (m, w), NaN where not simulated
    left       indices of the remaining candidates, the default first
    used       worlds used so far; stage, stages finished so far
    """

    decisions: NDArray[np.int64]
    worlds: NDArray[np.uint64]
    allowance: int
    prior: Prior
    doubt: float
    ratings: NDArray[np.float64] = field(init=False)
    left: list[int] = field(init=False)
    used: int = 0
    stage: int = 0

    def __post_init__(self) -> None:
        """Begin with all candidates."""
        self.ratings = np.full((len(self.decisions), len(self.worlds)), np.nan)
        self.left = list(range(len(self.decisions)))

    @property
    def simulations(self) -> int:
        """Number of simulations so far."""
        return int(np.isfinite(self.ratings).sum())

    def open(self) -> bool:
        """Return whether a stage remains."""
        return self.stage < STAGES and len(self.left) > 1 and self._next() > 0

    def _next(self) -> int:
        """Return the number of worlds of the next stage: an equal part of what is left of the allowance."""
        part = (self.allowance - self.simulations) // (STAGES - self.stage)
        wanted = max(part // len(self.left), LEAST_WORLDS if not self.used else 1)
        return min(wanted, (self.allowance - self.simulations) // len(self.left), len(self.worlds) - self.used)

    def next_worlds(self) -> slice:
        """Return the worlds of the next stage."""
        return slice(self.used, self.used + self._next())

    def record(self, found: NDArray[np.float64]) -> None:
        """Store the ratings of a stage, (candidates left, worlds of the stage), and drop candidates.

        Ratings are rounded: the last digits of a player's sums depend on the batch.
        """
        self.ratings[self.left, self.used : self.used + found.shape[1]] = np.round(found, DIGITS)
        self.used += found.shape[1]
        self.stage += 1
        believed = {i: self.advantage(i) for i in self.left[1:]}
        floor = max(0.0, *(mean - self.doubt * error for mean, error in believed.values()))
        others = [i for i, (mean, error) in believed.items() if mean + self.doubt * error > floor]
        others.sort(key=lambda i: -believed[i][0])
        others = others[: max(1, math.ceil(len(believed) / 2))]
        clear = len(others) == 1 and believed[others[0]][0] > 2.0 * self.doubt * believed[others[0]][1]
        self.left = [0, *others]
        if clear:
            self.stage = STAGES

    def gain(self, i: int) -> tuple[float, float]:
        """Return the mean difference of a candidate to the default in its worlds, and its standard error."""
        n = int(np.isfinite(self.ratings[i]).sum())
        if n == 0:
            return 0.0, math.inf
        differences = self.ratings[i, :n] - self.ratings[0, :n]
        spread = float(np.square(differences - differences.mean()).sum())
        square = (spread + KNOWN * self.prior.noise**2) / (n + KNOWN)
        return float(differences.mean()), math.sqrt(square / n)

    def advantage(self, i: int) -> tuple[float, float]:
        """Return what is believed of a candidate's advantage over the default: mean and standard deviation."""
        mean, error = self.gain(i)
        weight = self.prior.deviation**2 / (self.prior.deviation**2 + error**2)
        moved = weight * (mean + LOSS) if weight else 0.0
        return moved - LOSS, self.prior.deviation * math.sqrt(1.0 - weight)

    def chosen(self) -> int:
        """Return the index of the decision to take: the best remaining one if an advantage is expected of it."""
        return max(self.left, key=lambda i: self.advantage(i)[0] if i else 0.0)

    def best_other(self) -> int:
        """Return the index of the candidate other than the default of which most is expected."""
        return max(range(1, len(self.decisions)), key=lambda i: self.advantage(i)[0])


def raced(count: int, allowance: int) -> int:
    """Return how many of the first `count` candidates are compared with these simulations; 0 if too few for two."""
    most = min(count, allowance // LEAST_WORLDS)
    return most if most >= 2 else 0
