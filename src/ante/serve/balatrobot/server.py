"""The HTTP server: `POST /` on one port per session, each with its own game.

The real mod has one game and one client. Here a port is a session: any number of clients may use it, one request at a
time. A request from a web page is refused, since `save` and `screenshot` write files.
"""

import logging
from collections.abc import Sequence
from typing import Any

from starlette.routing import Mount
from starlette.types import Receive, Scope, Send

from ante.http.server import LOOPBACK, OWN_NAMES, HttpServer, body_of
from ante.serve.balatrobot.methods import answer, methods_of
from ante.serve.balatrobot.openrpc import document
from ante.serve.balatrobot.protocol import Malformed, Refused, encoded, error, read_request, result
from ante.serve.balatrobot.session import Session

LARGEST_BODY = 1 << 16  # bytes
READING = ("gamestate", "health", "rpc.discover")  # methods that change nothing
WARM_UP: tuple[tuple[str, dict[str, Any]], ...] = (
    ("start", {"deck": "RED", "stake": "WHITE"}),
    ("select", {}),
    ("discard", {"cards": [0]}),
    ("set", {"chips": 1000, "money": 10}),
    ("play", {"cards": [0]}),
    ("cash_out", {}),
    ("reroll", {}),
    ("next_round", {}),
)
LOG = logging.getLogger(__name__)


class Desk:
    """Reply to the requests of one session.

    testing  whether it has the methods of the mod's debug mode
    """

    def __init__(self, session: Session, testing: bool = False) -> None:
        self.session = session
        self.methods = methods_of(session.dialect, testing)
        self._state: bytes | None = None  # the last gamestate as JSON, until the game changes

    def answer(self, body: bytes) -> bytes:
        """Return the reply to the body of a request."""
        try:
            request = read_request(body)
        except Malformed as wrong:
            return error(wrong.id, str(wrong))
        try:
            return self.reply(request.id, request.method, request.params)
        except Refused as refused:
            return error(request.id, str(refused), refused.name)
        except Exception:
            LOG.exception("%s failed", request.method)
            return error(request.id, "Internal error: see the log of the server", "INTERNAL_ERROR")

    def reply(self, id: Any, method: str, params: Any) -> bytes:
        """Return the reply to a request. Raises Refused."""
        if method == "gamestate" and self._state is not None:
            return result(id, self._state)
        if method == "rpc.discover":
            return result(id, encoded(document(self.methods)))
        if method not in READING:
            self._state = None
        found = encoded(answer(self.session, self.methods, method, params))
        if method == "gamestate":
            self._state = found
        return result(id, found)


def warm_up() -> None:
    """Load the compiled engine, so that the first request does not wait for it."""
    session = Session()
    methods = methods_of(session.dialect)
    for name, params in WARM_UP:
        answer(session, methods, name, params)


class Sessions:
    """The ASGI application: the session of a request is that of its port."""

    def __init__(self, desks: dict[int, Desk]) -> None:
        self.desks = desks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        status, reply = await self.respond(scope, receive)
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(reply))]
        await send({"type": "http.response.start", "status": status, "headers": [*headers, (b"connection", b"close")]})
        await send({"type": "http.response.body", "body": reply})

    async def respond(self, scope: Scope, receive: Receive) -> tuple[int, bytes]:
        """Return status and body of the response."""
        if scope["method"] != "POST":
            return 405, error(None, "Method not allowed. Use POST for JSON-RPC requests")
        if scope["path"] != "/" or scope["query_string"]:
            return 404, error(None, "Not found. Use POST to '/' for JSON-RPC requests")
        if any(name == b"origin" for name, _ in scope["headers"]):
            return 403, error(None, "Requests from web pages are not accepted")
        body = await body_of(receive, LARGEST_BODY)
        if body is None:
            return 400, error(None, "Request body too large")
        return 200, self.desks[scope["server"][1]].answer(body)


def server_of(
    sessions: Sequence[Session],
    host: str = LOOPBACK,
    port: int = 0,
    names: tuple[str, ...] = (),
    testing: bool = False,
) -> HttpServer:
    """Return a server that listens, on one port for each session; `serve_forever` answers requests.

    port   of the first session, the others have the next ones; 0 for any free ports
    names  accepted Host headers in addition to those of this machine's loopback interface

    Raises CannotListen.
    """
    app = Sessions({})
    ports = [port and port + i for i in range(len(sessions))]
    server = HttpServer([Mount("/", app)], host, ports, (*OWN_NAMES, host, *names))
    app.desks |= {each: Desk(session, testing) for each, session in zip(server.ports, sessions, strict=True)}
    return server
