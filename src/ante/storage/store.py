"""The protocol of stores for runs, and the validation of URLs and object keys."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ante.files import LARGEST, BadPath, check_path
from ante.storage.errors import BadStore

CHUNK = 1 << 20
Progress = Callable[[int], None]  # called with the number of bytes transferred since the last call


@dataclass(frozen=True)
class Stat:
    """An object: key, size in bytes, hex SHA-256 (None if it was not recorded, and in listings), seconds since 1970."""

    key: str
    bytes: int
    sha256: str | None
    modified: float


def no_progress(_: int) -> None:
    """Ignore progress."""


class Store(Protocol):
    """Objects under keys such as `runs/ppo/config.yaml`. Writes are atomic. All methods may raise a StorageError."""

    url: str

    def put_file(
        self,
        key: str,
        file: Path,
        sha256: str | None = None,
        resume: Path | None = None,
        progress: Progress = no_progress,
    ) -> Stat:
        """Store a file as an object. Raises Damaged if the file does not have the checksum `sha256`.

        resume  a file for the state of an interrupted upload, deleted after completion
        """

    def put_bytes(self, key: str, data: bytes) -> Stat:
        """Store bytes as an object."""

    def get_file(self, key: str, file: Path, progress: Progress = no_progress) -> Stat:
        """Write an object to a file, which is unchanged on failure. Raises NotThere, Damaged."""

    def get_bytes(self, key: str, most: int = LARGEST) -> bytes:
        """Return the bytes of an object of at most `most` bytes. Raises NotThere, Damaged, TooLarge."""

    def get_part(self, key: str, start: int, length: int) -> bytes:
        """Return up to `length` bytes of an object from `start`, without verifying its checksum. Raises NotThere."""

    def digest(self, key: str) -> str:
        """Return the hex SHA-256 of an object, which is read in blocks. Raises NotThere, Damaged."""

    def stat(self, key: str) -> Stat | None:
        """Return the metadata of an object, or None if it does not exist."""

    def list(self, prefix: str = "") -> Iterator[Stat]:
        """Yield the objects whose keys begin with a prefix, sorted by key, without checksums."""

    def delete(self, key: str) -> None:
        """Delete the object, if it exists."""


def exists(store: Store, key: str) -> bool:
    """Return whether an object exists."""
    return store.stat(key) is not None


def split_url(url: str | Path) -> tuple[str, str]:
    """Split a URL into `file` and a folder, or `s3` and bucket/prefix (both may be empty). Raises BadStore."""
    text = str(url)
    scheme, separator, rest = text.partition("://")
    if not separator:
        return "file", text
    if "@" in rest.partition("/")[0]:
        raise BadStore("a store's URL must not contain credentials: set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY")
    if scheme == "s3" or (scheme == "file" and rest.startswith("/")):
        return scheme, rest
    raise BadStore(f"{text!r} is not a store: write a folder, file:///folder or s3://bucket/prefix")


def under(prefix: str, name: str) -> str:
    """Return the key of a name under a prefix, which may be empty."""
    return f"{prefix}/{name}" if prefix else name


def check_key(key: str) -> str:
    """Return the key if it is a valid path (see `ante.files`). Raises BadStore."""
    try:
        return check_path(key, "a key")
    except BadPath as error:
        raise BadStore(str(error)) from None


def sha256_of(file: Path) -> str:
    """Return a file's SHA-256 in hex."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
