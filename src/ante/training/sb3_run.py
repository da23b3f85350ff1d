"""Algorithms of Stable-Baselines3 as a run: its batches, its numbers, its checkpoints. Needs the extra `sb3`.

A checkpoint holds SB3's own archive (policy and optimiser) to go on with, and the policy as a module of ours, so that
evaluation, videos, leagues and releases take it like any other. Only MaskablePPO knows masks. To A2C and DQN every
action is open; an illegal one changes nothing, is worth nothing and costs a step (metrics.csv counts them: `illegal`).
Whoever plays with such a policy afterwards leaves its illegal actions out, as with every policy.
"""

import json
import math
import time
from pathlib import Path
from typing import Any

import torch
from stable_baselines3 import DQN
from stable_baselines3.common.base_class import BaseAlgorithm
from torch import nn

from ante.training.config import TrainConfig, value_at
from ante.training.external import ExternalAlgorithm
from ante.training.packed import PackedPolicy
from ante.training.policies import MODULE_IN_CHECKPOINT, POLICIES
from ante.training.sb3 import MAKERS

ARCHIVE, ABOUT = "sb3.zip", "sb3.json"
SHARP = 1000.0  # logits of a DQN's policy per unit of value: sampling from them takes the highest value
LOSSES = ("train/policy_gradient_loss", "train/policy_loss", "train/loss")  # MaskablePPO, A2C, DQN


class Sb3Algorithm(ExternalAlgorithm):
    """One of `sb3.MAKERS`, a batch at a time."""

    def __init__(self, config: TrainConfig) -> None:
        self._config = config
        self.model: BaseAlgorithm = MAKERS[config.algo](config)
        self._follow_schedules()

    def _follow_schedules(self) -> None:
        """Rates follow the steps of the whole run. (SB3's own schedules follow those of one call of `learn`.)"""
        config, model = self._config, self.model
        model.lr_schedule = lambda _: value_at(config.lr, model.num_timesteps)
        if isinstance(model, DQN):
            explore = ((0, model.exploration_initial_eps), (max(1, config.steps // 10), model.exploration_final_eps))
            model.exploration_schedule = lambda _: value_at(explore, model.num_timesteps)

    def train(self) -> dict[str, Any]:
        """See ExternalAlgorithm."""
        model, env, config = self.model, self.model.env, self._config
        steps, games, illegal = model.num_timesteps, env.tally.games, env.illegal
        if hasattr(model, "ent_coef"):
            model.ent_coef = value_at(config.entropy, steps)
        begin = time.perf_counter()
        model.learn(-(-config.batch // config.games) * config.games, log_interval=None, reset_num_timesteps=False)
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
        return {"env_runners": runners, "learners": {"default_policy": told(model) | seconds}}

    def policy(self) -> PackedPolicy:
        """See ExternalAlgorithm."""
        seen, answered = PackedPolicy.spaces()
        found = PackedPolicy(
            observation_space=seen, action_space=answered, model_config=POLICIES["mlp"].settings(self._config)
        )
        copy_into(found, self.model)
        return found

    def save_to_path(self, folder: str) -> None:
        """See ExternalAlgorithm. A DQN's replay buffer is left out: a resumed run fills it again."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        about = {"algo": self._config.algo, "timesteps": self.model.num_timesteps}
        (place / ABOUT).write_text(json.dumps(about))
        self.model.save(place / ARCHIVE, exclude=["lr_schedule", "exploration_schedule", "policy_kwargs"])
        self.policy().save_to_path(str((place / MODULE_IN_CHECKPOINT.relative_to("algorithm")).resolve()))

    def restore_from_path(self, folder: str) -> None:
        """See ExternalAlgorithm. The games are other ones than those of the beginning."""
        self.model.set_parameters(str(Path(folder) / ARCHIVE), device="cpu")
        steps = int(json.loads((Path(folder) / ABOUT).read_text())["timesteps"])
        self.model.num_timesteps = steps
        self.model.set_random_seed(self._config.seed + steps)
        if isinstance(self.model, DQN):
            self.model.learning_starts += steps


def told(model: BaseAlgorithm) -> dict[str, float]:
    """What SB3 says of its last update, by the names that RLlib's learner uses; NaN where it says nothing."""
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
    """The policy has the weights of SB3's network. A DQN's values become logits that leave no doubt; it has no state value."""
    net = model.q_net if isinstance(model, DQN) else model.policy
    layers = net.features_extractor.layers.state_dict()
    layers["0.weight"] = layers["0.weight"].t()  # packed.FirstLayer keeps a row for each input
    policy.trunk.load_state_dict(layers)
    head: nn.Linear = net.q_net[-1] if isinstance(model, DQN) else net.action_net
    scale = SHARP if isinstance(model, DQN) else 1.0
    with torch.no_grad():
        policy.policy.weight.copy_(head.weight * scale)
        policy.policy.bias.copy_(head.bias * scale)
        if isinstance(model, DQN):
            policy.value.weight.zero_()
            policy.value.bias.zero_()
        else:
            policy.value.load_state_dict(net.value_net.state_dict())
