"""The runs of a store for the page of all runs, refreshed in the background while a browser shows them."""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from ante.errors import BalatroError
from ante.serve.catalogue.mirror import REPORT_FILES, Mirror
from ante.watch.gallery import FOLDER, read_index
from ante.watch.index import LiveRuns
from ante.watch.live import STORE_SECONDS, LiveRun
from ante.watch.runs import RUN_FILES, UNFINISHED, RunSummary, is_run

ACTIVE = "active"  # a run in a store that changed lately
ACTIVE_SECONDS = 900.0  # a training uploads its files with each checkpoint
LOG = logging.getLogger(__name__)


class StoredRuns(LiveRuns):
    """The runs of a store. Requests are answered from the copies and never wait for the store."""

    copied = True

    def __init__(
        self, mirror: Mirror, seconds: float = STORE_SECONDS, cost: Callable[[RunSummary], str] = lambda _: ""
    ) -> None:
        super().__init__(mirror.folder, seconds, cost)
        self.mirror = mirror
        self.trouble = ""
        self._wanted = threading.Event()
        self._wanted.set()
        threading.Thread(target=self._refresh, daemon=True).start()

    def close(self) -> None:
        """See LiveRuns."""
        self.mirror.close()

    def changes(self, version: str = "") -> dict[str, Any]:
        """See LiveRuns. Also states why the store cannot be read."""
        self._wanted.set()
        return {"trouble": self.trouble} if self.trouble else super().changes(version)

    def _refresh(self) -> None:
        """Refresh the copies at most once per interval, as long as requests come."""
        while True:
            self._wanted.wait()
            self._wanted.clear()
            try:
                self.mirror.refresh()
                self.trouble = ""
            except (BalatroError, OSError) as error:
                self.trouble = str(error)
                LOG.info("the store cannot be read: %s", error)
            self._read_at = float("-inf")
            super().changes()  # read the copies now, not when the next request comes
            time.sleep(self.seconds)

    def row(self, run: RunSummary) -> dict[str, Any]:
        """See LiveRuns."""
        lately = run.state == UNFINISHED and time.time() - run.changed < ACTIVE_SECONDS
        return super().row(run) | ({"state": ACTIVE} if lately else {})

    def others(self, found: dict[str, str]) -> dict[str, str]:
        """See LiveRuns. Folders whose settings are not copied yet are left out."""
        return {name: why for name, why in found.items() if is_run(self.folder / name)} | self.mirror.failed

    def videos(self, run: RunSummary) -> int:
        """See LiveRuns."""
        return self.mirror.videos[self.key(run)]

    def key(self, run: RunSummary) -> str:
        """Return the prefix of a run in the store, empty if the store is the run."""
        return "" if run.folder == self.folder else run.folder.relative_to(self.folder).as_posix()

    def follow(self, run: RunSummary) -> LiveRun:
        """See LiveRuns."""
        return StoredRun(self.mirror, self.key(run), run, self.seconds)


class StoredRun(LiveRun):
    """The live data of a run's report; the files that only the report shows are copied when it is read."""

    def __init__(self, mirror: Mirror, key: str, run: RunSummary, seconds: float) -> None:
        super().__init__(run.folder, seconds, self.bring)
        self.mirror, self.key = mirror, key

    def bring(self) -> None:
        """Copy the files of the report. Raises StorageError."""
        self.mirror.bring(self.key, (*RUN_FILES, *REPORT_FILES))

    def trace(self, name: str) -> dict[str, str]:
        """See LiveRun. Copies the episode's replay and notes first."""
        try:
            entry = next((each for each in read_index(self.folder) if each.name == name), None)
            if entry:
                self.mirror.bring(self.key, [f"{FOLDER}/{file}" for file in (entry.replay, entry.notes) if file])
        except (BalatroError, OSError) as error:
            return {"trouble": str(error)}
        return super().trace(name)
