"""Atomic writes, bounded reads of untrusted files, paths that must not leave their folder, and file locks."""

import csv
import errno
import fcntl
import gzip
import io
import json
import math
import os
import re
import stat
import time
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ante.errors import BalatroError, shown

LARGEST = 64 << 20  # bytes of a file that is read into memory, compressed or not
LARGEST_TABLE = 1 << 28  # bytes of a CSV file
DEEPEST = 50  # nesting depth of JSON
FOLDER_LOCK = ".lock"  # in the folder of a run or a sweep, held during training, and of a league, held while it changes
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)  # errors of a file system without locks
PROBE_SECONDS = 0.05  # far longer than `is_held` holds a lock
BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]')  # brackets and strings of valid JSON
LONGEST_PATH, LONGEST_NAME = 1024, 255  # bytes of a path (S3's limit) and of a name in it (file systems' limit)
DRIVE = re.compile(r"[A-Za-z]:")
UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")  # Unicode categories: control characters, surrogates, line separators
KINDS = {
    stat.S_ISDIR: "a folder",
    stat.S_ISFIFO: "a pipe",
    stat.S_ISSOCK: "a socket",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
}


class Unreadable(BalatroError, ValueError):
    """A file cannot be read or has unexpected contents."""


class NoFile(Unreadable, FileNotFoundError):
    """A file does not exist."""


def check_regular(file: Path) -> None:
    """Check that a regular file exists, for libraries that open it themselves. Raises Unreadable, NoFile."""
    with opened(file):
        pass


def read_bytes(file: Path, most: int = LARGEST) -> bytes:
    """Return the contents of a regular file of at most `most` bytes. Raises Unreadable, NoFile."""
    with opened(file) as stream:
        data = stream.read(most + 1) if os.fstat(stream.fileno()).st_size <= most else None
    if data is None or len(data) > most:
        del data  # not to be kept in memory by the traceback of the error
        raise Unreadable(f"cannot read {file}: it is larger than the limit of {most:,} bytes")
    return data


@contextmanager
def opened(file: Path) -> Iterator[BinaryIO]:
    """Open a regular file for reading. Raises Unreadable, NoFile."""
    if "\0" in str(file):
        raise Unreadable(f"cannot read {str(file)!r}: file names cannot contain null bytes")
    try:
        # O_NONBLOCK: opening a pipe without a writer must not block.
        number = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        mode = os.fstat(number).st_mode
        if not stat.S_ISREG(mode):
            os.close(number)  # `open` raises an error for a folder and leaves it open
            kind = next((name for matches, name in KINDS.items() if matches(mode)), "something else")
            raise Unreadable(f"cannot read {file}: it is {kind}, not a file")
        with open(number, "rb") as stream:
            yield stream
    except FileNotFoundError:
        raise NoFile(f"cannot read {file}: the file does not exist") from None
    except OSError as error:
        raise Unreadable(f"cannot read {file}: {error.strerror}") from None


def unpacked(data: bytes, name: Path | str, most: int = LARGEST) -> bytes:
    """Return the data, decompressed if it is gzip, up to `most` bytes. Raises Unreadable."""
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        found = gzip.GzipFile(fileobj=io.BytesIO(data)).read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise Unreadable(f"cannot read {name}: the gzip file is damaged or incomplete: {error}") from None
    if len(found) > most:
        del found  # as in `read_bytes`
        raise Unreadable(f"cannot read {name}: it is larger than the limit of {most:,} bytes after decompression")
    return found


def read_text(file: Path, most: int = LARGEST, encoding: str = "utf-8") -> str:
    """Return the text of a file, gzip or plain. Raises Unreadable."""
    return decoded(unpacked(read_bytes(file, most), file, most), file, encoding)


