"""botocore connections with limits on slow and unbounded responses."""

import io
import time
from functools import partial
from http.client import HTTPResponse
from typing import Any

from botocore.awsrequest import (
    AWSHTTPConnection,
    AWSHTTPConnectionPool,
    AWSHTTPSConnection,
    AWSHTTPSConnectionPool,
)

PATIENCE = 60.0  # seconds for the head of an answer
LEAST_RATE = 1 << 10  # bytes a second of what follows
HEAD_BYTES = 1 << 20  # of status line and headers
MOST_BYTES = 64 << 20  # of an answer that is no object


class SteadyReader(io.RawIOBase):
    """A raw reader of a socket. Raises TimeoutError if data arrives too slowly, OSError beyond `most` bytes."""

    def __init__(self, raw: Any) -> None:
        self._raw, self._waited, self._count = raw, 0.0, 0
        self.most: float = HEAD_BYTES

    def readable(self) -> bool:
        """It is."""
        return True

    def fileno(self) -> int:
        """Return the file descriptor of the socket."""
        return int(self._raw.fileno())

    def readinto(self, buffer: Any) -> int | None:
        """See io.RawIOBase."""
        begin = time.monotonic()
        count: int | None = self._raw.readinto(buffer)
        self._waited += time.monotonic() - begin
        self._count += count or 0
        if self._waited > PATIENCE + self._count / LEAST_RATE:
            raise TimeoutError("timed out: too few bytes a second")
        if self._count > self.most:
            raise OSError("an answer without end")
        return count

    def close(self) -> None:
        """Release the socket."""
        self._raw.close()
        super().close()


class SteadyResponse(HTTPResponse):
    """A response read through a SteadyReader.

    bulk  whether its body is an object, which may be of any size
    """

    def __init__(self, *words: Any, bulk: bool, **options: Any) -> None:
        super().__init__(*words, **options)
        self._bulk, self._steady = bulk, SteadyReader(self.fp.detach())
        self.fp = io.BufferedReader(self._steady)

    def begin(self) -> None:
        """See http.client."""
        super().begin()
        self._steady.most = float("inf") if self._bulk and self.status < 300 else MOST_BYTES


class Steady:
    """Mixed into a connection of botocore's."""

    def request(self, method: str, url: str, *words: Any, **options: Any) -> Any:
        """See urllib3."""
        self._bulk = method == "GET" and "list-type=" not in url
        return super().request(method, url, *words, **options)  # type: ignore[misc]

    def getresponse(self, *words: Any, **options: Any) -> Any:
        """See urllib3."""
        self.response_class = partial(SteadyResponse, bulk=self._bulk)
        return super().getresponse(*words, **options)  # type: ignore[misc]


class SteadyHTTP(Steady, AWSHTTPConnection):  # type: ignore[misc]
    """A connection."""


class SteadyHTTPS(Steady, AWSHTTPSConnection):  # type: ignore[misc]
    """The same with TLS."""


class HTTPPool(AWSHTTPConnectionPool):  # type: ignore[misc]
    """Of SteadyHTTP."""

    ConnectionCls = SteadyHTTP


class HTTPSPool(AWSHTTPSConnectionPool):  # type: ignore[misc]
    """Of SteadyHTTPS."""

    ConnectionCls = SteadyHTTPS


def be_steady(session: Any) -> None:
    """Apply these limits to all connections of a botocore session."""
    session._pool_classes_by_scheme = {"http": HTTPPool, "https": HTTPSPool}
    session._manager.pool_classes_by_scheme = session._pool_classes_by_scheme
