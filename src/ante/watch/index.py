"""A page of all runs below a folder that follows them: search, comparison of settings and curves, a live report of each."""

import math
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from ante.errors import BalatroError
from ante.http.server import HttpServer
from ante.watch.gallery import FOLDER
from ante.watch.live import POLL_SECONDS, LiveRun, version_of
from ante.watch.pages import page, part, security_policy
from ante.watch.report import check_run, curves, drawn, published, read_data, scripts
from ante.watch.runs import CONFIG, METRICS, RunSummary, differing, flat_settings, list_runs, marks_of, read_run
from ante.watch.serve import MEDIA, TYPES, json_response, listening, real

MOST_COMPARED = 16  # runs whose curves one request returns


class LiveRuns:
    """Reads the runs below a folder again when the list is older than `seconds`. Any thread may call its methods.

    cost  returns the cost of a run as text, empty if it is unknown
    """

    copied = False  # whether the files are copies of those in a store, which has no locks

    def __init__(
        self, folder: Path, seconds: float = POLL_SECONDS, cost: Callable[[RunSummary], str] = lambda _: ""
    ) -> None:
        self.folder, self.seconds, self.cost = folder, seconds, cost
        self._lock, self._answer, self._read_at = threading.Lock(), dict[str, Any](), float("-inf")
        self._known: dict[Path, tuple[Any, RunSummary]] = {}
        self._followed: dict[str, tuple[RunSummary, LiveRun]] = {}

    def close(self) -> None:
        """Start no more work in the background, and wait for what has begun."""

    def changes(self, version: str = "") -> dict[str, Any]:
        """Return all runs with their version, only the version if the page has it, or {trouble}."""
        with self._lock:
            if time.monotonic() - self._read_at >= self.seconds / 2:
                self._answer, self._read_at = self._read(), time.monotonic()
            answer = self._answer
        return {"version": version} if answer.get("version") == version else answer

    def _read(self) -> dict[str, Any]:
        try:
            found = list_runs(self.folder, self.copied, self._summary)
        except (BalatroError, OSError) as error:
            return {"trouble": str(error)}
        before = self._followed
        self._followed = {
            run.name: (run, before[run.name][1] if run.name in before else self.follow(run)) for run in found.runs
        }
        newest = sorted(found.runs, key=lambda run: run.changed, reverse=True)
        data = {"runs": [self.row(run) for run in newest], "others": self.others(found.others)}
        return {"version": version_of(data), "data": data}

    def _summary(self, folder: Path, name: str, copied: bool) -> RunSummary:
        """Return a run's summary; its files are read again only if they changed."""
        marks = marks_of(folder)
        if folder not in self._known or self._known[folder][0] != marks:
            self._known[folder] = marks, read_run(folder, name, copied)
        return self._known[folder][1]

    def row(self, run: RunSummary) -> dict[str, Any]:
        """Return a run's data for the table."""
        return row_of(run) | {"videos": self.videos(run), "cost": self.cost(run)}

    def follow(self, run: RunSummary) -> LiveRun:
        """Return the live data of a run's report."""
        return LiveRun(run.folder)

    def others(self, found: dict[str, str]) -> dict[str, str]:
        """Return the folders that the page names with the reason why they are not listed."""
        return found

    def videos(self, run: RunSummary) -> int:
        """Return the number of videos of a run."""
        try:
            return sum(name.endswith(".mp4") for name in os.listdir(run.folder / FOLDER))
        except OSError:
            return 0

    def run(self, name: str) -> LiveRun | None:
        """Return the run of a name in the list."""
        self.changes()
        return self._followed[name][1] if name in self._followed else None

    def settings(self, names: list[str]) -> dict[str, dict[str, Any]]:
        """Return the settings that differ between these runs: setting -> run -> value."""
        self.changes()
        known = {name: self._followed[name][0].config for name in names[:MOST_COMPARED] if name in self._followed}
        return differing(known)

    def curves(self, names: list[str]) -> dict[str, Any]:
        """Return the curves of these runs by name; runs that do not exist or cannot be read are left out."""
        found = {}
        for name in names[:MOST_COMPARED]:
            run = self.run(name)
            try:
                if run:
                    found[name] = curves(run.folder / METRICS) | {
                        "published": published(flat_settings(run.folder / CONFIG))
                    }
            except (BalatroError, OSError):  # the list names the reason
                continue
        return found


