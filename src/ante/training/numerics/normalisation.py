"""Reward normalisation: running statistics of discounted returns. `policies.layers.ValueHead` normalises values.

The learner updates them, its checkpoints store them, and runners receive them with the weights. Moments are three sums
(count, sum, sum of squares), so those of two samples are combined by addition.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Moments = NDArray[np.float64]
SCALES = "scales"  # key in the states of learner and runner
LEAST_SPREAD = 1e-4
REWARD_LIMIT = 10.0  # clips normalised rewards: a first win among thousands of games must not dominate


def moments(values: NDArray[Any]) -> Moments:
    """Return count, sum and sum of squares, (3,) float64."""
    wide = values.astype(np.float64)
    return np.array([wide.size, wide.sum(), np.square(wide).sum()])


def nothing() -> Moments:
    """Return the moments of an empty sample."""
    return np.zeros(3)


def are_finite(of: Moments) -> bool:
    """Return whether moments can become part of running statistics: one NaN would stay in them for the rest of the run."""
    return bool(np.isfinite(of).all())


def mean_and_spread(of: Moments) -> tuple[float, float]:
    """Return mean and standard deviation; 0 and 1 for an empty sample, NaN if a value was not finite."""
    if of[0] == 0:
        return 0.0, 1.0
    if not are_finite(of):
        return math.nan, math.nan
    mean, square = float(of[1] / of[0]), float(of[2] / of[0])
    return mean, max(LEAST_SPREAD, math.sqrt(max(0.0, square - mean * mean)))


@dataclass
class Scales:
    """Moments of discounted returns: of all rewards so far, discounted up to each step from the start of its game."""

    returns: Moments = field(default_factory=nothing)

    def state(self) -> dict[str, Moments]:
        """Return a copy that can be saved and sent."""
        return {"returns": self.returns.copy()}

    def restore(self, state: dict[str, Moments]) -> None:
        """Restore a saved state."""
        self.returns = np.array(state["returns"])

    def rewards(self, rewards: NDArray[np.float32], own: Moments) -> NDArray[np.float32]:
        """Return rewards in units of the returns' standard deviation, (t, n); `own`: this fragment's moments."""
        spread = mean_and_spread(self.returns + own if are_finite(own) else self.returns)[1]
        return np.clip(rewards / np.float32(spread), -REWARD_LIMIT, REWARD_LIMIT)


def discounted(rewards: NDArray[np.float32], cut: NDArray[np.bool_], discount: float, running: Moments) -> Moments:
    """Return moments of the discounted returns of a fragment, each from the start of its game up to a step.

    rewards  (t, n) float32; cut (t, n) bool: a game ended with this step
    running  (n,) float64: the current return of each game, updated in place
    """
    found = nothing()
    for t in range(len(rewards)):
        running *= discount
        running += rewards[t]
        found += moments(running)
        running[cut[t]] = 0.0
    return found
