"""Publications: folders under a prefix of a store (a shelf). Readers accept only those with a complete manifest.

    SHELF/NAME/...            the folder's files, written first
    SHELF/NAME/manifest.json  written second: all files with size and checksum
    SHELF/latest.json         written last: the name of the newest publication; best.json likewise

The contents of a published name never change, so concurrent readers see consistent data.
"""

import hashlib
import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ante.checks import finite
from ante.files import check_name
from ante.storage.errors import AlreadyPublished, BadStore, Damaged, NotThere, NotWhole
from ante.storage.store import Progress, Store, check_key, no_progress, sha256_of, under

MANIFEST = "manifest.json"
VERSION = 1
POINTERS = ("latest", "best")


@dataclass(frozen=True)
class Part:
    """A file of a publication: size in bytes and hex SHA-256."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The contents of a publication: parts by path, time of publication in seconds since 1970, and metadata."""

    name: str
    parts: dict[str, Part]
    published: float
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """Total size of all parts."""
        return sum(part.bytes for part in self.parts.values())

    def to_json(self) -> str:
        """Return the manifest as JSON, which `manifest_of` parses."""
        return json.dumps({"version": VERSION, **asdict(self)}, indent=1)


def manifest_of(text: bytes, where: str) -> Manifest:
    """Parse a manifest. Raises NotWhole."""
    try:
        found = json.loads(text)
        parts = {
            check_key(path): Part(int(part["bytes"]), str(part["sha256"])) for path, part in found["parts"].items()
        }
        published = finite("published", found["published"])
        return Manifest(check_name(found["name"]), parts, published, dict(found["metadata"]))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise NotWhole(
            f"{where} cannot be read ({error}): use another publication, or a newer version of ante"
        ) from None


def publish(
    store: Store,
    shelf: str,
    name: str,
    folder: Path,
    metadata: dict[str, Any],
    pointers: Sequence[str] = ("latest",),
    notes: Path | None = None,
    progress: Progress = no_progress,
) -> Manifest:
    """Publish the folder's files under SHELF/NAME and update the pointers. A retry sends only missing files.

    notes     a folder for the state of interrupted uploads of large files
    progress  called with the number of bytes that were sent or already stored

    Raises AlreadyPublished and the store's errors; the pointers are then unchanged.
    """
    parts = parts_of(folder)
    if not parts:
        raise BadStore(f"cannot publish {folder}: it contains no files")
    for pointer in pointers:
        if pointer not in POINTERS:
            raise BadStore(f"unknown pointer {pointer!r}: choose {' or '.join(POINTERS)}")
    item = under(shelf, name)
    before = published(store, item)
    if before and before.parts != parts:
        raise AlreadyPublished(f"{item} in {store.url} has other contents: publish under another name")
    if not before:
        for path, part in parts.items():
            put_part(store, f"{item}/{path}", folder / path, part, notes, progress)
        before = Manifest(name, parts, time.time(), metadata)
        store.put_bytes(f"{item}/{MANIFEST}", before.to_json().encode())
    for pointer in pointers:
        point(store, shelf, pointer, before)
    return before


def replace_files(
    store: Store,
    shelf: str,
    folder: Path,
    gone: Sequence[str],
    notes: Path | None = None,
    progress: Progress = no_progress,
) -> None:
    """Upload the folder's files under the shelf, replacing existing ones, and delete the paths `gone`."""
    for path, part in parts_of(folder).items():
        put_part(store, f"{shelf}/{path}", folder / path, part, notes, progress)
    for path in gone:
        store.delete(f"{shelf}/{path}")


def put_part(store: Store, key: str, file: Path, part: Part, notes: Path | None, progress: Progress) -> None:
    """Upload the part, unless the store already has it."""
    found = store.stat(key)
    if found and (found.bytes, found.sha256) == (part.bytes, part.sha256):
        progress(part.bytes)
        return
    resume = None
    if notes:
        notes.mkdir(parents=True, exist_ok=True)
        resume = notes / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"
    store.put_file(key, file, part.sha256, resume, progress)


def parts_of(folder: Path) -> dict[str, Part]:
    """Return a folder's files by their relative path."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    found = {
        check_key(file.relative_to(folder).as_posix()): Part(file.stat().st_size, sha256_of(file)) for file in files
    }
    for path in found:
        if path.rpartition("/")[2] == MANIFEST:
            raise BadStore(f"{folder / path} has the name of a publication's manifest: rename it")
    return found


def point(store: Store, shelf: str, pointer: str, manifest: Manifest) -> None:
    """Set `SHELF/POINTER.json` to the publication."""
    text = json.dumps({"name": manifest.name, "published": manifest.published, **manifest.metadata}, indent=1)
    store.put_bytes(under(shelf, f"{pointer}.json"), text.encode())


def pointed(store: Store, shelf: str, pointer: str = "latest") -> str:
    """Return the name of the publication that a pointer refers to. Raises NotThere, NotWhole."""
    key = under(shelf, f"{pointer}.json")
    try:
        return check_name(json.loads(store.get_bytes(key))["name"])
    except NotThere:
        raise NotThere(f"{key} does not exist in {store.url}: ante artifacts ls lists the publications") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise NotWhole(f"{key} in {store.url} cannot be read ({error}): give a publication's name instead") from None


def published(store: Store, item: str) -> Manifest | None:
    """Return the manifest published under this name, if any."""
    key = f"{item}/{MANIFEST}"
    return manifest_of(store.get_bytes(key), key) if store.stat(key) else None


def read_manifest(store: Store, item: str) -> Manifest:
    """Return the manifest of SHELF/NAME. Raises NotWhole if the publication is incomplete."""
    found = published(store, item)
    if found is None:
        raise NotWhole(f"{item} in {store.url} has no {MANIFEST}: its upload is incomplete; use another publication")
    return found


def fetch(store: Store, item: str, folder: Path, progress: Progress = no_progress) -> Manifest:
    """Download a publication to the new folder `folder` and verify all checksums.

    Raises NotWhole, Damaged, FileExistsError; the folder is then not created.
    """
    if folder.exists():
        raise FileExistsError(f"{folder} already exists: give a new folder")
    manifest, aside = read_manifest(store, item), folder.with_name(f".{folder.name}.part")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        for path, part in manifest.parts.items():
            try:
                found = store.get_file(f"{item}/{path}", aside / path, progress)
            except NotThere:
                raise NotWhole(f"{item} in {store.url} lacks {path}: use another publication") from None
            if found.sha256 != part.sha256:
                raise Damaged(f"{item}/{path} in {store.url} differs from the published file: use another publication")
        aside.rename(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return manifest
