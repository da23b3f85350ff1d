"""Our servers against a hostile client: raw bytes to `ante watch --serve` and to the metrics of a training."""

import json
import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from ante.http import server as http_server
from ante.http.server import CONNECTIONS
from ante.training.run.prometheus import RunExporter, serving
from ante.watch.pages import page, security_policy
from ante.watch.serve import server_of
from tests.hostile.harness import thinned

VIDEO = bytes(range(256)) * 5
HOST = b"Host: 127.0.0.1\r\nConnection: close\r\n"
OUTSIDE = b"what nobody may read"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "run"
    (run / "episodes" / "deep").mkdir(parents=True)
    (run / "report.html").write_text("<title>hello</title>")
    (run / "config.yaml").write_bytes(OUTSIDE)
    (run / "episodes" / "a.mp4").write_bytes(VIDEO)
    (run / "episodes" / "empty.mp4").write_bytes(b"")
    (run.parent / "outside.mp4").write_bytes(OUTSIDE)
    (run.parent / "media").mkdir()
    (run.parent / "media" / "b.mp4").write_bytes(OUTSIDE)
    for name, target in {
        "link.mp4": run.parent / "outside.mp4",
        "relative.mp4": Path("../../outside.mp4"),
        "inside.mp4": run / "config.yaml",
        "to-a.mp4": run / "episodes" / "a.mp4",
        "gone.mp4": run / "nothing",
        "loop.mp4": run / "episodes" / "loop.mp4",
        "passwd.jpg": Path("/etc/passwd"),
        "folder.mp4": run.parent,
        "zero.mp4": Path("/dev/zero"),
    }.items():
        (run / "episodes" / name).symlink_to(target)
    (run / "episodes" / "dir.mp4").mkdir()
    os.mkfifo(run / "episodes" / "pipe.mp4")
    return run


@pytest.fixture(scope="module")
def port(folder: Path) -> Iterator[int]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(http_server, "REQUEST_SECONDS", 1.0)
        with server_of(folder) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield server.port
            server.shutdown()


@pytest.fixture(scope="module")
def metrics() -> Iterator[int]:
    with serving(RunExporter("first"), 0, "127.0.0.1") as port:
        yield port


