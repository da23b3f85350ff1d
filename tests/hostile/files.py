"""Unexpected kinds of files, and valid documents with one error."""

import copy
import gzip
import io
import json
import os
import random
import socket
import zipfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

Make = Callable[[Path], Path]
BOMB = 1 << 30  # unpacked bytes of a bomb
WORDS = ("million lines", "null", "true", "number", "infinite number", "not a number")  # files of valid seeds
NAME = "input"


def holds(data: bytes | Callable[[], bytes], name: str = NAME) -> Make:
    """Return a maker of a file with these bytes, or with those that a function returns then."""

    def make(folder: Path) -> Path:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data() if callable(data) else data)
        return file

    return make


def named(data: bytes) -> Callable[[Path, str], Path]:
    """Return a maker of the same file with a name that is set later."""
    return lambda folder, name: holds(data, name)(folder)


@cache
def gzip_bomb(size: int = BOMB) -> bytes:
    """Return a gzip file of a thousandth of its unpacked size."""
    out = io.BytesIO()
    block = bytes(1 << 20)
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0, compresslevel=1) as stream:
        for _ in range(size // len(block)):
            stream.write(block)
    return out.getvalue()


@cache
def zip_bomb(member: str = "weights.npy", size: int = BOMB) -> bytes:
    """Return a zip file with a member of this unpacked size."""
    out = io.BytesIO()
    block = bytes(1 << 20)
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(member, "w") as stream,
    ):
        for _ in range(size // len(block)):
            stream.write(block)
    return out.getvalue()


def sparse(folder: Path, name: str) -> Path:
    """Create a sparse file of a terabyte of zeros."""
    file = folder / name
    file.touch()
    os.truncate(file, 1 << 40)
    return file


def pipe(folder: Path, name: str) -> Path:
    """Create a named pipe without a writer."""
    os.mkfifo(folder / name)
    return folder / name


def link(to: str) -> Callable[[Path, str], Path]:
    """Return a maker of a symbolic link."""

    def make(folder: Path, name: str) -> Path:
        (folder / name).symlink_to(to.replace("{}", str(folder / name)))
        return folder / name

    return make


def directory(folder: Path, name: str) -> Path:
    """Create a folder in place of a file."""
    (folder / name).mkdir()
    return folder / name


def listening(folder: Path, name: str) -> Path:
    """Create a Unix socket."""
    here = Path.cwd()
    os.chdir(folder)  # a socket's path has at most about 100 characters
    try:
        with socket.socket(socket.AF_UNIX) as own:
            own.bind(name)
    finally:
        os.chdir(here)
    return folder / name


def noise(size: int, seed: int = 0) -> bytes:
    """Return random bytes that depend on the seed."""
    return random.Random(seed).randbytes(size)


# Files that every reader must refuse, by name: (folder, name of the file) -> the file.
NEVER: dict[str, Callable[[Path, str], Path]] = {
    "missing": lambda folder, name: folder / name,
    "directory": directory,
    "named pipe": pipe,
    "socket": listening,
    "endless device": link("/dev/zero"),
    "terminal device": link("/dev/tty"),
    "link to itself": link("{}"),
    "link to nothing": link("/no/such/file"),
    "terabyte": sparse,
    "name of 300 letters": lambda folder, name: folder / ("n" * 300 + name),
    "through a file": lambda folder, name: holds(b"x", "plain")(folder) / name,
    **{
        title: named(data)
        for title, data in {
            "noise": noise(5000),
            "noise that begins like gzip": b"\x1f\x8b" + noise(500, 1),
            "zeros": bytes(4096),
            "utf-16": "ante replay 1\n".encode("utf-16"),
            "byte order mark": b"\xef\xbb\xbf{}",
            "latin-1": "größe".encode("latin-1"),
            "escape sequences": b"\x1b]0;owned\x07\x1b[2J\n",
            "one long line": b"x" * 3_000_000,
            "million lines": b"x\n" * 1_000_000,
            "deep list": b"[" * 100_000,
            "deep object": b'{"a":' * 100_000,
            "closed deep list": b"[" * 100_000 + b"]" * 100_000,
            "null": b"null",
            "true": b"true",
            "number": b"7",
            "huge number": b"9" * 5000,
            "infinite number": b"1e999",
            "not a number": b"NaN",
            "string": b'"text"',
            "list": b"[]",
            "list of lists": b"[[]]",
            "list of null": b"[null]",
            "object": b"{}",
            "cut object": b'{"a": 1',
            "pickle": b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x07os.path\x94.",
        }.items()
    },
}
BOMBS: dict[str, Callable[[Path, str], Path]] = {
    "gzip bomb": lambda folder, name: holds(gzip_bomb(), name)(folder),
    "zip bomb": lambda folder, name: holds(zip_bomb(), name)(folder),
}

WRONG: tuple[Any, ...] = (None, True, -1, 2**31, 2**63, 10**30, 1.5, 1e99, float("nan"), float("inf"), "", "x\x1b[2J", "\u0131",
                          "../../x", "y" * 400, [], {}, [[[[]]]], {"a": {"b": 1}})  # fmt: skip


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of values in a document of lists and objects; only the first and the last item of a list."""
    if path:
        yield path
    if isinstance(document, dict):
        for key, value in document.items():
            yield from places(value, (*path, key))
    elif isinstance(document, list):
        for at in sorted({0, len(document) - 1} if document else ()):
            yield from places(document[at], (*path, at))


def changed(document: Any, path: tuple[Any, ...], value: Any, end: bytes) -> bytes:
    """Return the JSON text of the document with another value at one path, and `end`; DELETED removes the value."""
    found = copy.deepcopy(document)
    within = found
    for step in path[:-1]:
        within = within[step]
    if value is DELETED:
        del within[path[-1]]
    else:
        within[path[-1]] = value
    return json.dumps(found).encode() + end


DELETED = object()


def corrupted(document: Any, end: bytes) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield names, and functions that return the JSON text of the document with one value removed or changed."""
    for path in places(document):
        at = ".".join(map(str, path))
        for number, value in enumerate((*WRONG, DELETED)):
            shown = "left out" if value is DELETED else json.dumps(value)[:12]
            yield f"{at} = {shown} ({number})", partial(changed, document, path, value, end)


def cut(data: bytes, pieces: int = 5) -> Iterator[tuple[str, bytes]]:
    """Yield prefixes of a file."""
    for number in range(pieces):
        yield f"first {number} of {pieces} parts", data[: len(data) * number // pieces]
