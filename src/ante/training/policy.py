"""The masked policy: an MLP on the flat observation, with a value head; illegal actions have no probability."""

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import nn

from ante.engine.actions import N_DISCRETE, to_macro
from ante.env.games import Games
from ante.env.layout import masked_space
from ante.training.chances import OFF
from ante.training.layers import heads, shared_layers
from ante.watch.notes import Note, note_of


class MaskedPolicy(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]
    """Shared layers, a head of action logits and a head for the value.

    Observation: {"observations": float32 (n, size), "action_mask": (n, actions), 1 = legal}.
    """

    @staticmethod
    def spaces() -> tuple[spaces.Space[Any], spaces.Space[Any]]:
        """Of observations and actions: the masked flat view (packed rows hold the same), the discrete view."""
        return masked_space(), spaces.Discrete(N_DISCRETE)

    def setup(self) -> None:
        """Build the layers from model_config["hidden"]."""
        hidden = self.model_config["hidden"]
        self.trunk = nn.Sequential(*shared_layers(self.observation_space["observations"].shape[0], hidden))
        self.policy, self.value = heads(hidden[-1], int(self.action_space.n))

    def _outputs(self, batch: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
        observation = batch[Columns.OBS]
        features = self.trunk(observation["observations"].float())
        logits = self.policy(features).masked_fill(observation["action_mask"] == 0, OFF)
        return logits, features

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, torch.Tensor]:
        return {Columns.ACTION_DIST_INPUTS: self._outputs(batch)[0]}

    def _forward_train(self, batch: dict[str, Any], **_: Any) -> dict[str, torch.Tensor]:
        logits, features = self._outputs(batch)
        return {Columns.ACTION_DIST_INPUTS: logits, Columns.EMBEDDINGS: features}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Value of each observation, shape (n,)."""
        features = self._outputs(batch)[1] if embeddings is None else embeddings
        return self.value(features).squeeze(-1)


class PolicyPlayer:
    """A trained policy as evaluation and videos ask for it: numbers of the discrete view, sampled or the likeliest."""

    discrete = True
    reorder = "none"

    def __init__(self, policy: MaskedPolicy, name: str, likeliest: bool = False, seed: int = 0) -> None:
        self.name, self._policy, self._likeliest = name, policy, likeliest
        self._generator = torch.Generator().manual_seed(seed)

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """One number of the discrete view for each game (n,) int64, -1 where a game is not played any more."""
        actions = np.full(games.n, -1, dtype=np.int64)
        with torch.inference_mode():
            logits = self._policy.forward_inference(seen_by(games, playing))[Columns.ACTION_DIST_INPUTS]
            if self._likeliest:
                chosen = logits.argmax(dim=1)
            else:
                chosen = torch.multinomial(logits.softmax(dim=1), 1, generator=self._generator)[:, 0]
        actions[playing] = chosen.numpy()
        return actions

    def explain(self, games: Games, taken: int) -> Note:
        """See `watch.notes.Explained`. Cards are selected one by one: `taken` is one choice among those at its end."""
        seen = seen_by(games, np.ones(1, dtype=np.bool_))
        with torch.inference_mode():
            logits = self._policy.forward_inference(seen)[Columns.ACTION_DIST_INPUTS]
            value = float(self._policy.compute_values(seen)[0])
        return note_on_numbers(games, logits.softmax(dim=1)[0].numpy(), taken, value)


def note_on_numbers(games: Games, chances: NDArray[np.float32], taken: int, value: float) -> Note:
    """The Note of a player with these chances of every number of the discrete view, (actions,)."""
    numbers = np.flatnonzero(games.masks[0])
    decisions = np.array([to_macro(games.states[0], number) for number in numbers])
    return note_of(decisions, chances[numbers], taken, value)


def seen_by(games: Games, playing: NDArray[np.bool_]) -> dict[str, Any]:
    """The observations of these games as RLlib hands them to a module."""
    observations, masks = torch.from_numpy(games.flat[playing]), torch.from_numpy(games.masks[playing])
    return {Columns.OBS: {"observations": observations, "action_mask": masks}}
