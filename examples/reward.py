"""Three custom rewards: one from weights, two in Python.

    ante check-env --reward examples.reward:MOSTLY_WIN
    ante train --preset quick --games.reward examples.reward:Money
    gymnasium.make("ante/Balatro-v1", reward="examples.reward:Money")

A `Reward` weights the terms measured by the compiled step, at no cost. A `PythonReward` may compute anything from
the states of all games; with 256 games `Money` adds about 20 microseconds to each step of the batch.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.engine.core.state import Phase
from ante.env.games import Outcome
from ante.env.reward import PythonReward, Reward

MOSTLY_WIN = Reward("mostly win", "1 for a win, -1 for a loss, 0.02 per blind", win=1.0, loss=-1.0, blind=0.02)


class Money(PythonReward):
    """0.01 per dollar gained, -0.01 per dollar spent, and 1 for a win."""

    name = "money"
    about = "change of dollars / 100, and 1 for a win"

    def before(self, states: np.recarray) -> Any:
        """Return the dollars (n,) before the step, as a copy, since states change in place."""
        return states["dollars"].copy()

    def after(self, before: Any, states: np.recarray, outcome: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the rewards (n,)."""
        return (states["dollars"] - before) / 100.0 + (outcome == Outcome.WON)


class Saved(PythonReward):
    """0.01 per dollar held when a shop opens after a cash-out, and 1 for a win."""

    name = "saved"
    about = "dollars / 100 after each cash-out, and 1 for a win"

    def before(self, states: np.recarray) -> Any:
        """Return the phases (n,) before the step, as a copy."""
        return states["phase"].copy()

    def after(self, before: Any, states: np.recarray, outcome: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the rewards (n,)."""
        cashed_out = (before == Phase.ROUND_END) & (states["phase"] == Phase.SHOP)
        return cashed_out * states["dollars"] / 100.0 + (outcome == Outcome.WON)
