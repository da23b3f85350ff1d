"""The folder of a league: players, rules and the results of all games.

league.json              rules and players
results/NAME/0003.parquet   one row per game, for 50 consecutive seeds (a stretch); written atomically
replays/NAME/SEED.txt    a player's games that progressed furthest
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from dataclasses import dataclass as plain_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass

from ante.agents.seed_lists import validation_seeds
from ante.engine.core.compile_cache import source_hash
from ante.engine.run import run_numbers
from ante.errors import BalatroError, first_fault, shown
from ante.files import FOLDER_LOCK, NoFile, Unreadable, check_regular, exclusive, read_json, whole, write_text
from ante.messages import printable
from ante.recording.games import Recording

FORMAT = 1
ABOUT = "league.json"
LARGEST_STRETCH = 64 << 20  # bytes of one file of results
STRETCH = 50  # seeds that are played, stored and resumed together
SCHEMA = pa.schema(
    [
        pa.field("seed", pa.string(), nullable=False),
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("ante", pa.int16(), nullable=False),
        pa.field("blinds", pa.int16(), nullable=False),
        pa.field("decisions", pa.int32(), nullable=False),
        pa.field("reward", pa.float64(), nullable=False),
        pa.field(
            "actions", pa.list_(pa.int64()), nullable=False
        ),  # macro decisions, which with the seed determine the game
    ]
)


class BadLeague(BalatroError, ValueError):
    """A league cannot be read or played."""


@dataclass(frozen=True, config=ConfigDict(strict=True, extra="forbid"))
class Entrant:
    """One player of a league.

    name    unique in the league
    source  origin of the player: a baseline's name, or a folder
    pin     policy within the folder: a checkpoint's name, or the digest of a release; empty for a baseline
    run     run of the checkpoint; empty for others
    steps   environment steps of training, None if not trained
    """

    name: Annotated[str, Field(pattern=r"^[^./\x00-\x1f][^/\x00-\x1f]{0,199}$")]  # names a folder
    source: str
    pin: str = ""
    run: str = ""
    steps: Annotated[int, Field(ge=0)] | None = None
    likeliest: bool = False


@dataclass(frozen=True, config=ConfigDict(strict=True, extra="forbid"))
class Rules:
    """The rules of a league's games, which use the first `games` validation seeds."""

    games: int
    deck: str = "b_red"
    stake: Annotated[int, Field(ge=1, le=8)] = 1
    challenge: str | None = None


@plain_dataclass(frozen=True)
class Results:
    """The results of one player's games, each array (games,), in the order of the seeds."""

    seeds: tuple[str, ...]
    won: NDArray[np.bool_]
    ante: NDArray[np.int64]
    blinds: NDArray[np.int64]
    decisions: NDArray[np.int64]

    def __len__(self) -> int:
        """Number of games."""
        return len(self.seeds)

    @property
    def reach(self) -> NDArray[np.int64]:
        """How far each game progressed, as one comparable number: won, then ante, then blinds beaten."""
        return (self.won * 1000 + np.clip(self.ante, -100, 800) + 100) * 1000 + self.blinds


class AboutForm(BaseModel):
    """Contents of league.json."""

    format: Literal[1]
    engine: str
    rules: Rules
    players: list[Entrant]


