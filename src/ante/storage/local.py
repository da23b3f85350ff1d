"""A store in a local folder. `.name.sha256` contains the checksum of `name` in the format of `sha256sum -c`."""

import errno
import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ante.files import LARGEST, BadPath, NoFile, inside, read_text, whole, write_text
from ante.storage.errors import BadStore, Damaged, NoAccess, NotThere, StoreFull, TooLarge
from ante.storage.store import CHUNK, Progress, Stat, check_key, no_progress, sha256_of

SUMS_BYTES = 1 << 16  # bytes of a file of checksums
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class LocalStore:
    """Objects as files under a folder, which need not exist yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.expanduser().absolute()
        self.url = f"file://{self.folder}"

    def __repr__(self) -> str:
        return f"LocalStore({self.url})"

    def put_file(
        self,
        key: str,
        file: Path,
        sha256: str | None = None,
        resume: Path | None = None,
        progress: Progress = no_progress,
    ) -> Stat:
        """See Store. An interrupted copy restarts from the beginning."""
        with file.open("rb") as stream:
            return self._put(key, stream, sha256, progress)

    def put_bytes(self, key: str, data: bytes) -> Stat:
        """See Store."""
        return self._put(key, io.BytesIO(data), None, no_progress)

    def _put(self, key: str, stream: BinaryIO, sha256: str | None, progress: Progress) -> Stat:
        target = self._file(key)
        with in_words(key, self.folder):
            target.parent.mkdir(parents=True, exist_ok=True)
            with whole(target) as aside:
                with aside.open("wb") as copy:
                    found = copied(stream, copy, progress)
                    copy.flush()
                    os.fsync(copy.fileno())
                if sha256 not in (None, found):
                    raise Damaged(f"{key} has the checksum {found[:12]} instead of {str(sha256)[:12]}: not written")
                # Until the rename, readers may open the old file: both checksums are valid.
                write_sums(target, [found, *sums(target)[:1]])
            write_sums(target, [found])
            sync_folder(target.parent)
        return Stat(key, target.stat().st_size, found, target.stat().st_mtime)

    def get_file(self, key: str, file: Path, progress: Progress = no_progress) -> Stat:
        """See Store."""
        source = self._there(key)
        with in_words(file, file.parent):
            file.parent.mkdir(parents=True, exist_ok=True)
            with whole(file) as aside:
                with source.open("rb") as stream, aside.open("wb") as copy:
                    found = copied(stream, copy, progress)
                    copy.flush()
                    os.fsync(copy.fileno())
                self._compare(key, source, found)
        return Stat(key, source.stat().st_size, found, source.stat().st_mtime)

    def get_bytes(self, key: str, most: int = LARGEST) -> bytes:
        """See Store."""
        source = self._there(key)
        with source.open("rb") as stream:
            data = stream.read(most + 1)
        if len(data) > most:
            raise TooLarge(key, self.url, most)
        self._compare(key, source, hashlib.sha256(data).hexdigest())
        return data

    def get_part(self, key: str, start: int, length: int) -> bytes:
        """See Store."""
        with self._there(key).open("rb") as stream:
            stream.seek(start)
            return stream.read(length)

    def digest(self, key: str) -> str:
        """See Store."""
        source = self._there(key)
        found = sha256_of(source)
        self._compare(key, source, found)
        return found

    def stat(self, key: str) -> Stat | None:
        """See Store."""
        file = self._file(key)
        if not file.is_file():
            return None
        known = sums(file)
        if len(known) > 1:  # a writer was killed between writing the file and its checksum
            known = [sha256_of(file)]
        return Stat(key, file.stat().st_size, known[0] if known else None, file.stat().st_mtime)

    def list(self, prefix: str = "") -> Iterator[Stat]:
        """See Store."""
        start = self.folder / prefix.rpartition("/")[0]
        files = (file for file in start.rglob("*") if file.is_file() and not file.is_symlink())
        keys = sorted((file.relative_to(self.folder).as_posix(), file) for file in files)
        for key, file in keys:
            if key.startswith(prefix) and not any(part.startswith(".") for part in key.split("/")):
                facts = file.stat()
                yield Stat(key, facts.st_size, None, facts.st_mtime)

    def delete(self, key: str) -> None:
        """See Store. Also deletes folders that become empty."""
        file = self._file(key)
        file.unlink(missing_ok=True)
        sum_file(file).unlink(missing_ok=True)
        for folder in file.parents:
            if folder == self.folder or not folder.is_dir() or any(folder.iterdir()):
                break
            folder.rmdir()

    def _file(self, key: str) -> Path:
        try:
            return inside(self.folder, check_key(key))
        except BadPath as error:
            raise BadStore(f"{key} in {self.url}: {error}") from None

    def _there(self, key: str) -> Path:
        file = self._file(key)
        if not file.is_file():
            raise NotThere(f"{key} does not exist in {self.url}: ante artifacts ls lists the publications")
        return file

    def _compare(self, key: str, file: Path, found: str) -> None:
        known = sums(file)
        if known and found not in known:
            raise Damaged(
                f"{key} in {self.url} has the checksum {found[:12]} instead of {known[0][:12]}: "
                "its contents changed since they were written; use another publication"
            )


def copied(source: BinaryIO, target: BinaryIO, progress: Progress) -> str:
    """Copy the rest of the source to the target and return its SHA-256."""
    digest = hashlib.sha256()
    while chunk := source.read(CHUNK):
        target.write(chunk)
        digest.update(chunk)
        progress(len(chunk))
    return digest.hexdigest()


def sum_file(file: Path) -> Path:
    """Return the path of a file's checksum."""
    return file.with_name(f".{file.name}.sha256")


def sums(file: Path) -> list[str]:
    """Return the valid checksums of a file: one, two during its replacement, or none if unknown. Raises Unreadable."""
    try:
        lines = read_text(sum_file(file), SUMS_BYTES).splitlines()
    except NoFile:
        return []
    return [line.split()[0] for line in lines if line.strip()]


def write_sums(file: Path, known: list[str]) -> None:
    """Write the checksums of a file."""
    write_text(sum_file(file), "".join(f"{value}  {file.name}\n" for value in known))


def sync_folder(folder: Path) -> None:
    """Flush the directory entries to disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def in_words(what: object, folder: Path) -> Iterator[None]:
    """Translate the errors of a full or read-only disk. Raises StoreFull, NoAccess."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise StoreFull(
                f"cannot write {what}: {error.strerror}; free some space under {folder}; no partial file remains"
            ) from None
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise NoAccess(f"cannot write {what}: {error.strerror}; grant write permission on {folder}") from None
        raise
