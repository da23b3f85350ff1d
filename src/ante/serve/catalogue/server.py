"""The HTTP server of the run catalogue: the pages of `ante.watch.index` for other machines, with tokens."""

import base64
import binascii
import logging
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ante.http.server import LOOPBACK, OWN_NAMES, HttpServer
from ante.serve.catalogue.mirror import Mirror
from ante.serve.catalogue.runs import StoredRun, StoredRuns
from ante.serve.tokens import LOOPBACKS, BadAccess, Tokens, knows
from ante.storage.errors import StorageError
from ante.storage.store import Stat, Store, under
from ante.watch.index import LiveRuns, Pages, index_policy
from ante.watch.live import POLL_SECONDS, STORE_SECONDS
from ante.watch.runs import RunSummary
from ante.watch.serve import MEDIA, TYPES

HEALTH = "/healthz"
BLOCK = 1 << 20  # bytes that are read from the store at once
LINK_SECONDS = 3600  # validity of a presigned link
RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)
LOG = logging.getLogger(__name__)
Cost = Callable[[RunSummary], str]


def catalogue(
    runs: LiveRuns | StoredRuns,
    name: str,
    host: str = LOOPBACK,
    port: int = 0,
    names: tuple[str, ...] = (),
    tokens: Tokens | None = None,
    links: bool = False,
) -> HttpServer:
    """Return a server that listens. Raises CannotListen, BadAccess.

    names   accepted Host headers in addition to those of this machine
    tokens  required of clients, as a bearer or as the password of basic authentication
    links   redirect videos of a store to presigned links instead of sending them
    """
    accepted = tokens.tokens() if tokens else ()
    if host not in LOOPBACKS and not accepted:
        raise BadAccess(f"--host {host} is reachable from other machines: require --token-file or --token-env")
    pages = StoredPages(runs, name, links) if isinstance(runs, StoredRuns) else Pages(runs, name)
    routes = [*pages.routes(), Route(HEALTH, healthy, methods=["GET"])]
    headers = (
        ("Content-Security-Policy", f"{index_policy()}; frame-ancestors 'none'"),
        ("Cache-Control", "private, no-cache"),
    )
    checks = [Middleware(TokenCheck, tokens=accepted)] if accepted else []
    threading.Thread(target=runs.changes, daemon=True).start()  # the first reading takes longest
    return HttpServer(routes, host, port, (*OWN_NAMES, *names), headers, middleware=checks)


def runs_of(store: Store | Path, place: Path, seconds: float | None, cost: Cost) -> LiveRuns | StoredRuns:
    """Return the runs of a folder, or those of a store with copies in `place`."""
    if isinstance(store, Path):
        return LiveRuns(store, seconds or POLL_SECONDS, cost)
    return StoredRuns(Mirror(store, place), seconds or STORE_SECONDS, cost)


def healthy(_: Request) -> Response:
    """Answer the probes of Kubernetes."""
    return PlainTextResponse("ok\n")


class TokenCheck:
    """Refuses requests without one of the tokens, except health checks. Browsers request it as a password."""

    def __init__(self, app: ASGIApp, tokens: tuple[bytes, ...]) -> None:
        self.app, self.tokens = app, tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "http" and scope["path"] != HEALTH:
            given = [value for key, value in scope["headers"] if key == b"authorization"]
            if len(given) != 1 or not knows(self.tokens, token_of(given[0])):
                challenge = {"WWW-Authenticate": 'Basic realm="ante", charset="UTF-8"'}
                refusal = PlainTextResponse("a token is required, as the password\n", 401, challenge)
                return await refusal(scope, receive, send)
        await self.app(scope, receive, send)


def token_of(header: bytes) -> bytes:
    """Return the token of an Authorization header: a bearer, or the password of basic authentication."""
    scheme, _, word = header.partition(b" ")
    if scheme.lower() == b"bearer":
        return word.strip()
    if scheme.lower() != b"basic":
        return b""
    try:
        return base64.b64decode(word.strip(), validate=True).partition(b":")[2]
    except binascii.Error:
        return b""


class StoredPages(Pages):
    """The pages of the runs of a store; videos and posters are read from it in blocks."""

    def __init__(self, runs: StoredRuns, name: str, links: bool) -> None:
        super().__init__(runs, name)
        self.mirror, self.links = runs.mirror, links

    def media(self, request: Request) -> Response:
        """Return a video or poster of a run, or the part of it that a Range header requests."""
        name, run = f"episodes/{request.path_params['file']}", self.run(request)
        assert isinstance(run, StoredRun)
        stat = self.mirror.there.get(under(run.key, name)) if MEDIA.fullmatch(name) else None
        if stat is None:
            raise HTTPException(404, "no such file of this run")
        presigned: Any = getattr(self.mirror.store, "presigned", None) if self.links else None
        try:
            return RedirectResponse(presigned(stat.key, LINK_SECONDS)) if presigned else self.part(request, stat)
        except StorageError as error:
            LOG.info("%s is not served: %s", stat.key, error)
            raise HTTPException(502, "the store does not return this file") from None

    def part(self, request: Request, stat: Stat) -> Response:
        """Return an object or a part of it. Raises StorageError if its first block cannot be read."""
        wanted = request.headers.get("range")
        begin, end = bounds(wanted, stat.bytes) if wanted else (0, stat.bytes)
        headers = {"Content-Length": str(end - begin), "Accept-Ranges": "bytes"}
        if wanted:
            headers["Content-Range"] = f"bytes {begin}-{end - 1}/{stat.bytes}"
        status, kind = 206 if wanted else 200, TYPES[Path(stat.key).suffix]
        if request.method == "HEAD" or begin == end:
            return Response(b"", status, headers, kind)
        first = self.mirror.store.get_part(stat.key, begin, min(BLOCK, end - begin))
        return StreamingResponse(self.blocks(stat.key, first, begin, end), status, headers, kind)

    def blocks(self, key: str, first: bytes, begin: int, end: int) -> Iterator[bytes]:
        """Yield the blocks of a part of an object, the first of which has been read."""
        while first:
            yield first
            begin += len(first)
            first = self.mirror.store.get_part(key, begin, min(BLOCK, end - begin)) if begin < end else b""


def bounds(wanted: str, size: int) -> tuple[int, int]:
    """Return begin and end of a Range header with one range. Raises HTTPException 416."""
    found = RANGE.fullmatch(wanted.strip())
    first, last = found.groups() if found else ("", "")
    begin = int(first) if first else max(0, size - int(last or 0))
    end = min(size, int(last) + 1) if first and last else size
    if not (first or last) or begin >= end:
        raise HTTPException(
            416, "one range of bytes within the file is supported", {"Content-Range": f"bytes */{size}"}
        )
    return begin, end
