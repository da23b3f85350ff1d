"""The network of the shortlist policy on a CPU: forward pass and gradient without autograd.

SPEED: a decision has some nine candidates of 64 numbers. Autograd makes some hundred passes over them; this module
makes sixteen. Products are in the dtype of `precision`'s context (bf16 or float32), sums in float32.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from ante.lookahead.records import MAX_CANDIDATES
from ante.training.numerics import list_kernels, row_kernels
from ante.training.numerics.distributions import OFF
from ante.training.numerics.packed_rows import FULL
from ante.training.policies.mlp_rows import Features, activated, sparse_output

PART = 512  # rows of a part of a minibatch
FEW = 12  # rows up to which a kernel without PyTorch is faster
LANES = 2  # threads of a gradient; parts are dealt to them in turn
Array = np.ndarray[Any, np.dtype[Any]]
silu, silu_backward = nn.functional.silu, torch.ops.aten.silu_backward


@dataclass(slots=True)
class Passed:
    """The outputs of a forward pass over m rows with k candidates.

    layers    first to last: the first layer of the game, then the trunk; of the trunk's input, only `kept` is used
    entries   of the candidates, first to last: embedded, mixed, and compared with their row's query
    known     (m, N_GLOBALS); ends (m,) int64, cumulative number of candidates
    logits (m, MAX_CANDIDATES), OFF for illegal or missing candidates; legal (m, MASK_BYTES) uint8; values (m,)
    """

    layers: list[Features]
    entries: list[Features]
    known: torch.Tensor
    ends: np.ndarray[Any, np.dtype[np.int64]]
    logits: torch.Tensor
    legal: np.ndarray[Any, np.dtype[np.uint8]]
    values: torch.Tensor

    @property
    def trunk(self) -> torch.Tensor:
        """Features of the whole game, (m, size)."""
        return self.layers[-1].kept


class Outputs(NamedTuple):
    """What acting needs of n rows: trunk (n, size), logits (n, MAX_CANDIDATES) as those of `Passed`, values (n,); float32."""

    trunk: Array
    logits: Array
    values: Array


class ShortlistNet:
    """The layers of a ShortlistPolicy with weights in `dtype` for products on a CPU, valid until a weight changes."""

    def __init__(self, policy: Any, dtype: torch.dtype) -> None:
        self.policy, self.dtype = policy, dtype
        self.trunk = [self._cast(layer) for layer in policy.trunk if isinstance(layer, nn.Linear)]
        self.mix, self.key, self.query = (self._cast(each) for each in (policy.entries.mix, policy.key, policy.query))
        encoder = policy.entries
        parts = *(each.weight for each in tables_of(encoder)), encoder.numbers.weight.t()
        self.table, self.sizes = torch.cat([each.detach() for each in parts]), [len(each) for each in parts]
        self._first = policy.first.weight.detach(), policy.first.bias.detach()
        self._full = self._first[0][torch.from_numpy(FULL)].to(dtype), self._first[1].to(dtype)

    def _cast(self, layer: nn.Linear) -> tuple[torch.Tensor, torch.Tensor]:
        return layer.weight.detach().to(self.dtype), layer.bias.detach().to(self.dtype)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def passed(self, rows: Any) -> Passed:
        """Return the outputs on a minibatch of `ListedRows`."""
        with torch.autocast("cpu", enabled=False):
            ends = rows.ends()
            entries = self._encoded(rows, int(ends[-1:].sum()))
            known = torch.from_numpy(rows.globals[rows.which])
            table = sparse_output(self._first[0], *self._full, rows.filled)
            table = torch.addmm(table, known, self.policy.globals.weight.t()).add_(self.policy.globals.bias)
            pooled = torch.empty(len(rows), 2 * entries[1].plain.shape[1])
            list_kernels.pool(ends, entries[1].kept.float().numpy(), pooled.numpy())
            joined = torch.cat([silu(table), pooled], dim=1).to(self.dtype)
            layers = [Features(table, joined)]
            for weight, bias in self.trunk:
                layers.append(activated(torch.addmm(bias, layers[-1].kept, weight.t()), self.dtype))
            entries.append(self._compared(entries[-1].kept, layers[-1].kept, ends))
            return self._passed(rows, layers, entries, known, ends)

    @cached_property
    def arrays(self) -> tuple[Any, ...]:
        """The layers in float32 as `list_kernels.forward_few` reads them."""
        policy, first = self.policy, self._first[0].numpy()
        score, bias = policy.value.scaled()
        return (
            (first, self._first[1].numpy()),
            first[FULL],
            pair(policy.globals),
            (self.table.numpy(), policy.entries.numbers.bias.detach().numpy()),
            pair(policy.entries.mix),
            tuple(pair(layer) for layer in policy.trunk if isinstance(layer, nn.Linear)),
            pair(policy.query),
            pair(policy.key),
            pair(policy.score),
            (score[None].numpy(), bias.numpy()),
        )

    def outputs(self, rows: Any) -> Outputs:
        """Return the outputs on all of `ListedRows` in float32."""
        if len(rows) > FEW or not self.trunk:  # Numba has no loop over an empty tuple of layers
            found = self.passed(rows)
            return Outputs(found.trunk.numpy(), found.logits.numpy(), found.values.numpy())
        n, filled = len(rows), rows.filled
        trunk, values = np.empty((n, self.query[0].shape[1]), np.float32), np.empty(n, np.float32)
        logits = np.empty((n, MAX_CANDIDATES), np.float32)
        entries = rows.starts[1:], *rows.sparse, rows.flags
        list_kernels.forward_few(filled.csr, entries, rows.globals, self.arrays, OFF, trunk, logits, values)
        return Outputs(trunk, logits, values)

    def _encoded(self, rows: Any, k: int) -> list[Features]:
        """Return the candidates after each layer of their encoder."""
        encoder = self.policy.entries
        bias = encoder.numbers.bias.detach()
        x = torch.empty(k, len(bias)).copy_(bias)
        row_kernels.sparse_forward(*rows.terms(), self.table.numpy(), x.numpy())
        embedded = activated(x, self.dtype)
        weight, bias = self.mix
        return [embedded, activated(torch.addmm(bias, embedded.kept, weight.t()), self.dtype)]

    def _compared(self, entries: torch.Tensor, trunk: torch.Tensor, ends: Any) -> Features:
        """Return the candidates combined with the query of their row, (k, width) float32."""
        (key, key_bias), (query, query_bias) = self.key, self.query
        summed = torch.addmm(key_bias, entries, key.t()).float()
        list_kernels.add_to_entries(ends, torch.addmm(query_bias, trunk, query.t()).float().numpy(), summed.numpy())
        return activated(summed, torch.float32)

    def _passed(self, rows: Any, layers: Any, entries: Any, known: torch.Tensor, ends: Any) -> Passed:
        policy, m = self.policy, len(rows)
        scores = torch.mv(entries[-1].kept, policy.score.weight[0]) + policy.score.bias
        logits, legal = torch.empty(m, MAX_CANDIDATES), np.empty((m, list_kernels.MASK_BYTES), dtype=np.uint8)
        list_kernels.score_rows(rows.starts, rows.which, rows.flags, scores.numpy(), OFF, logits.numpy(), legal)
        weight, bias = policy.value.scaled()
        values = torch.mv(layers[-1].kept.float(), weight) + bias
        return Passed(layers, entries, known, ends, logits, legal, values)


class ShortlistGradient:
    """Sums of the gradients of the PPO loss by all parameters over parts of a minibatch.

    rows, batch, weights  of the minibatch; see `ppo_gradient` of GamePolicy

    SPEED: the tensors of a part of PART rows stay in the cache, unlike those of a whole minibatch. The sums of the two
    sparse layers are as large as those tensors, so they are added to in place, and smaller parts take longer.
    """

    def __init__(self, net: ShortlistNet, rows: Any, batch: tuple[Any, ...], weights: tuple[float, ...]) -> None:
        self._net, self._policy, self._dtype = net, net.policy, net.dtype
        self._rows, self._batch, self._weights = rows, batch, weights
        self._sums = {parameter: torch.zeros_like(parameter.detach()) for parameter in net.policy.parameters()}
        self._table_sum = torch.zeros_like(net.table)
        self._full_sum = torch.zeros(len(FULL), net.policy.first.weight.shape[1])

    def add_parts(self, lane: int) -> torch.Tensor:
        """Add the gradients of the lane's parts; return their share of the loss and its terms."""
        rows, sums = self._rows, torch.zeros(row_kernels.LOSS_MEANS, dtype=torch.float64)
        for at in range(lane * PART, len(rows), LANES * PART):
            some, means = rows[rows.which[at : at + PART]], torch.zeros(row_kernels.LOSS_MEANS, dtype=torch.float64)
            share, out = len(some) / len(rows), self._net.passed(some)
            slopes = torch.empty_like(out.logits), torch.empty_like(out.values)
            arrays = [slopes[0].numpy(), slopes[1].numpy(), means.numpy()]
            part = [each[at : at + PART] for each in self._batch]
            row_kernels.ppo_loss(out.logits.numpy(), out.values.numpy(), out.legal, *part, *self._weights, *arrays)
            self._add(some, out, slopes[0].mul_(share), slopes[1].mul_(share))
            sums += share * means
        return sums

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def _add(self, rows: Any, out: Passed, d_logits: torch.Tensor, d_values: torch.Tensor) -> None:
        """Add the gradients of a part, given those of its logits and values."""
        with torch.autocast("cpu", enabled=False):
            head, trunk = self._policy.value, out.layers[-1].kept
            d_entries, d_query = self._add_scores(out, d_logits)
            for parameter, gradient in zip(
                (head.weight, head.bias), head.gradients(trunk.float(), d_values), strict=True
            ):
                self._sums[parameter] += gradient
            d_trunk = torch.outer(d_values, head.scaled()[0]).addmm_(d_query, self._policy.query.weight)
            d_joined = self._add_trunk(out, d_trunk)
            first = out.layers[0].plain.shape[1]
            list_kernels.pool_backward(out.ends, d_joined[:, first:].contiguous().numpy(), d_entries.numpy())
            self._add_entries(rows, out, d_entries)
            self._add_first(rows, out, silu_backward(d_joined[:, :first].contiguous(), out.layers[0].plain))

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def gradients(self) -> list[torch.Tensor]:
        """Return the gradients of all parameters in the policy's order."""
        encoder = self._policy.entries
        *tables, columns = self._table_sum.split(self._net.sizes)
        for table, found in zip(tables_of(encoder), tables, strict=True):
            self._sums[table.weight] = found
        self._sums[encoder.numbers.weight] = columns.t()
        self._sums[self._policy.first.weight][torch.from_numpy(FULL)] = self._full_sum
        return [self._sums[parameter] for parameter in self._policy.parameters()]

    def _add_layer(self, layer: nn.Linear, slope: torch.Tensor, below: torch.Tensor) -> torch.Tensor:
        """Add the gradients of a layer, from that of its output and from its input; return the former in the dtype."""
        cast = slope.to(self._dtype)
        self._sums[layer.weight] += cast.t() @ below
        self._sums[layer.bias] += slope.sum(dim=0)
        return cast

    def _add_scores(self, out: Passed, d_logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Add the gradients of scores, keys and queries; return those of encoded entries and of queries, float32."""
        policy, compared, encoded = self._policy, out.entries[-1], out.entries[1].kept
        d_scores = torch.empty(len(encoded))
        list_kernels.slopes_of_scores(out.ends, d_logits.numpy(), d_scores.numpy())
        self._sums[policy.score.weight] += torch.mv(compared.kept.t(), d_scores)
        self._sums[policy.score.bias] += d_scores.sum()
        slope = silu_backward(torch.outer(d_scores, policy.score.weight[0]), compared.plain)
        d_query = torch.empty(len(out.ends), slope.shape[1])
        list_kernels.sum_entries(out.ends, slope.numpy(), d_query.numpy())
        d_entries = (self._add_layer(policy.key, slope, encoded) @ self._net.key[0]).float()
        self._add_layer(policy.query, d_query, out.layers[-1].kept)
        return d_entries, d_query

    def _add_trunk(self, out: Passed, back: torch.Tensor) -> torch.Tensor:
        """Add the gradients of the trunk and return that of its input, (m, size) float32."""
        linear = [layer for layer in self._policy.trunk if isinstance(layer, nn.Linear)]
        for depth in range(len(linear), 0, -1):
            slope = silu_backward(back, out.layers[depth].plain.float())
            cast = self._add_layer(linear[depth - 1], slope, out.layers[depth - 1].kept)
            back = (cast @ self._net.trunk[depth - 1][0]).float()
        return back

    def _add_entries(self, rows: Any, out: Passed, back: torch.Tensor) -> None:
        """Add the gradients of the encoder from that of its output."""
        encoder, (embedded, mixed, _) = self._policy.entries, out.entries
        slope = silu_backward(back, mixed.plain.float())
        back = (self._add_layer(encoder.mix, slope, embedded.kept) @ self._net.mix[0]).float()
        slope = silu_backward(back, embedded.plain)
        row_kernels.sparse_backward(*rows.terms(), slope.numpy(), self._table_sum.numpy())
        self._sums[encoder.numbers.bias] += slope.sum(dim=0)

    def _add_first(self, rows: Any, out: Passed, slope: torch.Tensor) -> None:
        """Add the gradients of the first layers of flat observations and of numbers of the list."""
        first, numbers, filled = self._policy.first, self._policy.globals, rows.filled
        listed = filled.starts, filled.columns, filled.values, filled.which
        row_kernels.sparse_backward(*listed, slope.numpy(), self._sums[first.weight].numpy())
        self._full_sum += filled.full.to(self._dtype).t() @ slope.to(self._dtype)
        total = slope.sum(dim=0)
        self._sums[first.bias] += total
        self._sums[numbers.bias] += total
        self._sums[numbers.weight] += slope.t() @ out.known


def pair(layer: nn.Linear) -> tuple[Array, Array]:
    """Return weight and bias of a layer as arrays."""
    return layer.weight.detach().numpy(), layer.bias.detach().numpy()


def tables_of(encoder: Any) -> tuple[nn.Embedding, ...]:
    """Return the embeddings of an entry in the order of `list_terms`."""
    return encoder.things, encoder.verbs, encoder.traits, encoder.aims


def summed_gradient(
    net: ShortlistNet, rows: Any, batch: tuple[Any, ...], weights: tuple[float, ...]
) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Return the gradients of a minibatch and its loss with its terms; see `ppo_gradient` of GamePolicy.

    SPEED: two threads, beside the one that samples. The order of all sums is fixed, so that the result does not depend
    on the number of cores.
    """
    lanes = [ShortlistGradient(net, rows, batch, weights) for _ in range(LANES)]
    with ThreadPoolExecutor(LANES) as threads:
        sums = torch.stack(list(threads.map(ShortlistGradient.add_parts, lanes, range(LANES)))).sum(dim=0)
    gradients, *others = (lane.gradients() for lane in lanes)
    for other in others:
        torch._foreach_add_(gradients, other)
    return gradients, sums
