"""Games for Stable-Baselines3: its VecEnv interface, and MaskablePPO made from a TrainConfig. Needs the extra `sb3`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import Wrapper
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecEnv
from torch import nn

from ante.engine.actions import N_DISCRETE
from ante.env.games import Games, one_seed
from ante.env.layout import masked_space
from ante.training.algorithm import env_config
from ante.training.config import TrainConfig, value_at


class GamesVecEnv(VecEnv):  # type: ignore[misc]
    """All of `games` as one VecEnv: flat observations, numbers of the discrete view, masks by `action_masks`.

    As SB3 has it, a game that ends is dealt anew in the same step; its info then holds `terminal_observation`,
    `TimeLimit.truncated` and `episode` (r, the sum of rewards, and l, the steps).
    """

    def __init__(self, games: Games) -> None:
        self.games, self.render_mode = games, None
        self.ended = 0  # games, since the beginning
        self._returns = np.zeros(games.n)
        self._actions = np.zeros(games.n, dtype=np.int64)
        super().__init__(games.n, masked_space()["observations"], Discrete(N_DISCRETE))

    def reset(self) -> NDArray[np.float32]:
        """All games begin, (n, FLAT_SIZE); after `seed(s)` game i is what the other environments deal for seed s + i."""
        for i, seed in enumerate(self._seeds):
            if seed is not None:
                self.games.rngs[i] = one_seed(seed)
        self._reset_seeds()
        self._returns[:] = 0.0
        self.games.reset()
        return self.games.flat.copy()

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Remember the actions, (n,)."""
        self._actions[:] = actions

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Take them: observations (n, FLAT_SIZE), rewards (n,), which games ended (n,), infos."""
        games = self.games
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
        self.ended += len(ended)
        games.reset(ended)
        return games.flat.copy(), rewards, done, infos

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


def maskable_ppo(config: TrainConfig) -> MaskablePPO:
    """MaskablePPO with the games, network, batch and epochs of this configuration, on the CPU; no schedules."""
    n = config.games
    return MaskablePPO(
        "MlpPolicy",
        GamesVecEnv(Games(n, **env_config(config))),
        learning_rate=value_at(config.lr, 0),
        n_steps=-(-config.batch // n),
        batch_size=config.minibatch,
        n_epochs=config.epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip,
        ent_coef=value_at(config.entropy, 0),
        vf_coef=config.value_weight,
        max_grad_norm=config.grad_clip,
        policy_kwargs={
            "features_extractor_class": Trunk,
            "features_extractor_kwargs": {"hidden": config.hidden},
            "net_arch": {"pi": [], "vf": []},
        },
        seed=config.seed,
        device="cpu",
    )
