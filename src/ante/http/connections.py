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

PATIENCE = 60.0  # seconds until the headers of a response are complete
LEAST_RATE = 1 << 10  # least bytes per second of the body
HEAD_BYTES = 1 << 20  # most bytes of status line and headers
MOST_BYTES = 64 << 20  # most bytes of a response other than an object


class SteadyReader(io.RawIOBase):
    """A raw reader of a socket. Raises TimeoutError if data arrives too slowly, OSError beyond `most` bytes."""

    def __init__(self, raw: Any) -> None:
        self._raw, self._waited, self._count = raw, 0.0, 0
        self.most: float = HEAD_BYTES

    def readable(self) -> bool:
        """See io.RawIOBase."""
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
            raise TimeoutError("timed out: too few bytes per second")
        if self._count > self.most:
            raise OSError("the response is too long")
        return count

    def close(self) -> None:
        """Release the socket."""
        self._raw.close()
        super().close()


class SteadyResponse(HTTPResponse):
    """A response read through a SteadyReader.

    bulk  whether its body is an object, which may have any size
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
    """A mixin for botocore's connections."""

    def request(self, method: str, url: str, *words: Any, **options: Any) -> Any:
        """See urllib3."""
        self._bulk = method == "GET" and "list-type=" not in url
        return super().request(method, url, *words, **options)  # type: ignore[misc]

    def getresponse(self, *words: Any, **options: Any) -> Any:
        """See urllib3."""
        self.response_class = partial(SteadyResponse, bulk=self._bulk)
        return super().getresponse(*words, **options)  # type: ignore[misc]


class SteadyHTTP(Steady, AWSHTTPConnection):  # type: ignore[misc]
    """An HTTP connection with limits."""


class SteadyHTTPS(Steady, AWSHTTPSConnection):  # type: ignore[misc]
    """An HTTPS connection with limits."""


class HTTPPool(AWSHTTPConnectionPool):  # type: ignore[misc]
    """A pool of SteadyHTTP connections."""

    ConnectionCls = SteadyHTTP


class HTTPSPool(AWSHTTPSConnectionPool):  # type: ignore[misc]
    """A pool of SteadyHTTPS connections."""

    ConnectionCls = SteadyHTTPS


def be_steady(session: Any) -> None:
    """Apply these limits to all connections of a botocore session.

    botocore has no public setting for the classes of its connections. tests/hostile/servers/test_s3.py fails if these
    attributes no longer have an effect.
    """
    session._pool_classes_by_scheme = {"http": HTTPPool, "https": HTTPSPool}
    session._manager.pool_classes_by_scheme = session._pool_classes_by_scheme
