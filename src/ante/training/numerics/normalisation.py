"""Reward and value normalisation: running statistics of discounted returns and of value targets.

The learner updates them, its checkpoints store them, and runners receive them with the weights. Moments are three sums
(count, sum, sum of squares), so those of two samples are combined by addition.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Moments = NDArray[np.float64]
SCALES = "scales"  # key in the states of learner and runner
KEPT = 0.95  # decay of the moments of value targets per update: an effective window of 20 batches
LEAST_SPREAD = 1e-4
REWARD_LIMIT = 10.0  # clips normalised rewards: a first win among thousands of games must not dominate


def moments(values: NDArray[Any]) -> Moments:
    """Return count, sum and sum of squares, (3,) float64."""
    wide = values.astype(np.float64)
    return np.array([wide.size, wide.sum(), np.square(wide).sum()])


def nothing() -> Moments:
    """Return the moments of an empty sample."""
    return np.zeros(3)


def mean_and_spread(of: Moments) -> tuple[float, float]:
    """Return mean and standard deviation; 0 and 1 for an empty sample."""
    if of[0] == 0:
        return 0.0, 1.0
    mean = float(of[1] / of[0])
    return mean, max(LEAST_SPREAD, float(np.sqrt(max(0.0, of[2] / of[0] - mean * mean))))


@dataclass
class Scales:
    """Moments of discounted returns and of value targets.

    returns  of all rewards so far, discounted up to each step from the start of its game
    targets  of value targets, exponentially decayed
    """

    returns: Moments = field(default_factory=nothing)
    targets: Moments = field(default_factory=nothing)

    def state(self) -> dict[str, Moments]:
        """Return a copy that can be saved and sent."""
        return {"returns": self.returns.copy(), "targets": self.targets.copy()}

    def restore(self, state: dict[str, Moments]) -> None:
        """Restore a saved state."""
        self.returns, self.targets = np.array(state["returns"]), np.array(state["targets"])

    def rewards(self, rewards: NDArray[np.float32], own: Moments) -> NDArray[np.float32]:
        """Return rewards in units of the returns' standard deviation, (t, n); `own`: this fragment's moments."""
        spread = mean_and_spread(self.returns + own)[1]
        return np.clip(rewards / np.float32(spread), -REWARD_LIMIT, REWARD_LIMIT)

    def values(self, outputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the values for outputs of the network, same shape."""
        mean, spread = mean_and_spread(self.targets)
        return outputs * np.float32(spread) + np.float32(mean)

    def outputs(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the network outputs for these values: the inverse of `values`."""
        mean, spread = mean_and_spread(self.targets)
        return (values - np.float32(mean)) / np.float32(spread)

    def see_targets(self, seen: Moments, head: torch.nn.Linear) -> None:
        """Update the statistics of value targets and rescale the head so that its values are unchanged (PopArt)."""
        mean, spread = mean_and_spread(self.targets)
        self.targets = KEPT * self.targets + seen
        new_mean, new_spread = mean_and_spread(self.targets)
        with torch.no_grad():
            head.weight.mul_(spread / new_spread)
            head.bias.mul_(spread).add_(mean - new_mean).div_(new_spread)


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
