"""The measured tables: pairs of jokers, and jokers with a hand, a boss or a deck; as Parquet files with their origin.

Effects are differences of the log10 of a hand's score: 0.3 is a factor of 2.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.catalog.blinds import BLINDS
from ante.catalog.decks import DECKS
from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS
from ante.errors import BalatroError, shown
from ante.files import Unreadable, decoded, parse_json, read_bytes, whole
from ante.knowledge.arms.scoring import BEST, GROWN, N_JOKERS, SAME
from ante.knowledge.measuring.positions import ANTES
from ante.knowledge.measuring.statistics import Z_95, p_values, q_values, stratified_mean
from ante.knowledge.measuring.sums import Sums
from ante.messages import printable

PAIRS, EFFECTS, ABOUT = "pairs.parquet", "effects.parquet", b"ante"
RATE = 0.05  # controlled false discovery rate
LEAST_ACTING = 20  # positions in which an effect differs from 0, for a p-value below 1
SMALLEST = 0.01  # log10; smaller interactions (2.3 %) are of no use to a player
DIGITS = 4
MOST_ROWS, LONGEST_TEXT = 50_000, 10_000  # of a Parquet file that is read; bytes
THRIFT_LIMITS = {"thrift_string_size_limit": 1 << 20, "thrift_container_size_limit": 1 << 16}
COLUMNS = {
    PAIRS: ("one", "other", "n", "q", "acts", "gain", "effect", "half", "bought", "bought_half", "same", "same_half",
            *(f"ante_{ante}" for ante in ANTES)),
    EFFECTS: ("joker", "kind", "target", "n", "effect", "half", "q"),
}  # fmt: skip
TARGETS = {  # kinds of effects with what they can be measured
    ("alone", ""),
    *(("hand", row.name) for row in HANDS),
    *(("boss", row.key) for row in BLINDS[3:]),
    *(("deck", row.key) for row in DECKS),
}


class BadTable(BalatroError, ValueError):
    """A measured table cannot be read."""


@dataclass(frozen=True)
class Table:
    """The measured effects.

    pairs    columns by name, one entry per pair of jokers: `one`, `other` (keys), `n`, `effect` and `half` (interaction of
             the best plays with typical counters, half-width of its 95 % interval), `bought`, `bought_half` (the same
             with counters as bought), `same`, `same_half` (same cards in all arms, as bought), `gain` (of both together),
             `acts` (share of positions in which they interact), `q`, `ante_2` ...
    effects  columns by name: `joker` (key), `kind` (alone, hand, boss, deck), `target` (key), `n`, `effect`, `half`, `q`
    about    where the tables are from
    """

    pairs: dict[str, NDArray[Any]]
    effects: dict[str, NDArray[Any]]
    about: dict[str, Any]

    def write(self, folder: Path) -> None:
        """Write both files."""
        import pyarrow as pa

        folder.mkdir(parents=True, exist_ok=True)
        text = {ABOUT: json.dumps(self.about, sort_keys=True).encode()}
        for name, columns in ((PAIRS, self.pairs), (EFFECTS, self.effects)):
            table = pa.table({key: pa.array(values) for key, values in columns.items()})
            write_parquet(folder / name, table.replace_schema_metadata(text))


def read_table(folder: Path | None = None) -> Table:
    """Return the tables of a folder, by default those of the package. Raises BadTable, Unreadable."""
    return table_in(folder) if folder else _of_package()


@cache
def _of_package() -> Table:
    return table_in(Path(str(files("ante.knowledge") / "measured")))


def table_in(folder: Path) -> Table:
    """Return the tables of a folder. Raises BadTable, Unreadable."""
    try:
        pairs, effects = (read_parquet(folder / name, schema_of(columns)) for name, columns in COLUMNS.items())
        about = common_origin({PAIRS: pairs, EFFECTS: effects}, folder)
    except (Unreadable, BadTable) as error:
        raise BadTable(f"{error}; write the tables again with ante know measure --out {folder}") from None
    table = Table(columns_of(pairs), columns_of(effects), about)
    check_table(table, folder)
    return table


def columns_of(found: Any) -> dict[str, NDArray[Any]]:
    """Return the columns of an Arrow table by name."""
    return {name: found[name].to_numpy() for name in found.column_names}


def check_table(table: Table, folder: Path) -> None:
    """Raise BadTable for a table without origin, with unknown items, or with numbers that are not finite."""
    known = {row.key for row in JOKERS[1:]}
    effects = table.effects
    jokers = {*table.pairs["one"], *table.pairs["other"], *effects["joker"]}
    targets = {*zip(effects["kind"].tolist(), effects["target"].tolist(), strict=True)}
    numbers = (column for columns in (table.pairs, effects) for column in columns.values() if column.dtype.kind == "f")
    if not isinstance(table.about, dict) or not table.about:
        why = "do not contain their origin"
    elif jokers - known:
        why = f"have the unknown joker {shown(min(jokers - known))}"
    elif targets - TARGETS:
        why = f"have the unknown target {shown(min(targets - TARGETS))}"
    elif ("alone", "") not in targets:
        why = "have no gains of jokers alone"
    elif not all(np.isfinite(values).all() for values in numbers):
        why = "have a number that is not finite"
    else:
        return
    raise BadTable(f"the tables in {folder} {why}: write them again with ante know measure --out {folder}")


def schema_of(columns: Sequence[str]) -> Any:
    """Return the Arrow schema of a measured table."""
    import pyarrow as pa

    kinds = dict.fromkeys(("one", "other", "joker", "kind", "target"), pa.string()) | {"n": pa.int32()}
    return pa.schema([pa.field(name, kinds.get(name, pa.float32()), nullable=False) for name in columns])


def common_origin(found: dict[str, Any], folder: Path) -> Any:
    """Return the origin in the metadata of tables that were read from files of a folder. Raises BadTable, Unreadable."""
    texts = {(table.schema.metadata or {}).get(ABOUT, b"{}") for table in found.values()}
    if len(texts) > 1:
        raise BadTable(f"{' and '.join(found)} in {folder} are of different measurements")
    place = f"the origin in {folder}"
    return parse_json(decoded(texts.pop(), place), place)


def write_parquet(file: Path, table: Any) -> None:
    """Write an Arrow table to a file, completely or not at all."""
    from pyarrow import parquet

    with whole(file) as aside:
        parquet.write_table(table, aside, compression="zstd", compression_level=19)


def read_parquet(file: Path, schema: Any, most: int = MOST_ROWS) -> Any:
    """Return the columns of a schema from a Parquet file of at most `most` rows, with the file's metadata.

    Raises BadTable, Unreadable.
    """
    import pyarrow as pa
    from pyarrow import compute, parquet

    data = read_bytes(file)
    texts = [each.name for each in schema if each.type == pa.string()]
    try:
        stored = parquet.ParquetFile(pa.BufferReader(data), read_dictionary=texts, **THRIFT_LIMITS)
        if stored.metadata.num_rows > most or any(pa.types.is_nested(each.type) for each in stored.schema_arrow):
            raise ValueError(f"it has nested columns, or more than {most:,} rows")
        found = stored.read(schema.names).select(schema.names)
        found.validate(full=True)
        for name in texts:
            for part in found[name].chunks:
                longest = compute.max(compute.binary_length(getattr(part, "dictionary", part))).as_py() or 0
                if longest > LONGEST_TEXT:
                    raise ValueError(f"column {name} has a text of more than {LONGEST_TEXT:,} bytes")
        cast = found.cast(schema.with_metadata(found.schema.metadata or {}))
        for each in schema:
            if not each.nullable and cast[each.name].null_count:
                raise ValueError(f"column {each.name} has an empty cell")
    except KeyError as error:
        raise BadTable(f"cannot read {file}: it has no column {printable(error, 80)}") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadTable(f"cannot read {file}: {printable(error, 300) or 'damaged'}") from None
    return cast


def fingerprint(table: Table) -> str:
    """Return 16 hex digits that identify the tables."""
    digest = hashlib.sha256(json.dumps(table.about, sort_keys=True).encode())
    for columns in (table.pairs, table.effects):
        for name, values in columns.items():
            digest.update(name.encode())
            digest.update("\n".join(values).encode() if values.dtype.kind in "OU" else values.tobytes())
    return digest.hexdigest()[:16]


def table_of(sums: Sums, decks: dict[str, Sums], about: dict[str, Any]) -> Table:
    """Return the tables of a measurement; `decks` are the sums of other decks by key."""
    return Table(pairs_of(sums), effects_of(sums, decks), about)


def pairs_of(sums: Sums) -> dict[str, NDArray[Any]]:
    """Return the columns of the pairs."""
    n = sums.n.astype(np.int64)
    one, other = np.triu_indices(N_JOKERS, 1)
    one, other = one[one > 0], other[one > 0]
    mean, error = stratified_mean(sums.pairs[0], sums.pairs[1], n)
    by_ante = sums.pairs[0] / sums.n[:, None, None, None]
    together = (sums.together / sums.n[:, None, None, None]).mean(axis=0)
    keys = np.array([row.key for row in JOKERS])
    acts = sums.acts[GROWN, one, other]
    p = np.where(acts < LEAST_ACTING, 1.0, p_values(mean[GROWN, one, other], error[GROWN, one, other]))
    columns: dict[str, NDArray[Any]] = {
        "one": keys[one],
        "other": keys[other],
        "n": np.full(len(one), n.sum(), dtype=np.int32),
        "q": significant_digits(q_values(p)),
        "acts": rounded(acts / n.sum()),
        "gain": rounded(together[GROWN, one, other]),
    }
    for name, which in (("effect", GROWN), ("bought", BEST), ("same", SAME)):
        columns[name] = rounded(mean[which, one, other])
        columns["half" if which == GROWN else f"{name}_half"] = rounded(Z_95 * error[which, one, other])
    for at, ante in enumerate(ANTES):
        columns[f"ante_{ante}"] = rounded(by_ante[at, GROWN, one, other])
    return columns


def effects_of(sums: Sums, decks: dict[str, Sums]) -> dict[str, NDArray[Any]]:
    """Return the columns of the single jokers: alone, with each poker hand, under each boss, on each deck."""
    rows: list[tuple[str, str, str, int, float, float]] = []
    mean, error = stratified_mean(sums.alone[0], sums.alone[1], sums.n.astype(np.int64))
    count = int(sums.n.sum())
    for joker in range(1, N_JOKERS):
        key = JOKERS[joker].key
        rows.append((key, "alone", "", count, mean[GROWN, joker], error[GROWN, joker]))
        for row in HANDS:
            n, total, squares = sums.hands[:, row.hand, joker]
            rows.append((key, "hand", row.name, int(n), *mean_of(n, total, squares)))
        for boss in BLINDS[3:]:
            n, total, squares = sums.bosses[:, boss.blind, joker]
            rows.append((key, "boss", boss.key, int(n), *mean_of(n, total, squares)))
    for deck, there in decks.items():
        deck_mean, deck_error = stratified_mean(there.alone[0], there.alone[1], there.n.astype(np.int64))
        for joker in range(1, N_JOKERS):
            difference = deck_mean[GROWN, joker] - mean[GROWN, joker]
            spread = np.hypot(deck_error[GROWN, joker], error[GROWN, joker])
            rows.append((JOKERS[joker].key, "deck", deck, int(there.n.sum()), difference, spread))
    names, kinds, targets, counts, effects, errors = (np.array(column) for column in zip(*rows, strict=True))
    enough = (counts >= LEAST_ACTING) & np.isfinite(errors)
    kept = enough | ((kinds == "alone") & np.isfinite(errors))
    q = np.ones(len(rows))
    for kind in np.unique(kinds):
        family = enough & (kinds == kind)
        if family.any():
            q[family] = q_values(p_values(effects[family], errors[family]))
    return {
        "joker": names[kept],
        "kind": kinds[kept],
        "target": targets[kept],
        "n": counts[kept].astype(np.int32),
        "effect": rounded(effects[kept]),
        "half": rounded(Z_95 * errors[kept]),
        "q": significant_digits(q[kept]),
    }


def mean_of(n: float, total: float, squares: float) -> tuple[float, float]:
    """Return a mean and its standard error, NaN for fewer than two values."""
    if n < 2:
        return np.nan, np.nan
    mean = total / n
    return mean, float(np.sqrt(max(0.0, squares - total * mean) / (n - 1) / n))


def rounded(values: NDArray[Any]) -> NDArray[np.float32]:
    """Return the values with DIGITS decimals; the intervals are wider."""
    return (np.round(values, DIGITS) + 0.0).astype(np.float32)


def significant_digits(values: NDArray[Any]) -> NDArray[np.float32]:
    """Return q-values with two digits, at least 1e-12."""
    return np.array([float(f"{max(value, 1e-12):.2g}") for value in values], dtype=np.float32)


def is_synergy(effect: NDArray[Any], q: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which interactions count: significant at RATE, and at least SMALLEST."""
    return (q <= RATE) & (np.abs(effect) >= SMALLEST)
