"""A local server that answers every request with the same bytes, with endless bytes, or slowly."""

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

Chunks = Callable[[], Iterable[bytes]]
CHUNK = b"x" * (64 << 10)


@dataclass
class Answers:
    """Sends `chunks` to every client, then closes; `asked` collects the requests, `pause` is between two chunks."""

    chunks: Chunks
    pause: float = 0.0
    asked: list[bytes] = field(default_factory=list)

    def __enter__(self) -> "Answers":
        self.stopping = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.stopping.set()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):  # the client has closed the connection
            connection.settimeout(10)
            self.asked.append(request_of(connection))
            for chunk in self.chunks():
                if self.asked[-1].startswith(b"HEAD "):
                    connection.sendall(chunk.partition(b"\r\n\r\n")[0] + b"\r\n\r\n")
                    break
                connection.sendall(chunk)
                if self.stopping.wait(self.pause):
                    return
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(1 << 16):
                pass


def request_of(connection: socket.socket) -> bytes:
    """Read a whole request, with a Content-Length or in chunks."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(1 << 16)
        if not more:
            return data
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    if b"100-continue" in head.lower():
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), None)
    while (len(body) < length) if length is not None else (b"chunked" in head.lower() and b"0\r\n\r\n" not in body):
        more = connection.recv(1 << 16)
        if not more:
            break
        body += more
    return head + b"\r\n\r\n" + body


def reply(
    body: bytes = b"", status: str = "200 OK", kind: str = "application/json", length: int | None = None, **headers: str
) -> Chunks:
    """Return a response with a body; `length` is its Content-Length, by default the correct one."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", "Connection: close"]
    lines += [f"Content-Length: {len(body) if length is None else length}"] if length != -1 else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return lambda: ["\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + body]


def raw(*chunks: bytes) -> Chunks:
    """Return these bytes as chunks."""
    return lambda: chunks


def endless(head: bytes, chunk: bytes = CHUNK) -> Chunks:
    """Return a head that is followed by endless repetitions."""

    def chunks_without_end() -> Iterator[bytes]:
        yield head
        yield from repeat(chunk)

    return chunks_without_end
