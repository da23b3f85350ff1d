"""Kinds of decisions, and what is believed of other decisions than the player's own before any simulation.

The numbers come from 388 candidates in 198 positions of 50 games of tuning seeds, each played out by the policy
`white-stake` to the end in the same 32 worlds as its own decision (docs/explanation/search.md).
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ante.catalog.blinds import Blind
from ante.engine.core.state import Phase

PhaseName = Literal["blind", "hand", "boss", "cash-out", "shop", "pack"]
PHASES: tuple[PhaseName, ...] = get_args(PhaseName)


@dataclass(frozen=True)
class Prior:
    """Beliefs about the advantage of a candidate over the player's own decision, in probability of winning.

    deviation  standard deviation of advantages around -LOSS
    noise      standard deviation of the difference in one world; it counts as much as KNOWN worlds
    weight     factor of the budget
    """

    deviation: float
    noise: float
    weight: float


LOSS, KNOWN = 0.0025, 6.0
PRIORS = (
    Prior(0.015, 0.08, 0.5),
    Prior(0.007, 0.04, 0.25),
    Prior(0.040, 0.13, 2.0),
    Prior(0.015, 0.08, 0.5),
    Prior(0.024, 0.09, 1.0),
    Prior(0.010, 0.05, 0.5),
)


def phases_of(states: np.recarray) -> NDArray[np.int64]:
    """Return the index in PHASES of each game's decision."""
    index = np.zeros(len(states), dtype=np.int64)
    for phase, name in {
        Phase.PLAY: "hand",
        Phase.ROUND_END: "cash-out",
        Phase.SHOP: "shop",
        Phase.PACK: "pack",
    }.items():
        index[states["phase"] == phase] = PHASES.index(name)
    boss = (states["phase"] == Phase.PLAY) & (states["blind"] > Blind.BIG)
    index[boss] = PHASES.index("boss")
    return index
