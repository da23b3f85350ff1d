"""Graphs of both kinds of backend: a Ladybug file, and a real Bolt server in a separate process."""

import importlib.util
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ante.cli import outcome
from ante.knowledge.store import Knowledge, open_knowledge
from tests.knowledge.made import made_table

Run = Callable[..., tuple[int, str, str]]

PASSWORD = "only-for-tests"
SERVER = """
import sys, time
import arcadedb_embedded
root, password, bolt, http = sys.argv[1:]
config = {
    "http_port": int(http),
    "server_plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
    "bolt_port": int(bolt),
}
server = arcadedb_embedded.create_server(root_path=root, root_password=password, config=config)
server.start()
try:
    server.create_database("game")
except Exception as error:
    print("not created:", error)  # it exists already
print("ready", flush=True)
time.sleep(3600)
"""


class BoltServer:
    """ArcadeDB with its Bolt plugin, with a folder that survives a restart."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports = [free_port(), free_port()]
        self.process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"bolt://127.0.0.1:{self.ports[0]}"

    def start(self) -> None:
        words = [sys.executable, "-c", SERVER, str(self.folder), PASSWORD, *map(str, self.ports)]
        log = self.folder.with_suffix(".log").open("a")
        self.process = subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT, text=True, cwd=self.folder.parent)
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.folder.with_suffix(".log").read_text()
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.ports[0])) == 0:
                    if "ready" in self.folder.with_suffix(".log").read_text():
                        return
            time.sleep(0.5)
        raise AssertionError(self.folder.with_suffix(".log").read_text())

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        self.folder.with_suffix(".log").write_text("")

    def open(self, write: bool = False) -> Knowledge:
        return open_knowledge(self.url, write, user="root", password=PASSWORD, database="game")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def bolt_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BoltServer]:
    """A running server. Skips visibly if the wheel is not installed."""
    for package in ("arcadedb_embedded", "neo4j"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: make setup installs it")
    folder = tmp_path_factory.mktemp("arcade") / "databases"
    folder.mkdir()
    server = BoltServer(folder)
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def ladybug_graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Knowledge]:
    """All pairs of a made table in a Ladybug file."""
    with open_knowledge(str(tmp_path_factory.mktemp("graph") / "made.lbug"), write=True) as graph:
        graph.load(made_table(40))
        yield graph


@pytest.fixture(scope="session")
def bolt_graph(bolt_server: BoltServer) -> Iterator[Knowledge]:
    """The same on a Bolt server."""
    with bolt_server.open(write=True) as graph:
        graph.load(made_table(40))
        yield graph


@pytest.fixture(params=["ladybug", pytest.param("bolt", marks=pytest.mark.slow)])
def graph(request: pytest.FixtureRequest) -> Knowledge:
    """The same graph on each backend."""
    found: Knowledge = request.getfixturevalue(f"{request.param}_graph")
    return found


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all tests of a file: the graph is written once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def know(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, cache: Path) -> Run:
    """Run `ante know` with its graph in `cache`; return the exit code, what it printed, and its errors."""
    monkeypatch.setattr("ante.knowledge.store.base_folder", lambda: cache)
    monkeypatch.setenv("COLUMNS", "150")

    def run(*words: str) -> tuple[int, str, str]:
        code = outcome(["know", *words])
        shown = capsys.readouterr()
        return int(code or 0), shown.out, shown.err

    return run
