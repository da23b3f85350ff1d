"""Inference of the shortlist policy without packed rows: compiled kernels around five matrix products.

Search evaluates a policy on millions of positions. This path reads flat observations and candidate lists directly and
omits everything that training needs; logits and values equal those of `ShortlistPolicy.heads` up to rounding.

SPEED: lookups, sums and the first, sparse layer are one compiled pass; the dense products and SiLU are PyTorch's, which
use the widest vector instructions of the CPU. Half the time of `heads` or less on one core.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from ante.lookahead.records import (
    KIND_OF_VERB,
    LEGAL,
    MAX_CANDIDATES,
    N_ESTIMATES,
    N_FLAGS,
)
from ante.lookahead.reference_hands import N_REFERENCE_HANDS
from ante.training.numerics.distributions import OFF
from ante.training.numerics.row_kernels import kernel
from ante.training.policies.shortlist import ShortlistPolicy

N_NUMBERS = 1 + N_ESTIMATES + 1 + N_FLAGS  # columns of a kind in the numbers of an entry
PER_ESTIMATE = np.float32(1.0 / 128.0)
PER_STRENGTH, PER_NEEDED = np.float32(1.0 / 2000.0), np.float32(1.0 / 200.0)


class Outputs(NamedTuple):
    """Outputs for n positions.

    logits  (n, MAX_CANDIDATES) float32, OFF for illegal or missing candidates
    values  (n,) float32
    trunk   (n, size) float32, features of the whole game
    """

    logits: NDArray[np.float32]
    values: NDArray[np.float32]
    trunk: NDArray[np.float32]


class Tables(NamedTuple):
    """Weights of the embeddings and first layers, as arrays (inputs, width)."""

    first: NDArray[np.float32]
    globals: NDArray[np.float32]
    bias: NDArray[np.float32]
    things: NDArray[np.float32]
    verbs: NDArray[np.float32]
    traits: NDArray[np.float32]
    aims: NDArray[np.float32]
    numbers: NDArray[np.float32]
    numbers_bias: NDArray[np.float32]


def array_of(weight: torch.Tensor, transposed: bool = False) -> NDArray[np.float32]:
    """Return weights as a contiguous array."""
    found = weight.detach().float().cpu()
    return np.ascontiguousarray((found.t() if transposed else found).numpy())


class ShortlistInference:
    """A snapshot of a shortlist policy's weights for inference on a CPU."""

    def __init__(self, policy: ShortlistPolicy) -> None:
        entries = policy.entries
        self._tables = Tables(
            array_of(policy.first.weight),
            array_of(policy.globals.weight, True),
            array_of(policy.first.bias + policy.globals.bias),
            array_of(entries.things.weight),
            array_of(entries.verbs.weight),
            array_of(entries.traits.weight),
            array_of(entries.aims.weight),
            array_of(entries.numbers.weight, True),
            array_of(entries.numbers.bias),
        )
        self._policy = policy

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def __call__(self, flat: NDArray[np.float32], lists: NDArray[Any]) -> Outputs:
        """Return the outputs for flat observations (n, FLAT_SIZE) and candidate lists (n,) candidates_t."""
        policy, n = self._policy, len(lists)
        starts = np.concatenate([[0], np.cumsum(lists["n"], dtype=np.int64)])
        width = self._tables.things.shape[1]
        table = np.empty((n, len(self._tables.bias)), dtype=np.float32)
        plain = np.empty((starts[-1], width), dtype=np.float32)
        read_positions(flat, lists, starts, *self._tables, table, plain)
        silu = functional.silu
        mixed = silu(policy.entries.mix(silu(torch.from_numpy(plain), inplace=True)), inplace=True)
        joined = np.empty((n, table.shape[1] + 2 * width), dtype=np.float32)
        join_features(silu(torch.from_numpy(table), inplace=True).numpy(), mixed.numpy(), starts, joined)
        trunk = policy.trunk(torch.from_numpy(joined))
        keys, queries = policy.key(mixed).numpy(), policy.query(trunk).numpy()
        add_queries(keys, queries, starts)
        scores = policy.score(silu(torch.from_numpy(keys), inplace=True))[:, 0].numpy()
        logits = np.full((n, MAX_CANDIDATES), OFF, dtype=np.float32)
        write_logits(scores, lists, starts, logits)
        return Outputs(logits, policy.value(trunk)[:, 0].numpy(), trunk.numpy())


