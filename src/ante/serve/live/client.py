"""A client of the protocol, for a game that runs elsewhere, and the recording of its calls."""

import json
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException, HTTPResponse
from itertools import count
from pathlib import Path
from typing import Any, Protocol, Self
from urllib.parse import urlsplit

from ante.errors import BalatroError, shown
from ante.files import Unreadable, check_output_file, parse_json, read_text

LARGEST_REPLY = 4 << 20  # bytes
BLOCK = 1 << 16  # most bytes that are read at once
SECONDS = 30.0  # until a reply


class Unreachable(BalatroError, OSError):
    """A server does not reply, or its reply is not one of the protocol."""


class RemoteError(BalatroError):
    """A server replied with an error.

    name  its name, such as NOT_ALLOWED
    """

    def __init__(self, method: str, message: str, name: str) -> None:
        super().__init__(f"{method}: {message} ({name})")
        self.name = name


class Caller(Protocol):
    """Calls methods of a server."""

    def call(self, method: str, **params: Any) -> Any:
        """Return the result of a method. Raises Unreachable, RemoteError."""


class Client:
    """A client over HTTP.

    url  such as http://127.0.0.1:12346
    """

    def __init__(self, url: str, seconds: float = SECONDS) -> None:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port or 80
        except ValueError:
            host = None
        if not host or parts.scheme != "http":
            raise BalatroError(f"{shown(url)} is not an address such as http://127.0.0.1:12346")
        self.host, self.port, self.seconds = host, port, seconds
        self._ids = count(1)

    def call(self, method: str, **params: Any) -> Any:
        """See Caller."""
        return result_of(method, self.exchange(request(next(self._ids), method, params)))

    def exchange(self, body: Any) -> Any:
        """Return the reply to a request, both as JSON values. Raises Unreachable."""
        end = time.monotonic() + self.seconds
        connection = HTTPConnection(self.host, self.port, timeout=self.seconds)
        try:
            connection.request("POST", "/", json.dumps(body), {"Content-Type": "application/json"})
            data = self._body(connection.getresponse(), end)
        except Unreachable:
            raise
        except (OSError, HTTPException) as error:
            raise Unreachable(f"no reply from {self.host}:{self.port}: {error or type(error).__name__}") from None
        finally:
            connection.close()
        try:
            return parse_json(data.decode(), f"the reply of {self.host}:{self.port}")
        except ValueError as error:
            raise Unreachable(str(error)) from None

    def _body(self, response: HTTPResponse, end: float) -> bytes:
        """Return the body of a response. Raises Unreachable if it is too large, or not complete at time `end`."""
        data = b""
        while part := response.read1(BLOCK):  # what has arrived: the socket's timeout is that of each part
            data += part
            if len(data) > LARGEST_REPLY:
                raise Unreachable(f"the reply of {self.host}:{self.port} is larger than {LARGEST_REPLY:,} bytes")
            if time.monotonic() > end:
                raise Unreachable(f"no complete reply from {self.host}:{self.port} in {self.seconds:g} seconds")
        return data


def request(id: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return a request."""
    return {"jsonrpc": "2.0", "method": method, "params": params, "id": id}


def result_of(method: str, reply: Any) -> Any:
    """Return the result in a reply. Raises RemoteError, and Unreachable if it is not a reply."""
    if isinstance(reply, dict) and "result" in reply:
        return reply["result"]
    try:
        raise RemoteError(method, str(reply["error"]["message"]), str(reply["error"]["data"]["name"]))
    except (TypeError, KeyError):
        raise Unreachable(f"the reply to {method} is not JSON-RPC: {shown(reply)}") from None


class Recorder:
    """A client that writes its requests and the replies to NAME.req.jsonl and NAME.res.jsonl, one a line.

    A context manager, which closes the files and deletes them if they are empty. Raises the errors of `check_new`.
    """

    def __init__(self, client: Client, name: Path) -> None:
        self.client, self._ids, self._parts = client, count(1), check_new(name)
        self._files = [part.open("x") for part in self._parts]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file, part in zip(self._files, self._parts, strict=True):
            file.close()
            if not part.stat().st_size:
                part.unlink()

    def call(self, method: str, **params: Any) -> Any:
        """See Caller."""
        body = request(next(self._ids), method, params)
        reply = self.client.exchange(body)
        for file, value in zip(self._files, (body, reply), strict=True):
            file.write(json.dumps(value) + "\n")
            file.flush()
        return result_of(method, reply)


def parts_of(name: Path) -> tuple[Path, Path]:
    """Return the files of a recording: requests and replies. Raises BalatroError without a name."""
    if not name.name:
        raise BalatroError(f"{str(name)!r} is not the name of a recording: give it without .req.jsonl")
    return name.with_name(f"{name.name}.req.jsonl"), name.with_name(f"{name.name}.res.jsonl")


def check_new(name: Path) -> tuple[Path, Path]:
    """Return the files of a new recording. Raises BalatroError if one exists or cannot be written."""
    for part in (parts := parts_of(name)):
        if part.exists():
            raise BalatroError(f"{part} exists: give the new recording another name, or delete the old one")
        check_output_file(part)
    return parts


def recorded(name: Path) -> Iterator[tuple[Any, Any]]:
    """Yield the requests and replies of a recording. Raises Unreadable, and BalatroError without a name."""
    requests, replies = (read_text(part).splitlines() for part in parts_of(name))
    if len(requests) != len(replies) or not requests:
        raise Unreadable(
            f"{name} has {len(requests):,} requests and {len(replies):,} replies: record it again, or delete the lines of "
            "requests without a reply"
        )
    for number, (body, reply) in enumerate(zip(requests, replies, strict=True), 1):
        yield parse_json(body, f"{name}, line {number}"), parse_json(reply, f"{name}, line {number}")
