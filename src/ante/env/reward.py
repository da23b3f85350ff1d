"""Rewards: weights of a few measured terms, or Python code over all games of a batch.

A `Reward` is a row of weights, so that all rewards run in the same compiled pass. A new reward is one line in
`REWARDS`; a new term is one line in `Term` and code in `measure`. A `PythonReward` computes anything, with NumPy,
after the compiled step. Both can come from another package (`ante.plugins`).
"""

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.catalog.constants import WIN_ANTE
from ante.checks import finite
from ante.engine.core.records import as_records
from ante.engine.core.rule import rule
from ante.engine.core.state import Phase, Status
from ante.env.observe import log_of
from ante.errors import BalatroError, shown
from ante.plugins import REWARDS as GROUP
from ante.plugins import BadPlugin, is_plugin, load, registered


class Term(IntEnum):
    """A measured term of a step."""

    WIN = 0  # 1 in the step that beats the win ante's boss
    LOSS = 1  # 1 in the step that loses the run
    BLIND = 2  # 1 for each blind beaten
    PROGRESS = 3  # increase of log(1 + chips) / log(1 + target), 1 in total for each blind beaten
    ANTE = 4  # the ante in which a blind is beaten, / 8
    POTENTIAL = 5  # discount x the game's potential after the step - its potential before (`potential_of`)


DISCOUNT = len(Term)  # index of the discount among the weights
BLINDS_OF_A_RUN = 3 * WIN_ANTE


@dataclass(frozen=True, slots=True)
class Reward:
    """A reward by its weights, one for each Term.

    A potential does not change the optimal policy: its terms sum to 0 over a whole game, if the learner uses the same
    `discount`.
    """

    name: str
    about: str
    win: float = 0.0
    loss: float = 0.0
    blind: float = 0.0
    progress: float = 0.0
    ante: float = 0.0
    potential: float = 0.0
    discount: float = 1.0

    def __post_init__(self) -> None:
        """Raise BadValue for weights that are not finite and a discount outside of 0 to 1."""
        for term in Term:
            finite(f"weight {term.name.lower()!r} of reward {self.name!r}", getattr(self, term.name.lower()))
        finite(f"discount of reward {self.name!r}", self.discount, 0.0, 1.0)

    @property
    def weights(self) -> NDArray[np.float64]:
        """The weights in the order of Term, then the discount: (DISCOUNT + 1,)."""
        return np.array(
            [self.win, self.loss, self.blind, self.progress, self.ante, self.potential, self.discount], dtype=np.float64
        )

    def discounted(self, discount: float) -> "Reward":
        """Return the same reward for a learner with this discount per step."""
        return replace(self, discount=discount)


