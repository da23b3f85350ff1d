"""The parts of `ante know` that measure effects, store the graph, and write it as files and pages."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from ante.cli.options import Count, Fewest, OutFile, OutFolder, PictureFile
from ante.cli.players import player_of
from ante.cli.shown import progress, show
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.knowledge.store import Knowledge

DRAW = 28  # list of seeds of the positions


def opened(store: str, write: bool = False) -> "Knowledge":
    """Return the graph of a store; user, password and database of a Bolt server are in the environment."""
    from ante.knowledge.store import open_as

    return open_as(store, os.environ, write)


def origin_of(player: str) -> dict[str, Any]:
    """Return what identifies a player: its name, and a digest of the files of a policy."""
    import hashlib

    from ante.agents.releases import policy_at

    folder, checkpoint = policy_at(player)
    if not folder.is_dir():
        return {"player_name": player}
    digest = hashlib.sha256()
    for file in sorted(file for file in folder.rglob("*") if file.is_file() and file.suffix != ".md"):
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    return {"player_name": player, "checkpoint": checkpoint, "policy_sha256": digest.hexdigest()}


@dataclass(frozen=True)
class Measure:
    """Measure all jokers and pairs of jokers on positions of a player's games, and write the tables.

    The command takes minutes of processor time. It continues from its work folder after an interruption.

    Try:
      ante know measure --out src/ante/knowledge/measured      (the committed tables)
      ante know measure --player rules --each 20 --out small
    """

    out: Annotated[OutFolder, arg(aliases=["-o"])]
    """Folder of the tables."""
    player: str = "white-stake"
    """Player whose games are the positions."""
    each: Fewest = 150
    """Positions of each of the antes 2, 4, 6 and 8."""
    bosses: Count = 160
    """Positions that are also measured under every boss."""
    decks: Fewest = 25
    """Positions of each ante on each other deck."""
    audited: Count = 48
    """Positions in which the search of plays is compared with all plays."""
    seeds: Count = 6000
    """Maximum number of games."""
    work: OutFolder = Path("runs/knowledge")
    """Folder of intermediate results."""

    def run(self) -> int:
        """Measure and write. Raises BalatroError."""
        from ante.agents.seed_lists import dataset_seeds
        from ante.knowledge.measuring.run import Plan, measure

        plan = Plan(self.each, self.bosses, self.decks, self.audited)
        about = {**origin_of(self.player), "seeds": f"dataset_seeds(draw={DRAW})"}
        player = player_of(self.player, likeliest=True, checkpoint="best")
        table = measure(player, dataset_seeds(self.seeds, DRAW), plan, about, self.work, progress)
        table.write(self.out)
        print(f"{self.out}: {len(table.pairs['one']):,} pairs, {table.about['cpu_seconds']} s of processor time")
        return 0


@dataclass(frozen=True)
class Load:
    """Write the catalogue and the measured tables into a graph: a file, or a Bolt server.

    It replaces strategies and effects of earlier tables, and keeps what trainings saw.

    KNOWLEDGE_USER, KNOWLEDGE_PASSWORD and KNOWLEDGE_DATABASE are the login and the database of a Bolt server.

    Try:
      ante know load --store knowledge.lbug
      ante know load --store bolt://127.0.0.1:7687
    """

    store: str
    """File or Bolt URL."""
    tables: Path | None = None
    """Folder of ante know measure; by default the tables of this version."""
    wins: Path | None = None
    """Folder of ante know mine; by default the tables of this version."""

    def run(self) -> int:
        """Write the graph. Raises StoreUnavailable, BadTable."""
        from ante.knowledge.measuring.table import read_table
        from ante.knowledge.winning.table import read_winning

        with opened(self.store, write=True) as graph:
            print(f"{graph.load(read_table(self.tables), read_winning(self.wins)):,} nodes and edges written")
        return 0


@dataclass(frozen=True)
class Export:
    """Write a graph as Parquet files, one for each kind of node and edge.

    Try:
      ante know export graph --store knowledge.lbug
    """

    folder: Positional[Annotated[Path, arg(metavar="FOLDER")]]
    """Folder to write; it must not exist."""
    store: str = "default"
    """Graph: the tables of this version, a file, or a Bolt URL."""

    def run(self) -> int:
        """Write the files. Raises StoreUnavailable, TooManyCounts."""
        if self.folder.exists():
            raise BalatroError(f"{self.folder} exists: name a new folder")
        with opened(self.store) as graph:
            print(f"{graph.export(self.folder):,} rows written to {self.folder}")
        return 0


@dataclass(frozen=True)
class Import:
    """Write exported Parquet files into a graph.

    Try:
      ante know import graph --store bolt://127.0.0.1:7687
    """

    folder: Positional[Annotated[Path, arg(metavar="FOLDER")]]
    """Folder that ante know export wrote."""
    store: str
    """File or Bolt URL."""

    def run(self) -> int:
        """Read the files and write the graph. Raises NotALoad, StoreUnavailable."""
        with opened(self.store, write=True) as graph:
            print(f"{graph.import_from(self.folder):,} rows written to {self.store}")
        return 0


@dataclass(frozen=True)
class Page:
    """Write a page for the browser: a drawing of the graph, tables and filters, in one file without a server.

    Try:
      ante know page --out knowledge.html
      ante know page --out knowledge.html --plot pairs.png
    """

    out: Annotated[OutFile, arg(aliases=["-o"])] = Path("knowledge.html")
    """File of the page."""
    plot: PictureFile | None = None
    """Also write a picture of the strongest pairs to this file."""

    def run(self) -> int:
        """Write the page. Raises BadTable."""
        from ante.knowledge.measuring.table import read_table
        from ante.knowledge.winning.table import read_winning
        from ante.stats.knowledge import draw_pairs, write_page

        table = read_table()
        write_page(table, read_winning(), self.out)
        if self.plot:
            draw_pairs(table, self.plot)
        print(self.out)
        return 0


@dataclass(frozen=True)
class Recall:
    """Compare a list of pairs that people recommend with the measurement.

    Try:
      ante know recall                     (the list of this version, with sources)
      ante know recall --list mine.yaml --json
    """

    list: Path | None = None
    """YAML file with pairs, each with one, other and source; by default that of this version."""
    json: bool = False
    """Print one JSON object: recall and pairs."""

    def run(self) -> int:
        """Print the comparison. Raises Unreadable, UnknownName."""
        from ante.knowledge.measuring.table import read_table
        from ante.knowledge.recall import read_published, recalled

        found = recalled(read_table(), read_published(self.list))
        if self.json:
            print(json.dumps(asdict(found), indent=1))
            return 0
        cells = [(f"{row.one} + {row.other}", f"x{10**row.effect:.2f}", row.verdict, row.source) for row in found.pairs]
        show([], ("pair", "interaction", "measured", "source"), cells, as_json=False)
        print(
            f"{found.confirmed} of {len(found.pairs)} pairs are measured synergies; of the {found.scoring} whose jokers "
            f"both act on a played hand, {found.confirmed_scoring}"
        )
        return 0


@dataclass(frozen=True)
class Embed:
    """Write the graph as 128 numbers for each joker, for the setting policy.joker_vectors of the shortlist policy.

    Jokers that have the same partners, hands and traits have similar numbers (NetMF).

    Try:
      ante know embed --out joker_vectors.npz
      ante know embed --out new.npz --previous joker_vectors.npz --tables measured
    """

    out: Annotated[OutFile, arg(aliases=["-o"])]
    """File of the numbers."""
    previous: Path | None = None
    """Earlier file to which the numbers are aligned, so that a policy which reads them meets no rotated input."""
    tables: Path | None = None
    """Folder of ante know measure; by default the tables of this version."""

    def run(self) -> int:
        """Write the file and print its digest. Raises BadTable, Unreadable."""
        from ante.knowledge.embeddings import JokerVectors, embed
        from ante.knowledge.measuring.table import read_table

        previous = JokerVectors.read(self.previous) if self.previous else None
        found = embed(read_table(self.tables), previous)
        found.write(self.out)
        print(f"{self.out}: {found.vectors.shape[0]} x {found.vectors.shape[1]}, SHA-256 {found.digest}")
        return 0
