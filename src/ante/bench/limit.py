"""The upper bound set by the network alone: forward passes, gradients and Adam on prepared rows.

Two implementations of the same network: `sparse`, as in the fast path (sparse first layer, hand-written gradient), and
`dense` (plain torch with autograd).
"""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray

from ante.engine.actions import N_DISCRETE
from ante.env.layout import masked_space
from ante.training.numerics.packed_rows import unpack
from ante.training.numerics.precision import precision
from ante.training.policies.mlp import MaskedPolicy
from ante.training.policies.mlp_rows import CastNet, FilledRows, PackedPolicy
from ante.training.settings.config import TrainConfig


def limits(config: TrainConfig, rows: NDArray[Any], bf16: bool) -> dict[str, Callable[[], int]]:
    """Return functions, by name, that do the network's work of one iteration and return the number of rows."""
    word = "bf16" if bf16 else "float32"
    return {
        f"network alone, sparse, {word}": SparseWork(config, rows, bf16).iterate,
        f"network alone, dense, {word}": DenseWork(config, rows, bf16).iterate,
    }


def pieces(config: TrainConfig, n: int) -> list[NDArray[np.int64]]:
    """Return the minibatches of one epoch as indices."""
    return np.array_split(np.random.default_rng(0).permutation(n), max(1, n // config.algo.minibatch))


def network(kind: type[MaskedPolicy], config: TrainConfig) -> MaskedPolicy:
    """Return a new policy of this configuration's size."""
    return kind(
        observation_space=masked_space(),
        action_space=gymnasium.spaces.Discrete(N_DISCRETE),
        model_config=config.policy.network(),
    )


class SparseWork:
    """The network as in the fast path, without packing, sampling and loss."""

    def __init__(self, config: TrainConfig, rows: NDArray[Any], bf16: bool) -> None:
        self.config, self.n = config, len(rows)
        self.dtype = torch.bfloat16 if bf16 else torch.float32
        self.policy = network(PackedPolicy, config)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-5, fused=True)
        self.played = [
            FilledRows(rows[i : i + config.resources.games_per_runner])
            for i in range(0, self.n, config.resources.games_per_runner)
        ]
        self.staged, self.pieces = FilledRows(rows), pieces(config, self.n)
        self.slopes = torch.randn(self.n, N_DISCRETE) / self.n, torch.randn(self.n) / self.n

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def iterate(self) -> int:
        """Run forward passes over all rows, then all gradient steps; return the number of rows."""
        net = CastNet(self.policy, self.dtype)
        for rows in self.played:
            outputs(net, rows)
        for _ in range(self.config.algo.update[0]):
            for which in self.pieces:
                rows, net = self.staged[which], CastNet(self.policy, self.dtype)
                found = net.gradients(rows, outputs(net, rows), *(slope[: len(which)] for slope in self.slopes))
                for parameter, gradient in zip(self.policy.parameters(), found, strict=True):
                    parameter.grad = gradient
                self.optimizer.step()
        return self.n


def outputs(net: CastNet, rows: FilledRows) -> list[Any]:
    """Compute all layers and both heads of these rows; return the layers."""
    features = net.features(rows)
    net.logits(features[-1].kept)
    net.values(features[-1].kept)
    return features


class DenseWork:
    """The same network on dense float32 observations with autograd, bf16 by autocast."""

    def __init__(self, config: TrainConfig, rows: NDArray[Any], bf16: bool) -> None:
        self.config, self.n = config, len(rows)
        self.bf16 = bf16
        self.policy = network(MaskedPolicy, config)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-5, fused=True)
        flat = torch.from_numpy(unpack(rows)[0])
        self.played = flat.split(config.resources.games_per_runner)
        self.pieces = [flat[torch.from_numpy(which)] for which in pieces(config, self.n)]
        self.slopes = torch.randn(self.n, N_DISCRETE) / self.n, torch.randn(self.n) / self.n

    def heads(self, flat: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (m, actions) and values (m,)."""
        with precision(self.bf16, "cpu"):  # exited after each pass, because autocast caches casts of weights until then
            features = self.policy.trunk(flat)
            return self.policy.policy(features), self.policy.value(features).squeeze(-1)

    def iterate(self) -> int:
        """Run forward passes over all rows, then all gradient steps; return the number of rows."""
        with torch.inference_mode():
            for flat in self.played:
                self.heads(flat)
        for _ in range(self.config.algo.update[0]):
            for flat in self.pieces:
                heads = self.heads(flat)
                slopes = [slope[: len(flat)].to(head.dtype) for slope, head in zip(self.slopes, heads, strict=True)]
                self.optimizer.zero_grad(set_to_none=True)
                torch.autograd.backward(heads, slopes)
                self.optimizer.step()
        return self.n
