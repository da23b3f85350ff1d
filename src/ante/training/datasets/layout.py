"""The columns of a trajectory dataset: the stored form of each step, and the version of its observation.

The flat view is stored losslessly by the kinds of its columns, nearly those of `packed_rows.KINDS`: bits packed eight to
a byte, counts as quarters in one byte, numbers as float32 (dictionary encoding keeps them small).
The shortlist is stored as its own small integers, field by field.
"""

import hashlib
import json
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ante.engine.actions import N_DISCRETE, Verb
from ante.env.layout import AT, FLAT, FLAT_JOKERS, FLAT_SIZE, JOKER_AT, JOKER_SIZE
from ante.errors import BalatroError
from ante.lookahead.records import MAX_CANDIDATES, N_ESTIMATES, candidate_t, candidates_t
from ante.training.numerics.packed_rows import KINDS, MASK_BYTES, NUMBERS, columns_of
from ante.training.numerics.row_kernels import COUNTS_PER_ONE

FORMAT = 1  # of the folder: increased when older datasets can no longer be read
ABOUT = b"ante"  # key of the schema metadata, a JSON object
ROW_GROUP = 20_000  # steps per row group
VIEWS = ("flat", "shortlist")
# Whether a joker is debuffed is a bit, but FORMAT 1 stores it as a count: older observations have a 3 for Crimson Heart.
HEART = AT.jokers + JOKER_SIZE * np.arange(FLAT_JOKERS) + JOKER_AT.debuffed
BITS = np.setdiff1d(columns_of("b"), HEART)
COUNTS = np.concatenate([columns_of("c"), HEART])
BIT_BYTES = -(-len(BITS) // 8)
OUTCOMES = ("won", "lost", "truncated")
ENTRY_FIELDS = tuple(name for name in candidate_t.names or () if name != "estimates")
LIST_TYPES = {"item_id": pa.uint16(), "cards": pa.uint32()}

Columns = dict[str, NDArray[Any]]


class BadDataset(BalatroError, ValueError):
    """A dataset that cannot be read or written."""


def observation_version() -> str:
    """Return twelve hex digits that change when the meaning of a stored observation or action changes."""
    meaning = [FORMAT, FLAT, KINDS, N_DISCRETE, [verb.name for verb in Verb], str(candidates_t.descr)]
    return hashlib.sha256(json.dumps(meaning).encode()).hexdigest()[:12]


def fixed(kind: Any, width: int) -> Any:
    """Return a non-null column with `width` values per row."""
    return pa.list_(pa.field("item", kind, nullable=False), width)


def schema_of(view: str, about: dict[str, Any]) -> Any:
    """Return the Arrow schema of a view, with the dataset's description in its metadata."""
    columns: list[tuple[str, Any]] = [
        ("game", pa.int32()),  # from 0, in the order of the seeds
        ("step", pa.int32()),  # from 0 within the game
        ("seed", pa.dictionary(pa.int32(), pa.string())),
        ("ante", pa.int8()),  # before the action, as is dollars
        ("dollars", pa.int32()),
        ("numbers", fixed(pa.float32(), len(NUMBERS))),
        ("counts", fixed(pa.uint8(), len(COUNTS))),
        ("bits", pa.binary(BIT_BYTES)),
        ("mask", pa.binary(MASK_BYTES)),  # legal numbers of the discrete view, lowest bit first
    ]
    if view == "shortlist":
        columns += [
            ("strengths", fixed(pa.int16(), candidates_t["strengths"].shape[0])),
            ("needed", pa.int16()),
            ("n", pa.uint8()),
            ("dropped", pa.uint8()),
            *((f"entry_{name}", fixed(LIST_TYPES.get(name, pa.uint8()), MAX_CANDIDATES)) for name in ENTRY_FIELDS),
            ("entry_estimates", fixed(pa.uint8(), MAX_CANDIDATES * N_ESTIMATES)),
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
    ]  # of the policy that played; may be null
    return pa.schema(fields, metadata={ABOUT: json.dumps(about)})


def compact(flat: NDArray[np.float32], masks: NDArray[np.int8]) -> Columns:
    """Encode flat observations (n, FLAT_SIZE) and masks (n, N_DISCRETE) as numbers, counts, bits and mask."""
    return {
        "numbers": flat[:, NUMBERS],
        "counts": (flat[:, COUNTS] * np.float32(COUNTS_PER_ONE)).astype(np.uint8),
        "bits": np.packbits(flat[:, BITS] != 0, axis=1, bitorder="little"),
        "mask": np.packbits(masks != 0, axis=1, bitorder="little"),
    }


def flat_of(columns: Columns) -> NDArray[np.float32]:
    """Return the flat observations (n, FLAT_SIZE) that `compact` encoded."""
    flat = np.empty((len(columns["numbers"]), FLAT_SIZE), dtype=np.float32)
    flat[:, NUMBERS] = columns["numbers"]
    flat[:, COUNTS] = columns["counts"] / np.float32(COUNTS_PER_ONE)
    flat[:, BITS] = np.unpackbits(columns["bits"], axis=1, bitorder="little", count=len(BITS))
    return flat


def masks_of(columns: Columns) -> NDArray[np.int8]:
    """Return the masks (n, N_DISCRETE) that `compact` encoded."""
    return np.unpackbits(columns["mask"], axis=1, bitorder="little", count=N_DISCRETE).astype(np.int8)


def list_columns(lists: NDArray[Any]) -> Columns:
    """Return the stored columns of shortlists (n,) candidates_t."""
    entries = lists["entries"]
    found = {name: np.ascontiguousarray(lists[name]) for name in ("strengths", "needed", "n", "dropped")}
    found |= {f"entry_{name}": np.ascontiguousarray(entries[name]) for name in ENTRY_FIELDS}
    return {**found, "entry_estimates": np.ascontiguousarray(entries["estimates"]).reshape(len(lists), -1)}


def lists_of(columns: Columns) -> NDArray[Any]:
    """Return the shortlists (n,) candidates_t that `list_columns` encoded."""
    lists = np.zeros(len(columns["n"]), dtype=candidates_t)
    for name in ("strengths", "needed", "n", "dropped"):
        lists[name] = columns[name]
    for name in ENTRY_FIELDS:
        lists["entries"][name] = columns[f"entry_{name}"]
    lists["entries"]["estimates"] = columns["entry_estimates"].reshape(len(lists), MAX_CANDIDATES, N_ESTIMATES)
    return lists