def said(port: int, data: bytes) -> bytes:
    """Return everything that the server sends until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        out = b""
        with suppress(ConnectionResetError, BrokenPipeError):
            client.sendall(data)
            while chunk := client.recv(1 << 16):
                out += chunk
        return out


def get(path: bytes, *headers: bytes, method: bytes = b"GET") -> bytes:
    return method + b" " + path + b" HTTP/1.1\r\n" + HOST + b"".join(line + b"\r\n" for line in headers) + b"\r\n"


def status(answer: bytes) -> int:
    found = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
    return int(found[1]) if found else 0


NOTHING_THERE = [
    b"/config.yaml", b"/episodes", b"/episodes/", b"/episodes/index.json", b"/report.html/", b"/report.html/x", b"//report.html",
    b"/./report.html", b"/../run/report.html", b"/episodes/../config.yaml", b"/episodes/../../outside.mp4", b"/episodes/..%2f..%2foutside.mp4",
    b"/%2e%2e/outside.mp4", b"/episodes/%2e%2e/%2e%2e/outside.mp4", b"/episodes/%2e%2e%2foutside.mp4", b"/episodes/..%5coutside.mp4",
    b"/episodes/%252e%252e/outside.mp4", b"/episodes/..;/outside.mp4", b"/episodes/...mp4", b"/episodes/.mp4", b"/episodes/.hidden.mp4",
    b"/episodes/a.mp4%00", b"/episodes/a.mp4%00.jpg", b"/%00", b"/episodes/a.mp4/", b"/episodes/a.mp4/..", b"/episodes//a.mp4",
    b"/episodes/a.MP4", b"/EPISODES/a.mp4", b"/episodes/a.mp4.", b"/episodes/a.mp4%20", b"/episodes/a%0a.mp4", b"/episodes/deep/a.mp4",
    b"/episodes/link.mp4", b"/episodes/relative.mp4", b"/episodes/inside.mp4", b"/episodes/to-a.mp4", b"/episodes/gone.mp4",
    b"/episodes/loop.mp4", b"/episodes/passwd.jpg", b"/episodes/folder.mp4", b"/episodes/folder.mp4/outside.mp4", b"/episodes/zero.mp4",
    b"/episodes/dir.mp4", b"/episodes/pipe.mp4", b"/etc/passwd", b"//etc/passwd", b"/%2fetc%2fpasswd", b"/file:///etc/passwd",
    b"http://evil.example/report.html", b"http://127.0.0.1/report.html", b"http:/report.html", b"*", b"report.html", b"/" + b"a" * 8000,
    b"/episodes/" + b"a" * 300 + b".mp4", b"/episodes/" + b"../" * 2000 + b"etc/passwd", b"/%ff%fe", b"/%c0%ae%c0%ae/outside.mp4", b"/%", b"/%zz",
    b"/episodes/%D8%A1.mp4", b"/~root", b"/.git/config", b"/report.html%3Fx", b"/metrics", b"/favicon.ico",
]  # fmt: skip


@pytest.mark.parametrize("path", NOTHING_THERE, ids=lambda path: path[:40].decode("latin-1"))
def test_nothing_but_the_report_is_served(port: int, path: bytes) -> None:
    answer = said(port, get(path))
    assert status(answer) == 404 and OUTSIDE not in answer and b"root:" not in answer and b"Traceback" not in answer


NOT_HTTP = [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\0" * 100, b"GET\r\n\r\n", b"GET /\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"get / http/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n", b"GET / HTTP/1.1\r\nHost\r\n\r\n", b"GET / HTTP/1.1\r\n Host: 127.0.0.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nA b: c\r\n\r\n", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\0b\r\n\r\n", b"GET /\0 HTTP/1.1\r\n" + HOST + b"\r\n",
    b"GET / x HTTP/1.1\r\n" + HOST + b"\r\n", b"GET /\xff HTTP/1.1\r\n" + HOST + b"\r\n", b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: x\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: -1\r\n\r\n", b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip\r\n\r\n", b"A" * 100_000, b"GET /" + b"a" * 70_000,
    b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"y" * 70_000, b"GET / HTTP/1.1\r\n" + HOST + b"X: y\r\n" * 20_000, b"G" * 20_000 + b" / HTTP/1.1\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\r\n" * 50_000,
]  # fmt: skip


@pytest.mark.parametrize("server", ["port", "metrics"])
@pytest.mark.parametrize("data", NOT_HTTP, ids=range(len(NOT_HTTP)))
def test_what_is_no_request_is_refused(request: pytest.FixtureRequest, server: str, data: bytes) -> None:
    answer = said(request.getfixturevalue(server), data)
    assert status(answer) in (0, 400, 404, 501), answer
    assert b"Traceback" not in answer and b"hello" not in answer


HOSTS = [
    b"evil.example", b"evil.example:80", b"127.0.0.1.evil.example", b"localhost.evil.example", b"evil.example#127.0.0.1", b"127.0.0.1@evil.example",
    b"0.0.0.0", b"127.0.0.2", b"2130706433", b"[::]", b"[::1", b"::1", b"", b" ", b"127.0.0.1, evil.example", b"http://127.0.0.1", b"*", b"192.168.0.1",
    b"169.254.169.254", b"LOCALHOST.", b"\xd0\xb5vil", b"127.0.0.1:x",
]  # fmt: skip


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.decode("latin-1") or "none")
def test_other_hosts_are_refused(port: int, host: bytes) -> None:
    answer = said(port, b"GET / HTTP/1.1\r\nConnection: close\r\nHost: " + host + b"\r\n\r\n")
    assert status(answer) == 400 and b"hello" not in answer


@pytest.mark.parametrize("host", [b"127.0.0.1", b"127.0.0.1:8000", b"localhost", b"LOCALHOST:1", b"[::1]", b"[::1]:80"])
def test_requests_by_the_names_of_this_machine_succeed(port: int, host: bytes) -> None:
    assert b"hello" in said(port, b"GET / HTTP/1.1\r\nConnection: close\r\nHost: " + host + b"\r\n\r\n")


@pytest.mark.parametrize(
    "method", [b"POST", b"PUT", b"DELETE", b"PATCH", b"OPTIONS", b"TRACE", b"CONNECT", b"PROPFIND", b"FOO", b"get"]
)
@pytest.mark.parametrize("server", ["port", "metrics"])
def test_other_methods_are_refused(request: pytest.FixtureRequest, server: str, method: bytes) -> None:
    path = b"/" if server == "port" else b"/metrics"
    answer = said(request.getfixturevalue(server), get(path, b"Content-Length: 0", method=method))
    assert status(answer) == 405 and b"hello" not in answer


RANGES = {
    b"bytes=0-0": (206, 1), b"bytes=1279-": (206, 1), b"bytes=-1": (206, 1), b"bytes=0-99999": (206, 1280), b"bytes=-99999": (206, 1280),
    b"bytes=1280-": (416, None), b"bytes=-0": (416, None), b"bytes=99999999999999999999-": (416, None), b"bytes=0-1,3-4": (206, None),
    b"bytes=5-2": (400, None), b"bytes=": (400, None), b"bytes=-": (400, None), b"bytes=a-b": (400, None), b"bytes=--1": (416, None), b"bytes": (400, None),
    b"pages=1-2": (400, None), b"bytes=0x1-0x2": (400, None), b"bytes=1e3-": (400, None), b"bytes=" + b"9" * 5000 + b"-": (400, None),
    b"bytes=" + b",".join(b"%d-%d" % (3 * i, 3 * i + 1) for i in range(400)): (200, 1280), b"bytes=" + b"0-," * 1000: (200, 1280),
}  # fmt: skip


@pytest.mark.parametrize("asked", RANGES, ids=lambda asked: asked[:20].decode())
def test_parts_that_are_none_are_refused_and_no_answer_is_larger_than_the_file(port: int, asked: bytes) -> None:
    wanted, length = RANGES[asked]
    answer = said(port, get(b"/episodes/a.mp4", b"Range: " + asked))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert status(answer) == wanted, head
    assert length is None or len(body) == length
    assert len(body) < 2 * len(VIDEO)


@pytest.mark.parametrize("path", [b"/", b"/episodes/a.mp4", b"/episodes/empty.mp4"])
def test_head_is_get_without_a_body(port: int, path: bytes) -> None:
    heads = [said(port, get(path, method=method)).partition(b"\r\n\r\n")[0] for method in (b"GET", b"HEAD")]
    lines = [[line for line in head.split(b"\r\n") if not line.startswith(b"date")] for head in heads]
    assert lines[0] == lines[1]
    assert said(port, get(path, method=b"HEAD")).partition(b"\r\n\r\n")[2] == b""


@pytest.mark.parametrize("path", [b"/", b"/episodes/a.mp4", b"/nothing"])
def test_headers_of_every_answer(port: int, path: bytes) -> None:
    head = said(port, get(path)).partition(b"\r\n\r\n")[0].decode()
    for line in (
        "x-content-type-options: nosniff",
        "x-frame-options: DENY",
        "cross-origin-resource-policy: same-origin",
        "referrer-policy: no-referrer",
        "default-src 'none'; script-src 'sha256-",
        "frame-ancestors 'none'",
    ):
        assert line in head
    assert "server:" not in head.lower() and "python" not in head.lower() and "'unsafe-inline'; script" not in head


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "{{style}}", "{{data}}", "\udc80", "</title>", "a\0b", "&amp;"]
)
def test_no_name_leaves_its_place_in_a_page(name: str) -> None:
    text = page(name, "<p>", "", "go()", {"name": name, "html": "</script><script>alert(1)</script>"})
    assert "<script>alert" not in text and text.count("<script") == 2 and security_policy("go()") in text
    data = text.partition('id="data">')[2].partition("</script>")[0]
    assert json.loads(data)["name"] == name
    text.encode()


def test_pipelined_requests_are_answered_in_their_order(port: int) -> None:
    one = b"GET /episodes/a.mp4 HTTP/1.1\r\nHost: 127.0.0.1\r\nRange: bytes=%d-%d\r\n\r\n"
    answer = said(port, b"".join(one % (i, i) for i in range(50)) + get(b"/nothing"))
    bodies = re.findall(rb"content-range: bytes (\d+)-", answer)
    assert [int(number) for number in bodies] == list(range(50)) and answer.count(b"HTTP/1.1 404") == 1


SLOW = {
    "nothing": b"",
    "a line": b"GET / HTTP/1.1\r\n",
    "half of a header": b"GET / HTTP/1.1\r\nHost: 127.0",
    "half of a body": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\nab",
    "chunks": b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
}


@pytest.mark.parametrize("name", thinned(list(SLOW), 3))
def test_a_slow_client_is_disconnected(port: int, name: str) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        try:
            client.sendall(SLOW[name])
            for _ in range(200):  # far longer than a request's limit of a second
                client.sendall(b"a")
                client.settimeout(0.05)
                try:
                    while client.recv(1 << 16):
                        pass
                    return
                except TimeoutError:
                    continue
        except (ConnectionResetError, BrokenPipeError):
            return
        raise AssertionError("still connected")


def test_many_idle_connections_are_bounded_and_go(port: int) -> None:
    idle = []
    try:
        for _ in range(CONNECTIONS + 80):
            idle.append(socket.create_connection(("127.0.0.1", port), timeout=10))
        for each in idle:
            each.settimeout(20)
            with suppress(ConnectionResetError):
                assert each.recv(1) == b""
    finally:
        for each in idle:
            each.close()
    assert b"hello" in said(port, get(b"/"))


def test_a_client_that_reads_nothing_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "STALLED_SECONDS", 0.5)
    (tmp_path / "episodes").mkdir()
    with (tmp_path / "episodes" / "big.mp4").open("wb") as file:
        file.truncate(200 << 20)
    with server_of(tmp_path) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(get(b"/episodes/big.mp4"))
            state, until = server._server.server_state, time.monotonic() + 20
            while not state.tasks:
                assert time.monotonic() < until, "never asked"
                time.sleep(0.01)
            while state.connections:
                assert time.monotonic() < until, "still held"
                time.sleep(0.05)
        server.shutdown()


def test_metrics_and_only_these_are_served_to_any_host(metrics: int) -> None:
    assert b"ante_training_learning" in said(
        metrics, b"GET /metrics HTTP/1.1\r\nHost: head:9\r\nConnection: close\r\n\r\n"
    )
    for path in (b"/", b"/metrics/", b"/metrics/x", b"/..", b"http://evil/metrics"):
        assert status(said(metrics, get(path))) == 404
    for line in (b"Accept: \xff\xfe", b"Accept: " + b"a," * 5000, b"Accept-Encoding: gzip"):
        assert status(said(metrics, get(b"/metrics?name[]=%ff", line))) == 200
