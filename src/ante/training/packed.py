"""The masked MLP on packed rows: the same network as `MaskedPolicy`, sampled and learned without a dense vector.

On a CPU the first layer adds up the weight rows of the filled columns only, and loss and gradient come from one
kernel; on CUDA rows are unpacked on the device and everything is dense (`twins.py`).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ante.env.games import Games
from ante.training import kernels, twins
from ante.training.policy import MaskedPolicy
from ante.training.rows import (
    AT_BITS,
    AT_COUNTS,
    AT_MASK,
    BITS,
    COUNTS,
    MASK_BYTES,
    NUMBERS,
    flat_row_t,
    numbers_of,
    octets_of,
    pack_flat,
)


class FilledRows:
    """Packed rows as lists of their filled columns; indexing answers a minibatch of them.

    starts (n + 1,) int64, columns (filled,) int32, values (filled,) float32, legal (n, MASK_BYTES) uint8
    which  (m,) int64, the rows of this minibatch
    """

    def __init__(self, rows: NDArray[Any]) -> None:
        numbers, octets = numbers_of(rows), octets_of(rows)
        self.starts = np.zeros(len(rows) + 1, dtype=np.int64)
        kernels.count_filled(numbers, octets, len(NUMBERS), AT_COUNTS, len(COUNTS), AT_BITS, len(BITS), self.starts)
        self.columns = np.empty(self.starts[-1], dtype=np.int32)
        self.values = np.empty(self.starts[-1], dtype=np.float32)
        kernels.list_filled(
            numbers, octets, NUMBERS, COUNTS, BITS, AT_COUNTS, AT_BITS, self.starts, self.columns, self.values
        )
        self._masks = octets[:, AT_MASK : AT_MASK + MASK_BYTES]
        self.which = np.arange(len(rows))

    @property
    def legal(self) -> NDArray[np.uint8]:
        """Mask bytes of the minibatch, (m, MASK_BYTES)."""
        return self._masks[self.which]

    def __len__(self) -> int:
        """Rows of the minibatch."""
        return len(self.which)

    def __getitem__(self, which: NDArray[np.int64]) -> "FilledRows":
        """The rows at these indices of the whole; nothing is copied."""
        part = object.__new__(FilledRows)
        part.starts, part.columns, part.values, part._masks = self.starts, self.columns, self.values, self._masks
        part.which = which
        return part


class WholeStep(torch.autograd.Function):  # type: ignore[misc]
    """Network and PPO loss of a minibatch on a CPU, with the gradient of every parameter, written out by hand.

    SPEED: autograd under autocast casts the same tensors again and again; this takes two thirds of its time. Products
    are in `dtype` (bf16 or float32); the first layer, the value and all sums are in float32.
    """

    @staticmethod
    def forward(
        ctx: Any, policy: "PackedPolicy", rows: FilledRows, batch: tuple[Any, ...], weights: Any, *parameters: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Loss () and its five means; `parameters` are all of the policy's, in order."""
        net = policy.cast(product_dtype())
        features = net.features(rows)
        logits, values = net.logits(features[-1].kept).float(), net.values(features[-1].kept)
        slopes = torch.empty_like(logits), torch.empty_like(values)
        sums = torch.zeros(5, dtype=torch.float64)
        arrays = [slopes[0].numpy(), slopes[1].numpy(), sums.numpy()]
        kernels.ppo_loss(logits.numpy(), values.numpy(), rows.legal, *batch, *weights, *arrays)
        ctx.gradients = net.gradients(rows, features, *slopes)
        ctx.mark_non_differentiable(sums)
        return (sums[0] + weights[1] * sums[1] - weights[2] * sums[2]).float(), sums

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> tuple[Any, ...]:
        """What was found on the way."""
        whole = float(slopes[0]) == 1.0  # SPEED: nothing follows the loss, as a rule
        return None, None, None, None, *(ctx.gradients if whole else torch._foreach_mul(ctx.gradients, slopes[0]))


def product_dtype() -> torch.dtype:
    """bf16 within `precision`'s context, else float32."""
    return torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else torch.float32


