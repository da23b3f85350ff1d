"""Kernels of the shortlist policy's candidates: unpacking lists, embedding entries, and sums over each row's entries.

Rows are packed lists (`policies/shortlist.py`). The entries of a minibatch are concatenated row by row; those of row m
are `ends[m - 1]` (0 for the first row) to `ends[m]`. Kernels compile as those of `row_kernels.py`.

SPEED: an entry has few nonzero numbers and flags, so adding up weight rows costs less than a product with the block of
columns of all kinds, and nothing of that block is stored.
"""

import numpy as np

from ante.lookahead.records import LEGAL, N_ESTIMATES, N_FLAGS, N_KINDS
from ante.training.numerics.row_kernels import kernel

N_IDS = 4  # item, verb, trait, purpose
N_NUMBERS = N_ESTIMATES + 1  # estimates and price
N_KNOWN = 1 + N_NUMBERS + N_FLAGS  # columns of one kind: a constant, the numbers, the flags
N_COLUMNS = N_KINDS * N_KNOWN
MASK_BYTES = 4  # of a row's candidates


@kernel
def end_rows(starts, which, ends):
    """Write the cumulative number of entries of a minibatch: starts (n + 1,) of all rows, which (m,), ends (m,) int64."""
    end = 0
    for m in range(len(which)):
        end += starts[which[m] + 1] - starts[which[m]]
        ends[m] = end


@kernel
def embed(starts, which, kinds, ids, numbers, flags, items, verbs, traits, purposes, weight, bias, out):
    """Write the sum of each entry's embeddings and of its kind's columns.

    starts   (n + 1,) int64: offsets of all rows in ids (k, N_IDS), numbers (k, N_NUMBERS) float32, flags (k,) int64
    which    (m,) int64, rows of this minibatch
    kinds    (verbs,) int64
    items, verbs, traits, purposes   embeddings, (.., width) float32
    weight   (N_COLUMNS, width) float32, and bias (width,) float32
    out      (entries, width) float32, overwritten
    """
    width, at = len(bias), 0
    for m in range(len(which)):
        for e in range(starts[which[m]], starts[which[m] + 1]):
            item, verb, trait, purpose = ids[e, 0], ids[e, 1], ids[e, 2], ids[e, 3]
            column = kinds[verb] * N_KNOWN
            for k in range(width):
                out[at, k] = (items[item, k] + verbs[verb, k]) + (traits[trait, k] + purposes[purpose, k])
            for k in range(width):
                out[at, k] += bias[k] + weight[column, k]
            for j in range(N_NUMBERS):
                x = numbers[e, j]
                if x != 0.0:
                    for k in range(width):
                        out[at, k] += x * weight[column + 1 + j, k]
            bits, j = flags[e], column + 1 + N_NUMBERS
            while bits:
                if bits & 1:
                    for k in range(width):
                        out[at, k] += weight[j, k]
                bits >>= 1
                j += 1
            at += 1


@kernel
def embed_backward(starts, which, kinds, ids, numbers, flags, slope, items, verbs, traits, purposes, weight):
    """Add the gradients of `embed`, from the output's slope (entries, width) float32, to the last five arguments."""
    width, at = slope.shape[1], 0
    for m in range(len(which)):
        for e in range(starts[which[m]], starts[which[m] + 1]):
            item, verb, trait, purpose = ids[e, 0], ids[e, 1], ids[e, 2], ids[e, 3]
            column = kinds[verb] * N_KNOWN
            for k in range(width):
                items[item, k] += slope[at, k]
                verbs[verb, k] += slope[at, k]
                traits[trait, k] += slope[at, k]
                purposes[purpose, k] += slope[at, k]
            for j in range(N_NUMBERS):
                x = numbers[e, j]
                if x != 0.0:
                    for k in range(width):
                        weight[column + 1 + j, k] += x * slope[at, k]
            bits, j = flags[e], column + 1 + N_NUMBERS
            while bits:
                if bits & 1:
                    for k in range(width):
                        weight[j, k] += slope[at, k]
                bits >>= 1
                j += 1
            at += 1


@kernel
def pool(ends, entries, out):
    """Write each row's mean and first entry: entries (k, width) float32, out (m, 2 width) float32, overwritten.

    A row without entries receives 0.
    """
    width, at = entries.shape[1], 0
    for m in range(len(ends)):
        n = ends[m] - at
        for k in range(2 * width):
            out[m, k] = 0.0
        if n > 0:
            for k in range(width):
                out[m, width + k] = entries[at, k]
            for e in range(at, ends[m]):
                for k in range(width):
                    out[m, k] += entries[e, k]
            share = np.float32(1.0) / np.float32(n)
            for k in range(width):
                out[m, k] *= share
        at = ends[m]


@kernel
def pool_backward(ends, slope, out):
    """Add the gradient of `pool`, from slope (m, 2 width) float32, to that of the entries, out (k, width) float32."""
    width, at = out.shape[1], 0
    for m in range(len(ends)):
        if ends[m] > at:
            share = np.float32(1.0) / np.float32(ends[m] - at)
            for e in range(at, ends[m]):
                for k in range(width):
                    out[e, k] += share * slope[m, k]
            for k in range(width):
                out[at, k] += slope[m, width + k]
        at = ends[m]


@kernel
def add_to_entries(ends, rows, out):
    """Add to each entry the vector of its row: rows (m, width) float32, out (k, width) float32."""
    at = 0
    for m in range(len(ends)):
        for e in range(at, ends[m]):
            for k in range(rows.shape[1]):
                out[e, k] += rows[m, k]
        at = ends[m]


@kernel
def sum_entries(ends, entries, out):
    """Write the sum of each row's entries: entries (k, width) float32, out (m, width) float32, overwritten."""
    at = 0
    for m in range(len(ends)):
        for k in range(entries.shape[1]):
            out[m, k] = 0.0
        for e in range(at, ends[m]):
            for k in range(entries.shape[1]):
                out[m, k] += entries[e, k]
        at = ends[m]


@kernel
def score_rows(starts, which, flags, scores, off, logits, legal):
    """Write scores of entries as logits of rows: scores (entries,) float32 in the order of the minibatch.

    off     logit of illegal or missing entries
    logits  (m, most) float32, overwritten
    legal   (m, MASK_BYTES) uint8, overwritten: bit j of byte k is set if entry 8 k + j is legal
    """
    at = 0
    for m in range(len(which)):
        first, end = starts[which[m]], starts[which[m] + 1]
        logits[m, :] = off
        legal[m, :] = 0
        for e in range(first, end):
            j = e - first
            if flags[e] & LEGAL:
                logits[m, j] = scores[at]
                legal[m, j >> 3] |= 1 << (j & 7)
            at += 1


@kernel
def slopes_of_scores(ends, d_logits, out):
    """Write the gradient of each entry's score: d_logits (m, most) float32, 0 where illegal; out (entries,) float32."""
    at = 0
    for m in range(len(ends)):
        for e in range(at, ends[m]):
            out[e] = d_logits[m, e - at]
        at = ends[m]
