"""The upload queue on disk: one folder per job, written atomically, which outlives the processes.

SPOOL/jobs/ID/job.json   the publication and its destination; never changes
SPOOL/jobs/ID/payload/   its files: hard links if the disk supports them, else copies
SPOOL/jobs/ID/notes/     state of interrupted uploads of large files
SPOOL/refused/ID/        jobs that failed permanently, with the reason in refused.txt
SPOOL/state.json         progress of the uploader
SPOOL/uploader.lock      locked by the single uploader of this queue
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
from typing import Any, TypeVar

from pydantic import FiniteFloat, NonNegativeInt, TypeAdapter, ValidationError

from ante.errors import first_fault, shown
from ante.files import NoFile, Unreadable, held, read_object, read_text, write_text
from ante.storage.errors import NotWhole, SpoolFull
from ante.storage.local import in_words, sync_folder


@dataclass(frozen=True)
class Job:
    """A queued publication: see publish.publish. `queued` is in seconds since 1970.

    newest  number of publications to keep on the shelf afterwards, 0 for all; see retention
    loose   whether the job replaces files under the shelf, and deletes `gone`, instead of publishing
    """

    id: str
    store: str
    shelf: str
    name: str
    metadata: dict[str, Any]
    pointers: tuple[str, ...]
    bytes: NonNegativeInt
    queued: FiniteFloat
    newest: NonNegativeInt = 0
    loose: bool = False
    gone: tuple[str, ...] = ()

    @property
    def about(self) -> str:
        """Name of the job in messages."""
        return f"{self.shelf}/{self.name}"


@dataclass(frozen=True)
class State:
    """Progress of an uploader: its job, the uploaded bytes, the failed attempts and the last error."""

    pid: int
    job: str = ""
    sent: int = 0
    attempts: int = 0
    error: str = ""
    changed: float = 0.0


JOB, STATE = TypeAdapter(Job), TypeAdapter(State)
LONGEST_REASON = 1 << 20  # bytes
Form = TypeVar("Form")


class Spool:
    """A first-in, first-out queue of jobs in a folder, with any number of producers and one uploader."""

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
        """Queue a folder's files for publication; the folder may be deleted afterwards.

        The queue links to the files, so they must not be rewritten in place; replacing them is safe.

        wait_seconds  how long to wait for space in the queue
        newest        number of publications to keep on the shelf
        copies        additional files, copied in their present state, by path in the publication

        Raises SpoolFull, StoreFull; nothing is then added.
        """
        links = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
        size = bytes_of(links) + bytes_of(copies)
        job = Job(new_id(), store, shelf, name, metadata, tuple(pointers), size, time.time(), newest)
        return self._queue(job, links, copies, wait_seconds)

    def add_files(
        self, store: str, shelf: str, files: Mapping[str, Path], gone: Sequence[str] = (), wait_seconds: float = 0.0
    ) -> Job:
        """Queue files, copied in their present state, to replace those under the shelf.

        files  files by path under the shelf
        gone   paths to delete

        Raises SpoolFull, StoreFull; nothing is then added.
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
                    f"the queue {self.folder} has {held / 1e6:,.0f} of {self.max_bytes / 1e6:,.0f} MB and no space "
                    f"for {name} ({size / 1e6:,.0f} MB): ante artifacts queue shows why uploads are pending"
                )
            time.sleep(min(0.2, wait_seconds))

    def jobs(self) -> list[Job]:
        """Return the pending jobs, oldest first."""
        names = sorted(path.name for path in self.waiting.iterdir()) if self.waiting.is_dir() else []
        found = (self._read(self.waiting / name) for name in names)
        return [job for job in found if job]

    def refusals(self) -> list[tuple[Job, str]]:
        """Return the permanently failed jobs with their errors."""
        folders = sorted(self.refused.iterdir()) if self.refused.is_dir() else []
        found = ((self._read(folder), self._why(folder)) for folder in folders)
        return [(job, why) for job, why in found if job]

    def _read(self, folder: Path) -> Job | None:
        """Return a job, or None if it was completed in the meantime."""
        try:
            job = read_as(JOB, folder / "job.json", folder)
        except NoFile:
            return None
        if job.id != folder.name:  # paths that are renamed and deleted contain it
            raise unreadable(folder / "job.json", folder, f"it has the id {shown(job.id)}")
        return job

    def _why(self, folder: Path) -> str:
        """Return why a job failed permanently."""
        try:
            return read_text(folder / "refused.txt", LONGEST_REASON)
        except Unreadable as error:
            raise unreadable(folder / "refused.txt", folder, error) from None

    @property
    def bytes(self) -> int:
        """Total size of the pending jobs."""
        return sum(job.bytes for job in self.jobs())

    def payload(self, job: Job) -> Path:
        """Return the folder with a pending job's files."""
        return self.waiting / job.id / "payload"

    def notes(self, job: Job) -> Path:
        """Return the folder with the state of a pending job's uploads."""
        return self.waiting / job.id / "notes"

    def done(self, job: Job) -> None:
        """Remove a completed job."""
        aside = self.folder / f".{os.getpid()}-{job.id}"
        (self.waiting / job.id).rename(aside)  # atomically, before the slower deletion
        shutil.rmtree(aside)

    def refuse(self, job: Job, why: str) -> None:
        """Move a permanently failed job to `refused/`."""
        self.refused.mkdir(parents=True, exist_ok=True)
        write_text(self.waiting / job.id / "refused.txt", why)
        (self.waiting / job.id).rename(self.refused / job.id)

    def tidy(self) -> None:
        """Delete incomplete jobs of killed processes."""
        for left in self.folder.glob(".[0-9]*"):
            writer = left.name[1:].partition("-")[0].partition(".")[0]
            if writer.isdigit() and not alive(int(writer)):
                shutil.rmtree(left) if left.is_dir() else left.unlink()

    @property
    def state(self) -> State | None:
        """The last state of the uploader; None if none has run."""
        file = self.folder / "state.json"
        try:
            return read_as(STATE, file, file)
        except NoFile:
            return None

    def write_state(self, state: State) -> None:
        """Write the uploader's state to disk."""
        write_text(self.folder / "state.json", json.dumps(asdict(state)))

    def taken(self) -> AbstractContextManager[bool]:
        """Try to lock the queue for this process, and return whether it succeeded; the lock ends with the process."""
        return held(self.folder / "uploader.lock")

    def working(self) -> bool:
        """Return whether an uploader works on the queue."""
        if not (self.folder / "uploader.lock").is_file():
            return False
        with self.taken() as free:
            return not free


