"""The current data of a run for a page that follows it: read at most once per interval, by any number of pages."""

import hashlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ante.errors import BalatroError
from ante.watch.gallery import read_index
from ante.watch.pages import stored
from ante.watch.report import Link, check_run, read_data, trace_of

POLL_SECONDS = 2.0  # for a folder on this machine
STORE_SECONDS = 30.0  # for a store, which charges for requests


class LiveRun:
    """Reads the data of a run again when it is older than `seconds`. Any thread may call its methods.

    folder   the run's folder, which may be missing for a time
    update   called before each reading; downloads the files of a run in a store
    """

    def __init__(
        self,
        folder: Path,
        seconds: float = POLL_SECONDS,
        update: Callable[[], None] = lambda: None,
        link: Link = quote,
    ) -> None:
        self.folder, self.seconds, self.update, self.link = folder, seconds, update, link
        self._lock, self._answer, self._read_at = threading.Lock(), dict[str, Any](), float("-inf")

    def changes(self, version: str = "") -> dict[str, Any]:
        """Return the data with its version, only the version if the page has it, or {trouble} if the run cannot be read."""
        with self._lock:
            if time.monotonic() - self._read_at >= self.seconds / 2:  # half, so that each request of one page reads
                self._answer, self._read_at = self._read(), time.monotonic()
            answer = self._answer
        return {"version": version} if answer.get("version") == version else answer

    def _read(self) -> dict[str, Any]:
        try:
            self.update()
            check_run(self.folder)
            data = read_data(self.folder, self.link, {})
        except (BalatroError, OSError) as error:
            return {"trouble": str(error)}
        compared = data | {"run": {name: value for name, value in data["run"].items() if name != "written"}}
        return {"version": version_of(compared), "data": data}

    def trace(self, name: str) -> dict[str, str]:
        """Return the packed steps of an episode that ended after the page was written, or {trouble}."""
        try:
            entry = next((each for each in read_index(self.folder) if each.name == name), None)
            return trace_of(self.folder, entry, None) if entry else {"trouble": "the run no longer has this episode."}
        except (BalatroError, OSError) as error:
            return {"trouble": str(error)}


def version_of(data: Any) -> str:
    """Return 16 hex digits that identify the data of a page."""
    return hashlib.sha256(stored(data).encode()).hexdigest()[:16]
