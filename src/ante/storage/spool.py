"""The queue of uploads on disk: a folder for each job, written completely or not at all, which survives every process.

SPOOL/jobs/ID/job.json   what to publish and where; never changes
SPOOL/jobs/ID/payload/   its files: hard links where the disk allows them, which cost nothing, else copies
SPOOL/jobs/ID/notes/     state of interrupted uploads of large files
SPOOL/refused/ID/        jobs that can never succeed as they are, with the reason in refused.txt
SPOOL/state.json         what the uploader does now
SPOOL/uploader.lock      held by the one uploader that works on this queue
"""

import json
import os
import shutil
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ante.files import held, write_text
from ante.storage.errors import NotWhole, SpoolFull
from ante.storage.local import in_words, sync_folder


@dataclass(frozen=True)
class Job:
    """A publication to come: see publish.publish. `queued` in seconds since 1970.

    newest  how many publications are then kept on the shelf, 0 for all; see retention
    loose   not a publication, but files under the shelf that replace earlier ones; `gone` are deleted
    """

    id: str
    store: str
    shelf: str
    name: str
    metadata: dict[str, Any]
    pointers: tuple[str, ...]
    bytes: int
    queued: float
    newest: int = 0
    loose: bool = False
    gone: tuple[str, ...] = ()

    @property
    def about(self) -> str:
        """What it is called."""
        return f"{self.shelf}/{self.name}"


@dataclass(frozen=True)
class State:
    """Progress of an uploader: the job, bytes of it in the store, failed attempts at it and the last error."""

    pid: int
    job: str = ""
    sent: int = 0
    attempts: int = 0
    error: str = ""
    changed: float = 0.0