def row_of(run: RunSummary) -> dict[str, Any]:
    """Return what the files of a run contain for the table."""
    row: dict[str, Any] = {name: getattr(run, name) for name in ("name", "state", "kind", "game")}
    row |= {name: known(run.metric(name)) for name in ("steps", "seconds", "blinds")}
    row |= {"wins": known(run.metric("win_rate")), "best": known(run.best["blinds"]), "target": known(run.target)}
    tried = run.evaluation
    results = {"blinds": list(map(known, tried.blinds)), "wins": list(map(known, tried.win_rate))} if tried else None
    return row | {"changed": run.changed, "evaluation": results}


def known(value: float) -> float | None:
    """Return a finite number, else None."""
    return value if math.isfinite(value) else None


def index_page(name: str, seconds: float, first: dict[str, Any]) -> str:
    """Return the HTML of the page with its first data; it requests changes from the server."""
    data = {"name": name, "live": seconds, "first": first}
    return page(name, part("index.html"), part("page.css"), index_script(), data, live=True)


def index_script() -> str:
    """Return the page's JavaScript."""
    return "\n".join(map(part, ("common.js", "axes.js", "index.js")))


def index_server(folder: Path, port: int = 0, seconds: float = POLL_SECONDS) -> HttpServer:
    """Return a server of the page and of the runs' reports, videos and posters. Raises CannotListen."""
    pages = Pages(LiveRuns(folder, seconds), folder.absolute().name)
    return listening(pages.routes(), port, index_policy())


def index_policy() -> str:
    """Return the Content-Security-Policy of the page and of the reports."""
    return security_policy(index_script(), scripts(live=True), live=True)


class Pages:
    """The answers to requests.

    The name of a run in a request must be one of the list, so no path can lead out of the folder.
    """

    def __init__(self, runs: LiveRuns, name: str) -> None:
        self.runs, self.name = runs, name

    def routes(self) -> list[Route]:
        """Return the routes of all requests."""
        found: dict[str, Callable[[Request], Response]] = {
            "/": self.index,
            "/live.json": self.changes,
            "/curves.json": self.curves,
            "/settings.json": self.settings,
            "/run/{run:path}/live.json": self.run_changes,
            "/run/{run:path}/traces/{name}": self.trace,
            "/run/{run:path}/episodes/{file}": self.media,
            "/run/{run:path}/": self.report,
        }
        return [Route(path, answer, methods=["GET"]) for path, answer in found.items()]

    def index(self, _: Request) -> HTMLResponse:
        """Return the page of all runs."""
        return HTMLResponse(index_page(self.name, self.runs.seconds, self.runs.changes()))

    def changes(self, request: Request) -> Response:
        """Return the list of runs, if it changed."""
        return json_response(self.runs.changes(request.query_params.get("version", "")))

    def curves(self, request: Request) -> Response:
        """Return the curves of the runs that the query names."""
        return json_response(self.runs.curves(request.query_params.getlist("run")))

    def settings(self, request: Request) -> Response:
        """Return the settings that differ between the runs that the query names."""
        return json_response(self.runs.settings(request.query_params.getlist("run")))

    def report(self, request: Request) -> HTMLResponse:
        """Return the live report of a run; the page requests the steps of its episodes when they are opened."""
        run = self.run(request)
        try:
            run.update()
            check_run(run.folder)
            data = read_data(run.folder, quote, {}) | {"live": run.seconds}
        except (BalatroError, OSError) as error:
            raise HTTPException(404, str(error)) from None
        return HTMLResponse(drawn(run.folder.name, data, {}))

    def run_changes(self, request: Request) -> Response:
        """Return the data of a run, if it changed."""
        return json_response(self.run(request).changes(request.query_params.get("version", "")))

    def trace(self, request: Request) -> Response:
        """Return the steps of an episode."""
        return json_response(self.run(request).trace(request.path_params["name"]))

    def media(self, request: Request) -> Response:
        """Return a video or poster of a run."""
        name = f"episodes/{request.path_params['file']}"
        file = real(self.run(request).folder, name) if MEDIA.fullmatch(name) else None
        if file is None:
            raise HTTPException(404, "no such file of this run")
        return FileResponse(file, media_type=TYPES[file.suffix], stat_result=file.stat())

    def run(self, request: Request) -> LiveRun:
        """Return the run that a request names."""
        run = self.runs.run(request.path_params["run"])
        if run is None:
            raise HTTPException(404, "no such run")
        return run
