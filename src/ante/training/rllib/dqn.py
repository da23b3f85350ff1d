"""DQN on the fast path: runners mark rare steps and send trajectories; the learner stores and replays them."""

from typing import Any

from ante.training.learning.dqn import QLearner, QPlan
from ante.training.rllib.algorithm import FastAlgorithm, FastConfig
from ante.training.sampling.hooks import RareSteps
from ante.training.sampling.runner import TRAJECTORY
from ante.training.settings.config import TrainConfig


class FastDQN(FastAlgorithm):
    """Deep Q-learning with experience replay."""

    @classmethod
    def get_default_config(cls) -> "FastDQNConfig":
        """See Algorithm."""
        return FastDQNConfig()


class FastDQNConfig(FastConfig):
    """The settings of FastDQN.

    Attributes:
        q  settings of replay, target network and exploration
    """

    algorithm = FastDQN
    learner = QLearner
    fragment_kind = TRAJECTORY

    def __init__(self, algo_class: Any = None) -> None:
        self.q: QPlan | None = None
        super().__init__(algo_class)
        self.runner_hooks = (RareSteps,)

    def configure(self, run: TrainConfig) -> "FastDQNConfig":
        """See FastConfig."""
        super().configure(run)
        self.q = QPlan.of(run)
        return self
