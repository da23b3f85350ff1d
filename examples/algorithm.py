"""A custom algorithm: REINFORCE with a baseline, one gradient step per fragment.

    ante train --algo.kind examples.algorithm:Reinforce

In an installed package, declare the settings class as an entry point and select it by that name:

    [project.entry-points."ante.algorithms"]
    reinforce = "my_package.algorithm:Reinforce"
"""

from typing import ClassVar

import torch
from ray.rllib.core import DEFAULT_MODULE_ID

from ante.training.compat import advance_weights_version
from ante.training.learning.learner import FragmentLearner
from ante.training.rllib.algorithm import FastAlgorithm, FastConfig
from ante.training.sampling.training_data import Fragments
from ante.training.settings.algorithms import AlgoSettings
from ante.training.settings.config import TrainConfig
from ante.training.settings.field import setting
from ante.training.settings.support import ALL, Feature


class Reinforce(AlgoSettings):
    """Settings: those of every algorithm, and `--algo.baseline`."""

    implementation: ClassVar[str] = "examples.algorithm:ReinforceConfig"
    supports = ALL - {Feature.HINTS, Feature.HINT_SHAPING, Feature.LEARNERS}  # supported features of a run

    kind: str = "examples.algorithm:Reinforce"
    baseline: float = setting(0.5, "Weight of the baseline's (value) loss.", "Rarely.", gt=0)


class ReinforceLearner(FragmentLearner):
    """Policy gradient loss weighted by the advantage over the baseline, plus the baseline's loss."""

    def _learn_from(self, fragments: Fragments, before: int, epochs: int, minibatch: int | None) -> int:
        """See FragmentLearner."""
        rollouts, lost = fragments.rollouts(lambda played: played)
        for rollout in rollouts:
            log_probs, _, values = self._policy().evaluate(rollout.seen, rollout.actions)
            advantages, targets = (torch.from_numpy(each) for each in (rollout.advantages, rollout.targets))
            value_loss = (values - targets).square().mean()
            loss = -(log_probs * advantages).mean() + self.config.baseline * value_loss
            gradients = self.compute_gradients({DEFAULT_MODULE_ID: loss})
            self.apply_gradients(self.postprocess_gradients(gradients))
            self.metrics.log_value((DEFAULT_MODULE_ID, "vf_loss"), value_loss.item(), window=1)
            advance_weights_version(self)
        return lost


class ReinforceAlgorithm(FastAlgorithm):
    """Inherits the training loop: sample a batch, learn, synchronise weights."""

    @classmethod
    def get_default_config(cls) -> "ReinforceConfig":
        """See Algorithm."""
        return ReinforceConfig()


class ReinforceConfig(FastConfig):
    """Configuration derived from a run; runners send fragments with advantages."""

    algorithm, learner = ReinforceAlgorithm, ReinforceLearner

    def __init__(self, algo_class: type | None = None) -> None:
        self.lambda_, self.baseline = 1.0, 0.5  # lambda 1: Monte Carlo returns minus the baseline
        super().__init__(algo_class)

    def configure(self, run: TrainConfig) -> "ReinforceConfig":
        """See FastConfig."""
        super().configure(run)
        assert isinstance(run.algo, Reinforce)
        self.baseline = run.algo.baseline
        return self
