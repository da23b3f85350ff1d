"""The network of the shortlist policy on a CPU: forward pass and gradient without autograd.

SPEED: a decision has some nine candidates of 64 numbers. Autograd makes some hundred passes over them; this module
makes sixteen. Products are in the dtype of `precision`'s context (bf16 or float32), sums in float32.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from ante.lookahead.records import MAX_CANDIDATES
from ante.training.numerics import list_kernels, row_kernels
from ante.training.numerics.distributions import OFF
from ante.training.policies.mlp_rows import Features, activated, sparse_gradient, sparse_output

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


class ShortlistNet:
    """The layers of a ShortlistPolicy with weights in `dtype` for products on a CPU, valid until a weight changes."""

    def __init__(self, policy: Any, dtype: torch.dtype) -> None:
        self._policy, self._dtype = policy, dtype
        self._trunk = [self._cast(layer) for layer in policy.trunk if isinstance(layer, nn.Linear)]
        self._mix, self._key, self._query = (
            self._cast(each) for each in (policy.entries.mix, policy.key, policy.query)
        )
        encoder = policy.entries
        parts = *(each.weight for each in tables_of(encoder)), encoder.numbers.weight.t()
        self._table, self._sizes = torch.cat([each.detach() for each in parts]), [len(each) for each in parts]

    def _cast(self, layer: nn.Linear) -> tuple[torch.Tensor, torch.Tensor]:
        return layer.weight.detach().to(self._dtype), layer.bias.detach().to(self._dtype)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def passed(self, rows: Any) -> Passed:
        """Return the outputs on a minibatch of `ListedRows`."""
        with torch.autocast("cpu", enabled=False):
            ends = rows.ends()
            entries = self._encoded(rows, int(ends[-1]))
            first, known = self._policy.first, torch.from_numpy(rows.globals[rows.which])
            table = sparse_output(first.weight.detach(), first.bias.detach(), rows.filled, self._dtype)
            table = torch.addmm(table, known, self._policy.globals.weight.t()).add_(self._policy.globals.bias)
            pooled = torch.empty(len(rows), 2 * entries[1].plain.shape[1])
            list_kernels.pool(ends, silu(entries[1].plain.float()).numpy(), pooled.numpy())
            joined = torch.cat([silu(table), pooled], dim=1).to(self._dtype)
            layers = [Features(table, joined)]
            for weight, bias in self._trunk:
                layers.append(activated(torch.addmm(bias, layers[-1].kept, weight.t()), self._dtype))
            entries.append(self._compared(entries[-1].kept, layers[-1].kept, ends))
            return self._passed(rows, layers, entries, known, ends)

    def _encoded(self, rows: Any, k: int) -> list[Features]:
        """Return the candidates after each layer of their encoder."""
        encoder = self._policy.entries
        x = encoder.numbers.bias.detach().repeat(k, 1)
        row_kernels.sparse_forward(*rows.terms(), self._table.numpy(), x.numpy())
        embedded = activated(x, self._dtype)
        weight, bias = self._mix
        return [embedded, activated(torch.addmm(bias, embedded.kept, weight.t()), self._dtype)]

    def _compared(self, entries: torch.Tensor, trunk: torch.Tensor, ends: Any) -> Features:
        """Return the candidates combined with the query of their row, (k, width) float32."""
        (key, key_bias), (query, query_bias) = self._key, self._query
        summed = torch.addmm(key_bias, entries, key.t()).float()
        list_kernels.add_to_entries(ends, torch.addmm(query_bias, trunk, query.t()).float().numpy(), summed.numpy())
        return activated(summed, torch.float32)

    def _passed(self, rows: Any, layers: Any, entries: Any, known: torch.Tensor, ends: Any) -> Passed:
        policy, m = self._policy, len(rows)
        scores = torch.mv(entries[-1].kept, policy.score.weight[0]) + policy.score.bias
        logits, legal = torch.empty(m, MAX_CANDIDATES), np.empty((m, list_kernels.MASK_BYTES), dtype=np.uint8)
        list_kernels.score_rows(rows.starts, rows.which, rows.flags, scores.numpy(), OFF, logits.numpy(), legal)
        weight, bias = policy.value.scaled()
        values = torch.mv(layers[-1].kept.float(), weight) + bias
        return Passed(layers, entries, known, ends, logits, legal, values)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def gradients(
        self, rows: Any, out: Passed, d_logits: torch.Tensor, d_values: torch.Tensor
    ) -> dict[nn.Parameter, torch.Tensor]:
        """Return the gradients of all parameters from those of logits and values."""
        with torch.autocast("cpu", enabled=False):
            found: dict[nn.Parameter, torch.Tensor] = {}
            head = self._policy.value
            d_entries, d_query = self._score_gradients(out, d_logits, found)
            d_trunk = torch.outer(d_values, head.scaled()[0]).addmm_(d_query, self._policy.query.weight)
            last = out.layers[-1].kept.float()
            found[head.weight], found[head.bias] = head.gradients(last, d_values)
            d_joined = self._trunk_gradients(out, d_trunk, found)
            first = out.layers[0].plain.shape[1]
            list_kernels.pool_backward(out.ends, d_joined[:, first:].contiguous().numpy(), d_entries.numpy())
            self._entry_gradients(rows, out, d_entries, found)
            slope = silu_backward(d_joined[:, :first].contiguous(), out.layers[0].plain)
            shape = self._policy.first.weight.shape
            found[self._policy.first.weight] = sparse_gradient(shape, rows.filled, slope, self._dtype)
            found[self._policy.globals.weight] = slope.t() @ out.known
            found[self._policy.first.bias] = slope.sum(dim=0)
            found[self._policy.globals.bias] = found[self._policy.first.bias].clone()
            return found

    def _linear(
        self, layer: nn.Linear, slope: torch.Tensor, below: torch.Tensor, found: dict[nn.Parameter, torch.Tensor]
    ) -> torch.Tensor:
        """Add the gradients of a layer, from those of its output and from its input, and return the cast slope."""
        cast = slope.to(self._dtype)
        found[layer.weight], found[layer.bias] = (cast.t() @ below).float(), slope.sum(dim=0)
        return cast

    def _score_gradients(
        self, out: Passed, d_logits: torch.Tensor, found: dict[nn.Parameter, torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Add the gradients of scores, keys and queries; return those of encoded entries and of queries, float32."""
        policy, compared, encoded = self._policy, out.entries[-1], out.entries[1].kept
        d_scores = torch.empty(len(encoded))
        list_kernels.slopes_of_scores(out.ends, d_logits.numpy(), d_scores.numpy())
        found[policy.score.weight] = torch.mv(compared.kept.t(), d_scores)[None]
        found[policy.score.bias] = d_scores.sum()[None]
        slope = silu_backward(torch.outer(d_scores, policy.score.weight[0]), compared.plain)
        d_query = torch.empty(len(out.ends), slope.shape[1])
        list_kernels.sum_entries(out.ends, slope.numpy(), d_query.numpy())
        d_entries = (self._linear(policy.key, slope, encoded, found) @ self._key[0]).float()
        self._linear(policy.query, d_query, out.layers[-1].kept, found)
        return d_entries, d_query

    def _trunk_gradients(
        self, out: Passed, back: torch.Tensor, found: dict[nn.Parameter, torch.Tensor]
    ) -> torch.Tensor:
        """Add the gradients of the trunk and return that of its input, (m, size) float32."""
        linear = [layer for layer in self._policy.trunk if isinstance(layer, nn.Linear)]
        for depth in range(len(linear), 0, -1):
            slope = silu_backward(back, out.layers[depth].plain.float())
            cast = self._linear(linear[depth - 1], slope, out.layers[depth - 1].kept, found)
            back = (cast @ self._trunk[depth - 1][0]).float()
        return back

    def _entry_gradients(
        self, rows: Any, out: Passed, back: torch.Tensor, found: dict[nn.Parameter, torch.Tensor]
    ) -> None:
        """Add the gradients of the encoder from that of its output."""
        encoder, (embedded, mixed, _) = self._policy.entries, out.entries
        slope = silu_backward(back, mixed.plain.float())
        back = (self._linear(encoder.mix, slope, embedded.kept, found) @ self._mix[0]).float()
        slope = silu_backward(back, embedded.plain)
        sums = torch.zeros_like(self._table)
        row_kernels.sparse_backward(*rows.terms(), slope.numpy(), sums.numpy())
        *tables, columns = sums.split(self._sizes)
        found.update(zip((each.weight for each in tables_of(encoder)), tables, strict=True))
        found[encoder.numbers.weight], found[encoder.numbers.bias] = columns.t(), slope.sum(dim=0)


def tables_of(encoder: Any) -> tuple[nn.Embedding, ...]:
    """Return the embeddings of an entry in the order of `list_terms`."""
    return encoder.things, encoder.verbs, encoder.traits, encoder.aims
