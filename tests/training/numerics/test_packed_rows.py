"""Packed rows: unpacking inverts packing, for every column and throughout games."""

import os
from collections.abc import Callable

import numpy as np
import pytest

from ante.env.games import Games
from ante.env.layout import AT, FLAT, FLAT_SIZE, N_JOKERS
from ante.training.numerics.packed_rows import (
    BITS,
    COUNTS,
    FULL,
    KINDS,
    NUMBERS,
    ROW_BYTES,
    flat_row_t,
    octets_of,
    pack_flat,
    unpack,
)

needs_jit = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")


def positions(steps: int = 200, n: int = 32) -> tuple[np.ndarray, np.ndarray]:
    """Return observations and masks of random games on several decks, some with one-chip blinds: (steps x n, ...)."""
    rng, seen, masks = np.random.default_rng(7), [], []
    for deck, stake in (("b_red", 1), ("b_plasma", 8), ("b_ghost", 4)):
        games = Games(n, deck, stake, reorder="none")
        games.reset()
        for _ in range(steps // 3):
            seen.append(games.flat.copy())
            masks.append(games.masks.copy())
            games.step(np.argmax(rng.random(games.masks.shape) * games.masks, axis=1), games.outcome != 0)
    return np.concatenate(seen), np.concatenate(masks)


def test_every_part_has_its_kinds_and_every_column_one_place() -> None:
    assert set(KINDS) == {name for name, _, _ in FLAT}
    assert all(width % len(KINDS[name]) == 0 for name, width, _ in FLAT)
    assert sorted(np.concatenate([NUMBERS, COUNTS, BITS]).tolist()) == list(range(FLAT_SIZE))


def test_a_row_is_far_smaller_than_a_kilobyte() -> None:
    assert ROW_BYTES == flat_row_t.itemsize <= 640
    assert ROW_BYTES % 8 == 0


@needs_jit
def test_played_positions_are_restored_exactly_except_rounded_numbers() -> None:
    flat, masks = positions()
    rows = np.zeros(len(flat), dtype=flat_row_t)
    octets_of(rows)[:] = 255  # earlier contents are overwritten
    pack_flat(flat, masks, rows)
    back, legal = unpack(rows)
    assert (legal == masks).all()
    assert (back[:, BITS] == flat[:, BITS]).all(), "a column among the bits is not 0 or 1"
    assert (back[:, COUNTS] == flat[:, COUNTS]).all(), "a column among the counts is not a quarter"
    assert np.abs(back[:, NUMBERS] - flat[:, NUMBERS]).max() <= 2.0**-14
    assert (flat[:, AT.joker_ids : AT.joker_ids + N_JOKERS] > 0).any(), "some of these games have jokers"


def made_up() -> tuple[np.ndarray, np.ndarray]:
    """Return observations and masks with the ends of all ranges and with few nonzero columns, (6, ...)."""
    rng = np.random.default_rng(8)
    flat, masks = np.zeros((6, FLAT_SIZE), dtype=np.float32), np.zeros((6, 143), dtype=np.int8)
    flat[0, NUMBERS], flat[1, NUMBERS], flat[2, COUNTS], flat[2, BITS] = 2.0, -2.0, 2.0, 1.0
    masks[1], masks[2, 142] = 1, 1
    for row in flat[3:]:
        for kind, most in ((NUMBERS, 32767), (COUNTS, 8), (BITS, 1)):
            some = rng.choice(kind, len(kind) // 5, replace=False)
            row[some] = rng.integers(1, most, size=len(some), endpoint=True) / {32767: 16384, 8: 4, 1: 1}[most]
    masks[3:] = rng.integers(2, size=(3, 143))
    return flat, masks


def test_the_ends_of_the_range_are_kept() -> None:
    flat, masks = made_up()
    rows = np.zeros(len(flat), dtype=flat_row_t)
    octets_of(rows)[:] = 255  # earlier contents are overwritten
    pack_flat(flat, masks, rows)
    back, legal = unpack(rows)
    np.testing.assert_allclose(back, flat, atol=1.0 / 16384)
    assert (back[3:] == flat[3:]).all()
    assert (legal == masks).all()


def test_the_nonzero_columns_of_rows_are_listed_once() -> None:
    pytest.importorskip("torch")
    from ante.training.policies.mlp_rows import FilledRows

    flat, masks = made_up()
    rows = np.zeros(len(flat), dtype=flat_row_t)
    pack_flat(flat, masks, rows)
    filled = FilledRows(rows)
    again = np.zeros_like(flat)
    again[:, FULL] = filled.full.numpy()
    listed = np.repeat(np.arange(len(flat)), np.diff(filled.starts))
    assert (again[listed, filled.columns] == 0).all()
    again[listed, filled.columns] = filled.values
    np.testing.assert_allclose(again, flat, atol=1.0 / 16384)
    assert len(listed) == np.count_nonzero(np.delete(flat, FULL, axis=1))


@pytest.mark.parametrize(
    "made", [made_up, pytest.param(lambda: positions(steps=30, n=16), id="played", marks=needs_jit)]
)
def test_the_torch_twin_packs_and_unpacks_the_same(made: Callable[[], tuple[np.ndarray, np.ndarray]]) -> None:
    torch = pytest.importorskip("torch")
    from ante.training.numerics import torch_ops

    flat, masks = made()
    rows = np.zeros(len(flat), dtype=flat_row_t)
    pack_flat(flat, masks, rows)
    octets = torch.from_numpy(octets_of(rows))
    back, legal = unpack(rows)
    assert (torch_ops.pack_octets(torch.from_numpy(flat), torch.from_numpy(masks)) == octets).all()
    assert (torch_ops.unpack_octets(octets).numpy() == back).all()
    assert (torch_ops.legal_of(octets).numpy() == legal).all()