class League:
    """A league in a folder. Raises BadLeague if the folder has none, or one of another format."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.read()

    def read(self) -> None:
        """Read rules and players. Raises BadLeague."""
        folder = self.folder
        try:
            data = read_json(folder / ABOUT)
            if isinstance(data, dict) and data.get("format", FORMAT) != FORMAT:
                raise BadLeague(
                    f"{folder} is a league of format {shown(data['format'])}, but this version reads format {FORMAT}"
                )
            about = AboutForm.model_validate_json(json.dumps(data))
        except NoFile as error:
            raise BadLeague(
                f"no league in {folder} ({error}): create one with ante league run {folder} greedy"
            ) from None
        except Unreadable as error:
            raise BadLeague(f"no league in {folder}: {error}") from None
        except ValidationError as error:
            raise BadLeague(f"{folder / ABOUT}, {first_fault(error)}") from None
        self.rules, self.engine = about.rules, about.engine
        self.entrants = {each.name: each for each in about.players}
        check_games(self.rules.games)

    @staticmethod
    def begin(folder: Path, rules: Rules) -> "League":
        """Create a league without players in `folder`. Raises BadLeague, UnknownDeck, UnknownChallenge, DeckOfChallenge."""
        check_games(rules.games)
        run_numbers(rules.deck, rules.stake, rules.challenge)
        folder.mkdir(parents=True, exist_ok=True)
        with exclusive(folder / FOLDER_LOCK):
            if (folder / ABOUT).exists():
                raise BadLeague(f"{folder} already contains a league: add players with ante league add {folder} PLAYER")
            save(folder, rules, (), source_hash("agents"))
        return League(folder)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Exclude other processes, read what they have changed, and save the changes made meanwhile. Raises BadLeague."""
        with exclusive(self.folder / FOLDER_LOCK):
            self.read()
            yield
            save(self.folder, self.rules, tuple(self.entrants.values()), self.engine)

    def enter(self, entrants: Iterable[Entrant]) -> list[Entrant]:
        """Add players and return those that are new. Raises BadLeague."""
        added = []
        with self.changing():
            for each in entrants:
                known = self.entrants.get(each.name)
                if known is not None and known != each:
                    raise BadLeague(f"{self.folder} has another player {each.name} ({known.source}): rename its folder")
                if known is None:
                    self.entrants[each.name] = each
                    added.append(each)
        return added

    def extend(self, games: int) -> None:
        """Raise the number of games per player; stored results are kept. Raises BadLeague."""
        check_games(games)
        with self.changing():
            if games < self.rules.games:
                raise BadLeague(
                    f"{self.folder} has {self.rules.games} games per player and cannot have fewer: got {games}"
                )
            self.rules = replace(self.rules, games=games)

    def check_engine(self) -> None:
        """Check that the engine is the one that played the stored games. Raises BadLeague."""
        now = source_hash("agents")
        if now != self.engine:
            raise BadLeague(
                f"{self.folder} was played by engine {self.engine}, this is {now}: results are not comparable; create "
                "another league (ante league table still reads this one)"
            )

    def file(self, name: str, stretch: int) -> Path:
        """Return the file with the results of a stretch."""
        return self.folder / "results" / name / f"{stretch:04d}.parquet"

    def missing(self, name: str) -> list[int]:
        """Return the stretches that this player has not played."""
        return [i for i in range(self.rules.games // STRETCH) if not self.file(name, i).exists()]

    def seeds(self, stretch: int) -> list[str]:
        """Return the seeds of a stretch."""
        return validation_seeds()[stretch * STRETCH : (stretch + 1) * STRETCH]

    def store(self, name: str, stretch: int, games: Sequence[Recording]) -> None:
        """Store the results of a stretch atomically."""
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
        """Return all stored games of a player, an Arrow table of SCHEMA in the order of the seeds. Raises BadLeague."""
        if name not in self.entrants:
            raise BadLeague(f"no player {name!r} in {self.folder}: choose one of {', '.join(self.entrants)}")
        files = [self.file(name, i) for i in range(self.rules.games // STRETCH)]
        parts = [read_stretch(file) for file in files if file.exists()]
        return pa.concat_tables(parts) if parts else SCHEMA.empty_table()

    def results(self, name: str) -> Results:
        """Return the results of all stored games of a player."""
        table = self.table(name)
        columns = {field: table[field].to_numpy() for field in ("ante", "blinds", "decisions")}
        won = np.array([outcome == "won" for outcome in table["outcome"].to_pylist()], dtype=np.bool_)
        return Results(
            tuple(table["seed"].to_pylist()), won, **{name: each.astype(np.int64) for name, each in columns.items()}
        )

    def complete(self) -> dict[str, Results]:
        """Return the results of players that have played all games. Raises BadLeague if there are none."""
        found = {name: self.results(name) for name in self.entrants if not self.missing(name)}
        if not found:
            raise BadLeague(f"no player has played all games in {self.folder}: run ante league run {self.folder}")
        return found


def read_stretch(file: Path) -> Any:
    """Read the games of a stretch as an Arrow table of SCHEMA. Raises BadLeague."""
    way_out = "delete the file; ante league run then plays these games again"
    try:
        check_regular(file)
        table = pq.ParquetFile(file)
        if table.metadata.num_rows != STRETCH or file.stat().st_size > LARGEST_STRETCH:
            raise BadLeague(f"{file} has {table.metadata.num_rows:,} games, not {STRETCH}: {way_out}")
        found = table.read().cast(SCHEMA)
        found.validate(full=True)
    except (OSError, pa.ArrowException, Unreadable, ValueError) as error:
        if isinstance(error, BadLeague):
            raise
        raise BadLeague(f"cannot read {file}: {printable(str(error), 300) or 'damaged'}; {way_out}") from None
    return found


def check_games(games: int) -> None:
    """Check the number of games. Raises BadLeague."""
    most = len(validation_seeds())
    if games < STRETCH or games % STRETCH or games > most:
        raise BadLeague(
            f"--games {games} must be a multiple of {STRETCH} from {STRETCH} to {most}, the number of validation seeds"
        )


def save(folder: Path, rules: Rules, entrants: Iterable[Entrant], engine: str) -> None:
    """Write league.json."""
    about = {"format": FORMAT, "engine": engine, "rules": asdict(rules), "players": [asdict(each) for each in entrants]}
    write_text(folder / ABOUT, json.dumps(about, indent=1) + "\n")
