"""A potential learned from advisors' outlooks: a linear function of hand strengths and the required score.

It is refitted when the number of outlooks has doubled, and fixed after LAST: shaping with a fixed potential preserves
the optimal policy (Ng, Harada and Russell 1999), even if the advisors are wrong.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.lookahead.reference_hands import N_REFERENCE_HANDS

FIRST, LAST = 128, 8192  # number of outlooks at the first and the last fit
RIDGE = 1.0  # L2 regularisation of the weights
N_FEATURES = 1 + N_REFERENCE_HANDS + 1


def features_of(lists: NDArray[Any]) -> NDArray[np.float64]:
    """Return the features, (n, N_FEATURES): 1, log10 of typical hand scores, log10 of the required score."""
    lists = lists.reshape(-1)
    ones = np.ones((len(lists), 1))
    return np.concatenate([ones, lists["strengths"] / 1000.0, lists["needed"][:, None] / 100.0], axis=1)


def potential_of(lists: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the potential of each list, (n,), from 0 to 1."""
    return np.clip(features_of(lists) @ weights, 0.0, 1.0).astype(np.float32)


class Potential:
    """Sufficient statistics of the outlooks, and the weights fitted to them."""

    def __init__(self) -> None:
        self.opinions, self.weights = 0, None
        self._products, self._sums = RIDGE * np.eye(N_FEATURES), np.zeros(N_FEATURES)
        self._next = FIRST

    weights: NDArray[np.float64] | None

    def add(self, listed: Any, outlook: int) -> None:
        """Add the outlook of a position in percent."""
        if self._next > LAST:
            return
        x = features_of(np.asarray(listed))[0]
        self._products += np.outer(x, x)
        self._sums += x * outlook / 100.0
        self.opinions += 1
        if self.opinions >= self._next:
            self.weights = np.asarray(np.linalg.solve(self._products, self._sums), dtype=np.float64)
            self._next *= 2
