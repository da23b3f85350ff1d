"""An HTTP server with limits on connections, headers, time and Host names. Requires Starlette and uvicorn."""

import asyncio
import socket
import threading
from collections.abc import Sequence
from typing import Any, Self

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import BaseRoute
from starlette.types import Receive
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from ante.errors import BalatroError

LOOPBACK = "127.0.0.1"
OWN_NAMES = (LOOPBACK, "localhost", "[::1]")  # Host headers of local requests
CONNECTIONS = 128  # concurrent connections; further ones are closed
REQUEST_BYTES = 16 << 10  # most bytes of request line and headers
REQUEST_SECONDS = 5.0  # time from connection or previous response until a request is complete
STALLED_SECONDS = 30.0  # time after which a client that does not read its response is disconnected
HEADERS = [
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("X-Frame-Options", "DENY"),
]


class CannotListen(BalatroError, OSError):
    """A server cannot listen at an address and port.

    Attributes:
        why: The cause, without the address.
    """

    def __init__(self, host: str, port: int, why: str, option: str = "--port") -> None:
        super().__init__(f"cannot listen on {address(host, port)}: {why}; choose another {option}")
        self.why = why


def address(host: str, port: int) -> str:
    """Return host and port as in a URL."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raises CannotListen."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=CONNECTIONS)
    except (OSError, OverflowError) as error:
        raise CannotListen(host, port, getattr(error, "strerror", None) or str(error)) from None


class BoundedProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 protocol with deadlines for incomplete requests and for clients that do not read."""

    _request: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See asyncio.Protocol."""
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            transport.abort()
        self._await_request()

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        super().data_received(data)
        self._await_request()

    def on_response_complete(self) -> None:
        """Restart the deadline after a response has been passed to the transport."""
        super().on_response_complete()
        self._await_request()

    def pause_writing(self) -> None:
        """See asyncio.Protocol."""
        super().pause_writing()
        self._stalled = self.loop.call_later(STALLED_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """See asyncio.Protocol."""
        super().resume_writing()
        if self._stalled:
            self._stalled.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        super().connection_lost(exc)
        for timer in (self._request, self._stalled):
            if timer:
                timer.cancel()

    def _await_request(self) -> None:
        """Start the deadline of an incomplete request."""
        answering = self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body
        if answering and self._request:
            self._request.cancel()
            self._request = None
        elif not answering and not self._request:
            self._request = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)


class HttpServer:
    """A server that listens from construction and serves in `serve_forever`. Raises CannotListen.

    routes   Starlette's routes
    port     0 for any free port; or a list of ports, `ports` has those in use
    names    accepted Host headers; None for any
    headers  additional headers of all responses
    lifespan  context manager of the time in which the server serves, as in Starlette
    middleware  further middleware, after the check of the Host header
    """

    def __init__(
        self,
        routes: Sequence[BaseRoute],
        host: str = LOOPBACK,
        port: int | Sequence[int] = 0,
        names: tuple[str, ...] | None = OWN_NAMES,
        headers: tuple[tuple[str, str], ...] = (),
        lifespan: Any = None,
        middleware: Sequence[Middleware] = (),
    ) -> None:
        checks = [Middleware(TrustedHostMiddleware, allowed_hosts=names, www_redirect=False)] if names else []
        app = Starlette(routes=routes, middleware=[*checks, *middleware], lifespan=lifespan)
        app.router.redirect_slashes = False
        self._sockets: list[socket.socket] = []
        try:
            for each in [port] if isinstance(port, int) else port:
                self._sockets.append(listen(host, each))
        except CannotListen:
            self.__exit__()
            raise
        self.ports: list[int] = [each.getsockname()[1] for each in self._sockets]
        self.port = self.ports[0]
        self._server, self._idle = Server(bounded(app, [*HEADERS, *headers])), threading.Event()
        self._idle.set()

    def serve_forever(self) -> None:
        """Serve until `shutdown`, or in the main thread until Ctrl-C, which raises KeyboardInterrupt."""
        self._idle.clear()
        try:
            self._server.run(sockets=self._sockets)
        finally:
            self._idle.set()

    def shutdown(self) -> None:
        """Stop `serve_forever`, which runs in another thread; open responses have one second to complete."""
        self._server.should_exit = True
        self._idle.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._sockets:
            each.close()


def bounded(app: Any, headers: list[tuple[str, str]]) -> Config:
    """Return uvicorn's settings: it logs server errors, but not the activity of clients."""
    return Config(
        app,
        http=BoundedProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        headers=headers,
        timeout_keep_alive=int(REQUEST_SECONDS),
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=REQUEST_BYTES,
    )


async def body_of(receive: Receive, most: int) -> bytes | None:
    """Return the body of a request; None if it has more than `most` bytes or the client left."""
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > most:
            return None
        if not message.get("more_body"):
            return body
