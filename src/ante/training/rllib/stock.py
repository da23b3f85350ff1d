"""PPO with RLlib's own runner, connectors and learner on the native vector environment, as a baseline."""

import math
from typing import Any

import gymnasium
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

from ante.env.vector import BalatroVectorEnv
from ante.training.policies.registry import network_of, policy_class
from ante.training.rllib.run_settings import set_resources
from ante.training.sampling.fragment import WINDOW
from ante.training.settings.config import TrainConfig


class GameMetrics(RLlibCallback):  # type: ignore[misc]
    """Logs ante, blinds and win of each finished game."""

    def on_episode_end(self, *, episode: Any, metrics_logger: Any, **_: Any) -> None:
        """Log the last info of the game."""
        info = episode.get_infos(-1)
        metrics_logger.log_value("ante", float(info["ante"]), window=WINDOW)
        metrics_logger.log_value("blinds", float(info["blinds"]), window=WINDOW)
        metrics_logger.log_value("win_rate", float(info["outcome"] == "won"), window=WINDOW)


def make_env(context: Any) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """Return the native vector environment in the form that RLlib's runner expects."""
    options = dict(context)
    return BalatroVectorEnv(num_envs=options.pop("num_envs", 1), observation="masked", **options)


class StockPPOConfig(PPOConfig):  # type: ignore[misc]
    """RLlib's PPOConfig, configured by a run."""

    def configure(self, run: TrainConfig) -> "StockPPOConfig":
        """Apply the settings of a run, and return this configuration."""
        algo: Any = run.algo
        learners = max(1, run.resources.learners)
        self.env_runners(gym_env_vectorize_mode="vector_entry_point").callbacks(GameMetrics)
        if algo.fragment:
            self.env_runners(rollout_fragment_length=algo.fragment)
        set_resources(self, run)
        self.rl_module(rl_module_spec=RLModuleSpec(policy_class(run), model_config=network_of(run)))
        self.training(
            lr=algo.lr,
            gamma=algo.gamma,
            lambda_=algo.gae_lambda,
            clip_param=algo.update.clip,
            entropy_coeff=algo.entropy,
            train_batch_size_per_learner=algo.batch // learners,
            minibatch_size=algo.minibatch // learners,
            num_epochs=algo.update.epochs,
            use_kl_loss=False,
            grad_clip=algo.grad_clip,
            vf_loss_coeff=algo.value_weight,
            vf_clip_param=algo.value_error_limit or math.inf,
        )
        return self
