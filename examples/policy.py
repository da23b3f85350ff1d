"""A custom policy: a linear layer on the flat observation.

    ante train --policy.kind examples.policy:Linear

In an installed package, declare the settings class as an entry point and select it by that name:

    [project.entry-points."ante.policies"]
    linear = "my_package.policy:Linear"
"""

from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.core.rl_module.torch import TorchRLModule

from ante.engine.actions import N_DISCRETE
from ante.env.games import Games
from ante.env.layout import FLAT_SIZE
from ante.training.numerics import torch_ops
from ante.training.numerics.packed_rows import flat_row_t, octets_of, pack_flat
from ante.training.policies.protocol import CategoricalPolicy
from ante.training.settings.field import setting
from ante.training.settings.policies import PolicySettings


class Linear(PolicySettings):
    """Settings: `--policy.scale`."""

    implementation: ClassVar[str] = "examples.policy:LinearPolicy"

    kind: str = "examples.policy:Linear"
    scale: float = setting(0.01, "Standard deviation of the initial weights.", "Rarely.", gt=0)


class LinearPolicy(CategoricalPolicy, TorchRLModule):  # type: ignore[misc]
    """Logits and value, linear in the flat observation."""

    row_t = flat_row_t  # dtype of one packed observation
    flat = True  # `pack` reads games.flat

    def setup(self) -> None:
        """Build the layers; model_config contains the settings."""
        self.policy, self.value = torch.nn.Linear(FLAT_SIZE, N_DISCRETE), torch.nn.Linear(FLAT_SIZE, 1)
        torch.nn.init.normal_(self.policy.weight, std=self.model_config["scale"])

    def pack(self, games: Games, out: NDArray[Any]) -> None:
        """See GamePolicy."""
        pack_flat(games.flat, games.masks, out)

    def outputs(self, rows: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """See CategoricalPolicy, which samples from the logits and evaluates actions."""
        octets = torch.from_numpy(octets_of(rows)).to(self.device) if isinstance(rows, np.ndarray) else rows
        seen = torch_ops.unpack_octets(octets)
        return self.policy(seen), torch_ops.legal_of(octets), self.value(seen)[:, 0]
