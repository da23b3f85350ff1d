"""Readers of datasets: whole, or in minibatches in a seeded order. Needs neither torch nor Ray."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ante.errors import shown
from ante.files import Unreadable, check_regular, decoded, parse_json
from ante.training.datasets.layout import (
    ABOUT,
    FORMAT,
    ROW_GROUP,
    VIEWS,
    BadDataset,
    Columns,
    flat_of,
    lists_of,
    masks_of,
    observation_version,
    schema_of,
)
from ante.training.datasets.write import STEPS

Part = Literal["all", "train", "held"]
LARGEST_GROUP = 10 * ROW_GROUP
LARGEST_GROUP_BYTES = 1 << 30
THRIFT_LIMITS = {"thrift_string_size_limit": 16 << 20, "thrift_container_size_limit": 1 << 20}
POOLED = 4  # row groups whose steps are shuffled together


@dataclass(frozen=True)
class Steps:
    """A selection of a dataset's steps, by stored column.

    columns  name -> (n, ...) array; strings as objects; log_prob and value are nan if unknown
    """

    columns: Columns

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.columns["game"])

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return one column, (n, ...)."""
        return self.columns[name]

    @property
    def flat(self) -> NDArray[np.float32]:
        """Flat observations (n, FLAT_SIZE) float32, bit-identical to those of the environment."""
        return flat_of(self.columns)

    @property
    def masks(self) -> NDArray[np.int8]:
        """Action masks of the discrete view (n, N_DISCRETE) int8."""
        return masks_of(self.columns)

    @property
    def lists(self) -> NDArray[Any]:
        """Candidates (n,) candidates_t; only in the shortlist view."""
        return lists_of(self.columns)

    def take(self, which: NDArray[Any]) -> "Steps":
        """Return some of the steps, by index or by a mask (n,) bool."""
        return Steps({name: column[which] for name, column in self.columns.items()})


