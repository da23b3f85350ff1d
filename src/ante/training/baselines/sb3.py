"""Stable-Baselines3: a VecEnv of games, and its algorithms configured from a TrainConfig. Needs the extra `sb3`."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import Wrapper
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C, DQN
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecEnv
from torch import nn

from ante.engine.actions import N_DISCRETE
from ante.engine.run import one_seed
from ante.env.games import Games
from ante.env.layout import masked_space
from ante.training.sampling.fragment import EpisodeTally
from ante.training.sampling.games import env_config
from ante.training.settings.algorithms import ActorCritic, Sb3Dqn, Sb3MaskablePpo
from ante.training.settings.config import TrainConfig
from ante.training.settings.policies import Mlp
from ante.training.settings.schedule import value_at


class GamesVecEnv(VecEnv):  # type: ignore[misc]
    """All of `games` as one VecEnv: flat observations, actions of the discrete view, masks by `action_masks`.

    As in SB3, a finished game is reset in the same step; its info then holds `terminal_observation`,
    `TimeLimit.truncated` and `episode` (r, the sum of rewards, and l, the steps).

    An illegal action changes nothing and has reward 0.

    tally    statistics of finished games
    illegal  total number of illegal actions
    seconds  time spent stepping games, until set to 0
    """

    def __init__(self, games: Games) -> None:
        self.games, self.render_mode = games, None
        self.tally, self.illegal, self.seconds = EpisodeTally(np.zeros(games.n)), 0, 0.0
        self._returns = np.zeros(games.n)
        self._actions = np.zeros(games.n, dtype=np.int64)
        self._whole = np.zeros(games.n, dtype=np.bool_)  # no game starts from a saved position
        super().__init__(games.n, masked_space()["observations"], Discrete(N_DISCRETE))

    def reset(self) -> NDArray[np.float32]:
        """Reset all games, (n, FLAT_SIZE); after `seed(s)` game i has seed s + i, as in the other environments."""
        for i, seed in enumerate(self._seeds):
            if seed is not None:
                self.games.rngs[i] = one_seed(seed)
        self._reset_seeds()
        self._returns[:] = 0.0
        self.tally.returns[:] = 0.0
        self.games.reset()
        return self.games.flat.copy()

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Store the actions, (n,)."""
        self._actions[:] = actions

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Step all games: observations (n, FLAT_SIZE), rewards (n,), dones (n,), infos."""
        games, begin = self.games, time.perf_counter()
        self.illegal += int((games.masks[np.arange(games.n), self._actions] == 0).sum())
        games.step(self._actions)
        rewards, done = games.rewards.astype(np.float32), games.outcome != 0
        self._returns += games.rewards
        infos: list[dict[str, Any]] = [{} for _ in range(games.n)]
        ended = np.flatnonzero(done)
        for i in ended:
            infos[i] = {
                "terminal_observation": games.flat[i].copy(),
                "TimeLimit.truncated": bool(games.truncated[i]),
                "episode": {"r": float(self._returns[i]), "l": int(games.steps[i])},
            }
        self._returns[ended] = 0.0
        self.tally.add(games, ended, self._whole)
        games.reset(ended)
        self.seconds += time.perf_counter() - begin
        return games.flat.copy(), rewards, done, infos

    @property
    def ended(self) -> int:
        """Total number of finished games."""
        return self.tally.games

    def action_masks(self) -> list[NDArray[np.int8]]:
        """Return the mask of each game, (N_DISCRETE,) int8, as views."""
        return list(self.games.masks)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method of each game; `action_masks` is the only one."""
        if method_name != "action_masks":
            raise AttributeError(f"games have no method {method_name!r}; the only one is action_masks")
        masks = self.action_masks()
        return [masks[i] for i in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of this environment, once per game."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raise AttributeError: games have no attributes."""
        raise AttributeError(f"{attr_name!r} cannot be set: games have no attributes")

    def env_is_wrapped(self, wrapper_class: type[Wrapper[Any, Any, Any, Any]], indices: Any = None) -> list[bool]:
        """Return False for each game."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Release nothing: no resources are held."""


class Trunk(BaseFeaturesExtractor):  # type: ignore[misc]
    """The shared layers of `MaskedPolicy` as feature extractor. SB3 adds linear heads for actions and value."""

    def __init__(self, observation_space: Box, hidden: Sequence[int]) -> None:
        super().__init__(observation_space, hidden[-1])
        layers: list[nn.Module] = []
        size = observation_space.shape[0]
        for width in hidden:
            layers += [nn.Linear(size, width), nn.SiLU()]
            size = width
        self.layers = nn.Sequential(*layers)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Map (m, FLAT_SIZE) to (m, last width)."""
        return self.layers(observations)


def network(config: TrainConfig, heads: Any) -> dict[str, Any]:
    """Return SB3's policy arguments for the run's mlp network with linear heads."""
    assert isinstance(config.policy, Mlp)
    extractor = {"features_extractor_class": Trunk, "features_extractor_kwargs": {"hidden": config.policy.hidden}}
    return {**extractor, "net_arch": heads}


def shared(config: TrainConfig) -> dict[str, Any]:
    """Return the arguments common to all three algorithms, on the CPU; schedules use their initial value."""
    return {
        "policy": "MlpPolicy",
        "env": GamesVecEnv(Games(config.resources.games_per_runner, **env_config(config))),
        "learning_rate": value_at(config.algo.lr, 0),
        "gamma": config.algo.gamma,
        "max_grad_norm": config.algo.grad_clip,
        "seed": config.seed,
        "device": "cpu",
    }


def actor_critic(config: TrainConfig) -> dict[str, Any]:
    """Return the arguments common to MaskablePPO and A2C: one batch per update."""
    algo = config.algo
    assert isinstance(algo, ActorCritic)
    return {
        **shared(config),
        "n_steps": -(-algo.batch // config.resources.games_per_runner),
        "gae_lambda": algo.gae_lambda,
        "ent_coef": value_at(algo.entropy, 0),
        "vf_coef": algo.value_weight,
        "policy_kwargs": network(config, {"pi": [], "vf": []}),
    }


def maskable_ppo(config: TrainConfig) -> MaskablePPO:
    """Return a MaskablePPO with the games, network, batch and epochs of this configuration."""
    algo = config.algo
    assert isinstance(algo, Sb3MaskablePpo)
    passes = {"batch_size": algo.minibatch, "n_epochs": algo.epochs, "clip_range": algo.clip}
    return MaskablePPO(**actor_critic(config), **passes)


def a2c(config: TrainConfig) -> A2C:
    """Return an A2C with one gradient step per batch and without action masks."""
    return A2C(**actor_critic(config))


def dqn(config: TrainConfig) -> DQN:
    """Return a DQN that replays each step `epochs` times on average, without action masks."""
    algo, games = config.algo, config.resources.games_per_runner
    assert isinstance(algo, Sb3Dqn)
    every = max(1, algo.minibatch // (games * algo.epochs))
    return DQN(
        **shared(config),
        buffer_size=REPLAYED,
        learning_starts=algo.batch,
        batch_size=algo.minibatch,
        train_freq=every,
        gradient_steps=max(1, every * games * algo.epochs // algo.minibatch),
        policy_kwargs=network(config, []),
    )


REPLAYED = 50_000  # capacity of the replay buffer in steps of 9.5 kB
MAKERS: dict[str, Callable[[TrainConfig], BaseAlgorithm]] = {
    "sb3-maskable-ppo": maskable_ppo,
    "sb3-a2c": a2c,
    "sb3-dqn": dqn,
}