class Spool:
    """A folder of jobs, first in, first out. Any number of processes may add; one uploader takes away."""

    def __init__(self, folder: Path, max_bytes: int = 4 << 30) -> None:
        self.folder, self.max_bytes = folder.absolute(), max_bytes
        self.waiting, self.refused = self.folder / "jobs", self.folder / "refused"

    def add(
        self,
        folder: Path,
        store: str,
        shelf: str,
        name: str,
        metadata: dict[str, Any],
        pointers: Sequence[str] = ("latest",),
        wait_seconds: float = 0.0,
        newest: int = 0,
        copies: Mapping[str, Path] = MappingProxyType({}),
    ) -> Job:
        """The folder's files wait to be published; the folder may then go. Later changes of its files in place would
        be published too, so it must hold files that are replaced, not rewritten.

        wait_seconds  how long to wait for room
        newest        how many publications are kept on the shelf
        copies        more files by their path in the publication, as they are now
        Raises SpoolFull, StoreFull; then nothing was added.
        """
        links = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
        size = bytes_of(links) + bytes_of(copies)
        job = Job(new_id(), store, shelf, name, metadata, tuple(pointers), size, time.time(), newest)
        return self._queue(job, links, copies, wait_seconds)

    def add_files(
        self, store: str, shelf: str, files: Mapping[str, Path], gone: Sequence[str] = (), wait_seconds: float = 0.0
    ) -> Job:
        """Queue files, in their present state, to be stored under the shelf, where they replace earlier ones.

        files  by their path under the shelf
        gone   paths that are to be deleted
        Raises SpoolFull, StoreFull; then nothing was added.
        """
        job = Job(new_id(), store, shelf, f"{len(files)} files", {}, (), bytes_of(files), time.time(), loose=True)
        return self._queue(replace(job, gone=tuple(gone)), {}, files, wait_seconds)

    def _queue(self, job: Job, links: Mapping[str, Path], copies: Mapping[str, Path], wait_seconds: float) -> Job:
        self._wait_for_room(job.name, job.bytes, wait_seconds)
        aside = self.folder / f".{os.getpid()}-{job.id}"
        with in_words(f"{job.name} to the queue", self.folder):
            try:
                self.waiting.mkdir(parents=True, exist_ok=True)
                (aside / "payload").mkdir(parents=True)
                for files, take in ((links, link_or_copy), (copies, copy)):
                    for path, file in files.items():
                        target = aside / "payload" / path
                        target.parent.mkdir(parents=True, exist_ok=True)
                        take(file, target)
                write_text(aside / "job.json", json.dumps(asdict(job)))
                sync_folder(aside)
                aside.rename(self.waiting / job.id)
                sync_folder(self.waiting)
            finally:
                shutil.rmtree(aside, ignore_errors=True)
        return job

    def _wait_for_room(self, name: str, size: int, wait_seconds: float) -> None:
        until = time.monotonic() + wait_seconds
        while (held := self.bytes) + size > self.max_bytes:
            if time.monotonic() >= until or size > self.max_bytes:
                raise SpoolFull(
                    f"the queue {self.folder} holds {held / 1e6:,.0f} of {self.max_bytes / 1e6:,.0f} MB and has no room "
                    f"for {name} ({size / 1e6:,.0f} MB): ante artifacts queue shows why uploads wait"
                )
            time.sleep(min(0.2, wait_seconds))

    def jobs(self) -> list[Job]:
        """What waits, oldest first."""
        names = sorted(path.name for path in self.waiting.iterdir()) if self.waiting.is_dir() else []
        found = (self._read(self.waiting / name) for name in names)
        return [job for job in found if job]

    def refusals(self) -> list[tuple[Job, str]]:
        """Jobs that were put aside, and why."""
        folders = sorted(self.refused.iterdir()) if self.refused.is_dir() else []
        found = ((self._read(folder), (folder / "refused.txt").read_text()) for folder in folders)
        return [(job, why) for job, why in found if job]

    def _read(self, folder: Path) -> Job | None:
        """A job; None where it was taken away meanwhile."""
        try:
            values = json.loads((folder / "job.json").read_text())
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise NotWhole(f"{folder / 'job.json'} cannot be read ({error}): move the folder {folder} away") from None
        return Job(**{**values, "pointers": tuple(values["pointers"]), "gone": tuple(values.get("gone", ()))})

    @property
    def bytes(self) -> int:
        """What the waiting jobs hold."""
        return sum(job.bytes for job in self.jobs())

    def payload(self, job: Job) -> Path:
        """A waiting job's files."""
        return self.waiting / job.id / "payload"

    def notes(self, job: Job) -> Path:
        """Where a waiting job's uploads note how far they are."""
        return self.waiting / job.id / "notes"

    def done(self, job: Job) -> None:
        """The job is over."""
        aside = self.folder / f".{os.getpid()}-{job.id}"
        (self.waiting / job.id).rename(aside)  # at once, then at leisure
        shutil.rmtree(aside)

    def refuse(self, job: Job, why: str) -> None:
        """The job is put aside for a person to look at."""
        self.refused.mkdir(parents=True, exist_ok=True)
        write_text(self.waiting / job.id / "refused.txt", why)
        (self.waiting / job.id).rename(self.refused / job.id)

    def tidy(self) -> None:
        """What killed processes left half made is gone."""
        for left in self.folder.glob(".[0-9]*"):
            writer = left.name[1:].partition("-")[0].partition(".")[0]
            if writer.isdigit() and not alive(int(writer)):
                shutil.rmtree(left) if left.is_dir() else left.unlink()

    @property
    def state(self) -> State | None:
        """Return the last state of the uploader; None if none has worked here yet."""
        file = self.folder / "state.json"
        return State(**json.loads(file.read_text())) if file.is_file() else None

    def tell(self, state: State) -> None:
        """Write the state to disk."""
        write_text(self.folder / "state.json", json.dumps(asdict(state)))

    def taken(self) -> AbstractContextManager[bool]:
        """Whether this process is now the queue's uploader; the system takes that back when it dies."""
        return held(self.folder / "uploader.lock")

    def working(self) -> bool:
        """Whether an uploader works on the queue."""
        if not (self.folder / "uploader.lock").is_file():
            return False
        with self.taken() as free:
            return not free


def new_id() -> str:
    """A name that no other job has, later than those before."""
    return f"{int(time.time() * 1e6):017d}-{uuid.uuid4().hex[:8]}"


def bytes_of(files: Mapping[str, Path]) -> int:
    """Size of all of them."""
    return sum(file.stat().st_size for file in files.values())


def link_or_copy(source: Path, target: Path) -> None:
    """The target holds the source's bytes, on disk."""
    try:
        os.link(source, target)
    except OSError:  # another disk, or one without links
        shutil.copyfile(source, target)
    flush(target)


def copy(source: Path, target: Path) -> None:
    """The target holds the source's bytes of this moment, on disk."""
    shutil.copyfile(source, target)
    flush(target)


def flush(file: Path) -> None:
    """The file outlives a loss of power."""
    with file.open("rb") as stream:
        os.fsync(stream.fileno())


def alive(pid: int) -> bool:
    """Whether a process of this number runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
