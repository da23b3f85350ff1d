"""A store with runs, and servers of their catalogue."""

import base64
import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ante.serve.catalogue.mirror import Mirror
from ante.serve.catalogue.runs import StoredRuns
from ante.serve.catalogue.server import catalogue
from ante.storage.local import LocalStore
from ante.storage.store import Store
from tests.watch.test_runs import make

VIDEO = bytes(range(256)) * 5
SECONDS = 0.05  # between two looks at the store


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Write the folder of a store: two runs, a checkpoint with the settings of its run, and a video."""
    folder = tmp_path / "store"
    make(folder / "one", rows=3, saved=3, evaluated=True)
    make(folder / "group" / "seed-0", rows=2, **{"algo.lr": 0.5})
    checkpoint = folder / "one" / "checkpoints" / "000000003000" / "run"
    checkpoint.mkdir(parents=True)
    (checkpoint / "config.yaml").write_bytes((folder / "one" / "config.yaml").read_bytes())
    (folder / "one" / "episodes").mkdir()
    (folder / "one" / "episodes" / "a.mp4").write_bytes(VIDEO)
    (folder / "one" / "secret.txt").write_text("what nobody may read")
    return folder


@contextmanager
def serving(store: Store, copies: Path, **options: Any) -> Iterator[int]:
    """Serve the catalogue of a store after its first refresh; yield the port."""
    runs = StoredRuns(Mirror(store, copies), SECONDS)
    with catalogue(runs, "store", **options) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        until(lambda: bool(runs.mirror.there) or bool(runs.trouble))
        yield server.port
        server.shutdown()


@pytest.fixture
def port(place: Path, tmp_path: Path) -> Iterator[int]:
    """Serve the store without tokens."""
    with serving(LocalStore(place), tmp_path / "copies") as port:
        yield port


def until(true: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait for a condition."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "not true in time"
        time.sleep(0.01)


def ask(port: int, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.headers.items()}, body


def rows(port: int) -> dict[str, Any]:
    """Return the rows of the listed runs by name; none while the list cannot be read."""
    return {row["name"]: row for row in json.loads(ask(port, "/live.json")[2]).get("data", {}).get("runs", ())}


def basic(token: str) -> str:
    """Return the header of basic authentication with a token as the password."""
    return "Basic " + base64.b64encode(f"me:{token}".encode()).decode()
