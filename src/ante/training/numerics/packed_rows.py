"""The flat observation and its mask as one packed row, the format sent from env runners to learners.

Every column of the flat view has one of three kinds: a bit (0 or 1), a count (quarters up to 2, one byte) or a number
(two bytes, exact to 1/16384). `KINDS` defines them; a test checks it against played games.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.engine.actions import N_DISCRETE
from ante.env.layout import BOOSTER_PARTS, FLAT, FLAT_SIZE, HAND_PARTS, ITEM_PARTS, JOKER_PARTS
from ante.training.numerics.row_kernels import COUNTS_PER_ONE, NUMBERS_PER_ONE, pack_rows


def kinds_of_parts(parts: dict[str, int], *numbers: str) -> str:
    """Return the kind of each column of these parts: n for the given names, b for the others."""
    assert parts.keys() >= set(numbers)
    return "".join(("n" if name in numbers else "b") * width for name, width in parts.items())


# Kinds of each part of layout.FLAT, repeated to its width: b bit, c count, n number.
KINDS: dict[str, str] = {
    "phase": "b",
    "scalars": "n",
    "hand": "b",
    "unknown": "c",
    "unknown_traits": "c",
    "joker_ids": "c",
    "jokers": kinds_of_parts(JOKER_PARTS, "rounds", "value", "sell_value"),
    "consumables": "b",
    "items": kinds_of_parts(ITEM_PARTS, "price"),
    "vouchers": "b",
    "shop_vouchers": "b",
    "packs": kinds_of_parts(BOOSTER_PARTS, "size", "choose", "price"),
    "open_pack": "b",
    "blind": "b",
    "tags": "c",
    "skip_tags": "b",
    "hands": kinds_of_parts(HAND_PARTS, "level", "plays"),
    "targets": "n",
    "selected_hand": "b",
}


def kinds_of_columns() -> str:
    """Return the kind of each column, FLAT_SIZE letters."""
    return "".join((KINDS[name] * width)[:width] for name, width, _ in FLAT)


def columns_of(kind: str) -> NDArray[np.int32]:
    """Return the columns of the flat view of this kind, in order."""
    return np.array([column for column, letter in enumerate(kinds_of_columns()) if letter == kind], dtype=np.int32)


NUMBERS, COUNTS, BITS = columns_of("n"), columns_of("c"), columns_of("b")
# Parts most of whose columns are usually nonzero; they come first among the numbers and counts of a row.
FULL_NUMBERS, FULL_COUNTS = (width for name, width, _ in FLAT if name in ("scalars", "unknown"))
FULL = np.concatenate([NUMBERS[:FULL_NUMBERS], COUNTS[:FULL_COUNTS]]).astype(np.int64)
MASK_BYTES = -(-N_DISCRETE // 8)
AT_COUNTS = 2 * len(NUMBERS)
AT_BITS = AT_COUNTS + len(COUNTS)
AT_MASK = AT_BITS + -(-len(BITS) // 8)
ROW_BYTES = -(-(AT_MASK + MASK_BYTES) // 8) * 8
flat_row_t = np.dtype(
    {
        "names": ["numbers", "counts", "bits", "mask"],
        "formats": [("<i2", len(NUMBERS)), ("u1", len(COUNTS)), ("u1", AT_MASK - AT_BITS), ("u1", MASK_BYTES)],
        "offsets": [0, AT_COUNTS, AT_BITS, AT_MASK],
        "itemsize": ROW_BYTES,
    }
)


def places_of_columns() -> NDArray[np.int64]:
    """Return the position of each column of the flat view in a row, for `pack_rows`."""
    places = np.zeros(FLAT_SIZE, dtype=np.int64)
    places[NUMBERS] = 16 * np.arange(len(NUMBERS))
    places[COUNTS] = 8 * (AT_COUNTS + np.arange(len(COUNTS))) + 1
    places[BITS] = 8 * AT_BITS + np.arange(len(BITS))
    return places


PLACES = places_of_columns()


def octets_of(rows: NDArray[Any]) -> NDArray[np.uint8]:
    """Return contiguous packed rows (n,) as bytes, a view of shape (n, bytes of a row)."""
    return rows.view(np.uint8).reshape(len(rows), rows.dtype.itemsize)


def numbers_of(rows: NDArray[Any]) -> NDArray[np.int16]:
    """Return contiguous packed rows (n,) as int16, a view; a row starts with its numbers."""
    return rows.view(np.int16).reshape(len(rows), rows.dtype.itemsize // 2)


def pack_flat(flat: NDArray[np.float32], masks: NDArray[np.int8], out: NDArray[Any]) -> None:
    """Write observations as packed rows. Raises ValueError for games without vectors (`flat=False`).

    flat   (n, FLAT_SIZE) float32
    masks  (n, N_DISCRETE) int8
    out    (n,) flat_row_t, contiguous, overwritten
    """
    if flat.shape != (len(out), FLAT_SIZE):
        raise ValueError(f"{len(out)} games have no vectors but an array {flat.shape}: they were made with flat=False")
    pack_rows(flat, masks, PLACES, numbers_of(out), octets_of(out), AT_BITS, AT_MASK)


def unpack(rows: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Invert `pack_flat`: return observations (n, FLAT_SIZE) float32, numbers rounded to 1/16384, and masks."""
    flat = np.zeros((len(rows), FLAT_SIZE), dtype=np.float32)
    flat[:, NUMBERS] = rows["numbers"] / np.float32(NUMBERS_PER_ONE)
    flat[:, COUNTS] = rows["counts"] / np.float32(COUNTS_PER_ONE)
    flat[:, BITS] = np.unpackbits(rows["bits"], axis=1, bitorder="little", count=len(BITS))
    masks = np.unpackbits(rows["mask"], axis=1, bitorder="little", count=N_DISCRETE)
    return flat, masks.astype(np.int8)
