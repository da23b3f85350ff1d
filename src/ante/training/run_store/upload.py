"""Uploads of a run to a store (setting `store`): checkpoints and files are queued, and a separate process uploads them.

    STORE/NAME/checkpoints/STEPS-ATTEMPT/   a checkpoint; its config.yaml and metrics.csv are under run/
    STORE/NAME/...                          the run's other files, in their latest version

An attempt is one start of the command, so two machines that work on one run never use the same checkpoint name.
Training waits for the store only if the queue is full, and at the end. Imports neither Ray nor torch.
"""

import math
import re
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ante.storage.check import shelves
from ante.storage.errors import SpoolFull, StorageError, StoreFull
from ante.storage.publish import MANIFEST
from ante.storage.spool import Job, Spool
from ante.storage.store import Store
from ante.storage.uploader import start_uploader
from ante.training.run_store.checkpoints import find_checkpoint, pointed_at
from ante.training.run_store.manifest import FILES, SEAL
from ante.training.settings.config import TrainConfig

CHECKPOINTS, OF_RUN = "checkpoints", "run"  # a run's prefix in the store; folder of the run's files in a checkpoint
NOT_LOOSE = (CHECKPOINTS, "spill", "spool", "wandb")
AT_THE_END = ("tensorboard", "metrics.parquet")  # rebuilt from metrics.csv when a run is resumed
DATABASE = ".sqlite"  # changed in place, so a copy may be inconsistent; only caches, not needed on other machines
NOTHING = -1  # steps of a checkpoint that does not exist
NEXT_START_SECONDS = 10.0  # minimum time between starts of the uploader
STORED = re.compile(r"\d{12}(-[\w-]+)?")  # names of checkpoints in a store
Say = Callable[[str], None]


class Publisher:
    """Queues a run's outputs for upload and keeps an uploader running.

    say         prints a message for the user
    terminated  time of a termination signal, by time.monotonic(), or None
    """

    def __init__(self, config: TrainConfig, store: Store, say: Say) -> None:
        self.config, self.store, self.say, self.url = config, store, say, store.url
        self.spool = Spool(config.spool_folder, int(config.uploads.spool_gb * 2**30))
        self.attempt = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{secrets.token_hex(2)}"
        self.seen: dict[str, tuple[int, int]] = {}
        self.process = start_uploader(self.spool)
        self.started = time.monotonic()
        self.terminated: float | None = None

    def checkpoint(self, folder: Path, metadata: dict[str, Any], best: bool) -> None:
        """Queue the run's files and then the checkpoint."""
        self.files()
        steps, _, again = folder.name.partition("-")
        name = "-".join(part for part in (steps, self.attempt, again) if part)
        pointers = ("latest", "best") if best else ("latest",)
        run = self.config.folder
        copies = {f"{OF_RUN}/{file}": run / file for file in ("config.yaml", "metrics.csv") if (run / file).exists()}
        facts = {key: value for key, value in metadata.items() if key not in (FILES, SEAL) and is_fact(value)}

        def add(wait_seconds: float) -> Job:
            shelf, keep = f"{self.config.name}/{CHECKPOINTS}", self.config.uploads.keep
            return self.spool.add(folder, self.url, shelf, name, facts, pointers, wait_seconds, keep, copies)

        self._add(f"checkpoint {folder.name}", add)

    def files(self, last: bool = False) -> None:
        """Queue files of the run that are new or have changed for upload; `last` marks the final call."""
        there = dict(loose_files(self.config.folder, last))
        marks = {path: mark(file) for path, file in there.items() if file.exists()}
        changed = {path: file for path, file in there.items() if path in marks and self.seen.get(path) != marks[path]}
        gone = [path for path in self.seen if path not in there and not (self.config.folder / path).exists()]
        if not changed and not gone:
            return

        def add(wait_seconds: float) -> Job:
            return self.spool.add_files(self.url, self.config.name, changed, gone, wait_seconds)

        if self._add("the run's files", add):
            self.seen = marks

    def _add(self, what: str, add: Callable[[float], Job]) -> bool:
        """Queue something and return whether it worked. If the queue is full, notify the user and continue."""
        self.check_uploader()
        try:
            add(self.config.uploads.pause_seconds)
        except (SpoolFull, StoreFull, FileNotFoundError) as error:  # the last: a file was removed meanwhile
            self.say(f"not queued for upload: {what}: {error}")
            return False
        return True

    def check_uploader(self) -> None:
        """Ensure that an uploader is running; replace a dead one and notify the user."""
        code = self.process.poll()
        if code is None or time.monotonic() < self.started + NEXT_START_SECONDS:
            return
        log = self.spool.folder / "uploader.log"
        self.say(f"the uploader exited with code {code} and is restarted; its output is in {log}")
        self.process, self.started = start_uploader(self.spool), time.monotonic()

    def queue_latest(self) -> None:
        """Queue the run's latest checkpoint if the run was killed before that."""
        folder = self.config.folder / CHECKPOINTS
        if not (folder / "latest.json").exists():
            return
        target, metadata = find_checkpoint(folder)
        if int(metadata["timesteps"]) > max((NOTHING, *self._queued(), *self._published())):
            self.checkpoint(target, metadata, best=pointed_at(folder, "best") in (target.name, None))

    def _queued(self) -> list[int]:
        """Return the steps of queued checkpoints."""
        return [int(job.metadata["timesteps"]) for job in self.spool.jobs() if not job.loose]

    def _published(self) -> list[int]:
        """Return the steps of the checkpoints in the store; empty if it is unreachable."""
        try:
            return [steps_of(name) for name in stored(self.store, self.config.name)]
        except StorageError as error:
            if not error.passing:
                raise
            return []

    def deadline(self) -> float:
        """Return the time until which the end of the run waits for uploads, by time.monotonic()."""
        if self.terminated is not None:
            return self.terminated + self.config.uploads.grace_seconds
        return time.monotonic() + self.config.uploads.wait_seconds

    def close(self) -> None:
        """Let the uploader exit once the queue is empty."""
        if not self.spool.jobs():
            self.process.terminate()
            self.process.wait()


def loose_files(folder: Path, last: bool) -> Iterator[tuple[str, Path]]:
    """Yield a run's files by relative path, except checkpoints, hidden files, databases and local-only files."""
    for top in sorted(folder.iterdir()):
        if top.name in NOT_LOOSE or (top.name in AT_THE_END and not last):
            continue
        for file in [top] if top.is_file() else sorted(top.rglob("*")):
            path = file.relative_to(folder)
            hidden = any(part.startswith(".") for part in path.parts)
            if file.is_file() and not hidden and file.name != MANIFEST and DATABASE not in file.name:
                yield path.as_posix(), file


def mark(file: Path) -> tuple[int, int]:
    """Return modification time in nanoseconds and size, to detect changes."""
    facts = file.stat()
    return facts.st_mtime_ns, facts.st_size


def is_fact(value: object) -> bool:
    """Return whether a metadata value can be stored as portable JSON: no infinity, no NaN."""
    return not isinstance(value, float) or math.isfinite(value)


def stored(store: Store, run: str) -> list[str]:
    """Return the names of a run's published checkpoints, most steps first, then newest first."""
    shelf = shelves(store, f"{run}/{CHECKPOINTS}/").get(f"{run}/{CHECKPOINTS}")
    return sorted(filter(STORED.fullmatch, shelf.finished), reverse=True) if shelf else []


def steps_of(name: str) -> int:
    """Return the steps from a checkpoint's name."""
    return int(name.partition("-")[0])
