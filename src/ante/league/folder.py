"""A league on disk: who takes part, by which rules, and how every game of every player went.

league.json              rules and players
results/NAME/0003.parquet   one row a game, for a stretch of the seeds; written aside, then named
replays/NAME/SEED.txt    the games of a player that went furthest
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ante.agents.evaluate import panel
from ante.engine.rule import source_hash
from ante.errors import BalatroError
from ante.files import whole, write_text
from ante.recording.games import Recording

FORMAT = 1
ABOUT = "league.json"
STRETCH = 50  # seeds that are played together: the unit of what is stored and resumed
SCHEMA = pa.schema(
    [
        pa.field("seed", pa.string(), nullable=False),
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("ante", pa.int16(), nullable=False),
        pa.field("blinds", pa.int16(), nullable=False),
        pa.field("decisions", pa.int32(), nullable=False),
        pa.field("reward", pa.float64(), nullable=False),
        pa.field("actions", pa.list_(pa.int64()), nullable=False),  # macro decisions: the game, with its seed
    ]
)


class BadLeague(BalatroError, ValueError):
    """A league that cannot be read or played."""


@dataclass(frozen=True)
class Entrant:
    """One player of a league.

    name    unique in the league
    source  what brings it to the table: a baseline's name, or a folder
    pin     which policy of the folder: a checkpoint's name, or the digest of a release; empty for a baseline
    run     the run whose checkpoint it is; empty for others
    steps   environment steps it was trained for, None where it was not
    """

    name: str
    source: str
    pin: str = ""
    run: str = ""
    steps: int | None = None
    likeliest: bool = False


@dataclass(frozen=True)
class Rules:
    """What every game of a league is played by: the first `games` seeds of the panel."""

    games: int
    deck: str = "b_red"
    stake: int = 1
    challenge: str | None = None


@dataclass(frozen=True)
class Results:
    """How the games of one player went, each array (games,), in the order of the seeds."""

    seeds: tuple[str, ...]
    won: NDArray[np.bool_]
    ante: NDArray[np.int64]
    blinds: NDArray[np.int64]
    decisions: NDArray[np.int64]

    def __len__(self) -> int:
        """Games."""
        return len(self.seeds)

    @property
    def reach(self) -> NDArray[np.int64]:
        """How far each game came, as one number to compare games of a seed by: won, then ante, then blinds beaten."""
        return (self.won * 1000 + np.clip(self.ante, -100, 800) + 100) * 1000 + self.blinds


class League:
    """A league's folder. Raises BadLeague where there is none, or one of another format."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            about = json.loads((folder / ABOUT).read_text())
            if about["format"] != FORMAT:
                raise BadLeague(f"{folder} is a league of format {about['format']}, this Ante reads format {FORMAT}")
            self.rules = Rules(**about["rules"])
            self.entrants = {row["name"]: Entrant(**row) for row in about["players"]}
            self.engine: str = about["engine"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            if isinstance(error, BadLeague):
                raise
            raise BadLeague(
                f"no league in {folder} ({error}): begin one with ante league run {folder} greedy"
            ) from None

    @staticmethod
    def begin(folder: Path, rules: Rules) -> "League":
        """A league without players stands in `folder`. Raises BadLeague."""
        if (folder / ABOUT).exists():
            raise BadLeague(f"{folder} is a league already: ante league add {folder} PLAYER")
        check_games(rules.games)
        folder.mkdir(parents=True, exist_ok=True)
        save(folder, rules, (), source_hash("agents"))
        return League(folder)

    def enter(self, entrants: Iterable[Entrant]) -> list[Entrant]:
        """These take part; those that already do are left out of the answer. Raises BadLeague."""
        fresh = []
        for each in entrants:
            known = self.entrants.get(each.name)
            if known is not None and known != each:
                raise BadLeague(f"{each.name} is another player in {self.folder} ({known.source}): rename its folder")
            if known is None:
                self.entrants[each.name] = each
                fresh.append(each)
        self.save()
        return fresh

    def extend(self, games: int) -> None:
        """Every player plays so many games; what is stored stays. Raises BadLeague."""
        check_games(games)
        if games < self.rules.games:
            raise BadLeague(f"{self.folder} has {self.rules.games} games a player: it cannot have fewer, {games}")
        self.rules = replace(self.rules, games=games)
        self.save()

    def save(self) -> None:
        """Rules and players stand in the folder."""
        save(self.folder, self.rules, tuple(self.entrants.values()), self.engine)

    def check_engine(self) -> None:
        """The rules of the game are those that its games were played by. Raises BadLeague."""
        now = source_hash("agents")
        if now != self.engine:
            raise BadLeague(
                f"{self.folder} was played by engine {self.engine}, this is {now}: results would not compare; begin "
                "another league (ante league table still reads this one)"
            )

    def file(self, name: str, stretch: int) -> Path:
        """Where the results of a stretch of games stand."""
        return self.folder / "results" / name / f"{stretch:04d}.parquet"

    def missing(self, name: str) -> list[int]:
        """The stretches that this player has not played."""
        return [i for i in range(self.rules.games // STRETCH) if not self.file(name, i).exists()]

    def seeds(self, stretch: int) -> list[str]:
        """The seeds of a stretch."""
        return panel()[stretch * STRETCH : (stretch + 1) * STRETCH]

    def store(self, name: str, stretch: int, games: Sequence[Recording]) -> None:
        """The results of a stretch stand in the folder, whole or not at all."""
        file = self.file(name, stretch)
        file.parent.mkdir(parents=True, exist_ok=True)
        rows = [
            {
                "seed": game.record.seed,
                "actions": list(game.decisions),
                **{field: getattr(game.record, field) for field in SCHEMA.names if field not in ("seed", "actions")},
            }
            for game in games
        ]
        with whole(file) as aside:
            pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), aside, compression="zstd")

    def table(self, name: str) -> Any:
        """All stored games of a player, an Arrow table of SCHEMA in the order of the seeds. Raises BadLeague."""
        if name not in self.entrants:
            raise BadLeague(f"there is no player {name!r} in {self.folder}: choose one of {', '.join(self.entrants)}")
        files = [self.file(name, i) for i in range(self.rules.games // STRETCH)]
        parts = [pq.read_table(file, schema=SCHEMA) for file in files if file.exists()]
        return pa.concat_tables(parts) if parts else SCHEMA.empty_table()

    def results(self, name: str) -> Results:
        """How all stored games of a player went."""
        table = self.table(name)
        columns = {field: table[field].to_numpy() for field in ("ante", "blinds", "decisions")}
        won = np.array([outcome == "won" for outcome in table["outcome"].to_pylist()], dtype=np.bool_)
        return Results(
            tuple(table["seed"].to_pylist()), won, **{name: each.astype(np.int64) for name, each in columns.items()}
        )

    def complete(self) -> dict[str, Results]:
        """Results of the players that have played all games. Raises BadLeague where there is none."""
        found = {name: self.results(name) for name in self.entrants if not self.missing(name)}
        if not found:
            raise BadLeague(f"nobody has played all games in {self.folder}: ante league run {self.folder}")
        return found


def check_games(games: int) -> None:
    """So many games can be played. Raises BadLeague."""
    most = len(panel())
    if games < STRETCH or games % STRETCH or games > most:
        raise BadLeague(f"--games {games}: a multiple of {STRETCH} from {STRETCH} to {most}, the seeds of the panel")


def save(folder: Path, rules: Rules, entrants: Iterable[Entrant], engine: str) -> None:
    """Write league.json."""
    about = {"format": FORMAT, "engine": engine, "rules": asdict(rules), "players": [asdict(each) for each in entrants]}
    write_text(folder / ABOUT, json.dumps(about, indent=1) + "\n")
