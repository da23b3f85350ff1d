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
from ante.training.chances import log_softmax
from ante.training.layers import clear
from ante.training.policy import MaskedPolicy
from ante.training.rows import (
    AT_BITS,
    AT_COUNTS,
    AT_MASK,
    BITS,
    COUNTS,
    FULL,
    FULL_COUNTS,
    FULL_NUMBERS,
    MASK_BYTES,
    NUMBERS,
    flat_row_t,
    numbers_of,
    octets_of,
    pack_flat,
)


class FilledRows:
    """Packed rows taken apart for the first layer; indexing answers a minibatch of them.

    full    (n, FULL) float32, the columns that are mostly filled
    starts (n + 1,) int64, columns (listed,) int32, values (listed,) float32: the others, where they are not zero
    which   (m,) int64, the rows of this minibatch
    """

    def __init__(self, rows: NDArray[Any]) -> None:
        numbers, octets = numbers_of(rows), octets_of(rows)
        self.starts = np.empty(len(rows) + 1, dtype=np.int64)
        sizes = FULL_NUMBERS, len(NUMBERS), FULL_COUNTS, len(COUNTS), AT_COUNTS, AT_BITS, len(BITS)
        kernels.count_filled(numbers, octets, *sizes, self.starts)
        self.columns = np.empty(self.starts[-1], dtype=np.int32)
        self.values = np.empty(self.starts[-1], dtype=np.float32)
        self._full = np.empty((len(rows), len(FULL)), dtype=np.float32)
        places = FULL_NUMBERS, FULL_COUNTS, NUMBERS, COUNTS, BITS, AT_COUNTS, AT_BITS
        kernels.list_filled(numbers, octets, *places, self.starts, self.columns, self.values, self._full)
        self._masks = octets[:, AT_MASK : AT_MASK + MASK_BYTES]
        self.which = np.arange(len(rows))

    @property
    def full(self) -> torch.Tensor:
        """Mostly filled columns of the minibatch, (m, FULL) float32."""
        return torch.from_numpy(self._full[self.which])

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
        part.starts, part.columns, part.values, part.which = self.starts, self.columns, self.values, which
        part._full, part._masks = self._full, self._masks
        return part


def product_dtype() -> torch.dtype:
    """bf16 within `precision`'s context, else float32."""
    return torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else torch.float32


@dataclass(slots=True)
class Features:
    """One layer's output: before the activation (m, width), and after it."""

    plain: torch.Tensor
    kept: torch.Tensor


class CastNet:
    """The layers of a PackedPolicy with weights in `dtype` for products on a CPU, and their gradient by hand.

    SPEED: autograd under autocast casts the same tensors again and again, and a dense first layer is three quarters of
    the products. Products are in `dtype` (bf16 or float32); listed columns, value and sums are in float32.
    """

    def __init__(self, policy: "PackedPolicy", dtype: torch.dtype) -> None:
        self._first, self._dtype = policy.trunk[0], dtype
        self._columns = torch.from_numpy(FULL)
        linear = [layer for layer in policy.trunk if isinstance(layer, nn.Linear)]
        with torch.no_grad():
            self._full = self._first.weight[self._columns].to(dtype), self._first.bias.to(dtype)
            self._layers = [(layer.weight.to(dtype), layer.bias.to(dtype)) for layer in linear]
            self._policy = policy.policy.weight.to(dtype), policy.policy.bias.to(dtype)
        self._value = policy.value

    def features(self, rows: FilledRows) -> list[Features]:
        """Outputs of all shared layers, first to last."""
        weight, bias = self._full
        first = torch.addmm(bias, rows.full.to(self._dtype), weight).float()
        listed = rows.starts, rows.columns, rows.values, rows.which
        kernels.sparse_forward(*listed, self._first.weight.detach().numpy(), first.numpy())
        out = [activated(first, self._dtype)]
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
        return [
            self._first_gradient(rows, slope),
            slope.sum(dim=0),
            *(each.float() for each in found),
            *(each.float() for each in heads),
        ]

    def _first_gradient(self, rows: FilledRows, slope: torch.Tensor) -> torch.Tensor:
        """Gradient of the first weight, (inputs, width), from that of the layer's output, (m, width) float32."""
        out = torch.zeros(self._first.weight.shape)
        listed = rows.starts, rows.columns, rows.values, rows.which
        kernels.sparse_backward(*listed, slope.numpy(), out.numpy())
        out[self._columns] = (rows.full.to(self._dtype).t() @ slope.to(self._dtype)).float()
        return out


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

    def sparse(self, rows: FilledRows) -> torch.Tensor:
        """Filled rows, by products in the type of `precision`'s context -> (m, width) float32."""
        found: torch.Tensor = SparseFirst.apply(self.weight, self.bias, rows, product_dtype())
        return found


