"""Rewards for tests of custom rewards."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.env.reward import PythonReward


class Faulty(PythonReward):
    """Raises an error in the tenth step."""

    name = "faulty"
    about = "raises an error"
    steps = 0

    def before(self, states: np.recarray) -> Any:
        """Return nothing."""
        return None

    def after(self, before: Any, states: np.recarray, outcome: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return zeros, and raise ValueError in the tenth step."""
        self.steps += 1
        if self.steps == 10:
            raise ValueError("a bug in the reward")
        return np.zeros(len(states))


class Sound(PythonReward):
    """Pays nothing; tests plant a fault into it."""

    name = "sound"
    about = "pays nothing"

    def before(self, states: np.recarray) -> Any:
        """Return nothing."""
        return None

    def after(self, before: Any, states: np.recarray, outcome: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return zeros."""
        return np.zeros(len(states))
