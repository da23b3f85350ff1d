"""Writing of datasets: one Parquet file in its own folder, written under a temporary name first."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ante.engine.core.compile_cache import source_hash
from ante.training.datasets.layout import (
    FORMAT,
    OUTCOMES,
    ROW_GROUP,
    BadDataset,
    Columns,
    observation_version,
    schema_of,
)
from ante.training.datasets.steps import VERB_NAMES

STEPS = "steps.parquet"
ZSTD_LEVEL = 6
# Columns with few distinct values: these are dictionary-encoded.
FEW_VALUES = ("seed", "verb", "outcome", "numbers.list.element", "reward", "game_return")


def about_of(view: str, **settings: Any) -> dict[str, Any]:
    """Return the metadata of a dataset: versions, view, and these settings."""
    return {
        "format": FORMAT,
        "observation": observation_version(),
        "source": source_hash("env"),
        "view": view,
        **settings,
    }


def write_dataset(folder: Path, blocks: Iterable[Columns], about: dict[str, Any]) -> int:
    """Write the dataset to `folder`, completely or not at all, and return its number of steps.

    blocks  steps as `steps_of` returns them, with log_prob and value if they are known

    Raises BadDataset if the folder exists.
    """
    refuse_existing(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    aside.mkdir()
    try:
        steps = write_steps(aside / STEPS, blocks, about)
        aside.rename(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return steps


def refuse_existing(folder: Path) -> None:
    """Raise BadDataset if the folder exists."""
    if folder.exists():
        raise BadDataset(f"{folder} exists: datasets are never overwritten; choose another folder or remove this one")


def write_steps(file: Path, blocks: Iterable[Columns], about: dict[str, Any]) -> int:
    """Write the file in row groups of ROW_GROUP steps and return its number of steps."""
    schema, steps = schema_of(about["view"], about), 0
    waiting: list[Any] = []
    options = {"compression": "zstd", "compression_level": ZSTD_LEVEL, "use_dictionary": list(FEW_VALUES)}
    with file.open("wb") as stream:
        with pq.ParquetWriter(stream, schema, **options) as writer:
            for block in blocks:
                waiting.append(table_of(block, schema))
                steps += len(waiting[-1])
                if sum(map(len, waiting)) >= ROW_GROUP:
                    waiting = [write_whole_groups(writer, pa.concat_tables(waiting))]
            rest = pa.concat_tables(waiting) if waiting else schema.empty_table()
            if len(rest):
                writer.write_table(rest.combine_chunks().unify_dictionaries(), row_group_size=ROW_GROUP)
        stream.flush()
        os.fsync(stream.fileno())
    return steps


def write_whole_groups(writer: Any, table: Any) -> Any:
    """Write as many complete row groups as possible and return the remaining steps."""
    whole = len(table) - len(table) % ROW_GROUP
    writer.write_table(table.slice(0, whole).unify_dictionaries().combine_chunks(), row_group_size=ROW_GROUP)
    return table.slice(whole)


def table_of(columns: Columns, schema: Any) -> Any:
    """Return steps as an Arrow table of this schema."""
    count = len(columns["game"])
    arrays = []
    for field in schema:
        if field.name in columns:
            arrays.append(array_of(columns[field.name], field))
        else:
            assert field.nullable, f"steps without {field.name}"
            arrays.append(pa.nulls(count, field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def array_of(column: NDArray[Any], field: Any) -> Any:
    """Return one column as an Arrow array."""
    kind = field.type
    if pa.types.is_fixed_size_list(kind):
        values = pa.array(np.ascontiguousarray(column).reshape(-1), type=kind.value_type)
        return pa.FixedSizeListArray.from_arrays(values, type=kind)
    if pa.types.is_fixed_size_binary(kind):
        return pa.FixedSizeBinaryArray.from_buffers(
            kind, len(column), [None, pa.py_buffer(np.ascontiguousarray(column))]
        )
    if field.name == "seed":
        return pa.array(column, type=pa.string()).dictionary_encode()
    if pa.types.is_dictionary(kind):
        words = {"verb": VERB_NAMES, "outcome": OUTCOMES}[field.name]
        return pa.DictionaryArray.from_arrays(pa.array(column, type=kind.index_type), pa.array(words))
    return pa.array(column, type=kind)
