"""Files that are whole or not there, and a file that one process holds."""

import csv
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_text(file: Path, text: str) -> None:
    """The file holds the text, or what it held before."""
    with whole(file) as aside, aside.open("w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


@contextmanager
def whole(file: Path) -> Iterator[Path]:
    """Another name in the same folder to write under; what was written then stands as `file`, or nothing does."""
    aside = file.with_name(f".{os.getpid()}.{file.name}")
    try:
        yield aside
        aside.replace(file)
    finally:
        aside.unlink(missing_ok=True)


def whole_rows(file: Path) -> list[dict[str, str]]:
    """The rows of a CSV file with a heading, by column; not one that is still being written. Raises OSError, UnicodeDecodeError."""
    with file.open(newline="") as stream:
        return [row for row in csv.DictReader(stream) if None not in row.values()]


@contextmanager
def held(lock: Path) -> Iterator[bool]:
    """Whether this process alone holds the lock, a file; the system takes it back when the process dies."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
