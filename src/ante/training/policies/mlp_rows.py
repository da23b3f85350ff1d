"""The masked MLP on packed rows: the network of `MaskedPolicy`, sampled and trained without dense observations.

On a CPU the first layer adds up the weight rows of the nonzero columns only, and one kernel computes loss and gradient.
On CUDA rows are unpacked on the device and all layers are dense (`torch_ops.py`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ante.env.games import Games
from ante.env.layout import FLAT_SIZE
from ante.training.numerics import row_kernels, torch_ops
from ante.training.numerics.distributions import log_softmax
from ante.training.numerics.packed_rows import (
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
from ante.training.policies.layers import orthogonal
from ante.training.policies.mlp import MaskedPolicy
from ante.training.policies.protocol import Choice, GamePolicy
from ante.training.spans import span

LISTED = ~np.isin(np.arange(FLAT_SIZE), FULL)  # columns of the sparse part


class FilledRows:
    """Packed rows split into a dense and a sparse part for the first layer; indexing returns a minibatch.

    full    (n, FULL) float32, the columns that are usually nonzero
    starts (n + 1,) int64, columns (listed,) int32, values (listed,) float32: the other columns in CSR layout
    which   (m,) int64, the rows of this minibatch
    """

    def __init__(self, rows: NDArray[Any]) -> None:
        numbers, octets = numbers_of(rows), octets_of(rows)
        self.starts = np.empty(len(rows) + 1, dtype=np.int64)
        sizes = FULL_NUMBERS, len(NUMBERS), FULL_COUNTS, len(COUNTS), AT_COUNTS, AT_BITS, len(BITS)
        row_kernels.count_filled(numbers, octets, *sizes, self.starts)
        self.columns = np.empty(self.starts[-1], dtype=np.int32)
        self.values = np.empty(self.starts[-1], dtype=np.float32)
        self._full = np.empty((len(rows), len(FULL)), dtype=np.float32)
        places = FULL_NUMBERS, FULL_COUNTS, NUMBERS, COUNTS, BITS, AT_COUNTS, AT_BITS
        row_kernels.list_filled(numbers, octets, *places, self.starts, self.columns, self.values, self._full)
        self._masks = octets[:, AT_MASK : AT_MASK + MASK_BYTES]
        self.which = np.arange(len(rows))

    @classmethod
    def of_flat(cls, flat: NDArray[np.float32]) -> "FilledRows":
        """Return the same from flat observations (n, FLAT_SIZE), without masks."""
        found = object.__new__(cls)
        n, most = len(flat), flat.size + 1
        found.starts, found._full = np.empty(n + 1, dtype=np.int64), np.empty((n, len(FULL)), dtype=np.float32)
        found.columns, found.values = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.float32)
        places = FULL, LISTED, found.starts, found.columns, found.values, found._full
        row_kernels.list_flat(flat, flat.view(np.int32), *places)
        found.which = np.arange(n)
        return found

    @property
    def csr(self) -> tuple[NDArray[Any], ...]:
        """Starts, columns and values of the sparse part of all rows, and their dense part."""
        return self.starts, self.columns, self.values, self._full

    @property
    def full(self) -> torch.Tensor:
        """The dense columns of the minibatch, (m, FULL) float32."""
        return torch.from_numpy(self._full[self.which])

    @property
    def legal(self) -> NDArray[np.uint8]:
        """Mask bytes of the minibatch, (m, MASK_BYTES)."""
        return self._masks[self.which]

    def __len__(self) -> int:
        """Number of rows in the minibatch."""
        return len(self.which)

    def __getitem__(self, which: NDArray[np.int64]) -> "FilledRows":
        """Return the rows at these indices of the whole; nothing is copied."""
        part = object.__new__(FilledRows)
        part.starts, part.columns, part.values, part.which = self.starts, self.columns, self.values, which
        part._full, part._masks = self._full, self._masks
        return part


def product_dtype() -> torch.dtype:
    """Return bf16 within `precision`'s context, else float32."""
    return torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else torch.float32


@dataclass(slots=True)
class Features:
    """One layer's output: before the activation (m, width), and after it."""

    plain: torch.Tensor
    kept: torch.Tensor


