"""Comparison of root decisions by sequential halving over shared worlds.

In each stage all remaining candidates are simulated in the same new worlds; then the worse half is dropped. The
player's own decision, the default, is never dropped, so each difference to it is measured in equal worlds. Another
decision replaces it only if its mean difference exceeds a multiple of its standard error.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

LEAST_WORLDS = 4  # in the first stage
LEAST_ERROR = 1e-4  # of a difference
DIGITS = 5


@dataclass
class Comparison:
    """The candidates of one decision, and their ratings so far.

    decisions  (m,) int64, the default first
    log_probs  (m,) float64 of the player
    worlds     (w,) uint64, seeds of the worlds
    ratings    (m, w), NaN where not simulated
    left       indices of the remaining candidates, the default first
    used       number of worlds used so far
    """

    decisions: NDArray[np.int64]
    log_probs: NDArray[np.float64]
    worlds: NDArray[np.uint64]
    stages: list[int]
    ratings: NDArray[np.float64] = field(init=False)
    left: list[int] = field(init=False)
    used: int = 0

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
        return bool(self.stages) and len(self.left) > 1

    def next_worlds(self) -> slice:
        """Return the worlds of the next stage."""
        return slice(self.used, self.used + self.stages[0])

    def record(self, found: NDArray[np.float64]) -> None:
        """Store the ratings of a stage, (candidates left, worlds of the stage), and drop the worse half.

        Ratings are rounded: the last digits of a player's sums depend on the batch.
        """
        self.ratings[self.left, self.next_worlds()] = np.round(found, DIGITS)
        self.used += self.stages.pop(0)
        others = sorted(self.left[1:], key=lambda i: -self.gain(i)[0])
        self.left = [0, *others[: max(1, math.ceil(len(others) / 2))]]

    def gain(self, i: int) -> tuple[float, float]:
        """Return the mean difference of a candidate to the default, and its standard error."""
        n = int(np.isfinite(self.ratings[i]).sum())
        if n == 0:
            return 0.0, math.inf
        differences = self.ratings[i, :n] - self.ratings[0, :n]
        error = float(differences.std(ddof=1)) / math.sqrt(n) if n > 1 else math.inf
        return float(differences.mean()), max(error, LEAST_ERROR)

    def chosen(self, certainty: float) -> int:
        """Return the index of the decision to take: the best remaining one if its gain exceeds `certainty` errors."""
        best, most = 0, 0.0
        for i in self.left[1:]:
            mean, error = self.gain(i)
            if mean > most and mean > certainty * error:
                best, most = i, mean
        return best


def stages_of(candidates: int, simulations: int) -> list[int]:
    """Return the number of worlds of each stage: about equal simulations for each, half of the others dropped after it."""
    if candidates < 2:
        return []
    counts, others = [], candidates - 1
    while True:
        counts.append(1 + others)
        if others == 1:
            break
        others = math.ceil(others / 2)
    most = max(1, simulations // (counts[0] * LEAST_WORLDS))
    counts = counts[:most]
    return [max(1, round(simulations / len(counts) / count)) for count in counts]