@kernel
def read_positions(
    flat, lists, starts, first, globals_, bias, things, verbs, traits, aims, numbers, numbers_bias, table, plain
):
    """Write the first layers before their activation.

    flat, lists  as in `ShortlistInference`; starts (n + 1,) int64, offsets of each list's candidates
    first ... numbers_bias  `Tables`
    table  (n, first width) float32, overwritten; plain (starts[n], width) float32, overwritten
    """
    for i in range(len(lists)):
        listed = lists[i]
        row = table[i]
        row[:] = bias
        for c in range(flat.shape[1]):
            x = flat[i, c]
            if x != np.float32(0.0):
                weights = first[c]
                for k in range(len(row)):
                    row[k] += x * weights[k]
        for g in range(N_REFERENCE_HANDS + 1):
            x = np.float32(listed.needed) * PER_NEEDED
            if g < N_REFERENCE_HANDS:
                x = np.float32(listed.strengths[g]) * PER_STRENGTH
            weights = globals_[g]
            for k in range(len(row)):
                row[k] += x * weights[k]
        for j in range(np.int64(listed.n)):
            read_entry(listed.entries[j], things, verbs, traits, aims, numbers, numbers_bias, plain[starts[i] + j])


@kernel
def read_entry(e, things, verbs, traits, aims, numbers, numbers_bias, out):
    """Write the encoding of one candidate before its activation."""
    a, b, c, d = things[e.item_id], verbs[e.verb], traits[e.trait], aims[e.purpose]
    at = KIND_OF_VERB[e.verb] * N_NUMBERS
    one = numbers[at]
    for k in range(len(out)):
        out[k] = a[k] + b[k] + c[k] + d[k] + numbers_bias[k] + one[k]
    for j in range(N_ESTIMATES + 1):
        byte = e.estimates[j] if j < N_ESTIMATES else e.price
        if byte:
            x, weights = np.float32(byte) * PER_ESTIMATE, numbers[at + 1 + j]
            for k in range(len(out)):
                out[k] += x * weights[k]
    for j in range(N_FLAGS):
        if (e.flag_bits >> j) & 1:
            weights = numbers[at + 2 + N_ESTIMATES + j]
            for k in range(len(out)):
                out[k] += weights[k]


@kernel
def join_features(table, entries, starts, out):
    """Write the trunk's input: table, mean of a list's entries, first entry; out (n, widths) float32, overwritten."""
    wide, width = table.shape[1], entries.shape[1]
    for i in range(len(table)):
        out[i, :wide] = table[i]
        out[i, wide:] = np.float32(0.0)
        count = starts[i + 1] - starts[i]
        for at in range(starts[i], starts[i + 1]):
            for k in range(width):
                out[i, wide + k] += entries[at, k]
        if count:
            for k in range(width):
                out[i, wide + k] /= np.float32(count)
                out[i, wide + width + k] = entries[starts[i], k]


@kernel
def add_queries(keys, queries, starts):
    """Add the query of each list (n, width) to the keys of its entries (starts[n], width), in place."""
    for i in range(len(queries)):
        for at in range(starts[i], starts[i + 1]):
            for k in range(keys.shape[1]):
                keys[at, k] += queries[i, k]


@kernel
def write_logits(scores, lists, starts, logits):
    """Write the scores of legal candidates: logits (n, MAX_CANDIDATES), overwritten there only."""
    for i in range(len(lists)):
        for j in range(np.int64(lists[i].n)):
            if lists[i].entries[j].flag_bits & LEGAL:
                logits[i, j] = scores[starts[i] + j]