class CastNet:
    """The layers of a PackedPolicy with weights in `dtype` for products on a CPU, and a hand-written gradient.

    SPEED: autograd under autocast casts the same tensors repeatedly, and a dense first layer takes three quarters of
    the compute. Products are in `dtype` (bf16 or float32); sparse columns, values and sums are in float32.
    """

    def __init__(self, policy: "PackedPolicy", dtype: torch.dtype) -> None:
        self._first, self._dtype = policy.trunk[0], dtype
        linear = [layer for layer in policy.trunk if isinstance(layer, nn.Linear)]
        with torch.no_grad():
            self._full = self._first.weight[torch.from_numpy(FULL)].to(dtype), self._first.bias.to(dtype)
            self._layers = [(layer.weight.to(dtype), layer.bias.to(dtype)) for layer in linear]
            self._policy = policy.policy.weight.to(dtype), policy.policy.bias.to(dtype)
        self._head, self._value = policy.value, policy.value.scaled()

    def features(self, rows: FilledRows) -> list[Features]:
        """Return the outputs of all shared layers, first to last."""
        first = sparse_output(self._first.weight.detach(), *self._full, rows)
        out = [activated(first, self._dtype)]
        for weight, bias in self._layers:
            out.append(activated(torch.addmm(bias, out[-1].kept, weight.t()), self._dtype))
        return out

    def logits(self, features: torch.Tensor) -> torch.Tensor:
        """Return logits (m, actions) of the last layer's output."""
        weight, bias = self._policy
        return torch.addmm(bias, features, weight.t())

    def values(self, features: torch.Tensor) -> torch.Tensor:
        """Return values (m,) float32 of the last layer's output."""
        weight, bias = self._value
        return torch.mv(features.float(), weight) + bias

    def gradients(
        self, rows: FilledRows, features: list[Features], d_logits: torch.Tensor, d_values: torch.Tensor
    ) -> list[torch.Tensor]:
        """Return gradients of all parameters in the policy's order: shared layers, then policy, then value."""
        last, slope = features[-1].kept, d_logits.to(self._dtype)
        heads = [slope.t() @ last, d_logits.sum(dim=0)]
        heads += self._head.gradients(last.float(), d_values)
        back = torch.addmm(torch.outer(d_values, self._value[0]).to(self._dtype), slope, self._policy[0])
        found: list[torch.Tensor] = []
        for depth in range(len(features) - 1, 0, -1):
            slope = torch.ops.aten.silu_backward(back, features[depth].plain)
            found = [slope.t() @ features[depth - 1].kept, slope.sum(dim=0, dtype=torch.float32), *found]
            back = slope @ self._layers[depth - 1][0]
        slope = torch.ops.aten.silu_backward(back.float(), features[0].plain)
        return [
            sparse_gradient(self._first.weight.shape, rows, slope, self._dtype),
            slope.sum(dim=0),
            *(each.float() for each in found),
            *(each.float() for each in heads),
        ]


def activated(plain: torch.Tensor, dtype: torch.dtype) -> Features:
    """Return a layer's output and its activation, cast for the next product."""
    return Features(plain, nn.functional.silu(plain).to(dtype))


class FirstLayer(nn.Module):  # type: ignore[misc]
    """A linear layer with transposed weight (inputs, width): the weights of one input are contiguous in memory."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, width))
        self.bias = nn.Parameter(torch.empty(width))
        bound = 1.0 / math.sqrt(inputs)  # the default of nn.Linear
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map a dense batch (m, inputs) to (m, width)."""
        return x @ self.weight.to(x.dtype) + self.bias.to(x.dtype)

    def sparse(self, rows: FilledRows) -> torch.Tensor:
        """Map sparse rows to (m, width) float32, with products in the dtype of `precision`'s context."""
        found: torch.Tensor = SparseFirst.apply(self.weight, self.bias, rows, product_dtype())
        return found


class SparseFirst(torch.autograd.Function):  # type: ignore[misc]
    """The first layer on sparse rows, differentiable by weight and bias."""

    @staticmethod
    def forward(
        ctx: Any, weight: torch.Tensor, bias: torch.Tensor, rows: FilledRows, dtype: torch.dtype
    ) -> torch.Tensor:
        """Return (m, width) float32."""
        ctx.rows, ctx.dtype, ctx.shape = rows, dtype, weight.shape
        weight, bias = weight.detach(), bias.detach()
        return sparse_output(weight, weight[torch.from_numpy(FULL)].to(dtype), bias.to(dtype), rows)

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[Any, ...]:
        """Return the gradients of weight and bias."""
        slope = slope.float().contiguous()
        return sparse_gradient(ctx.shape, ctx.rows, slope, ctx.dtype), slope.sum(dim=0), None, None


def sparse_output(weight: torch.Tensor, full: torch.Tensor, bias: torch.Tensor, rows: FilledRows) -> torch.Tensor:
    """Return the first layer's output on sparse rows, (m, width) float32.

    weight  (inputs, width) float32; full, its rows of the columns FULL, and bias: in the dtype of their products
    """
    out = torch.addmm(bias, rows.full.to(full.dtype), full).float()
    row_kernels.sparse_forward(rows.starts, rows.columns, rows.values, rows.which, weight.numpy(), out.numpy())
    return out