def decoded(data: bytes, name: Path | str, encoding: str = "utf-8") -> str:
    """Decode bytes as text. Raises Unreadable."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"cannot read {name}: byte {error.start + 1} is not {encoding} text: is it a text file?"
        ) from None


def read_json(file: Path, most: int = LARGEST) -> Any:
    """Return the contents of a JSON file, gzip or plain. Raises Unreadable."""
    return parse_json(read_text(file, most), file)


def read_object(file: Path) -> dict[str, Any]:
    """Return the object in a JSON file. Raises Unreadable."""
    found = read_json(file)
    if not isinstance(found, dict):
        raise Unreadable(f"cannot read {file}: it contains {shown(found)}, not a JSON object")
    return found


def parse_json(text: str, name: Path | str) -> Any:
    """Parse JSON text. Raises Unreadable, with the line."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise Unreadable(
            f"cannot read {name}: invalid JSON in line {error.lineno}, column {error.colno}: {error.msg}"
        ) from None
    except RecursionError:
        raise too_deep(name) from None
    except ValueError as error:  # an integer of thousands of digits
        raise Unreadable(f"cannot read {name}: {error}") from None
    level = 0
    for bracket in BRACKETS.findall(text):
        level += (bracket in ("[", "{")) - (bracket in ("]", "}"))
        if level > DEEPEST:
            raise too_deep(name)
    return found


def plain(value: Any) -> Any:
    """Return the data as JSON values: None for NaN and infinite numbers, text for anything else that JSON lacks."""
    if isinstance(value, dict):
        return {
            key if key is None or isinstance(key, (str, int)) else str(key): plain(each) for key, each in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int)) else str(value)


def too_deep(name: Path | str) -> Unreadable:
    """Return the error for JSON that is nested too deeply."""
    return Unreadable(f"cannot read {name}: its lists and objects are nested more than {DEEPEST} levels deep")