class PythonReward(ABC):
    """A reward computed in Python from the states of all games of a batch, before and after each step.

    It has no terms: settings of single terms do not apply, and games on a GPU do not support it. Its cost is that of
    the two methods for the whole batch, on the thread that steps the games; the compiled step is not slower.
    """

    name = "python"
    about = ""
    discount = 1.0  # of the learner; used by potentials

    @abstractmethod
    def before(self, states: np.recarray) -> Any:
        """Return data of the games before their step for `after`, as copies: states (n,) state_t change in place."""

    @abstractmethod
    def after(self, before: Any, states: np.recarray, outcome: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the rewards (n,) of the step.

        Args:
            before: What `before` returned.
            states: (n,) state_t after the step; games that ended have not been reset.
            outcome: (n,) `ante.env.games.Outcome` after the step.
        """

    @property
    def weights(self) -> NDArray[np.float64]:
        """The weights of a reward without terms: (DISCOUNT + 1,)."""
        return Reward(self.name, self.about).weights

    def discounted(self, discount: float) -> "PythonReward":
        """Return the same reward for a learner with this discount per step."""
        other = copy(self)
        other.discount = discount
        return other


AnyReward = Reward | PythonReward

REWARDS: dict[str, Reward] = {
    reward.name: reward
    for reward in (
        Reward("sparse", "1 for winning the run, else 0", win=1.0),
        Reward("blinds", "1 for each blind beaten", blind=1.0),
        Reward("shaped", "log-progress to the target, blinds beaten, and the win", win=5.0, blind=0.2, progress=0.2),
        Reward(
            "potential",
            "1 for winning the run, and a potential, blinds beaten / 24, which does not change the optimal policy",
            win=1.0,
            potential=1.0 / BLINDS_OF_A_RUN,
        ),
    )
}


class UnknownReward(BalatroError, ValueError):
    """The name of a reward that does not exist."""

    def __init__(self, name: object) -> None:
        known = ", ".join((*REWARDS, *registered(GROUP)))
        super().__init__(f"unknown reward {shown(name)}: use one of {known}, module:Class, or a Reward")


def find_reward(reward: str | AnyReward) -> AnyReward:
    """Return the reward itself, or the one of this name: built in, of an entry point, or at `module:attribute`.

    Raises:
        UnknownReward: There is no reward of this name.
        BadPlugin: It cannot be loaded, or is neither a Reward nor a PythonReward, nor a class of one without arguments.
    """
    if isinstance(reward, AnyReward):
        return reward
    if not isinstance(reward, str) or not (reward in REWARDS or is_plugin(GROUP, reward)):
        raise UnknownReward(reward)
    if reward in REWARDS:
        return REWARDS[reward]
    found: Any = load(GROUP, reward)
    made = found
    if isinstance(found, type) and issubclass(found, AnyReward):
        try:
            made = found()  # type: ignore[call-arg]
        except TypeError as error:
            raise BadPlugin(f"{reward!r} cannot be created without arguments ({error}): use an instance") from error
    if not isinstance(made, AnyReward):
        raise BadPlugin(f"{reward!r} is a {type(made).__name__}, expected an ante.env.reward.Reward or PythonReward")
    return made


# Data of one game before the step.
before_t = np.dtype([("progress", "f8"), ("potential", "f8"), ("phase", "i4"), ("ante", "i4")], align=True)


def new_before(n: int) -> np.recarray:
    """Return zeroed records for n games."""
    return as_records(np.zeros(n, dtype=before_t))


@rule
def progress_of(s):
    """Return the progress in the current blind, 0 to 1 on a logarithmic scale; 0 outside of a round."""
    if s.phase != Phase.PLAY and s.phase != Phase.OVER:
        return 0.0
    target = log_of(s.target)
    return min(1.0, log_of(s.chips) / target) if target > 0.0 else 1.0


@rule
def blinds_beaten(s):
    """Return the number of blinds beaten in this run: all that were started, except the current one."""
    return int(s.round_number) - (1 if s.phase == Phase.PLAY or s.phase == Phase.OVER else 0)


@rule
def potential_of(s):
    """Return blinds beaten plus the progress in the current one; 0 for a lost game."""
    if s.phase == Phase.OVER:
        return 0.0
    return blinds_beaten(s) + progress_of(s)


@rule
def record_before(s, before):
    """Store the game's current values in `before`."""
    before.progress = progress_of(s)
    before.potential = blinds_beaten(s) + before.progress if s.phase != Phase.OVER else 0.0
    before.phase = s.phase
    before.ante = s.ante


@rule
def measure(s, before, status, ends, weights):
    """Return the weighted sum of all terms of a step with this status that changed the game from `before` to s.

    ends  whether the step ended the game, won or lost; its potential is then 0
    """
    reward = 0.0
    if status == Status.WON:
        reward += weights[Term.WIN]
    elif status == Status.LOST:
        reward += weights[Term.LOSS]
    if before.phase == Phase.PLAY:
        if s.phase == Phase.ROUND_END:
            reward += weights[Term.BLIND] + weights[Term.PROGRESS] * (1.0 - before.progress)
            reward += weights[Term.ANTE] * before.ante / 8.0
        else:
            reward += weights[Term.PROGRESS] * (progress_of(s) - before.progress)
    if weights[Term.POTENTIAL] != 0.0:
        after = 0.0 if ends else potential_of(s)
        reward += weights[Term.POTENTIAL] * (weights[DISCOUNT] * after - before.potential)
    return reward
