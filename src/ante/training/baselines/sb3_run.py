"""Stable-Baselines3 algorithms as a run: batches, metrics, checkpoints. Needs the extra `sb3`.

A checkpoint contains SB3's parameters (policy and optimiser) as arrays, without the pickles of SB3's archive, and the
policy as a module of ours, so that evaluation, videos, leagues and releases accept it. Only MaskablePPO supports
masks. A2C and DQN can choose any action; an illegal one changes nothing, has reward 0 and costs a step (metrics.csv
counts them: `illegal`). Players made from such a policy mask illegal actions, as with every policy.
"""

import math
import time
from typing import Any

import numpy as np
import torch
from stable_baselines3 import DQN
from stable_baselines3.common.base_class import BaseAlgorithm
from torch import nn

from ante.training.baselines.external import ExternalAlgorithm
from ante.training.baselines.sb3 import MAKERS
from ante.training.policies.mlp_rows import PackedPolicy
from ante.training.settings.algorithms import ActorCritic
from ante.training.settings.config import TrainConfig
from ante.training.settings.schedule import value_at

GREEDY_SCALE = 1000.0  # logits of a DQN's policy per unit of value: sampling from them takes the highest value
LOSSES = ("train/policy_gradient_loss", "train/policy_loss", "train/loss")  # MaskablePPO, A2C, DQN


class Sb3Algorithm(ExternalAlgorithm):
    """One of `sb3.MAKERS`, trained one batch at a time."""

    def __init__(self, config: TrainConfig) -> None:
        self._config = config
        self.model: BaseAlgorithm = MAKERS[config.algo.kind](config)
        self._follow_schedules()

    def _follow_schedules(self) -> None:
        """Set rates by the steps of the whole run. (SB3's own schedules span one call of `learn`.)"""
        config, model = self._config, self.model
        model.lr_schedule = lambda _: value_at(config.algo.lr, model.num_timesteps)
        if isinstance(model, DQN):
            explore = ((0, model.exploration_initial_eps), (max(1, config.steps // 10), model.exploration_final_eps))
            model.exploration_schedule = lambda _: value_at(explore, model.num_timesteps)

    def train(self) -> dict[str, Any]:
        """See ExternalAlgorithm."""
        model, env, config = self.model, self.model.env, self._config
        steps, games, illegal = model.num_timesteps, env.tally.games, env.illegal
        if isinstance(config.algo, ActorCritic):
            model.ent_coef = value_at(config.algo.entropy, steps)
        begin = time.perf_counter()
        together = config.resources.games_per_runner
        model.learn(-(-config.algo.batch // together) * together, log_interval=None, reset_num_timesteps=False)
        played = model.num_timesteps - steps
        runners = {
            "num_env_steps_sampled": played,
            "num_episodes": env.tally.games - games,
            "games_counted": len(env.tally.last),
            "illegal": (env.illegal - illegal) / played,
            **env.tally.means(),
        }
        seconds = {"learn_seconds": time.perf_counter() - begin - env.seconds}
        runners["sample_seconds"], env.seconds = env.seconds, 0.0
        return {"env_runners": runners, "learners": {"default_policy": logged_means(model) | seconds}}

    def policy(self) -> PackedPolicy:
        """See ExternalAlgorithm."""
        seen, answered = PackedPolicy.spaces()
        found = PackedPolicy(observation_space=seen, action_space=answered, model_config=self._config.policy.network())
        copy_into(found, self.model)
        return found

    def own_state(self) -> dict[str, Any]:
        """See ExternalAlgorithm. A DQN's replay buffer is left out: a resumed run fills it again."""
        return {"timesteps": self.model.num_timesteps, "parameters": arrays_of(self.model.get_parameters())}

    def restore(self, state: dict[str, Any]) -> None:
        """See ExternalAlgorithm. Sampling continues with new games."""
        self.model.set_parameters(tensors_of(state["parameters"]), device="cpu")
        steps = int(state["timesteps"])
        self.model.num_timesteps = steps
        self.model.set_random_seed(self._config.seed + steps)
        if isinstance(self.model, DQN):
            self.model.learning_starts += steps


def arrays_of(value: Any) -> Any:
    """Return nested dictionaries and lists with tensors converted to arrays."""
    if isinstance(value, torch.Tensor):
        return value.detach().numpy()
    if isinstance(value, dict):
        return {key: arrays_of(each) for key, each in value.items()}
    return [arrays_of(each) for each in value] if isinstance(value, list) else value


def tensors_of(value: Any) -> Any:
    """Return nested dictionaries and lists with arrays converted to tensors: the inverse of `arrays_of`."""
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value)
    if isinstance(value, dict):
        return {key: tensors_of(each) for key, each in value.items()}
    return [tensors_of(each) for each in value] if isinstance(value, list) else value


def logged_means(model: BaseAlgorithm) -> dict[str, float]:
    """Return SB3's metrics of its last update under the names of RLlib's learner; NaN for missing ones."""
    said = model.logger.name_to_value
    return {
        "policy_loss": next((float(said[name]) for name in LOSSES if name in said), math.nan),
        "vf_loss": float(said.get("train/value_loss", math.nan)),
        "entropy": -float(said.get("train/entropy_loss", math.nan)),
        "mean_kl_loss": float(said.get("train/approx_kl", math.nan)),
        "clipped": float(said.get("train/clip_fraction", math.nan)),
        "default_optimizer_learning_rate": float(model.policy.optimizer.param_groups[0]["lr"]),
    }


def copy_into(policy: PackedPolicy, model: BaseAlgorithm) -> None:
    """Copy the weights of SB3's network to the policy. A DQN's Q-values become near-greedy logits."""
    net = model.q_net if isinstance(model, DQN) else model.policy
    layers = net.features_extractor.layers.state_dict()
    layers["0.weight"] = layers["0.weight"].t()  # mlp_rows.FirstLayer stores one row per input
    policy.trunk.load_state_dict(layers)
    head: nn.Linear = net.q_net[-1] if isinstance(model, DQN) else net.action_net
    scale = GREEDY_SCALE if isinstance(model, DQN) else 1.0
    with torch.no_grad():
        policy.policy.weight.copy_(head.weight * scale)
        policy.policy.bias.copy_(head.bias * scale)
        if isinstance(model, DQN):
            policy.value.weight.zero_()
            policy.value.bias.zero_()
        else:
            policy.value.weight.copy_(net.value_net.weight)
            policy.value.bias.copy_(net.value_net.bias)