@dataclass(slots=True)
class Features:
    """One layer's output: before the activation (m, width), and after it."""

    plain: torch.Tensor
    kept: torch.Tensor


class CastNet:
    """The layers of a PackedPolicy with weights in `dtype` for products on a CPU; no gradient is recorded."""

    def __init__(self, policy: "PackedPolicy", dtype: torch.dtype) -> None:
        self._first = policy.trunk[0]
        self._dtype = dtype
        linear = [layer for layer in policy.trunk if isinstance(layer, nn.Linear)]
        with torch.no_grad():
            self._layers = [(layer.weight.to(dtype), layer.bias.to(dtype)) for layer in linear]
            self._policy = policy.policy.weight.to(dtype), policy.policy.bias.to(dtype)
        self._value = policy.value

    def features(self, rows: FilledRows) -> list[Features]:
        """Outputs of all shared layers, first to last."""
        out = [activated(self._first.product(rows), self._dtype)]
        for weight, bias in self._layers:
            out.append(activated(torch.addmm(bias, out[-1].kept, weight.t()), self._dtype))
        return out

    def logits(self, features: torch.Tensor) -> torch.Tensor:
        """(m, actions) of the last layer's output."""
        weight, bias = self._policy
        return torch.addmm(bias, features, weight.t())

    def values(self, features: torch.Tensor) -> torch.Tensor:
        """(m,) float32 of the last layer's output."""
        return torch.mv(features.float(), self._value.weight[0]) + self._value.bias

    def gradients(
        self, rows: FilledRows, features: list[Features], d_logits: torch.Tensor, d_values: torch.Tensor
    ) -> list[torch.Tensor]:
        """Gradients of all parameters in the policy's order: shared layers, then policy, then value."""
        last, slope = features[-1].kept, d_logits.to(self._dtype)
        heads = [slope.t() @ last, d_logits.sum(dim=0)]
        heads += [torch.mv(last.t().float(), d_values).unsqueeze(0), d_values.sum().unsqueeze(0)]
        back = torch.addmm(torch.outer(d_values, self._value.weight[0]).to(self._dtype), slope, self._policy[0])
        found: list[torch.Tensor] = []
        for depth in range(len(features) - 1, 0, -1):
            slope = torch.ops.aten.silu_backward(back, features[depth].plain)
            found = [slope.t() @ features[depth - 1].kept, slope.sum(dim=0, dtype=torch.float32), *found]
            back = slope @ self._layers[depth - 1][0]
        slope = torch.ops.aten.silu_backward(back.float(), features[0].plain)
        first = self._first.weight_slope(rows, slope)
        return [first, slope.sum(dim=0), *(each.float() for each in found), *(each.float() for each in heads)]


def activated(plain: torch.Tensor, dtype: torch.dtype) -> Features:
    """A layer's output and its activation, cast for the next product."""
    return Features(plain, nn.functional.silu(plain).to(dtype))


