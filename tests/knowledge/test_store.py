"""The graph: the same answers from each backend and from a plain search of the table, and what survives a crash."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ante.catalog.jokers import JOKERS
from ante.errors import BalatroError
from ante.files import Unreadable
from ante.knowledge import queries
from ante.knowledge.backends import Bolt, Ladybug, StoreBusy, StoreUnavailable, open_backend
from ante.knowledge.measuring.table import Table, is_synergy
from ante.knowledge.schema import EDGES, NODES, VERSION, WORKS_WITH, bolt_ddl, ladybug_ddl
from ante.knowledge.store import Knowledge, OtherSchema, open_knowledge
from tests.knowledge.conftest import BoltServer
from tests.knowledge.made import made_table

TABLE = made_table(40)
KEYS = [row.key for row in JOKERS[1:41]]
NAMES = {row.key: row.name for row in JOKERS[1:]}


def searched(table: Table, keys: list[str]) -> dict[tuple[str, str], float]:
    """Return the interactions among jokers by a search of the columns."""
    pairs = table.pairs
    inside = np.isin(pairs["one"], keys) & np.isin(pairs["other"], keys)
    rows = zip(pairs["one"][inside], pairs["other"][inside], pairs["effect"][inside], strict=True)
    return {(NAMES[one], NAMES[other]): round(float(effect), 4) for one, other, effect in rows}


def test_synergies_among_jokers_equal_a_search_of_the_table(graph: Knowledge) -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        keys = [str(key) for key in rng.choice(KEYS, 5, replace=False)]
        rows = queries.among(graph.backend, keys)
        assert {(row["one"], row["other"]): row["effect"] for row in rows} == searched(TABLE, keys)
        assert [row["effect"] for row in rows] == sorted((row["effect"] for row in rows), reverse=True)


def test_partners_count_and_have_the_wanted_sign(graph: Knowledge) -> None:
    pairs, key = TABLE.pairs, KEYS[7]
    mine = (pairs["one"] == key) | (pairs["other"] == key)
    best = mine & is_synergy(pairs["effect"], pairs["q"]) & (pairs["effect"] > 0)
    rows = queries.partners(graph.backend, key, 50)
    assert len(rows) == best.sum() > 3
    assert [row["effect"] for row in rows] == sorted(
        np.round(pairs["effect"][best].astype(float), 4).tolist(), reverse=True
    )
    assert all(row["effect"] < 0 for row in queries.partners(graph.backend, key, 50, descending=False))


def test_the_top_leaves_out_jokers(graph: Knowledge) -> None:
    rows = queries.top(graph.backend, 5)
    without = [key for key, name in NAMES.items() if name == rows[0]["one"]]
    later = queries.top(graph.backend, 5, without=without)
    assert rows[0]["effect"] == pytest.approx(float(TABLE.pairs["effect"].max()), abs=1e-4)
    assert all(rows[0]["one"] not in (row["one"], row["other"]) for row in later)
    assert queries.top(graph.backend, 5, descending=False)[0]["effect"] < 0


def test_a_path_is_the_chain_whose_weakest_edge_is_strongest(graph: Knowledge) -> None:
    pairs = TABLE.pairs
    good = is_synergy(pairs["effect"], pairs["q"]) & (pairs["effect"] >= queries.WEAKEST)
    effects = {
        frozenset((str(one), str(other))): float(effect)
        for one, other, effect in zip(pairs["one"][good], pairs["other"][good], pairs["effect"][good], strict=True)
    }

    def strongest(a: str, b: str) -> float:
        """Return the weakest edge of the best chain over one joker, -1 without a chain."""
        edges = ((effects.get(frozenset((a, m)), -1.0), effects.get(frozenset((m, b)), -1.0)) for m in KEYS)
        return max(map(min, edges))

    one, other = next(
        (a, b) for a in KEYS for b in KEYS if a < b and frozenset((a, b)) not in effects and strongest(a, b) > 0
    )
    weakest = strongest(one, other)
    chain = queries.path(graph.backend, one, other)[0]
    assert len(chain["jokers"]) == 3 and chain["jokers"][0] == NAMES[one] and chain["jokers"][-1] == NAMES[other]
    assert chain["weakest"] == pytest.approx(weakest, abs=1e-4)


def test_a_joker_has_its_traits_and_effects(graph: Knowledge) -> None:
    found = queries.joker(graph.backend, "j_greedy_joker")
    assert found["name"] == "Greedy Joker" and found["rarity"] == "Common" and found["cost"] == 5
    assert {"adds Mult", "acts at: card scored", "depends on Diamonds"} <= set(found["traits"])
    assert [row["name"] for row in found["bosses"]] == ["The Plant"]
    assert len(queries.with_item(graph.backend, "ON_DECK", "Deck", "b_plasma")) == 40


def test_written_twice_it_is_there_once(graph: Knowledge) -> None:
    before = [len(graph.backend.read(kind.match)) for kind in (*NODES, *EDGES)]
    graph.load(TABLE)
    assert [len(graph.backend.read(kind.match)) for kind in (*NODES, *EDGES)] == before


def test_a_smaller_table_replaces_that_of_all_pairs(graph: Knowledge) -> None:
    graph.load(made_table())
    assert len(graph.backend.read(WORKS_WITH.match)) == 150 * 149 // 2
    graph.load(TABLE)
    assert len(graph.backend.read(WORKS_WITH.match)) == 40 * 39 // 2


def test_exported_and_imported_it_is_the_same(graph: Knowledge, tmp_path: Path) -> None:
    rows = graph.export(tmp_path / "files")
    with open_knowledge(str(tmp_path / "copy.lbug"), write=True) as copy:
        assert copy.import_from(tmp_path / "files") == rows
        for kind in (*NODES, *EDGES):
            assert copy.backend.read(kind.match) == graph.backend.read(kind.match), kind.label


@pytest.mark.slow
def test_both_backends_give_equal_answers(ladybug_graph: Knowledge, bolt_graph: Knowledge) -> None:
    one, other = ladybug_graph.backend, bolt_graph.backend
    rng = np.random.default_rng(5)
    for _ in range(100):
        keys = [str(key) for key in rng.choice(KEYS, 5, replace=False)]
        assert queries.among(one, keys) == queries.among(other, keys)
        assert queries.path(one, keys[0], keys[1]) == queries.path(other, keys[0], keys[1])
        assert queries.joker(one, keys[2]) == queries.joker(other, keys[2])
        assert queries.pair(one, keys[3], keys[4]) == queries.pair(other, keys[3], keys[4])
    assert queries.top(one, 50) == queries.top(other, 50)


def test_a_failed_transaction_leaves_nothing(graph: Knowledge) -> None:
    writing = "UNWIND $rows AS r MERGE (j:Joker {key: r.key})"
    with pytest.raises(Exception, match=r"(?i)no_such_function|unknown function|not exist"):
        graph.backend.write(
            [(writing, [{"key": "j_of_no_pool"}]), ("UNWIND $rows AS r RETURN no_such_function(r)", [{"x": 1}])]
        )
    assert graph.backend.read("MATCH (j:Joker {key: 'j_of_no_pool'}) RETURN j.name AS name") == []


WRITER = """
import sys
from ante.knowledge.store import open_knowledge
store, user, password, database = sys.argv[1:]
graph = open_knowledge(store, True, user, password, database or None)
for i in range(100_000):
    rows = [{"key": f"written-{i}-{k}", "number": i} for k in range(20)]
    graph.backend.write([("UNWIND $rows AS r MERGE (j:Joker {key: r.key}) SET j.number = r.number", rows)])
    print(i, flush=True)
