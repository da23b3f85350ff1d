"""The HTTP server: what it accepts, its limits, and sessions by port."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from ante.http.server import CannotListen
from ante.serve.balatrobot.server import LARGEST_BODY, server_of
from ante.serve.balatrobot.session import Session


@pytest.fixture(scope="module")
def ports() -> Iterator[list[int]]:
    with server_of([Session(), Session()]) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.ports
        server.shutdown()
        thread.join(10)
        assert not thread.is_alive()


def request(
    port: int, body: bytes | str = b"", method: str = "POST", path: str = "/", **headers: str
) -> tuple[int, Any, Any]:
    """Return status, headers and JSON of a response."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        text = response.read()
        return response.status, response.headers, json.loads(text) if text.startswith(b"{") else text
    finally:
        connection.close()


def call(port: int, method: str, **params: Any) -> Any:
    """Return the reply to a call."""
    body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, "id": 1})
    return request(port, body, Content_Type="application/json")[2]


def raw(port: int, data: bytes) -> bytes:
    """Send bytes and return everything that is answered."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as stream:
        stream.sendall(data)
        found = b""
        while part := stream.recv(1 << 16):
            found += part
    return found


def test_a_reply_is_json_and_closes_the_connection(ports: list[int]) -> None:
    body = json.dumps({"jsonrpc": "2.0", "method": "health", "id": "a"})
    status, headers, reply = request(ports[0], body)
    assert status == 200 and reply["result"]["status"] == "ok" and reply["id"] == "a"
    assert headers["Content-Type"] == "application/json" and headers["Connection"] == "close"


@pytest.mark.parametrize("method", ["GET", "PUT", "OPTIONS", "DELETE", "HEAD", "PATCH"])
def test_other_methods_are_refused_with_405(ports: list[int], method: str) -> None:
    status, _, reply = request(ports[0], method=method)
    assert status == 405
    assert method == "HEAD" or "method not allowed" in reply["error"]["message"].lower()


@pytest.mark.parametrize("path", ["/other", "//", "/?a=1", "/../", "/%2e"])
def test_other_paths_are_refused_with_404(ports: list[int], path: str) -> None:
    status, _, reply = request(ports[0], b"{}", path=path)
    assert status == 404 and "not found" in reply["error"]["message"].lower()


def test_a_large_body_is_refused_before_it_is_read(ports: list[int]) -> None:
    status, _, reply = request(ports[0], b"x" * (LARGEST_BODY + 1))
    assert status == 400 and reply["error"]["message"] == "Request body too large"
    head = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999999999999\r\n\r\n"
    assert raw(ports[0], head + b"x" * (LARGEST_BODY + 1)).startswith(b"HTTP/1.1 400")
    chunks = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert raw(ports[0], chunks + (b"4000\r\n" + b"x" * 0x4000 + b"\r\n") * 5).startswith(b"HTTP/1.1 400")


def test_the_largest_body_is_answered(ports: list[int]) -> None:
    body = json.dumps({"jsonrpc": "2.0", "method": "health", "id": 1, "params": {"reasoning": ""}})
    filled = body.replace('""', f'"{"x" * (LARGEST_BODY - len(body))}"')
    assert len(filled) == LARGEST_BODY and request(ports[0], filled)[2]["result"]["status"] == "ok"


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:12346"])
def test_a_web_page_is_refused(ports: list[int], origin: str) -> None:
    """A page of any site can send such a request to this machine, and `save` writes files."""
    status, _, reply = request(ports[0], b"{}", Origin=origin, Content_Type="text/plain")
    assert status == 403 and "web pages" in reply["error"]["message"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example"])
def test_another_host_name_is_refused(ports: list[int], host: str) -> None:
    assert request(ports[0], b"{}", Host=host)[0] == 400


@pytest.mark.parametrize(
    "data", [b"\r\n\r\n", b"nonsense\r\n\r\n", b"\0" * 100, b"POST / HTTP/1.1\r\n" + b"a: b\r\n" * 9999]
)
def test_bytes_that_are_no_request_do_not_harm(ports: list[int], data: bytes) -> None:
    with suppress(ConnectionError):
        reply = raw(ports[0], data)
        assert reply == b"" or reply.startswith(b"HTTP/1.1 400")
    assert call(ports[0], "health")["result"]["status"] == "ok"


def test_a_client_that_leaves_does_not_harm(ports: list[int]) -> None:
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", ports[0])) as stream:
            stream.sendall(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 50\r\n\r\n{")
    assert call(ports[0], "health")["result"]["status"] == "ok"


def test_each_port_has_its_own_game(ports: list[int]) -> None:
    first = call(ports[0], "start", deck="RED", stake="WHITE", seed="FIRST")
    assert first["result"]["seed"] == "FIRST" and call(ports[1], "gamestate")["result"]["state"] == "MENU"
    call(ports[1], "start", deck="BLUE", stake="WHITE", seed="SECOND")
    assert call(ports[0], "gamestate")["result"]["seed"] == "FIRST"
    assert call(ports[1], "gamestate")["result"]["seed"] == "SECOND"


def test_clients_of_one_session_take_turns(ports: list[int]) -> None:
    call(ports[1], "menu")
    call(ports[1], "start", deck="RED", stake="WHITE", seed="TURNS")
    replies: list[Any] = []
    threads = [threading.Thread(target=lambda: replies.append(call(ports[1], "select"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted("result" in reply for reply in replies) == [False] * 7 + [True]


def test_a_port_in_use_is_an_error_that_names_it(ports: list[int]) -> None:
    with pytest.raises(CannotListen, match=f"cannot listen on 127.0.0.1:{ports[0]}.*--port"):
        server_of([Session()], port=ports[0])
