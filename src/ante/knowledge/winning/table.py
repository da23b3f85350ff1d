"""The tables of strategies and of pairs' effects on the win rate, as Parquet files with their origin."""

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from ante.catalog.hands import by_name
from ante.catalog.jokers import by_key
from ante.errors import shown
from ante.files import Unreadable
from ante.knowledge.measuring.table import ABOUT, RATE, BadTable, common_origin, read_parquet, write_parquet
from ante.knowledge.winning.mining import LEVELS, MAIN, Items

STRATEGIES, WIN_PAIRS = "strategies.parquet", "win_pairs.parquet"
EXAMPLES = "examples"  # folder of replays, one for each validated strategy
JOIN = "+"


@dataclass(frozen=True)
class Strategy:
    """A proposed strategy: how it was mined, and what play on other seeds showed.

    key       its items, joined by `+`; name: in words
    n ... q   as in `mining.Mined`
    tested    games in which it was granted; base, control, granted: win rates in its three arms
    effect    granted less control, with its 95 % interval low_effect to high_effect
    q_effect  false discovery rate of the exact test that it wins more often than the control
    part      the best part in words: without one of the granted items; empty if only one is granted
    alone     win rate with this part in the same games; joint: granted less alone, with low_joint to high_joint
    example   seed of a won game in which the player had it
    """

    key: str
    name: str
    n: int
    wins: int
    support: float
    rate: float
    low: float
    high: float
    lift: float
    more: float
    q: float
    tested: int
    base: float
    control: float
    granted: float
    effect: float
    low_effect: float
    high_effect: float
    q_effect: float
    part: str
    alone: float
    joint: float
    low_joint: float
    high_joint: float
    example: str

    @property
    def validated(self) -> bool:
        """Whether it wins significantly more often than its control."""
        return self.q_effect <= RATE and self.effect > 0

    @property
    def items(self) -> Items:
        """The items."""
        return tuple(self.key.split(JOIN))


@dataclass(frozen=True)
class WinPair:
    """The interaction of two jokers in win rate: both - one - other + base, over the same n games.

    base, with_one, with_other, both   win rates of the arms
    effect, low, high, q               interaction, its 95 % interval and false discovery rate
    """

    one: str
    other: str
    n: int
    base: float
    with_one: float
    with_other: float
    both: float
    effect: float
    low: float
    high: float
    q: float


@dataclass(frozen=True)
class Winning:
    """Both tables, and where they are from."""

    strategies: tuple[Strategy, ...]
    pairs: tuple[WinPair, ...]
    about: dict[str, Any]

    @property
    def fingerprint(self) -> str:
        """16 hex digits that identify the content."""
        return hashlib.sha256(repr((self.strategies, self.pairs, self.about)).encode()).hexdigest()[:16]

    def write(self, folder: Path) -> None:
        """Write both files, atomically."""
        import pyarrow as pa

        folder.mkdir(parents=True, exist_ok=True)
        text = {ABOUT: json.dumps(self.about, sort_keys=True).encode()}
        for name, kind, rows in ((STRATEGIES, Strategy, self.strategies), (WIN_PAIRS, WinPair, self.pairs)):
            table = pa.Table.from_pylist([asdict(row) for row in rows], schema=schema_of(kind))
            write_parquet(folder / name, table.replace_schema_metadata(text))


def read_winning(folder: Path | None = None) -> Winning:
    """Return the tables of a folder, by default those of the package. Raises BadTable."""
    return winning_in(folder) if folder else _of_package()


@cache
def _of_package() -> Winning:
    return winning_in(Path(str(files("ante.knowledge") / "measured")))


def winning_in(folder: Path) -> Winning:
    """Return the tables of a folder. Raises BadTable."""
    try:
        strategies = read_parquet(folder / STRATEGIES, schema_of(Strategy))
        pairs = read_parquet(folder / WIN_PAIRS, schema_of(WinPair))
        found = Winning(
            tuple(Strategy(**row) for row in strategies.to_pylist()),
            tuple(WinPair(**row) for row in pairs.to_pylist()),
            common_origin({STRATEGIES: strategies, WIN_PAIRS: pairs}, folder),
        )
        check(found, folder)
    except (Unreadable, BadTable) as error:
        raise BadTable(f"{error}; write the tables again with ante know mine --out {folder}") from None
    return found


def check(found: Winning, folder: Path) -> None:
    """Raise BadTable for tables without origin, with unknown items, or with numbers that are not finite."""
    items = [item for each in found.strategies for item in each.items]
    unknown = [item for item in items if not is_item(item)]
    unknown += [key for pair in found.pairs for key in (pair.one, pair.other) if key not in by_key]
    rows: tuple[Strategy | WinPair, ...] = (*found.strategies, *found.pairs)
    numbers = [value for row in rows for value in asdict(row).values() if isinstance(value, float)]
    if not isinstance(found.about, dict) or not found.about:
        raise BadTable(f"the tables in {folder} do not contain their origin")
    if unknown:
        raise BadTable(f"the tables in {folder} have the unknown item {shown(unknown[0])}")
    if not np.isfinite(numbers).all():
        raise BadTable(f"the tables in {folder} have a number that is not finite")


def is_item(item: str) -> bool:
    """Return whether this is a joker, or a hand with its prefix."""
    return item in by_key or any(
        item.startswith(each) and item.removeprefix(each) in by_name for each in (MAIN, LEVELS)
    )


def schema_of(kind: type[Strategy] | type[WinPair]) -> Any:
    """Return the Arrow schema of a table."""
    import pyarrow as pa

    kinds: dict[Any, Any] = {str: pa.string(), int: pa.int32(), float: pa.float64()}
    return pa.schema([pa.field(each.name, kinds[each.type], nullable=False) for each in fields(kind)])
