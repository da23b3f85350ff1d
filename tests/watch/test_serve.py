"""The server of reports: whole files, ranges of files, and only a report's files."""

import http.client
import threading
from collections.abc import Iterator
from email.message import Message
from pathlib import Path

import pytest

from ante.errors import BalatroError
from ante.http.server import CannotListen
from ante.watch.serve import server_of

VIDEO = bytes(range(256)) * 5


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "episodes").mkdir()
    (tmp_path / "report.html").write_text("<title>hello</title>")
    (tmp_path / "episodes" / "a.mp4").write_bytes(VIDEO)
    (tmp_path / "episodes" / "index.json").write_text("{}")
    (tmp_path / "config.yaml").write_text("name: x")

    def fetch(name: str) -> None:
        if name == "episodes/far.jpg":
            (tmp_path / name).write_bytes(b"jpg")
        elif name == "episodes/broken.jpg":
            raise BalatroError("the store is offline")

    with server_of(tmp_path, fetch=fetch) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield int(server.port)
        server.shutdown()


def ask(port: int, path: str, asked: str | None = None, method: str = "GET") -> tuple[int, Message, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, headers={"Range": asked} if asked else {})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, answer.headers, body


def test_the_report_and_its_media_are_served(port: int) -> None:
    status, headers, body = ask(port, "/")
    assert (status, body) == (200, b"<title>hello</title>") and headers["Content-Type"].startswith("text/html")
    status, headers, body = ask(port, "/episodes/a.mp4")
    assert (status, body) == (200, VIDEO)
    assert (headers["Content-Type"], headers["Accept-Ranges"]) == ("video/mp4", "bytes")
    status, headers, body = ask(port, "/episodes/a.mp4", method="HEAD")
    assert (status, headers["Content-Length"], body) == (200, "1280", b"")


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("bytes=0-0", 0, 0),
        ("bytes=100-199", 100, 199),
        ("bytes=1000-", 1000, 1279),
        ("bytes=-20", 1260, 1279),
        ("bytes=1270-9999", 1270, 1279),
        ("bytes=0-", 0, 1279),
        ("bytes=-9999", 0, 1279),
    ],
)
def test_a_part_is_served(port: int, asked: str, first: int, last: int) -> None:
    status, headers, body = ask(port, "/episodes/a.mp4", asked)
    assert status == 206
    assert headers["Content-Range"] == f"bytes {first}-{last}/1280"
    assert body == VIDEO[first : last + 1]


def test_a_part_that_is_not_there_is_refused(port: int) -> None:
    status, headers, _ = ask(port, "/episodes/a.mp4", "bytes=1280-")
    assert (status, headers["Content-Range"]) == (416, "bytes */1280")


@pytest.mark.parametrize(
    "path",
    [
        "/config.yaml",
        "/episodes/index.json",
        "/episodes/../config.yaml",
        "/episodes/%2e%2e/config.yaml",
        "/x.mp4",
        "/episodes/none.mp4",
        "/episodes/broken.jpg",
        "/%2fetc/passwd",
        "/episodes/",
    ],
)
def test_nothing_else_is_served(port: int, path: str) -> None:
    assert ask(port, path)[0] == 404


def test_what_is_not_there_is_fetched(port: int) -> None:
    assert ask(port, "/episodes/far.jpg")[2] == b"jpg"


def test_a_taken_port_is_a_sentence(port: int, tmp_path: Path) -> None:
    with pytest.raises(CannotListen, match="choose another --port"):
        server_of(tmp_path, port)