"""


def killed_writer(*words: str) -> int:
    """Start a process that writes, kill it in the middle, and return the last number that it has acknowledged."""
    process = subprocess.Popen([sys.executable, "-c", WRITER, *words], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    last = -1
    for line in process.stdout:
        last = int(line)
        if last == 12:
            os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return last


def written(graph: Knowledge) -> list[tuple[int, int]]:
    """Return the numbers that were written, with the number of rows of each."""
    rows = graph.backend.read(
        "MATCH (j:Joker) WHERE j.key STARTS WITH 'written-' RETURN j.number AS i, count(j) AS n ORDER BY i"
    )
    return [(row["i"], row["n"]) for row in rows]


@pytest.mark.slow
def test_no_acknowledged_row_is_lost_when_the_writer_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "graph.lbug"
    with open_knowledge(str(file), write=True) as graph:
        graph.load(made_table(5))
    last = killed_writer(str(file), "", "", "")
    with open_knowledge(str(file), write=True) as graph:
        found = written(graph)
        assert found[: last + 1] == [(i, 20) for i in range(last + 1)]
        assert all(n == 20 for _, n in found), "a transaction is whole or absent"


@pytest.mark.slow
def test_no_acknowledged_row_is_lost_when_the_server_is_killed(bolt_server: BoltServer, bolt_graph: Knowledge) -> None:
    last = killed_writer(bolt_server.url, "root", "only-for-tests", "game")
    bolt_server.kill()
    bolt_server.start()
    with bolt_server.open(write=True) as graph:
        found = written(graph)
        assert found[: last + 1] == [(i, 20) for i in range(last + 1)]
        assert all(n == 20 for _, n in found)


@pytest.mark.benchmark
@pytest.mark.parametrize("backend", ["ladybug", "bolt"])
def test_time_of_the_synergies_among_five_jokers(
    backend: str, request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Print the milliseconds of 500 questions to a graph of all pairs, median and 95th percentile."""
    opened = (
        open_knowledge(str(tmp_path / "all.lbug"), write=True)
        if backend == "ladybug"
        else request.getfixturevalue("bolt_server").open(write=True)
    )
    rng, keys, spent = np.random.default_rng(4), [row.key for row in JOKERS[1:]], []
    with opened as graph:
        graph.load(made_table())
        for _ in range(500):
            names = [str(key) for key in rng.choice(keys, 5, replace=False)]
            begun = time.perf_counter()
            assert len(queries.among(graph.backend, names)) == 10
            spent.append(1000 * (time.perf_counter() - begun))
    with capsys.disabled():
        print(f" {backend}: p50 {np.percentile(spent, 50):.2f} ms, p95 {np.percentile(spent, 95):.2f} ms")


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    with open_knowledge(str(tmp_path / "graph.lbug"), write=True):
        code = (
            "import sys\nfrom pathlib import Path\nfrom ante.knowledge.backends import Ladybug, StoreBusy\n"
            "try:\n    Ladybug(Path(sys.argv[1]))\nexcept StoreBusy as error:\n    print(error)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "graph.lbug")], capture_output=True, text=True, check=True
        )
        assert "another process writes to" in done.stdout
    assert issubclass(StoreBusy, StoreUnavailable)


