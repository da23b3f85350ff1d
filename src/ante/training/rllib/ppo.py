"""PPO, APPO and A2C on the fast path."""

import math
from typing import Any

from ante.training.learning.ppo import PPOLearner
from ante.training.rllib.algorithm import FastAlgorithm, FastConfig
from ante.training.sampling.runner import TRAJECTORY
from ante.training.settings.config import TrainConfig


class ActorCriticConfig(FastConfig):
    """Common settings of algorithms with the clipped surrogate loss.

    Attributes:
        lambda_        lambda of generalised advantage estimation and V-trace
        clip_param     clipping range of ratios
        entropy_coeff  weight of the entropy bonus, a number or a schedule; vf_loss_coeff  weight of the value loss
        vf_clip_param  largest squared value error; larger errors are clamped
        accumulate     minibatches whose gradients are averaged for one optimiser step
        certain        probability above which an action's row is used in one epoch only
        critic_warmup  number of first updates that change only the output layer of the value
        kl_stop        stop an update once a minibatch's KL to the old policy exceeds 1.5 times this; None to disable
    """

    learner = PPOLearner

    def __init__(self, algo_class: Any = None) -> None:
        self.lambda_, self.clip_param, self.vf_loss_coeff, self.vf_clip_param = 0.95, 0.2, 1.0, math.inf
        self.entropy_coeff: Any = 0.0
        self.accumulate, self.certain = 1, 1.0
        self.critic_warmup = 0
        self.kl_stop: float | None = None
        super().__init__(algo_class)

    def configure(self, run: TrainConfig) -> "ActorCriticConfig":
        """See FastConfig."""
        super().configure(run)
        algo: Any = run.algo
        self.accumulate, self.clip_param = algo.update.accumulate, algo.update.clip
        self.lambda_, self.entropy_coeff, self.vf_loss_coeff = algo.gae_lambda, algo.entropy, algo.value_weight
        self.vf_clip_param = getattr(algo, "value_error_limit", None) or math.inf
        self.certain = getattr(algo, "certain", 1.0)
        self.critic_warmup = getattr(algo, "critic_warmup", 0)
        self.kl_stop = getattr(algo, "kl_target", None)
        self.normalise_rewards = getattr(algo, "normalise_rewards", False)
        self.normalise_values = getattr(algo, "normalise_values", False)
        return self


class FastPPO(FastAlgorithm):
    """Proximal policy optimisation: runners compute advantages; several epochs over each batch."""

    @classmethod
    def get_default_config(cls) -> "FastPPOConfig":
        """See Algorithm."""
        return FastPPOConfig()


class FastPPOConfig(ActorCriticConfig):
    """The settings of FastPPO."""

    algorithm = FastPPO


class FastAPPO(FastAlgorithm):
    """Asynchronous PPO: batches are sampled ahead; V-trace targets by the learner, clipped surrogate loss."""

    @classmethod
    def get_default_config(cls) -> "FastAPPOConfig":
        """See Algorithm."""
        return FastAPPOConfig()


class FastAPPOConfig(ActorCriticConfig):
    """The settings of FastAPPO."""

    algorithm = FastAPPO
    fragment_kind = TRAJECTORY


class FastA2C(FastAlgorithm):
    """Advantage actor-critic: one gradient step per batch, where all ratios are 1."""

    @classmethod
    def get_default_config(cls) -> "FastA2CConfig":
        """See Algorithm."""
        return FastA2CConfig()


class FastA2CConfig(ActorCriticConfig):
    """The settings of FastA2C."""

    algorithm = FastA2C
