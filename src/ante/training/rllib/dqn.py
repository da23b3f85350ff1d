"""DQN on the fast path: runners mark rare steps and send trajectories; the learner stores and replays them."""

from typing import Any

import numpy as np

from ante.training.learning.dqn import QLearner, QPlan
from ante.training.policies.q_network import EXPLORE
from ante.training.rllib.algorithm import FastAlgorithm, FastConfig
from ante.training.sampling.hooks import RareSteps
from ante.training.sampling.runner import TRAJECTORY
from ante.training.settings.config import TrainConfig
from ante.training.settings.schedule import value_at


class FastDQN(FastAlgorithm):
    """Deep Q-learning with experience replay."""

    @classmethod
    def get_default_config(cls) -> "FastDQNConfig":
        """See Algorithm."""
        return FastDQNConfig()

    def start_from(self, weights: dict[str, Any]) -> None:
        """See FastAlgorithm; the weights contain epsilon, which begins with this run's schedule."""
        epsilon = np.array(value_at(self.config.q.epsilon, 0), dtype=np.float32)
        super().start_from({**weights, EXPLORE: epsilon})


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