def read_as(kind: TypeAdapter[Form], file: Path, away: Path) -> Form:
    """Return the value in a JSON file of the queue. Raises NotWhole, with the path to move away, and NoFile."""
    try:
        return kind.validate_python(read_object(file))
    except NoFile:
        raise
    except ValidationError as error:
        raise unreadable(file, away, first_fault(error)) from None
    except Unreadable as error:
        raise unreadable(file, away, error) from None


def unreadable(file: Path, away: Path, why: object) -> NotWhole:
    """Return the error for a file of the queue that cannot be read."""
    return NotWhole(f"{file} cannot be read ({why}): move {away} away")


def new_id() -> str:
    """Return a unique name that sorts after earlier ones."""
    return f"{int(time.time() * 1e6):017d}-{uuid.uuid4().hex[:8]}"


def bytes_of(files: Mapping[str, Path]) -> int:
    """Return the total size of files."""
    return sum(file.stat().st_size for file in files.values())


def link_or_copy(source: Path, target: Path) -> None:
    """Link the target to the source or copy it, and flush it to disk."""
    try:
        os.link(source, target)
    except OSError:  # another disk, or no support for hard links
        shutil.copyfile(source, target)
    flush(target)


def copy(source: Path, target: Path) -> None:
    """Copy the source to the target and flush it to disk."""
    shutil.copyfile(source, target)
    flush(target)


def flush(file: Path) -> None:
    """Flush a file to disk."""
    with file.open("rb") as stream:
        os.fsync(stream.fileno())


def alive(pid: int) -> bool:
    """Return whether a process with this id runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
