"""Kernels of candidate lists against their definitions; gradients as adjoints. Small, so that they run uncompiled too."""

import numpy as np
import pytest

pytest.importorskip("gymnasium")

from ante.lookahead.records import (
    LEGAL,
    MAX_CANDIDATES,
    N_CANDIDATE_ITEMS,
    N_ESTIMATES,
    N_FLAGS,
    N_KINDS,
    N_PURPOSES,
    N_VERBS,
    candidates_t,
)
from ante.training.numerics import list_kernels
from ante.training.numerics.list_kernels import MASK_BYTES, MOST_TERMS, N_KNOWN, N_NUMBERS

SIZES = np.array([2, 0, 11, 1, 3])  # entries of each row
STARTS = np.concatenate([[0], np.cumsum(SIZES)])
WHICH = np.array([2, 1, 4, 0])  # rows of the minibatch
ENDS = np.cumsum(SIZES[WHICH])
K, WIDTH = int(ENDS[-1]), 3


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).normal(size=shape).astype(np.float32)


def of_rows(entries: np.ndarray) -> list[np.ndarray]:
    """Return the entries of each row of the minibatch."""
    return np.split(entries, ENDS[:-1])


def test_an_entry_is_a_sparse_row_of_its_embeddings_numbers_and_flags() -> None:
    rng = np.random.default_rng(1)
    lists = np.zeros(3, dtype=candidates_t).view(np.recarray)
    lists["n"] = 2, 0, 3
    entries = lists["entries"]
    for name, most in (("item_id", N_CANDIDATE_ITEMS), ("verb", N_VERBS), ("trait", 40), ("purpose", N_PURPOSES)):
        entries[name] = rng.integers(most, size=entries.shape)
    shape = (*entries.shape, N_ESTIMATES)
    entries["estimates"], entries["price"] = (
        rng.integers(256, size=shape) * rng.integers(2, size=shape),
        [[7], [0], [0]],
    )
    entries["flag_bits"] = rng.integers(1 << N_FLAGS, size=entries.shape)
    kinds, firsts = rng.integers(N_KINDS, size=N_VERBS), np.array([0, 10_000, 20_000, 30_000, 40_000])
    starts, flags = np.empty(6, dtype=np.int64), np.empty(5, dtype=np.int64)
    columns, values = np.empty(5 * MOST_TERMS, dtype=np.int32), np.empty(5 * MOST_TERMS, dtype=np.float32)
    list_kernels.list_terms(lists, kinds, firsts, starts, columns, values, flags)
    listed = [entry for row in lists for entry in row["entries"][: row["n"]]]
    assert flags.tolist() == [entry["flag_bits"] for entry in listed]
    for k, entry in enumerate(listed):
        ids = (entry[name] for name in ("item_id", "verb", "trait", "purpose"))
        wanted = {int(first + number): 1.0 for first, number in zip(firsts, ids, strict=False)}
        column = int(firsts[4] + N_KNOWN * kinds[entry["verb"]])
        wanted[column] = 1.0
        numbers = [*entry["estimates"].tolist(), int(entry["price"])]
        wanted |= {column + 1 + j: number / 128 for j, number in enumerate(numbers) if number}
        set_flags = [j for j in range(N_FLAGS) if int(entry["flag_bits"]) >> j & 1]
        wanted |= {column + 1 + N_NUMBERS + j: 1.0 for j in set_flags}
        part = slice(starts[k], starts[k + 1])
        assert dict(zip(columns[part].tolist(), values[part].tolist(), strict=True)) == wanted


def test_the_entries_of_a_minibatch_are_those_of_its_rows() -> None:
    found = np.empty(K, dtype=np.int64)
    list_kernels.entries_of(STARTS, WHICH, ENDS, found)
    assert found.tolist() == [entry for row in WHICH for entry in range(STARTS[row], STARTS[row + 1])]


def test_a_row_receives_the_mean_and_the_first_of_its_entries() -> None:
    entries, out = normal(K, WIDTH), np.full((len(WHICH), 2 * WIDTH), np.nan, dtype=np.float32)
    list_kernels.pool(ENDS, entries, out)
    nothing = np.zeros(2 * WIDTH)
    wanted = [np.concatenate([each.mean(axis=0), each[0]]) if len(each) else nothing for each in of_rows(entries)]
    np.testing.assert_allclose(out, wanted, rtol=1e-5)
    slope, back = normal(len(WHICH), 2 * WIDTH), np.ones((K, WIDTH), dtype=np.float32)
    list_kernels.pool_backward(ENDS, slope, back)
    assert ((back - 1) * entries).sum() == pytest.approx((out * slope).sum(), rel=1e-3)


def test_vectors_of_rows_are_added_to_their_entries_and_slopes_of_entries_to_their_rows() -> None:
    rows, out = normal(len(WHICH), WIDTH), np.ones((K, WIDTH), dtype=np.float32)
    list_kernels.add_to_entries(ENDS, rows, out)
    np.testing.assert_allclose(out, 1 + np.repeat(rows, SIZES[WHICH], axis=0), rtol=1e-6)
    entries, sums = normal(K, WIDTH), np.full((len(WHICH), WIDTH), np.nan, dtype=np.float32)
    list_kernels.sum_entries(ENDS, entries, sums)
    np.testing.assert_allclose(sums, [each.sum(axis=0) for each in of_rows(entries)], rtol=1e-5, atol=1e-6)


def test_scores_of_legal_entries_are_the_logits_of_their_rows() -> None:
    flags = LEGAL * np.random.default_rng(2).integers(2, size=STARTS[-1]) + 2 * LEGAL
    scores, slopes = normal(K), np.full(K, np.nan, dtype=np.float32)
    logits = np.full((len(WHICH), MAX_CANDIDATES), np.nan, dtype=np.float32)
    legal = np.full((len(WHICH), MASK_BYTES), 255, dtype=np.uint8)
    list_kernels.score_rows(STARTS, WHICH, flags, scores, -7.0, logits, legal)
    bits = np.unpackbits(legal, axis=1, bitorder="little")[:, :MAX_CANDIDATES].astype(bool)
    for m, (row, of_row) in enumerate(zip(WHICH, of_rows(scores), strict=True)):
        usable = np.zeros(MAX_CANDIDATES, dtype=bool)
        usable[: SIZES[row]] = flags[STARTS[row] : STARTS[row + 1]] & LEGAL != 0
        assert np.array_equal(bits[m], usable)
        assert np.array_equal(logits[m, usable], of_row[usable[: SIZES[row]]])
        assert (logits[m, ~usable] == -7.0).all()
    assert 0 < bits.sum() < K
    d_logits = normal(len(WHICH), MAX_CANDIDATES)
    list_kernels.slopes_of_scores(ENDS, d_logits, slopes)
    assert np.array_equal(slopes, np.concatenate([d_logits[m, : SIZES[row]] for m, row in enumerate(WHICH)]))