class FirstLayer(nn.Module):  # type: ignore[misc]
    """A linear layer whose weight lies input by input, (inputs, width): a filled column is one stretch of memory."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, width))
        self.bias = nn.Parameter(torch.empty(width))
        bound = 1.0 / math.sqrt(inputs)  # as nn.Linear begins
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """A dense batch (m, inputs) -> (m, width)."""
        return x @ self.weight.to(x.dtype) + self.bias.to(x.dtype)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def product(self, rows: FilledRows) -> torch.Tensor:
        """The same of filled rows, (m, width) float32."""
        out = torch.empty((len(rows), self.weight.shape[1]))
        arrays = self.weight.detach().numpy(), self.bias.detach().numpy(), out.numpy()
        kernels.sparse_forward(rows.starts, rows.columns, rows.values, rows.which, *arrays)
        return out

    def weight_slope(self, rows: FilledRows, slope: torch.Tensor) -> torch.Tensor:
        """Gradient of the weight from that of `product`, (m, width) float32."""
        out = torch.zeros(self.weight.shape)
        kernels.sparse_backward(rows.starts, rows.columns, rows.values, rows.which, slope.numpy(), out.numpy())
        return out


class DeviceRows:
    """Packed rows in the memory of a CUDA device, copied once from pinned memory; indexing answers a minibatch."""

    def __init__(self, rows: NDArray[Any], device: torch.device) -> None:
        octets = torch.from_numpy(octets_of(rows))
        if device.type == "cuda":
            octets = octets.pin_memory()
        self._octets = octets.to(device, non_blocking=True)

    def __getitem__(self, which: NDArray[np.int64]) -> torch.Tensor:
        """(m, ROW_BYTES) uint8 on the device."""
        return self._octets[torch.from_numpy(which).to(self._octets.device)]


class PackedPolicy(MaskedPolicy):
    """MaskedPolicy, its layers and heads, on packed rows: a `RolloutPolicy`."""

    row_t = flat_row_t
    discrete = True
    flat = True

    def setup(self) -> None:
        """The layers of MaskedPolicy with another first one."""
        super().setup()
        first = self.trunk[0]
        self.trunk[0] = FirstLayer(first.in_features, first.out_features)

    @property
    def device(self) -> torch.device:
        """Where the weights lie."""
        return self.value.weight.device

    def pack(self, games: Games, out: NDArray[Any]) -> None:
        """Write the rows of all games: out (n,) flat_row_t, overwritten."""
        pack_flat(games.flat, games.masks, out)

    def heads(self, octets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits (m, actions) and values (m,) float32 of packed rows as octets (m, ROW_BYTES) on any device."""
        features = self.trunk(twins.unpack_octets(octets))
        return self.policy(features).float(), self.value(features).float().squeeze(-1)

    def cast(self, dtype: torch.dtype) -> CastNet:
        """The layers for products in `dtype` on a CPU; made anew when the weights have changed."""
        state = dtype, *(parameter._version for parameter in self.parameters())
        if getattr(self, "_cast_state", None) != state:
            self._cast_net, self._cast_state = CastNet(self, dtype), state
        return self._cast_net

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def act(self, rows: NDArray[Any], rng: torch.Generator) -> tuple[Any, Any, Any]:
        """Sample an action a row, as `RolloutPolicy.act`."""
        uniforms = torch.rand(len(rows), generator=rng)
        if self.device.type != "cpu":
            octets = DeviceRows(rows, self.device)[np.arange(len(rows))]
            logits, values = self.heads(octets)
            chosen, chances = twins.sample(logits, twins.legal_of(octets), uniforms.to(self.device))
            return chosen.cpu().numpy(), chances.cpu().numpy(), values.cpu().numpy()
        filled, net = FilledRows(rows), self.cast(product_dtype())
        features = net.features(filled)[-1].kept
        logits, values = net.logits(features).float(), net.values(features)
        actions, log_probs = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=np.float32)
        kernels.sample_masked(logits.numpy(), filled.legal, uniforms.numpy(), actions, log_probs)
        return actions, log_probs, values.numpy()

    def stage(self, rows: NDArray[Any]) -> FilledRows | DeviceRows:
        """All rows of an update, made ready once; index it for a minibatch."""
        return FilledRows(rows) if self.device.type == "cpu" else DeviceRows(rows, self.device)

    def evaluate(self, rows: Any, actions: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Log-probabilities, entropies and values, (m,) each with gradient; packed rows (NumPy) or octets (torch)."""
        octets = torch.from_numpy(octets_of(rows)).to(self.device) if isinstance(rows, np.ndarray) else rows
        logits, values = self.heads(octets)
        chosen = torch.as_tensor(actions, device=self.device)
        return (*twins.masked_stats(logits, twins.legal_of(octets), chosen), values)

    def ppo_loss(self, rows: Any, batch: tuple[Any, ...], *weights: float) -> tuple[torch.Tensor, torch.Tensor]:
        """The loss of a staged minibatch, as `RolloutPolicy.ppo_loss`; by hand on a CPU."""
        if isinstance(rows, FilledRows):
            return WholeStep.apply(self, rows, batch, weights, *self.parameters())
        actions, log_probs, advantages, targets = (torch.from_numpy(each).to(self.device) for each in batch)
        return twins.ppo(self.evaluate(rows, actions), log_probs, advantages, targets, *weights)
