"""The measured tables: pairs of jokers, and jokers with a hand, a boss or a deck; as Parquet files with their origin.

Effects are differences of the log10 of a hand's score: 0.3 is a factor of 2.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.catalog.blinds import BLINDS
from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS
from ante.errors import BalatroError
from ante.files import check_regular, whole
from ante.knowledge.arms.scoring import BEST, GROWN, N_JOKERS, SAME
from ante.knowledge.measuring.positions import ANTES
from ante.knowledge.measuring.statistics import Z_95, p_values, q_values, stratified_mean
from ante.knowledge.measuring.sums import Sums

PAIRS, EFFECTS, ABOUT = "pairs.parquet", "effects.parquet", b"ante"
RATE = 0.05  # controlled false discovery rate
LEAST_ACTING = 20  # positions in which an effect differs from 0, for a p-value below 1
SMALLEST = 0.01  # log10; smaller interactions (2.3 %) are of no use to a player
DIGITS = 4


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
        from pyarrow import parquet

        folder.mkdir(parents=True, exist_ok=True)
        text = {ABOUT: json.dumps(self.about, sort_keys=True).encode()}
        for name, columns in ((PAIRS, self.pairs), (EFFECTS, self.effects)):
            table = pa.table({key: pa.array(values) for key, values in columns.items()}).replace_schema_metadata(text)
            with whole(folder / name) as aside:
                parquet.write_table(table, aside, compression="zstd", compression_level=19)


def read_table(folder: Path | None = None) -> Table:
    """Return the tables of a folder, by default those of the package. Raises BadTable, Unreadable."""
    return _read(folder or Path(str(files("ante.knowledge") / "measured")))


@cache
def _read(folder: Path) -> Table:
    import pyarrow as pa
    from pyarrow import parquet

    found = []
    for name in (PAIRS, EFFECTS):
        check_regular(folder / name)
        try:
            found.append(parquet.read_table(folder / name))
        except (pa.ArrowInvalid, OSError) as error:
            raise BadTable(f"cannot read {folder / name}: {error}; write it again with ante know measure") from None
    about = json.loads((found[0].schema.metadata or {}).get(ABOUT, b"{}"))
    pairs, effects = ({name: each[name].to_numpy() for name in each.column_names} for each in found)
    if not about or {"one", "other", "effect"} - set(pairs) or {"joker", "kind", "target"} - set(effects):
        raise BadTable(f"{folder} has no measured tables: write them with ante know measure --out {folder}")
    return Table(pairs, effects, about)


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
    kept = (counts >= LEAST_ACTING) & np.isfinite(errors)
    q = np.ones(len(rows))
    for kind in np.unique(kinds):
        family = kept & (kinds == kind)
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