@pytest.mark.parametrize(
    ("store", "message"),
    [
        ("absent.lbug", "there is no graph in"),
        ("bolt://127.0.0.1:1", r"cannot reach bolt://127.0.0.1:1"),
    ],
)
def test_a_store_that_cannot_be_opened_is_named(store: str, message: str, tmp_path: Path) -> None:
    path = str(tmp_path / store) if store.endswith("lbug") else store
    with pytest.raises(StoreUnavailable, match=message):
        open_backend(path, read_only=True)


class Server:
    """A driver of a server that accepts the connection, and then refuses every statement."""

    closed = False

    def verify_connectivity(self) -> None:
        pass

    def session(self, **_: Any) -> "Server":
        return self

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, *_: Any) -> Any:
        from neo4j.exceptions import ServiceUnavailable

        raise ServiceUnavailable

    execute_read = execute_write = run

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize("write", [False, True])
def test_a_server_that_fails_later_is_named_and_left(write: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server()
    monkeypatch.setattr("neo4j.GraphDatabase.driver", lambda *_, **__: server)
    with pytest.raises(BalatroError, match="bolt://graph:7687 cannot be used: ServiceUnavailable"):
        open_knowledge("bolt://graph:7687", write)
    assert server.closed
    with pytest.raises(StoreUnavailable, match="cannot be used"):
        Bolt("bolt://graph:7687").write([("RETURN 1", [{"x": 1}])])


def test_a_file_with_other_tables_is_named(tmp_path: Path) -> None:
    other = Ladybug(tmp_path / "other.lbug")
    other.write([("CREATE NODE TABLE Joker(key STRING, PRIMARY KEY(key))", [{"x": 1}])])
    other.close()
    with (
        open_knowledge(str(tmp_path / "other.lbug"), write=True) as graph,
        pytest.raises(StoreUnavailable, match=r"other\.lbug cannot be used: .*Cannot find property"),
    ):
        graph.load(made_table(5))


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.lbug").write_text("no graph")
    with pytest.raises(StoreUnavailable, match="cannot open"):
        open_knowledge(str(tmp_path / "text.lbug"))


def test_a_graph_without_the_schema_or_of_another_version_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "graph.lbug"
    Ladybug(file).close()
    with pytest.raises(OtherSchema, match="no knowledge graph"):
        open_knowledge(str(file))
    with open_knowledge(str(file), write=True) as graph:
        graph.load(made_table(5))
        graph.backend.write([("UNWIND $rows AS r MATCH (m:Meta {key: 'schema'}) SET m.value = r.v", [{"v": "0"}])])
    with pytest.raises(OtherSchema, match=f"schema 0, this version reads {VERSION}"):
        open_knowledge(str(file))


def test_an_import_names_a_missing_file(tmp_path: Path) -> None:
    with (
        open_knowledge(str(tmp_path / "graph.lbug"), write=True) as graph,
        pytest.raises(Unreadable, match=r"Meta\.parquet"),
    ):
        graph.import_from(tmp_path)


def test_the_schema_declares_every_kind_once() -> None:
    labels = [kind.label for kind in (*NODES, *EDGES)]
    assert len(set(labels)) == len(labels) == len(ladybug_ddl())
    assert len(bolt_ddl()) == len(NODES)


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
