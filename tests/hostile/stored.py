"""Readers of checkpoints, stores, uploads, sweeps, measured tables and served games, each with a valid file."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ante.arrays import write_arrays
from ante.catalog.decks import DECKS
from ante.catalog.jokers import JOKERS
from ante.engine.core.state import new_states
from ante.errors import BalatroError
from ante.files import read_bytes
from ante.knowledge.embeddings import JokerVectors
from ante.knowledge.measuring.positions import ANTES, Positions
from ante.knowledge.measuring.sums import Sums
from ante.knowledge.measuring.table import EFFECTS, PAIRS, read_parquet, table_in
from ante.knowledge.names import key_of
from ante.knowledge.observing.counts import RunCounts, counts_of
from ante.knowledge.observing.estimates import estimates_of
from ante.knowledge.recall import read_published
from ante.knowledge.schema import COUNTED, DECK
from ante.knowledge.store import MOST_COUNTED, arrow_schema
from ante.knowledge.winning.outcomes import OUTCOMES, Outcomes
from ante.knowledge.winning.starts import Starts
from ante.knowledge.winning.table import STRATEGIES, WIN_PAIRS, winning_in
from ante.serve.balatrobot.gamestate import gamestate
from ante.serve.balatrobot.runs import LARGEST_SAVE
from ante.serve.balatrobot.session import BadSave, Session
from ante.serve.live.bridge import check_recording
from ante.storage.local import LocalStore, sums
from ante.storage.publish import MANIFEST, pointed, read_manifest
from ante.storage.spool import Spool
from ante.training.run_store.checkpoints import read_pointer
from ante.training.run_store.manifest import SEAL
from ante.training.run_store.state_files import ARRAYS, TREE, read_arrays, read_state, write_state
from ante.training.sweeps.saved import RECORD, Record
from ante.training.sweeps.spec import Sweep
from tests.knowledge.made import made_table, made_winning
from tests.support.table import in_round

STATE = {
    "steps": 3,
    "rng": np.arange(4, dtype=np.uint64),
    "seen": (1, 2.5, None),
    "by_ante": {1: "a"},
    "raw": b"\x00\x01",
}
POINTER = {"checkpoint": "000001", SEAL: "0" * 64}
PUBLICATION = {
    "name": "a",
    "parts": {"a.txt": {"bytes": 1, "sha256": "0" * 64}},
    "published": 1.5,
    "metadata": {"steps": 3},
}
JOB = {
    "id": "00001",
    "store": "store",
    "shelf": "runs/a",
    "name": "000001",
    "metadata": {"steps": 3},
    "pointers": ["latest"],
    "bytes": 3,
    "queued": 1.5,
    "newest": 2,
    "loose": False,
    "gone": [],
}
UPLOADER = {"pid": 5, "job": "00001", "sent": 3, "attempts": 1, "error": "offline", "changed": 1.5}
POINT = {"trial": 0, "steps": 100, "score": 3.5, "values": {"algo.lr": 0.001}, "parent": 0, "ended": False}
PUBLISHED = {"sources": {"w": "a page"}, "pairs": [{"one": "Blueprint", "other": "Baron", "source": "w"}]}
EXCHANGE = (
    {"jsonrpc": "2.0", "method": "gamestate", "params": {}, "id": 1},
    {"jsonrpc": "2.0", "result": {"deck": "RED", "ante_num": 1, "hand": {"cards": []}}, "id": 1},
)


def written(write: Callable[[Path], Any], name: str) -> bytes:
    """Return the file of this name that `write` creates in a folder."""
    with TemporaryDirectory() as folder:
        write(Path(folder))
        return (Path(folder) / name).read_bytes()


def state(file: Path) -> Any:
    """Read a state whose arrays are intact."""
    if file.parent.is_dir() and not (file.parent / ARRAYS).exists():
        (file.parent / ARRAYS).write_bytes(written(lambda folder: write_state(folder, STATE), ARRAYS))
    return read_state(file.parent)


def queued(file: Path) -> None:
    """Read the jobs of a queue of uploads."""
    for job in Spool(file.parents[2]).jobs():
        assert job.id == file.parent.name and job.about


@cache
def sweep(folder: Path) -> Sweep:
    """Return a sweep in a folder of runs."""
    search = {"algo.lr": {"low": 0.0001, "high": 0.01}}
    return Sweep.model_validate({"name": "s", "runs": str(folder), "search": search, "trials": 2})


def recommended(file: Path) -> None:
    """Read a list of pairs and find their jokers."""
    for pair in read_published(file).pairs:
        key_of("joker", pair.one), key_of("joker", pair.other)


def measured(name: str) -> tuple[Callable[[Path], Any], str, bytes]:
    """Return the reader of measured tables, one of which is the given file."""
    table = made_table(3)
    other = {PAIRS: EFFECTS, EFFECTS: PAIRS}[name]
    intact = written(table.write, other)

    def read(file: Path) -> None:
        if file.parent.is_dir():
            (file.parent / other).write_bytes(intact)
        table_in(file.parent)

    return read, name, written(table.write, name)


def winning(name: str) -> tuple[Callable[[Path], Any], str, bytes]:
    """Return the reader of the tables of strategies and pairs, one of which is the given file."""
    other = {STRATEGIES: WIN_PAIRS, WIN_PAIRS: STRATEGIES}[name]
    intact = written(made_winning().write, other)

    def read(file: Path) -> None:
        if file.parent.is_dir():
            (file.parent / other).write_bytes(intact)
        winning_in(file.parent)

    return read, name, written(made_winning().write, name)


def starts() -> bytes:
    """Return games that are continued with granted jokers."""
    states = new_states(1)
    states[0] = in_round()
    return written(lambda folder: Starts(states, np.array([True]), 2).write(folder / "x"), "x")


def outcomes() -> bytes:
    """Return the results of games with grants."""

    def write(folder: Path) -> None:
        found = Outcomes(folder / "x", "k")
        found.of("j_baron", ["TESTSEED"], lambda which: which == 0)

    return written(write, "x")


def exported() -> bytes:
    """Return an exported file of decks."""
    rows = [{"key": row.key, "name": row.name, "text": row.effect} for row in DECKS]
    table = pa.Table.from_pylist(rows, schema=arrow_schema(DECK))
    return written(lambda folder: pq.write_table(table, folder / "x"), "x")


def counted(file: Path) -> None:
    """Read exported counts of runs and sum them."""
    rows = read_parquet(file, arrow_schema(COUNTED), MOST_COUNTED).to_pylist()
    estimates_of([RunCounts("a", "a", "mlp", "b_red", 1, 1, "1", "e", counts_of(40, 20, rows))], least=1)


def counts() -> bytes:
    """Return the exported counts of one run."""
    numbers = {"games": 20, "wins": 15, "run": "a", "stamp": "s"}
    rows = [
        {"key": f"a {one} {other}", "one": one, "other": other, **numbers}
        for one, other in (("j_joker", ""), ("j_joker", "j_egg"))
    ]

    def write(folder: Path) -> None:
        pq.write_table(pa.Table.from_pylist(rows, schema=arrow_schema(COUNTED)), folder / "x")

    return written(write, "x")


def positions() -> bytes:
    """Return measured positions."""
    typical = np.full((len(ANTES), len(JOKERS)), np.nan)
    states = new_states(1)
    states[0] = in_round()
    found = Positions(states, np.zeros(1, dtype=np.int64), typical, "greedy", "b_red", 1)
    return written(lambda folder: found.write(folder / "x"), "x")


def served(file: Path) -> None:
    """Continue a saved game and describe it, as a client of the server does."""
    session = Session()
    try:
        session.restore(read_bytes(file, LARGEST_SAVE))
    except BadSave as error:
        raise BalatroError(str(error)) from None
    json.dumps(gamestate(session))


def saved() -> bytes:
    """Return the file of a served game."""
    session = Session()
    session.begin(in_round())
    return session.saved()


def replayed(file: Path) -> None:
    """Compare the replies of a recording with a server's."""
    name = file.parent / "x"
    if file.parent.is_dir():
        file.with_name("x.req.jsonl").write_text(json.dumps(EXCHANGE[0]) + "\n")
    check_recording(name, lambda _: EXCHANGE[1])


