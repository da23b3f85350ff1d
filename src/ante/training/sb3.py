"""Games for Stable-Baselines3: its VecEnv interface, and its algorithms made from a TrainConfig. Needs the extra `sb3`."""

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
from ante.env.games import Games, one_seed
from ante.env.layout import masked_space
from ante.training.config import TrainConfig, value_at
from ante.training.games import env_config
from ante.training.rollout import Tally


class GamesVecEnv(VecEnv):  # type: ignore[misc]
    """All of `games` as one VecEnv: flat observations, numbers of the discrete view, masks by `action_masks`.

    As SB3 has it, a game that ends is dealt anew in the same step; its info then holds `terminal_observation`,
    `TimeLimit.truncated` and `episode` (r, the sum of rewards, and l, the steps).

    An illegal action changes nothing and is worth nothing.

    tally    statistics of the games that ended
    illegal  how many actions were not legal, since the beginning
    seconds  spent in games, since somebody set it to 0
    """

    def __init__(self, games: Games) -> None:
        self.games, self.render_mode = games, None
        self.tally, self.illegal, self.seconds = Tally(np.zeros(games.n)), 0, 0.0
        self._returns = np.zeros(games.n)
        self._actions = np.zeros(games.n, dtype=np.int64)
        self._whole = np.zeros(games.n, dtype=np.bool_)  # no game begins in the middle
        super().__init__(games.n, masked_space()["observations"], Discrete(N_DISCRETE))

    def reset(self) -> NDArray[np.float32]:
        """All games begin, (n, FLAT_SIZE); after `seed(s)` game i is what the other environments deal for seed s + i."""
        for i, seed in enumerate(self._seeds):
            if seed is not None:
                self.games.rngs[i] = one_seed(seed)
        self._reset_seeds()
        self._returns[:] = 0.0
        self.tally.returns[:] = 0.0
        self.games.reset()
        return self.games.flat.copy()

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Remember the actions, (n,)."""
        self._actions[:] = actions

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Take them: observations (n, FLAT_SIZE), rewards (n,), which games ended (n,), infos."""
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
        """Games that ended since the beginning."""
        return self.tally.games

    def action_masks(self) -> list[NDArray[np.int8]]:
        """The mask of each game, (N_DISCRETE,) int8, views."""
        return list(self.games.masks)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """One answer a game: `action_masks` is the only method."""
        if method_name != "action_masks":
            raise AttributeError(f"games have no method {method_name!r}: only action_masks")
        masks = self.action_masks()
        return [masks[i] for i in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of this environment, the same for each game."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Games have no attributes of their own."""
        raise AttributeError(f"{attr_name!r} cannot be set: games have no attributes of their own")

    def env_is_wrapped(self, wrapper_class: type[Wrapper[Any, Any, Any, Any]], indices: Any = None) -> list[bool]:
        """No game is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Nothing is held that must be let go."""


class Trunk(BaseFeaturesExtractor):  # type: ignore[misc]
    """The shared layers of `MaskedPolicy`. SB3 puts a linear head for actions and one for the value on top."""

    def __init__(self, observation_space: Box, hidden: Sequence[int]) -> None:
        super().__init__(observation_space, hidden[-1])
        layers: list[nn.Module] = []
        size = observation_space.shape[0]
        for width in hidden:
            layers += [nn.Linear(size, width), nn.SiLU()]
            size = width
        self.layers = nn.Sequential(*layers)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """(m, FLAT_SIZE) -> (m, last width)."""
        return self.layers(observations)


def network(config: TrainConfig, heads: Any) -> dict[str, Any]:
    """The network of the run's mlp policy, as SB3 asks for it; heads are single linear layers on its last one."""
    extractor = {"features_extractor_class": Trunk, "features_extractor_kwargs": {"hidden": config.hidden}}
    return {**extractor, "net_arch": heads}


def shared(config: TrainConfig) -> dict[str, Any]:
    """What all three are asked for alike, on the CPU; schedules begin with their first value."""
    return {
        "policy": "MlpPolicy",
        "env": GamesVecEnv(Games(config.games, **env_config(config))),
        "learning_rate": value_at(config.lr, 0),
        "gamma": config.gamma,
        "max_grad_norm": config.grad_clip,
        "seed": config.seed,
        "device": "cpu",
    }


def actor_critic(config: TrainConfig) -> dict[str, Any]:
    """What MaskablePPO and A2C are asked for alike: an update learns from one batch."""
    return {
        **shared(config),
        "n_steps": -(-config.batch // config.games),
        "gae_lambda": config.gae_lambda,
        "ent_coef": value_at(config.entropy, 0),
        "vf_coef": config.value_weight,
        "policy_kwargs": network(config, {"pi": [], "vf": []}),
    }


def maskable_ppo(config: TrainConfig) -> MaskablePPO:
    """MaskablePPO with the games, network, batch and epochs of this configuration."""
    passes = {"batch_size": config.minibatch, "n_epochs": config.epochs, "clip_range": config.clip}
    return MaskablePPO(**actor_critic(config), **passes)


def a2c(config: TrainConfig) -> A2C:
    """A2C, a gradient step for each batch. It knows no masks."""
    return A2C(**actor_critic(config))


def dqn(config: TrainConfig) -> DQN:
    """DQN, each step replayed `epochs` times on average, in minibatches. It knows no masks."""
    every = max(1, config.minibatch // (config.games * config.epochs))
    return DQN(
        **shared(config),
        buffer_size=REPLAYED,
        learning_starts=config.batch,
        batch_size=config.minibatch,
        train_freq=every,
        gradient_steps=max(1, every * config.games * config.epochs // config.minibatch),
        policy_kwargs=network(config, []),
    )


REPLAYED = 50_000  # steps that a DQN remembers: 9.5 kB each
MAKERS: dict[str, Callable[[TrainConfig], BaseAlgorithm]] = {
    "sb3-maskable-ppo": maskable_ppo,
    "sb3-a2c": a2c,
    "sb3-dqn": dqn,
}