class Dataset:
    """A folder of recorded steps.

    about  its metadata: format, observation, source, view, player, deck, stake, reward ...
    view   flat or shortlist

    Raises BadDataset if the folder has no dataset or one of another observation version.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, folder / STEPS
        try:
            check_regular(self.file)
            self._parquet = pq.ParquetFile(self.file, **THRIFT_LIMITS)
            schema = self._parquet.schema_arrow
        except Unreadable as error:
            raise BadDataset(f"no dataset in {folder}: {error}") from None
        except (OSError, pa.ArrowException) as error:
            raise BadDataset(f"no dataset in {folder}: {first_line(error)}") from None
        self.about = read_about(schema, folder)
        self.view: str = self.about["view"]
        check_columns(schema, self.view, folder)
        check_groups(self._parquet.metadata, folder)

    def __len__(self) -> int:
        """Return the number of steps."""
        return self._parquet.metadata.num_rows

    @property
    def groups(self) -> int:
        """Number of row groups, the unit of reading."""
        return self._parquet.num_row_groups

    def read(self, groups: Sequence[int], columns: Sequence[str] | None = None) -> Steps:
        """Return the steps of these row groups, with all columns by default. Raises BadDataset."""
        table = self.table(columns, groups)
        return Steps({name: numpy_of(table[name].combine_chunks()) for name in table.column_names})

    def table(self, columns: Sequence[str] | None = None, groups: Sequence[int] | None = None) -> Any:
        """Return columns of row groups as an Arrow table, all by default. Raises BadDataset."""
        groups = range(self.groups) if groups is None else groups
        try:
            table = self._parquet.read_row_groups(list(groups), columns=None if columns is None else list(columns))
            table.validate(full=True)
        except (OSError, pa.ArrowException) as error:
            raise BadDataset(f"{self.file} is damaged: {first_line(error)}; export it again") from None
        return table

    def batches(
        self,
        size: int,
        seed: int = 0,
        part: Part = "all",
        held: float = 0.1,
        columns: Sequence[str] | None = None,
    ) -> Iterator[Steps]:
        """Yield every step of a part once, in minibatches of `size` (the last may be smaller).

        Row groups are read in an order that depends on the seed, and the steps of a few of them are shuffled together.
        `held` is the share of games in part "held"; part "train" consists of the others. Games are never split.
        """
        rng = np.random.default_rng(seed)
        order = rng.permutation(self.groups)
        needed = None if columns is None else sorted({"game", *columns})
        left: list[Steps] = []
        for at in range(0, len(order), POOLED):
            pool = self.read(order[at : at + POOLED].tolist(), needed)
            pool = joined([*left, pool.take(rng.permutation(np.flatnonzero(in_part(pool["game"], part, held))))])
            last = at + POOLED >= len(order)
            whole = len(pool) if last else len(pool) - len(pool) % size
            for begin in range(0, whole, size):
                yield pool.take(np.arange(begin, min(begin + size, whole)))
            left = [pool.take(np.arange(whole, len(pool)))]


def read_about(schema: Any, folder: Path) -> dict[str, Any]:
    """Return the metadata of a dataset. Raises BadDataset if it is not a dataset or has another version."""
    try:
        about = parse_json(decoded((schema.metadata or {})[ABOUT], folder), folder)
    except (KeyError, Unreadable):
        about = None
    if not isinstance(about, dict) or about.get("view") not in VIEWS:
        raise BadDataset(f"{folder / STEPS} is not an Ante dataset: its schema lacks Ante's metadata")
    if about.get("format") != FORMAT or about.get("observation") != observation_version():
        raise BadDataset(
            f"{folder} has observation version {shown(about.get('observation'))}, format {shown(about.get('format'))}; "
            f"expected {observation_version()}, format {FORMAT}: export it again, or use the Ante that wrote it"
        )
    return about


def check_columns(schema: Any, view: str, folder: Path) -> None:
    """Raise BadDataset if the columns are not those of the view."""
    wanted = schema_of(view, {})
    for field in wanted:
        there = schema.field(field.name).type if field.name in schema.names else "missing"
        if there != field.type:
            raise BadDataset(f"{folder / STEPS}, column {field.name} is {there}, not {field.type}: export it again")


def check_groups(metadata: Any, folder: Path) -> None:
    """Raise BadDataset if there are no steps, or if a row group exceeds the size limits."""
    if metadata.num_rows < 1:
        raise BadDataset(f"{folder} contains no steps: export it again")
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        if not 0 <= group.num_rows <= LARGEST_GROUP or group.total_byte_size > LARGEST_GROUP_BYTES:
            raise BadDataset(
                f"{folder / STEPS}, row group {number} has {group.num_rows:,} steps, {group.total_byte_size:,} bytes; "
                f"the limits are {LARGEST_GROUP:,} steps and {LARGEST_GROUP_BYTES:,} bytes"
            )


def first_line(error: BaseException) -> str:
    """Return the first line of Arrow's message, without source locations."""
    return (str(error).splitlines() or [type(error).__name__])[0][:300]


def in_part(game: NDArray[np.int32], part: Part, held: float) -> NDArray[np.bool_]:
    """Return which steps belong to a part; one game in every 1 / held is held out."""
    if part == "all":
        return np.ones(len(game), dtype=np.bool_)
    number = game.astype(np.float64)
    out = np.floor((number + 1) * held) > np.floor(number * held)
    return out if part == "held" else ~out


def joined(parts: Sequence[Steps]) -> Steps:
    """Return the concatenated steps."""
    return Steps({name: np.concatenate([part[name] for part in parts]) for name in parts[-1].columns})


def numpy_of(array: Any) -> NDArray[Any]:
    """Return an Arrow column as an array (n, ...)."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    kind = array.type
    if pa.types.is_fixed_size_list(kind):
        return array.flatten().to_numpy(zero_copy_only=False).reshape(len(array), kind.list_size)
    if pa.types.is_fixed_size_binary(kind):
        octets = np.frombuffer(array.buffers()[1], dtype=np.uint8)
        width = kind.byte_width
        return octets[array.offset * width : (array.offset + len(array)) * width].reshape(len(array), width)
    if pa.types.is_dictionary(kind):
        return np.asarray(array.dictionary.to_pylist(), dtype=object)[array.indices.to_numpy()]
    return array.to_numpy(zero_copy_only=False)
