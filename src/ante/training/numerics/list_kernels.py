"""Kernels of the shortlist policy's candidates: unpacking lists, embedding entries, and sums over each row's entries.

Rows are packed lists (`policies/shortlist.py`). The entries of a minibatch are concatenated row by row; those of row m
are `ends[m - 1]` (0 for the first row) to `ends[m]`. Kernels compile as those of `row_kernels.py`.

SPEED: an entry has few nonzero numbers and flags. As a sparse row of one table, its embeddings and columns are added up
by `row_kernels.sparse_forward`; a kernel with a loop for each of them took three times as long.
"""

import numpy as np

from ante.lookahead.records import LEGAL, N_ESTIMATES, N_FLAGS
from ante.training.numerics.row_kernels import kernel

N_IDS = 4  # item, verb, trait, purpose
N_NUMBERS = N_ESTIMATES + 1  # estimates and price
N_KNOWN = 1 + N_NUMBERS + N_FLAGS  # columns of one kind: a constant, the numbers, the flags
MOST_TERMS = N_IDS + N_KNOWN
MASK_BYTES = 4  # of a row's candidates
PER_NUMBER = np.float32(1.0 / 128.0)  # scale of estimates and price


@kernel
def list_terms(lists, kinds, firsts, starts, columns, values, flags):
    """Write each entry of candidate lists as a sparse row of the table of all embeddings and columns.

    lists    (n,) candidates_t with k entries together
    kinds    (verbs,) int64
    firsts   (N_IDS + 1,) int64: the first row of each embedding in the table, and of the columns of the first kind
    starts   (k + 1,) int64, columns and values (k MOST_TERMS,) int32 and float32 in CSR layout, overwritten
    flags    (k,) int64, overwritten
    """
    at, k = 0, 0
    starts[0] = 0
    for i in range(len(lists)):
        for place in range(np.int64(lists[i].n)):
            entry = lists[i].entries[place]
            columns[at] = firsts[0] + entry.item_id
            columns[at + 1] = firsts[1] + entry.verb
            columns[at + 2] = firsts[2] + entry.trait
            columns[at + 3] = firsts[3] + entry.purpose
            column = firsts[N_IDS] + kinds[entry.verb] * N_KNOWN
            columns[at + 4] = column
            for j in range(N_IDS + 1):
                values[at + j] = np.float32(1.0)
            at += N_IDS + 1
            for j in range(N_NUMBERS):
                byte = entry.estimates[j] if j < N_ESTIMATES else entry.price
                if byte:
                    columns[at], values[at] = column + 1 + j, np.float32(byte) * PER_NUMBER
                    at += 1
            flags[k] = entry.flag_bits
            for j in range(N_FLAGS):
                if (flags[k] >> j) & 1:
                    columns[at], values[at] = column + 1 + N_NUMBERS + j, np.float32(1.0)
                    at += 1
            k += 1
            starts[k] = at


@kernel
def entries_of(starts, which, ends, entries):
    """Write the indices of a minibatch's entries: starts (n + 1,) of all rows, which and ends (m,), entries (k,) int64."""
    at = 0
    for m in range(len(which)):
        first = starts[which[m]] - at
        while at < ends[m]:
            entries[at] = first + at
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
    legal   (m, MASK_BYTES) uint8, overwritten: bit j of byte k is 1 if entry 8 k + j is legal
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


@kernel
def linear(weight, bias, x, out):
    """Write a linear layer of one vector: weight (width, inputs), bias (width,), x (inputs,), out (width,), overwritten."""
    for k in range(len(out)):
        total = bias[k]
        for i in range(len(x)):
            total += weight[k, i] * x[i]
        out[k] = total


@kernel
def add_rows(columns, numbers, begin, end, weight, out):
    """Add weight rows to a vector: numbers[at] times row columns[at], for `at` from begin to end."""
    for at in range(begin, end):
        x, row = numbers[at], weight[columns[at]]
        for k in range(len(out)):
            out[k] += x * row[k]


@kernel
def activate(x):
    """Replace each number of a vector by its SiLU."""
    for k in range(len(x)):
        x[k] /= np.float32(1.0) + np.exp(-x[k])


@kernel
def encode_entries(begin, end, starts, columns, numbers, table, mix, mixed, pooled):
    """Write the encoded entries of one row, mixed (end - begin, width), and add mean and first to pooled (2 width,)."""
    width, embedded = mixed.shape[1], np.empty(mixed.shape[1], np.float32)
    for e in range(begin, end):
        embedded[:] = table[1]
        add_rows(columns, numbers, starts[e], starts[e + 1], table[0], embedded)
        activate(embedded)
        linear(mix[0], mix[1], embedded, mixed[e - begin])
        activate(mixed[e - begin])
        for k in range(width):
            pooled[k] += mixed[e - begin, k] / np.float32(end - begin)
    if end > begin:
        pooled[width:] = mixed[0]


@kernel
def score_entries(flags, mixed, wanted, key, score, logits):
    """Write the logits of one row's legal entries: flags (entries,), mixed (entries, width), wanted (width,), the query."""
    compared = np.empty(len(wanted), np.float32)
    for e in range(len(flags)):
        if flags[e] & LEGAL:
            linear(key[0], key[1], mixed[e], compared)
            for k in range(len(wanted)):
                compared[k] += wanted[k]
            activate(compared)
            linear(score[0], score[1], compared, logits[e : e + 1])


@kernel
def forward_few(rows, entries, known, net, off, trunk, logits, values):
    """Write the outputs of a shortlist network for a few rows, one after another.

    rows     starts, columns, values of the sparse part of flat observations; full (n, FULL), their dense part
    entries  ends (n,), cumulative numbers of entries; starts, columns, values of the entries' sparse rows; flags (k,)
    known    (n, numbers) float32, the other numbers of the lists
    net      the layers, a weight and a bias each, as `ShortlistNet.arrays` lists them
    off      logit of illegal or missing entries
    trunk (n, size), logits (n, most), values (n,)  float32, overwritten

    SPEED: for one row, 25 calls of PyTorch take ten times as long as this kernel.
    """
    starts, columns, numbers, full = rows
    ends, entry_starts, entry_columns, entry_numbers, flags = entries
    first, dense, given, table, mix, layers, query, key, score, value = net
    width, size, all_full = len(query[1]), len(first[1]), np.arange(len(dense))
    mixed, wanted = np.empty((logits.shape[1], width), np.float32), np.empty(width, np.float32)
    joined, begin = np.empty(size + 2 * width, np.float32), 0
    for m in range(len(ends)):
        end, sums = ends[m], joined[:size]
        linear(given[0], given[1], known[m], sums)
        sums += first[1]
        add_rows(all_full, full[m], 0, len(dense), dense, sums)
        add_rows(columns, numbers, starts[m], starts[m + 1], first[0], sums)
        activate(sums)
        joined[size:] = np.float32(0.0)
        encode_entries(begin, end, entry_starts, entry_columns, entry_numbers, table, mix, mixed, joined[size:])
        x = joined
        for weight, bias in layers:
            y = np.empty(len(bias), np.float32)
            linear(weight, bias, x, y)
            activate(y)
            x = y
        trunk[m] = x
        linear(value[0], value[1], x, values[m : m + 1])
        linear(query[0], query[1], x, wanted)
        logits[m] = off
        score_entries(flags[begin:end], mixed, wanted, key, score, logits[m])
        begin = end