def sparse_gradient(shape: torch.Size, rows: FilledRows, slope: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return the gradient of the first weight, (inputs, width), from the output's, (m, width) float32."""
    out = torch.zeros(shape)
    row_kernels.sparse_backward(rows.starts, rows.columns, rows.values, rows.which, slope.numpy(), out.numpy())
    out[torch.from_numpy(FULL)] = (rows.full.to(dtype).t() @ slope.to(dtype)).float()
    return out


class DeviceRows:
    """Packed rows on a CUDA device, copied once from pinned memory; indexing returns a minibatch."""

    def __init__(self, rows: NDArray[Any], device: torch.device) -> None:
        octets = torch.from_numpy(octets_of(rows))
        if device.type == "cuda":
            octets = octets.pin_memory()
        self._octets = octets.to(device, non_blocking=True)

    def __getitem__(self, which: NDArray[np.int64]) -> torch.Tensor:
        """Return (m, ROW_BYTES) uint8 on the device."""
        return self._octets[torch.from_numpy(which).to(self._octets.device)]


class PackedPolicy(MaskedPolicy, GamePolicy):
    """The layers and heads of MaskedPolicy on packed rows."""

    row_t = flat_row_t
    discrete = True
    flat = True
    bf16 = True
    packs_on_device = True
    _cast_state: tuple[Any, ...] | None = None

    def setup(self) -> None:
        """Build the layers of MaskedPolicy with a FirstLayer."""
        super().setup()
        first = self.trunk[0]
        self.trunk[0] = orthogonal(FirstLayer(first.in_features, first.out_features))

    def pack(self, games: Games, out: NDArray[Any]) -> None:
        """Write the rows of all games: out (n,) flat_row_t, overwritten."""
        pack_flat(games.flat, games.masks, out)

    def heads(self, octets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (m, actions) and values (m,) float32 of packed rows as bytes (m, ROW_BYTES) on any device."""
        features = self.trunk(torch_ops.unpack_octets(octets))
        return self.policy(features).float(), self.value(features).squeeze(-1)

    def cast(self, dtype: torch.dtype) -> CastNet:
        """Return the layers for products in `dtype` on a CPU; cached until `set_state` or a gradient step."""
        state = dtype, *(parameter._version for parameter in self.parameters())
        if self._cast_state != state:
            self._cast_net, self._cast_state = CastNet(self, dtype), state
        return self._cast_net

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def act(
        self,
        seen: Any,
        rng: torch.Generator | None,
        likeliest: bool = False,
        uniforms: NDArray[np.float32] | None = None,
    ) -> Choice:
        """See GamePolicy."""
        if likeliest:
            return self._chosen(seen, lambda log_probs: log_probs.argmax(dim=1))
        if self.device.type != "cpu":
            return Choice(*(each.cpu().numpy() for each in self.act_octets(self._octets(seen), rng)[:3]))
        draws = torch.rand(len(seen), generator=rng)
        filled, net = FilledRows(seen), self.cast(product_dtype())
        features = net.features(filled)[-1].kept
        logits, values = net.logits(features).float(), net.values(features)
        actions, log_probs = np.empty(len(seen), dtype=np.int64), np.empty(len(seen), dtype=np.float32)
        with span("sample"):
            row_kernels.sample_masked(logits.numpy(), filled.legal, draws.numpy(), actions, log_probs)
        return Choice(actions, log_probs, values.numpy())

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def act_octets(self, octets: torch.Tensor, rng: torch.Generator | None, likeliest: bool = False) -> Choice:
        """`act` on the policy's device: octets (n, ROW_BYTES) uint8 and the returned choice lie there."""
        logits, values = self.heads(octets)
        legal = torch_ops.legal_of(octets)
        if likeliest:
            found = log_softmax(logits, legal).max(dim=1)
            return Choice(found.indices, found.values, values)
        draws = torch.rand(len(octets), generator=rng, device=self.device)
        return Choice(*torch_ops.sample(logits, legal, draws), values)

    def play(
        self,
        seen: Any,
        rng: torch.Generator | None,
        likeliest: bool = False,
        uniforms: NDArray[np.float32] | None = None,
    ) -> Choice:
        """See GamePolicy; sampled from `action_log_probs`."""
        return self._chosen(
            seen,
            lambda log_probs: (
                log_probs.argmax(dim=1) if likeliest else torch.multinomial(log_probs.exp(), 1, generator=rng)[:, 0]
            ),
        )

    def _chosen(self, seen: NDArray[Any], choose: Callable[[torch.Tensor], torch.Tensor]) -> Choice:
        """Return the Choice that `choose` selects from log-probabilities (n, actions)."""
        log_probs, values, _ = self.action_log_probs(seen)
        actions = choose(log_probs)
        return Choice(actions, log_probs.gather(1, actions[:, None])[:, 0], values)

    def _octets(self, seen: NDArray[Any]) -> torch.Tensor:
        """Return packed rows as bytes on the policy's device."""
        rows: torch.Tensor = DeviceRows(seen, self.device)[np.arange(len(seen))]
        return rows

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def action_log_probs(self, seen: NDArray[Any]) -> tuple[torch.Tensor, torch.Tensor, None]:
        """See GamePolicy; log-probabilities of all actions of the discrete view."""
        octets = torch.from_numpy(octets_of(seen)).to(self.device)
        if self.device.type == "cpu":
            net = self.cast(product_dtype())
            features = net.features(FilledRows(seen))[-1].kept
            logits, values = net.logits(features).float(), net.values(features)
        else:
            logits, values = self.heads(octets)
        return log_softmax(logits, torch_ops.legal_of(octets)), values, None

    def score_actions(self, rows: NDArray[Any], actions: NDArray[np.int64]) -> tuple[Any, Any]:
        """See GamePolicy."""
        with torch.inference_mode():
            if self.device.type != "cpu":
                log_probs, _, values = self.evaluate(self._octets(rows), actions)
                return log_probs, values
            self._cast_state = None  # as in `ppo_gradient`
            filled, net = FilledRows(rows), self.cast(product_dtype())
            features = net.features(filled)[-1].kept
            logits, log_probs = net.logits(features).float().numpy(), np.empty(len(rows), dtype=np.float32)
            row_kernels.masked_log_probs(logits, filled.legal, actions, log_probs)
            return log_probs, net.values(features).numpy()

    def stage(self, rows: NDArray[Any]) -> FilledRows | DeviceRows:
        """Prepare all rows of an update once; index the result for a minibatch."""
        return FilledRows(rows) if self.device.type == "cpu" else DeviceRows(rows, self.device)

    def evaluate(self, rows: Any, actions: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return log-probabilities, entropies and values, (m,) each with gradient; rows as records or as bytes."""
        octets = torch.from_numpy(octets_of(rows)).to(self.device) if isinstance(rows, np.ndarray) else rows
        logits, values = self.heads(octets)
        chosen = torch.as_tensor(actions, device=self.device)
        return (*torch_ops.masked_stats(logits, torch_ops.legal_of(octets), chosen), values)

    def ppo_loss(self, rows: Any, batch: tuple[Any, ...], *weights: float) -> tuple[torch.Tensor, torch.Tensor]:
        """See GamePolicy; used off the CPU."""
        actions, log_probs, advantages, targets = (torch.as_tensor(each, device=self.device) for each in batch)
        return torch_ops.ppo(self.evaluate(rows, actions), log_probs, advantages, targets, *weights)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def ppo_gradient(
        self, rows: FilledRows | torch.Tensor, batch: tuple[Any, ...], *weights: float
    ) -> tuple[list[torch.Tensor], torch.Tensor] | None:
        """See GamePolicy; None off the CPU, where autograd is used."""
        if not isinstance(rows, FilledRows):
            return None
        self._cast_state = None  # fused Adam bypasses version counters, so cast weights must not outlive a step
        net = CastNet(self, product_dtype())
        features = net.features(rows)
        logits, values = net.logits(features[-1].kept).float(), net.values(features[-1].kept)
        slopes = torch.empty_like(logits), torch.empty_like(values)
        sums = torch.zeros(row_kernels.LOSS_MEANS, dtype=torch.float64)
        arrays = [slopes[0].numpy(), slopes[1].numpy(), sums.numpy()]
        row_kernels.ppo_loss(logits.numpy(), values.numpy(), rows.legal, *batch, *weights, *arrays)
        return net.gradients(rows, features, *slopes), sums


def packed_policy(policy: MaskedPolicy) -> PackedPolicy:
    """Return a PackedPolicy with the weights of `policy`."""
    packed = PackedPolicy(
        observation_space=policy.observation_space, action_space=policy.action_space, model_config=policy.model_config
    )
    weights = dict(policy.state_dict())
    weights["trunk.0.weight"] = weights["trunk.0.weight"].t()  # FirstLayer stores one row per input
    packed.load_state_dict(weights)
    return packed
