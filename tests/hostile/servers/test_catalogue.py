"""The run catalogue with hostile clients, hostile runs and a hostile store."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from ante.files import check_path
from ante.http import server as http_server
from ante.serve.catalogue.mirror import Mirror
from ante.storage.errors import StorageError
from ante.storage.local import LocalStore
from ante.storage.store import Stat
from ante.watch.runs import CONFIG
from tests.hostile.servers.test_live_servers import broken
from tests.hostile.servers.test_servers import HOSTS, NOT_HTTP, NOTHING_THERE, OUTSIDE, RANGES, get, said, status
from tests.serve.catalogue.conftest import VIDEO, ask, serving, until
from tests.watch.test_runs import make


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Serve a store with a good run and runs whose files are odd."""
    place = tmp_path_factory.mktemp("hostile")
    make(place / "store" / "good", evaluated=True)
    (place / "store" / "good" / "episodes").mkdir()
    (place / "store" / "good" / "episodes" / "a.mp4").write_bytes(VIDEO)
    (place / "store" / "good" / "secret.txt").write_bytes(OUTSIDE)
    (place / "store" / "runs").mkdir()
    broken(place / "store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(http_server, "REQUEST_SECONDS", 1.0)
        with serving(LocalStore(place / "store"), place / "copies") as port:
            until(lambda: b'"good"' in ask(port, "/live.json")[2])
            yield port


@pytest.mark.parametrize("path", NOTHING_THERE, ids=lambda path: path[:40].decode("latin-1"))
def test_nothing_outside_of_the_pages_is_served(port: int, path: bytes) -> None:
    for prefix in (b"", b"/run/good"):
        answer = said(port, get(prefix + path if path.startswith(b"/") else path))
        known = (prefix + path).endswith(b"episodes/a.mp4")
        assert known or status(answer) in (400, 404), answer[:200]
        assert OUTSIDE not in answer and b"root:" not in answer and b"Traceback" not in answer


@pytest.mark.parametrize("data", NOT_HTTP, ids=range(len(NOT_HTTP)))
def test_what_is_no_request_is_refused(port: int, data: bytes) -> None:
    answer = said(port, data)
    assert status(answer) in (0, 400, 404, 501) and b"Traceback" not in answer


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.decode("latin-1") or "none")
def test_other_hosts_are_refused(port: int, host: bytes) -> None:
    answer = said(port, b"GET /live.json HTTP/1.1\r\nConnection: close\r\nHost: " + host + b"\r\n\r\n")
    assert status(answer) == 400 and b"good" not in answer


@pytest.mark.parametrize("asked", RANGES, ids=lambda asked: asked[:20].decode())
def test_no_part_is_larger_than_the_file(port: int, asked: bytes) -> None:
    answer = said(port, get(b"/run/good/episodes/a.mp4", b"Range: " + asked))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert status(answer) in (206, 416), head
    assert len(body) <= len(VIDEO) and b"Traceback" not in answer


@pytest.mark.parametrize("method", [b"POST", b"PUT", b"DELETE", b"PATCH", b"OPTIONS", b"TRACE"])
@pytest.mark.parametrize("path", [b"/", b"/live.json", b"/run/good/episodes/a.mp4"])
def test_nothing_can_be_written(port: int, path: bytes, method: bytes) -> None:
    assert status(said(port, get(path, b"Content-Length: 0", method=method))) == 405


@pytest.mark.parametrize(
    "query",
    ["", "?run=", "?run=%00", "?run=../good", "?run=" + "a" * 9000, "?" + "&".join(["run=good"] * 900), "?run=good&run=%ff", "?version=" + "9" * 9000],
)  # fmt: skip
@pytest.mark.parametrize("path", ["live.json", "curves.json", "settings.json"])
def test_queries_are_bounded(port: int, path: str, query: str) -> None:
    code, _, body = ask(port, f"/{path}{query}")
    assert code in (200, 400) and len(body) < 1 << 20 and b"Traceback" not in body


def test_odd_runs_are_named_or_shown_and_never_stop_the_list(port: int) -> None:
    found = json.loads(ask(port, "/live.json")[2])["data"]
    names = {row["name"] for row in found["runs"]} | set(found["others"])
    for name in names:
        code, _, body = ask(port, f"/run/{quote(name, safe='')}/")
        assert code in (200, 404) and b"Traceback" not in body
    assert "good" in names and len(names) > 3


class Listed(LocalStore):
    """A store whose listing has any keys."""

    def __init__(self, folder: Path, keys: list[str]) -> None:
        super().__init__(folder)
        self.keys = keys

    def list(self, prefix: str = "") -> Iterator[Stat]:
        """Yield the keys."""
        return iter([Stat(key, 5, None, 1e9) for key in self.keys])

    def get_file(self, key: str, file: Path, progress: Any = None) -> Stat:
        """Write five bytes."""
        check_path(key, "a key")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"five!")
        return Stat(key, 5, None, 1e9)


ODD_KEYS = [
    "../outside", "..", "/etc", "a/../../outside", "a/./b", "a//b", "a\0b", "a" * 2000, "\udcff", "a\nb", "C:/x", ".hidden", "good/.hidden",
    "-rf", "~", "a\\..\\b", "\u202e", "%2e%2e/x",
]  # fmt: skip


@pytest.mark.parametrize("name", ODD_KEYS, ids=range(len(ODD_KEYS)))
def test_a_listing_cannot_write_or_delete_outside_of_the_copies(tmp_path: Path, name: str) -> None:
    outside = tmp_path / "copies" / "outside"
    outside.mkdir(parents=True)
    for file in (CONFIG, "metrics.csv", "evaluation.json"):
        (outside / file).write_bytes(b"five!")
    mirror = Mirror(Listed(tmp_path / "store", [f"{name}/{CONFIG}"]), tmp_path / "copies")
    mirror.refresh()
    mirror.refresh()
    assert sorted(file.name for file in outside.iterdir()) == [CONFIG, "evaluation.json", "metrics.csv"]
    written = {file for file in tmp_path.rglob("*") if file.is_file() and outside not in file.parents}
    assert all(mirror.folder in file.parents for file in written)


def test_a_listing_of_many_runs_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ante.serve.catalogue.mirror.MOST_RUNS", 3)
    mirror = Mirror(Listed(tmp_path / "store", [f"run-{i}/{CONFIG}" for i in range(10)]), tmp_path / "copies")
    mirror.refresh()
    assert len(list(mirror.folder.rglob(CONFIG))) == 3
    assert "more than 3 runs" in mirror.failed["7 other runs"]


def test_a_store_that_cannot_be_read_keeps_the_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mirror = Mirror(Listed(tmp_path / "store", [f"run/{CONFIG}"]), tmp_path / "copies")
    mirror.refresh()

    def refuse(*_: object) -> Iterator[Stat]:
        raise StorageError("no")

    monkeypatch.setattr(Listed, "list", refuse)
    with pytest.raises(StorageError):
        mirror.refresh()
    assert len(list(mirror.folder.rglob(CONFIG))) == 1