def text(value: object) -> bytes:
    """Return a value as JSON."""
    return json.dumps(value).encode()


ARRAYS_OF = {"a": np.ones((2, 3), dtype=np.float32), "b": np.arange(3)}
STORED: dict[str, tuple[Callable[[Path], Any], str, bytes]] = {  # read, name of the file, a valid one
    "state": (state, TREE, written(lambda folder: write_state(folder, STATE), TREE)),
    "arrays": (read_arrays, "w.npz", written(lambda folder: write_arrays(folder / "w.npz", ARRAYS_OF), "w.npz")),
    "pointer": (lambda file: read_pointer(file.parent, file.stem), "best.json", text(POINTER)),
    "publication": (
        lambda file: read_manifest(LocalStore(file.parents[2]), "runs/a"),
        f"runs/a/{MANIFEST}",
        text(PUBLICATION),
    ),
    "publication pointer": (
        lambda file: pointed(LocalStore(file.parents[1]), "runs"),
        "runs/latest.json",
        text({"name": "000001"}),
    ),
    "checksums": (lambda file: sums(file.with_name("x")), ".x.sha256", b"ab12  x\n"),
    "upload job": (queued, f"jobs/{JOB['id']}/job.json", text(JOB)),
    "upload state": (lambda file: Spool(file.parent).state, "state.json", text(UPLOADER)),
    "sweep record": (lambda file: Record(sweep(file.parents[1])).points(), f"s/{RECORD}", text(POINT) + b"\n"),
    "published pairs": (recommended, "pairs.yaml", text(PUBLISHED)),
    "measured pairs": measured(PAIRS),
    "measured effects": measured(EFFECTS),
    "strategies": winning(STRATEGIES),
    "pairs that win": winning(WIN_PAIRS),
    "games with grants": (lambda file: Outcomes(file, "k"), OUTCOMES, outcomes()),
    "games to continue": (Starts.read, "starts.npz", starts()),
    "joker vectors": (
        JokerVectors.read,
        "v.npz",
        written(lambda f: JokerVectors(np.zeros((150, 128), np.float32)).write(f / "x"), "x"),
    ),
    "exported graph": (lambda file: read_parquet(file, arrow_schema(DECK)).to_pylist(), "Deck.parquet", exported()),
    "exported counts of runs": (counted, "Counted.parquet", counts()),
    "positions": (Positions.read, "positions.npz", positions()),
    "sums": (lambda file: Sums.read(file, "k"), "sums.npz", written(lambda f: Sums().write(f / "x", "k"), "x")),
    "served game": (served, "x.save", saved()),
    "recording": (replayed, "x.res.jsonl", text(EXCHANGE[1]) + b"\n"),
}
STORED_DOCUMENTS = {
    "pointer": POINTER,
    "publication": PUBLICATION,
    "publication pointer": {"name": "000001"},
    "upload job": JOB,
    "upload state": UPLOADER,
    "sweep record": POINT,
    "published pairs": PUBLISHED,
    "recording": EXCHANGE[1],
}
STORED_ABSENT = (
    "pointer",
    "checksums",
    "upload job",
    "upload state",
    "sweep record",
    "sums",
    "games with grants",
)  # missing is valid
STORED_TEXT = ("state", "checksums", "sweep record", "recording")  # nearly any text, or any JSON, is valid
