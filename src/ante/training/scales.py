"""What normalisation divides by: the running spread of discounted returns, mean and spread of value targets.

The learner keeps them, its checkpoints hold them, and runners get them with the weights. Moments are three sums, (count,
sum, sum of squares): those of two samples together are their sum.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Moments = NDArray[np.float64]
SCALES = "scales"  # in the states of learner and runner
KEPT = 0.95  # of the moments of value targets from one update to the next: some 20 batches count
LEAST_SPREAD = 1e-4
REWARD_LIMIT = 10.0  # no normalised reward is larger: a first win among thousands of games must not drown the rest


def moments(values: NDArray[Any]) -> Moments:
    """Count, sum and sum of squares, (3,) float64."""
    wide = values.astype(np.float64)
    return np.array([wide.size, wide.sum(), np.square(wide).sum()])


def nothing() -> Moments:
    """The moments of no sample."""
    return np.zeros(3)


def mean_and_spread(of: Moments) -> tuple[float, float]:
    """Mean and standard deviation; 0 and 1 of nothing."""
    if of[0] == 0:
        return 0.0, 1.0
    mean = float(of[1] / of[0])
    return mean, max(LEAST_SPREAD, float(np.sqrt(max(0.0, of[2] / of[0] - mean * mean))))


@dataclass
class Scales:
    """Moments of discounted returns and of value targets.

    returns  of all rewards so far, discounted up to each step from the beginning of its game
    targets  of the value, those of earlier updates fading
    """

    returns: Moments = field(default_factory=nothing)
    targets: Moments = field(default_factory=nothing)

    def state(self) -> dict[str, Moments]:
        """A copy that can be saved and sent."""
        return {"returns": self.returns.copy(), "targets": self.targets.copy()}

    def restore(self, state: dict[str, Moments]) -> None:
        """As `state` was."""
        self.returns, self.targets = np.array(state["returns"]), np.array(state["targets"])

    def rewards(self, rewards: NDArray[np.float32], own: Moments) -> NDArray[np.float32]:
        """Rewards in units of the spread of returns, (t, n); `own` are moments of this fragment, not yet counted."""
        spread = mean_and_spread(self.returns + own)[1]
        return np.clip(rewards / np.float32(spread), -REWARD_LIMIT, REWARD_LIMIT)

    def values(self, outputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Values that a network's outputs mean, same shape."""
        mean, spread = mean_and_spread(self.targets)
        return outputs * np.float32(spread) + np.float32(mean)

    def outputs(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """What a network should answer to mean these values: the inverse of `values`."""
        mean, spread = mean_and_spread(self.targets)
        return (values - np.float32(mean)) / np.float32(spread)

    def see_targets(self, seen: Moments, head: torch.nn.Linear) -> None:
        """Count value targets; the head is moved so that it means the same values as before (as PopArt does)."""
        mean, spread = mean_and_spread(self.targets)
        self.targets = KEPT * self.targets + seen
        new_mean, new_spread = mean_and_spread(self.targets)
        with torch.no_grad():
            head.weight.mul_(spread / new_spread)
            head.bias.mul_(spread).add_(mean - new_mean).div_(new_spread)


def discounted(rewards: NDArray[np.float32], cut: NDArray[np.bool_], discount: float, running: Moments) -> Moments:
    """Moments of the discounted returns of a fragment, each from the beginning of its game up to a step.

    rewards  (t, n) float32; cut (t, n) bool: a game ended with this step
    running  (n,) float64: the return so far of each game that goes on, changed in place
    """
    found = nothing()
    for t in range(len(rewards)):
        running *= discount
        running += rewards[t]
        found += moments(running)
        running[cut[t]] = 0.0
    return found