class SparseFirst(torch.autograd.Function):  # type: ignore[misc]
    """The first layer on filled rows, with gradient for its weight and bias."""

    @staticmethod
    def forward(
        ctx: Any, weight: torch.Tensor, bias: torch.Tensor, rows: FilledRows, dtype: torch.dtype
    ) -> torch.Tensor:
        """(m, width) float32."""
        columns = torch.from_numpy(FULL)
        ctx.rows, ctx.dtype, ctx.shape = rows, dtype, weight.shape
        out = torch.addmm(bias.to(dtype), rows.full.to(dtype), weight.detach()[columns].to(dtype)).float()
        kernels.sparse_forward(rows.starts, rows.columns, rows.values, rows.which, weight.detach().numpy(), out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[Any, ...]:
        """Gradients of weight and bias."""
        rows, out = ctx.rows, torch.zeros(ctx.shape)
        slope = slope.float().contiguous()
        kernels.sparse_backward(rows.starts, rows.columns, rows.values, rows.which, slope.numpy(), out.numpy())
        out[torch.from_numpy(FULL)] = (rows.full.to(ctx.dtype).t() @ slope.to(ctx.dtype)).float()
        return out, slope.sum(dim=0), None, None


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
    _cast_state: tuple[Any, ...] | None = None

    def setup(self) -> None:
        """The layers of MaskedPolicy with another first one."""
        super().setup()
        first = self.trunk[0]
        self.trunk[0] = clear(FirstLayer(first.in_features, first.out_features))

    @property
    def device(self) -> torch.device:
        """Where the weights lie."""
        return self.value.weight.device

    def pack(self, games: Games, out: NDArray[Any]) -> None:
        """Write the rows of all games: out (n,) flat_row_t, overwritten."""
        pack_flat(games.flat, games.masks, out)

    def decisions(self, rows: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Actions are numbers of the discrete view already."""
        return actions

    def heads(self, octets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits (m, actions) and values (m,) float32 of packed rows as octets (m, ROW_BYTES) on any device."""
        features = self.trunk(twins.unpack_octets(octets))
        return self.policy(features).float(), self.value(features).float().squeeze(-1)

    def cast(self, dtype: torch.dtype) -> CastNet:
        """The layers for products in `dtype` on a CPU; kept until `set_state` or a gradient step."""
        state = dtype, *(parameter._version for parameter in self.parameters())
        if self._cast_state != state:
            self._cast_net, self._cast_state = CastNet(self, dtype), state
        return self._cast_net

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def act(self, rows: NDArray[Any], rng: torch.Generator) -> tuple[Any, Any, Any]:
        """Sample an action a row, as `RolloutPolicy.act`."""
        uniforms = torch.rand(len(rows), generator=rng, device=rng.device)
        if self.device.type != "cpu":
            octets = DeviceRows(rows, self.device)[np.arange(len(rows))]
            chosen, chances, values = self.drawn(octets, uniforms.to(self.device))
            return chosen.cpu().numpy(), chances.cpu().numpy(), values.cpu().numpy()
        filled, net = FilledRows(rows), self.cast(product_dtype())
        features = net.features(filled)[-1].kept
        logits, values = net.logits(features).float(), net.values(features)
        actions, log_probs = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=np.float32)
        kernels.sample_masked(logits.numpy(), filled.legal, uniforms.numpy(), actions, log_probs)
        return actions, log_probs, values.numpy()

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def drawn(self, octets: torch.Tensor, uniforms: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """`act` where the rows lie: octets (n, ROW_BYTES) uint8 and uniforms (n,) on the policy's device, as answers."""
        logits, values = self.heads(octets)
        return *twins.sample(logits, twins.legal_of(octets), uniforms), values

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def chances(self, rows: NDArray[Any]) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities of every number of the discrete view and values, as `RolloutPolicy.chances`."""
        octets = torch.from_numpy(octets_of(rows)).to(self.device)
        if self.device.type == "cpu":
            net = self.cast(product_dtype())
            features = net.features(FilledRows(rows))[-1].kept
            logits, values = net.logits(features).float(), net.values(features)
        else:
            logits, values = self.heads(octets)
        return log_softmax(logits, twins.legal_of(octets)), values

    def judge(self, rows: NDArray[Any], actions: NDArray[np.int64]) -> tuple[Any, Any]:
        """Log-probabilities of these actions and values as they are now, as `RolloutPolicy.judge`."""
        with torch.inference_mode():
            if self.device.type != "cpu":
                log_probs, _, values = self.evaluate(DeviceRows(rows, self.device)[np.arange(len(rows))], actions)
                return log_probs, values
            self._cast_state = None  # as in `ppo_gradient`
            filled, net = FilledRows(rows), self.cast(product_dtype())
            features = net.features(filled)[-1].kept
            logits, log_probs = net.logits(features).float().numpy(), np.empty(len(rows), dtype=np.float32)
            kernels.masked_log_probs(logits, filled.legal, actions, log_probs)
            return log_probs, net.values(features).numpy()

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
        """The loss of a staged minibatch, with gradient, as `RolloutPolicy.ppo_loss`; off the CPU."""
        actions, log_probs, advantages, targets = (torch.from_numpy(each).to(self.device) for each in batch)
        return twins.ppo(self.evaluate(rows, actions), log_probs, advantages, targets, *weights)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def ppo_gradient(
        self, rows: FilledRows | torch.Tensor, batch: tuple[Any, ...], *weights: float
    ) -> tuple[list[torch.Tensor], torch.Tensor] | None:
        """The gradient of a staged minibatch, as `RolloutPolicy.ppo_gradient`; None off the CPU, where autograd does."""
        if not isinstance(rows, FilledRows):
            return None
        self._cast_state = None  # fused Adam changes weights without a trace, so nothing cast may outlive a step
        net = CastNet(self, product_dtype())
        features = net.features(rows)
        logits, values = net.logits(features[-1].kept).float(), net.values(features[-1].kept)
        slopes, sums = (torch.empty_like(logits), torch.empty_like(values)), torch.zeros(5, dtype=torch.float64)
        arrays = [slopes[0].numpy(), slopes[1].numpy(), sums.numpy()]
        kernels.ppo_loss(logits.numpy(), values.numpy(), rows.legal, *batch, *weights, *arrays)
        return net.gradients(rows, features, *slopes), sums
