"""The columns of a trajectory dataset: what each step is stored as, exactly, and which version of the observation it is.

The flat view is kept by the kinds of its columns (nearly those of `rows.KINDS`): bits eight to a byte, counts as their
quarters in one byte, numbers as the float32 they are (few distinct values make a dictionary: exactness costs little).
The shortlist is kept as its own small integers, field by field.
"""

import hashlib
import json
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ante.engine.actions import N_DISCRETE, Verb
from ante.env.layout import AT, FLAT, FLAT_JOKERS, FLAT_SIZE, JOKER_SIZE
from ante.env.shortlist import MAX_ENTRIES, N_NUMBERS, entry_t, shortlist_t
from ante.errors import BalatroError
from ante.training.kernels import COUNTS_PER_ONE
from ante.training.rows import KINDS, MASK_BYTES, NUMBERS, columns_of

FORMAT = 1  # of the folder: raised when older datasets can no longer be read
ABOUT = b"ante"  # key of the schema metadata, a JSON object
ROW_GROUP = 20_000  # steps that are read at once
VIEWS = ("flat", "shortlist")
# QUIRK: a joker that Crimson Heart disables is debuffed 3 in the flat view. Packed rows say 1; a dataset keeps it.
HEART = AT["jokers"] + JOKER_SIZE * np.arange(FLAT_JOKERS) + KINDS["jokers"].index("n") - 2
BITS = np.setdiff1d(columns_of("b"), HEART)
COUNTS = np.concatenate([columns_of("c"), HEART])
BIT_BYTES = -(-len(BITS) // 8)
OUTCOMES = ("won", "lost", "truncated")
ENTRY_FIELDS = tuple(name for name in entry_t.names or () if name != "numbers")
LIST_TYPES = {"thing": pa.uint16(), "cards": pa.uint16()}

Columns = dict[str, NDArray[Any]]


class BadDataset(BalatroError, ValueError):
    """A dataset that cannot be read, or one that cannot be written."""


def observation_version() -> str:
    """Twelve hex digits that change whenever a stored observation or action would mean something else."""
    meaning = [FORMAT, FLAT, KINDS, N_DISCRETE, [verb.name for verb in Verb], str(shortlist_t.descr)]
    return hashlib.sha256(json.dumps(meaning).encode()).hexdigest()[:12]


def fixed(kind: Any, width: int) -> Any:
    """A column of `width` values a row, none of them missing."""
    return pa.list_(pa.field("item", kind, nullable=False), width)


def schema_of(view: str, about: dict[str, Any]) -> Any:
    """The Arrow schema of a view, with what the dataset is in its metadata."""
    columns: list[tuple[str, Any]] = [
        ("game", pa.int32()),  # from 0, in the order of the seeds
        ("step", pa.int32()),  # from 0 within the game
        ("seed", pa.dictionary(pa.int32(), pa.string())),
        ("ante", pa.int8()),  # before the action, as dollars
        ("dollars", pa.int32()),
        ("numbers", fixed(pa.float32(), len(NUMBERS))),
        ("counts", fixed(pa.uint8(), len(COUNTS))),
        ("bits", pa.binary(BIT_BYTES)),
        ("mask", pa.binary(MASK_BYTES)),  # legal numbers of the discrete view, lowest bit first
    ]
    if view == "shortlist":
        columns += [
            ("powers", fixed(pa.int16(), shortlist_t["powers"].shape[0])),
            ("missing", pa.int16()),
            ("n", pa.uint8()),
            *((f"entry_{name}", fixed(LIST_TYPES.get(name, pa.uint8()), MAX_ENTRIES)) for name in ENTRY_FIELDS),
            ("entry_numbers", fixed(pa.uint8(), MAX_ENTRIES * N_NUMBERS)),
        ]
    columns += [
        ("action", pa.int64()),  # macro decision
        ("choice", pa.int16()),  # the same as a number of the view; -1 where the shortlist does not list it
        ("verb", pa.dictionary(pa.int8(), pa.string())),
        ("reward", pa.float64()),
        ("done", pa.bool_()),  # the game's last step
        ("outcome", pa.dictionary(pa.int8(), pa.string())),  # of the game
        ("blinds", pa.int16()),  # beaten in the game
        ("game_return", pa.float64()),  # sum of the game's rewards
    ]
    fields = [pa.field(name, kind, nullable=False) for name, kind in columns]
    fields += [
        pa.field("log_prob", pa.float32()),
        pa.field("value", pa.float32()),
    ]  # of the policy that played, or null
    return pa.schema(fields, metadata={ABOUT: json.dumps(about)})


def compact(flat: NDArray[np.float32], masks: NDArray[np.int8]) -> Columns:
    """What is stored of flat observations (n, FLAT_SIZE) and masks (n, N_DISCRETE): numbers, counts, bits, mask."""
    return {
        "numbers": flat[:, NUMBERS],
        "counts": (flat[:, COUNTS] * np.float32(COUNTS_PER_ONE)).astype(np.uint8),
        "bits": np.packbits(flat[:, BITS] != 0, axis=1, bitorder="little"),
        "mask": np.packbits(masks != 0, axis=1, bitorder="little"),
    }


def flat_of(columns: Columns) -> NDArray[np.float32]:
    """The flat observations (n, FLAT_SIZE) that `compact` was given."""
    flat = np.empty((len(columns["numbers"]), FLAT_SIZE), dtype=np.float32)
    flat[:, NUMBERS] = columns["numbers"]
    flat[:, COUNTS] = columns["counts"] / np.float32(COUNTS_PER_ONE)
    flat[:, BITS] = np.unpackbits(columns["bits"], axis=1, bitorder="little", count=len(BITS))
    return flat


def masks_of(columns: Columns) -> NDArray[np.int8]:
    """The masks (n, N_DISCRETE) that `compact` was given."""
    return np.unpackbits(columns["mask"], axis=1, bitorder="little", count=N_DISCRETE).astype(np.int8)


def list_columns(lists: NDArray[Any]) -> Columns:
    """What is stored of shortlists (n,) shortlist_t."""
    entries = lists["entries"]
    found = {name: np.ascontiguousarray(lists[name]) for name in ("powers", "missing", "n")}
    found |= {f"entry_{name}": np.ascontiguousarray(entries[name]) for name in ENTRY_FIELDS}
    return {**found, "entry_numbers": np.ascontiguousarray(entries["numbers"]).reshape(len(lists), -1)}


def lists_of(columns: Columns) -> NDArray[Any]:
    """The shortlists (n,) shortlist_t that `list_columns` was given."""
    lists = np.zeros(len(columns["n"]), dtype=shortlist_t)
    for name in ("powers", "missing", "n"):
        lists[name] = columns[name]
    for name in ENTRY_FIELDS:
        lists["entries"][name] = columns[f"entry_{name}"]
    lists["entries"]["numbers"] = columns["entry_numbers"].reshape(len(lists), MAX_ENTRIES, N_NUMBERS)
    return lists
