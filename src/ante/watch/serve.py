"""A run's report over HTTP, on this machine only: the page, its videos and posters, byte ranges for seeking."""

import re
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ante.errors import BalatroError
from ante.watch.gallery import FOLDER
from ante.watch.report import REPORT

HOST = "127.0.0.1"
TYPES = {".html": "text/html; charset=utf-8", ".mp4": "video/mp4", ".jpg": "image/jpeg"}
MEDIA = re.compile(rf"{FOLDER}/[\w-][\w.-]*\.(mp4|jpg)")
RANGE = re.compile(r"bytes=(\d*)-(\d*)")
CHUNK = 1 << 18
Fetch = Callable[[str], None]


class CannotServe(BalatroError, OSError):
    """A port that cannot be had."""


def server_of(
    folder: Path, port: int = 0, fetch: Fetch = lambda _: None, report: Path | None = None
) -> ThreadingHTTPServer:
    """A server that listens; `serve_forever` answers requests. Raises CannotServe.

    folder  holds the files that the report names
    port    0 for any free one
    fetch   is told the path of a file that is asked for and not there; may put it there, or raise a BalatroError
    report  the page; by default the folder's report.html
    """

    class Handler(RunHandler):
        run, get, page = folder, staticmethod(fetch), report or folder / REPORT

    try:
        return ThreadingHTTPServer((HOST, port), Handler)
    except (OSError, OverflowError) as error:
        raise CannotServe(f"cannot listen on {HOST}:{port}: {error}; choose another --port") from None


class RunHandler(BaseHTTPRequestHandler):
    """Answers GET and HEAD for the report and its media; there is nothing else."""

    run: Path
    get: Fetch
    page: Path
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """The file, or the part of it that was asked for."""
        self._answer(body=True)

    def do_HEAD(self) -> None:
        """What GET would say before the file."""
        self._answer(body=False)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a video is dozens of requests."""

    def _answer(self, body: bool) -> None:
        name = unquote(urlsplit(self.path).path).lstrip("/") or REPORT
        file = self._file(name)
        if file is None:
            self.send_error(HTTPStatus.NOT_FOUND, "no such file of this run")
            return
        size = file.stat().st_size
        first, last = wanted(self.headers.get("Range"), size)
        if first > last and size:
            self.send_response(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
            self.send_header("Content-Range", f"bytes */{size}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        whole = (first, last) == (0, size - 1) and "Range" not in self.headers
        self.send_response(HTTPStatus.OK if whole else HTTPStatus.PARTIAL_CONTENT)
        self.send_header("Content-Type", TYPES[file.suffix])
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(last - first + 1))
        self.send_header("Cache-Control", "no-cache")
        if not whole:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.end_headers()
        if body:
            self._send(file, first, last - first + 1)

    def _file(self, name: str) -> Path | None:
        """The file, fetched where it is not there yet; None for what is not the report's."""
        if name != REPORT and not MEDIA.fullmatch(name):
            return None
        file = self.page if name == REPORT else self.run / name
        if not file.is_file():
            try:
                self.get(name)
            except BalatroError as error:
                self.log_error("%s", error)
        return file if file.is_file() else None

    def _send(self, file: Path, first: int, count: int) -> None:
        with file.open("rb") as stream:
            stream.seek(first)
            while count > 0 and (chunk := stream.read(min(CHUNK, count))):
                try:
                    self.wfile.write(chunk)
                except (BrokenPipeError, ConnectionResetError):  # the browser has seen enough
                    self.close_connection = True
                    return
                count -= len(chunk)


def wanted(header: str | None, size: int) -> tuple[int, int]:
    """First and last byte that a Range header asks for; all of them without one; first > last where there are none."""
    found = RANGE.fullmatch(header or "")
    if not found or found.groups() == ("", ""):
        return 0, size - 1
    begin, end = found.groups()
    if not begin:  # the last so many bytes
        return max(0, size - int(end)), size - 1 if int(end) else -1
    return int(begin), min(int(end), size - 1) if end else size - 1
