"""A lock for one training at a time in a folder; the operating system releases it when the process exits."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ante.errors import BalatroError
from ante.files import FOLDER_LOCK, NO_LOCKS, held, read_bytes

MOST = 1000  # maximum bytes of its contents


class RunInUse(BalatroError):
    """The run is being trained by another process."""


class RunTaken(BalatroError, ValueError):
    """A new run has the name of an existing one."""


class RunGone(BalatroError):
    """The run's folder was moved or deleted during training."""


class BadFolder(BalatroError, OSError):
    """The run's folder cannot be created or written."""


@dataclass(frozen=True)
class RunLock:
    """The lock of a run, held by this process; device and inode are unset if the file system has no locks."""

    folder: Path
    inode: tuple[int, int] | None

    def in_place(self) -> bool:
        """Return whether the folder is still the one that was locked."""
        return self.inode is None or inode_of(self.folder / FOLDER_LOCK) == self.inode

    def check(self) -> None:
        """Raise RunGone if the folder was moved or deleted, so that nothing is written to its name."""
        if not self.in_place():
            raise RunGone(
                f"run {self.folder} was moved or deleted during training: nothing more is written; "
                "continue it from its last checkpoint with ante train --resume FOLDER"
            )


@contextmanager
def locked(folder: Path, kind: str = "run", other: str = "choose another --name or --runs") -> Iterator[RunLock]:
    """Hold the lock of the folder of a run, or of a sweep. Raises RunInUse, BadFolder.

    kind, other  words of the errors: what the folder contains, and how to choose another folder

    Processes on other machines are excluded too if the shared file system supports flock, as NFS does. Without support
    for locks no process is excluded.
    """
    file = folder / FOLDER_LOCK
    with ExitStack() as stack:
        mine: bool | None = None
        try:
            mine = stack.enter_context(held(file, holder()))
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise BadFolder(f"{kind} {folder} cannot be written ({error.strerror}): {other}") from None
        if mine is False:
            raise RunInUse(
                f"{kind} {folder} is being trained by {holder_in(file)}: wait until it ends or stop it, or {other}"
            )
        yield RunLock(folder, inode_of(file) if mine else None)


def check_free(folder: Path) -> None:
    """Raise RunTaken if the folder has a run, and RunInUse if that is being trained; return at once otherwise."""
    if (folder / "config.yaml").exists():
        with locked(folder):
            raise RunTaken(f"run {folder} exists: continue it with --resume {folder}, or choose another --name")


def holder() -> str:
    """Return a description of this process for the lock file."""
    started = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "started": started})


def holder_in(file: Path) -> str:
    """Return the holder of a lock as text."""
    try:
        found = json.loads(read_bytes(file, MOST))
        return f"process {int(found['pid'])} on {str(found['host'])!r} since {str(found['started'])!r}"
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return "another process"


def inode_of(file: Path) -> tuple[int, int] | None:
    """Return device and inode of a file, or None if it is missing."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