def write_text(file: Path, text: str) -> None:
    """Write the text to the file atomically."""
    with whole(file) as aside, aside.open("w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


@contextmanager
def whole(file: Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder; it replaces `file` on success and is removed on failure."""
    aside = file.with_name(f".{os.getpid()}.{file.name}")
    try:
        yield aside
        aside.replace(file)
    finally:
        aside.unlink(missing_ok=True)


def write_gzip(file: Path, data: bytes) -> None:
    """Write a gzip file, completely or not at all. Equal data give equal files. Raises OSError."""
    with whole(file) as aside:
        aside.write_bytes(gzip.compress(data, mtime=0))


def whole_lines(file: Path) -> list[str]:
    """Return the lines of a file, none if it does not exist; an incomplete last line is skipped. Raises Unreadable."""
    try:
        return read_text(file).split("\n")[:-1]
    except NoFile:
        return []


def append_lines(file: Path, lines: Sequence[str]) -> None:
    """Append lines and flush them to disk, after removing an incomplete last line."""
    with file.open("a+b") as stream:
        stream.seek(0)
        stream.truncate(stream.read().rfind(b"\n") + 1)
        stream.write("".join(f"{line}\n" for line in lines).encode())
        stream.flush()
        os.fsync(stream.fileno())


def whole_rows(file: Path) -> list[dict[str, str]]:
    """Return the rows of metrics.csv by column, each cell a number or empty; an incomplete last row is skipped.

    Raises Unreadable, with the line, and NoFile.
    """
    lines = csv.DictReader(io.StringIO(read_text(file, LARGEST_TABLE), newline=""))
    found = []
    try:
        for row in lines:
            if None in row or None in row.values():
                continue
            for name, text in row.items():
                if not is_number(text):
                    place = f"line {lines.line_num}, column {shown(name)}"
                    raise Unreadable(f"cannot read {file}: {place} is {shown(text)}, not a number")
            found.append(row)
    except csv.Error as error:
        raise Unreadable(f"cannot read {file}: line {lines.line_num}: {error}") from None
    return found


def is_number(text: str) -> bool:
    """Return whether a cell is a number or empty."""
    try:
        float(text or "nan")
    except ValueError:
        return False
    return True


@contextmanager
def held(lock: Path, about: str = "") -> Iterator[bool]:
    """Yield whether this process acquired the lock file; the operating system releases it when the process ends.

    about  contents of the lock file, which remain after release
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    with open(lock, "a", opener=opened_at_once) as stream:
        if not acquired(stream.fileno()):
            yield False
            return
        if about:
            stream.truncate(0)
            stream.write(about)
            stream.flush()
        yield True


@contextmanager
def exclusive(lock: Path) -> Iterator[None]:
    """Hold a lock file for a short change, after waiting for other processes; a file system without locks excludes none."""
    with open(lock, "a", opener=opened_at_once) as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
        yield


def opened_at_once(file: str, flags: int) -> int:
    """Open a file as `open` does; a pipe without a reader raises OSError instead of blocking."""
    return os.open(file, flags | os.O_NONBLOCK, 0o666)


def acquired(file: int) -> bool:
    """Lock an open file for this process alone and return whether it worked; a reader's probe delays it only."""
    for pause in (PROBE_SECONDS, 0.0):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(pause)
    return False


def is_held(lock: Path) -> bool:
    """Return whether a process holds a lock file. The file of a process that ended is free, and so is a missing one."""
    try:
        with opened(lock) as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            except OSError:  # the file system has no locks
                return False
    except Unreadable:
        return False
    return False


class Unwritable(BalatroError, OSError):
    """A file or folder cannot be written."""


def check_output_file(file: Path, makes_folder: bool = False) -> Path:
    """Return the file, which need not exist, if it can be written, for a check before long work. Raises Unwritable.

    makes_folder  whether its writer creates missing folders
    """
    if file.exists() and not file.is_file():
        raise Unwritable(f"cannot write {file}: it exists and is not a file; give a file in an existing folder")
    folder = file.absolute().parent
    if not makes_folder and not folder.is_dir():
        raise Unwritable(f"cannot write {file}: there is no folder {folder}; give a file in an existing folder")
    check_output_folder(folder)
    return file


def check_output_folder(folder: Path) -> Path:
    """Return the folder if it can be written, or created. Raises Unwritable."""
    whole_path = folder.absolute()
    near = next(each for each in (whole_path, *whole_path.parents) if each.exists())
    if not near.is_dir():
        raise Unwritable(f"cannot write to {folder}: {near} is not a folder; give another folder")
    if not os.access(near, os.W_OK | os.X_OK):
        raise Unwritable(f"cannot write to {folder}: no permission to write in {near}; give another folder")
    return folder


class BadPath(BalatroError, ValueError):
    """A path leaves its folder, or is invalid in file systems."""


def check_path(path: object, what: str = "a path") -> str:
    """Return a valid relative path: names joined by `/`, none of which begins with a dot. Raises BadPath.

    `..`, absolute paths, drive letters, backslashes, control characters and long names are rejected. `what` describes
    the path in the error.
    """
    if not isinstance(path, str) or not path:
        raise BadPath(f"{shown(path)} is not {what}: use names joined by /")
    if any(unicodedata.category(letter) in UNPRINTABLE for letter in path):
        raise BadPath(f"{shown(path)} is not {what}: it contains control characters; use names joined by /")
    names = path.split("/")
    if DRIVE.match(path) or any(not name or name.startswith(".") or "\\" in name for name in names):
        raise BadPath(f"{shown(path)} is not {what}: use names joined by /, none of which begins with a dot")
    if len(path.encode()) > LONGEST_PATH or any(len(name.encode()) > LONGEST_NAME for name in names):
        raise BadPath(
            f"{shown(path)} is too long: the limit is {LONGEST_NAME} bytes for a name and {LONGEST_PATH} in total"
        )
    return path


def check_name(name: object) -> str:
    """Return a path of a single name. Raises BadPath."""
    if "/" in check_path(name):
        raise BadPath(f"{shown(name)} is not a name: it contains a /")
    return str(name)


def inside(folder: Path, path: object) -> Path:
    """Return the file or folder of a path inside `folder`; it need not exist. Raises BadPath.

    Symbolic links below `folder` are rejected, because they may lead out of it; `folder` itself may be one.
    """
    file = folder
    for name in check_path(path).split("/"):
        file = file / name
        if file.is_symlink():
            raise BadPath(f"{file} is a symbolic link, which is not followed: replace it by the file itself")
    return file
