"""A server of a run's report on the loopback interface: the page, its videos and posters, with byte ranges.

For a page that follows the run it also serves `live.json` and the steps of new episodes.
"""

import logging
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from ante.errors import BalatroError
from ante.http.server import HttpServer
from ante.watch.gallery import FOLDER
from ante.watch.live import LiveRun
from ante.watch.pages import stored
from ante.watch.report import REPORT, policy

TYPES = {".html": "text/html; charset=utf-8", ".mp4": "video/mp4", ".jpg": "image/jpeg"}
MEDIA = re.compile(rf"{FOLDER}/[\w-][\w.-]{{0,200}}\.(mp4|jpg)", re.ASCII)
Fetch = Callable[[str], None]
LOG = logging.getLogger(__name__)


def server_of(
    folder: Path,
    port: int = 0,
    fetch: Fetch = lambda _: None,
    report: Path | None = None,
    live: LiveRun | None = None,
) -> HttpServer:
    """Return a server that listens; `serve_forever` answers requests. Raises CannotListen.

    folder  holds the files that the report names
    port    0 for any free port
    fetch   called with the path of a requested file that is missing; may create it, or raise a BalatroError
    report  the page; by default the folder's report.html
    live    the run's current data, for a page written with an interval
    """
    files = RunFiles(folder, report or folder / REPORT, fetch)
    return listening(
        [*live_routes(live), Route("/{name:path}", files.answer, methods=["GET"])], port, policy(live is not None)
    )


def listening(routes: Sequence[Route], port: int, allowed: str) -> HttpServer:
    """Return a server that listens on the loopback interface, with this Content-Security-Policy. Raises CannotListen."""
    security = ("Content-Security-Policy", f"{allowed}; frame-ancestors 'none'")
    return HttpServer(routes, port=port, headers=(security, ("Cache-Control", "no-cache")))


def live_routes(live: LiveRun | None) -> list[Route]:
    """Return the routes of a page that follows its run; none without `live`."""
    if live is None:
        return []

    def changes(request: Request) -> Response:
        return json_response(live.changes(request.query_params.get("version", "")))

    def trace(request: Request) -> Response:
        return json_response(live.trace(request.path_params["name"]))

    return [Route("/live.json", changes, methods=["GET"]), Route("/traces/{name}", trace, methods=["GET"])]


def json_response(data: Any) -> Response:
    """Return data from a run's files as JSON."""
    return Response(stored(data), media_type="application/json")


class RunFiles:
    """Serve only the report and its media."""

    def __init__(self, run: Path, page: Path, fetch: Fetch) -> None:
        self.run, self.page, self.fetch = run, page, fetch

    def answer(self, request: Request) -> FileResponse:
        """Return the file, or the part of it that a Range header requests."""
        file = self.file(request.path_params["name"] or REPORT)
        if file is None:
            raise HTTPException(404, "no such file of this run")
        return FileResponse(file, media_type=TYPES[file.suffix], stat_result=file.stat())

    def file(self, name: str) -> Path | None:
        """Return the file, fetched if it is missing; None if it is not part of the report, or is a symbolic link."""
        if name == REPORT:
            return real(self.page.parent, self.page.name)
        if not MEDIA.fullmatch(name):
            return None
        if not (self.run / name).exists():
            try:
                self.fetch(name)
            except BalatroError as error:
                LOG.info("%s is not served: %s", name, error)
        return real(self.run, name)


def real(folder: Path, name: str) -> Path | None:
    """Return the path of a regular file, None if it does not exist or its path in the folder has a symbolic link."""
    root = os.path.realpath(folder)
    file = os.path.join(root, name)
    return Path(file) if os.path.realpath(file) == file and os.path.isfile(file) else None
