"""The masked policy: an MLP on the flat observation with a value head; illegal actions have probability 0."""

from typing import Any

import torch
from gymnasium import spaces
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import nn

from ante.engine.actions import N_DISCRETE
from ante.env.layout import masked_space
from ante.training.numerics.distributions import OFF
from ante.training.policies.layers import heads, shared_layers


class MaskedPolicy(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]
    """Shared layers with a head of action logits and a value head.

    Observation: {"observations": float32 (n, size), "action_mask": (n, actions), 1 = legal}.
    """

    @staticmethod
    def spaces() -> tuple[spaces.Space[Any], spaces.Space[Any]]:
        """Return the spaces of observations (the masked flat view) and actions (the discrete view)."""
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
        """Return the value of each observation, shape (n,)."""
        features = self._outputs(batch)[1] if embeddings is None else embeddings
        return self.value(features).squeeze(-1)
