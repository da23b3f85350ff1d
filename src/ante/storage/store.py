"""The one protocol behind which runs are kept, and names of stores and of what they hold."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ante.paths import BadPath, check_path
from ante.storage.errors import BadStore

CHUNK = 1 << 20
Progress = Callable[[int], None]  # is called with the number of bytes that went through since the last call


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
    """Objects under keys such as `runs/ppo/config.yaml`. An object is stored completely or not at all; every method may
    raise a StorageError.
    """

    url: str

    def put_file(
        self,
        key: str,
        file: Path,
        sha256: str | None = None,
        resume: Path | None = None,
        progress: Progress = no_progress,
    ) -> Stat:
        """The object holds the file's bytes. Raises Damaged where they do not have the checksum given.

        resume  a file of notes; an interrupted upload continues from it, and it is removed at the end
        """

    def put_bytes(self, key: str, data: bytes) -> Stat:
        """The object holds the bytes."""

    def get_file(self, key: str, file: Path, progress: Progress = no_progress) -> Stat:
        """The file holds the object's bytes, or what it held before. Raises NotThere, Damaged."""

    def get_bytes(self, key: str) -> bytes:
        """The object's bytes. Raises NotThere, Damaged."""

    def stat(self, key: str) -> Stat | None:
        """What is known of an object, None where there is none."""

    def list(self, prefix: str = "") -> Iterator[Stat]:
        """Objects whose keys begin with a prefix, in the order of keys, without checksums."""

    def delete(self, key: str) -> None:
        """Delete the object, if it exists."""


def exists(store: Store, key: str) -> bool:
    """Whether there is such an object."""
    return store.stat(key) is not None


def split_url(url: str | Path) -> tuple[str, str]:
    """`file` and a folder, or `s3` and bucket/prefix, which may both be empty. Raises BadStore."""
    text = str(url)
    scheme, separator, rest = text.partition("://")
    if not separator:
        return "file", text
    if "@" in rest.partition("/")[0]:
        raise BadStore("a store's URL carries no credentials: put them into S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY")
    if scheme == "s3" or (scheme == "file" and rest.startswith("/")):
        return scheme, rest
    raise BadStore(f"there is no store {text!r}: write a folder, file:///folder or s3://bucket/prefix")


def under(prefix: str, name: str) -> str:
    """The key of a name under a prefix, which may be empty."""
    return f"{prefix}/{name}" if prefix else name


def check_key(key: str) -> str:
    """The key, where it is one: a path as `ante.paths` takes it. Raises BadStore."""
    try:
        return check_path(key, "a key")
    except BadPath as error:
        raise BadStore(str(error)) from None


def sha256_of(file: Path) -> str:
    """A file's SHA-256 in hex."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
