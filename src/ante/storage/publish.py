"""Publications: folders under a shelf of a store, which readers trust only with a complete manifest.

    SHELF/NAME/...            the folder's files, written first
    SHELF/NAME/manifest.json  then this: every file with size and checksum
    SHELF/latest.json         then this, which names the newest one; best.json likewise

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

from ante.paths import check_name
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
    """The contents of a publication: parts by their path in it, seconds since 1970, and its writer's metadata."""

    name: str
    parts: dict[str, Part]
    published: float
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """Return the total size of all parts."""
        return sum(part.bytes for part in self.parts.values())

    def to_json(self) -> str:
        """Return text that `manifest_of` reads."""
        return json.dumps({"version": VERSION, **asdict(self)}, indent=1)


def manifest_of(text: bytes, where: str) -> Manifest:
    """Parse a manifest. Raises NotWhole."""
    try:
        found = json.loads(text)
        parts = {
            check_key(path): Part(int(part["bytes"]), str(part["sha256"])) for path, part in found["parts"].items()
        }
        return Manifest(check_name(found["name"]), parts, float(found["published"]), dict(found["metadata"]))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise NotWhole(
            f"{where} cannot be read ({error}): take another publication, or a newer version of ante"
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

    notes  a folder for the state of interrupted uploads of large files
    advance  called with the number of bytes that were sent or were stored already
    Raises AlreadyPublished, and what the store raises; then the pointers still name what they named before.
    """
    parts = parts_of(folder)
    if not parts:
        raise BadStore(f"cannot publish {folder}: it holds no file")
    for pointer in pointers:
        if pointer not in POINTERS:
            raise BadStore(f"there is no pointer {pointer!r}: choose {' or '.join(POINTERS)}")
    item = under(shelf, name)
    before = standing(store, item)
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
    there = store.stat(key)
    if there and (there.bytes, there.sha256) == (part.bytes, part.sha256):
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
            raise BadStore(f"{folder / path} would be taken for the publication's own: name it differently")
    return found


def point(store: Store, shelf: str, pointer: str, manifest: Manifest) -> None:
    """Make `SHELF/POINTER.json` name the publication."""
    text = json.dumps({"name": manifest.name, "published": manifest.published, **manifest.metadata}, indent=1)
    store.put_bytes(under(shelf, f"{pointer}.json"), text.encode())


def pointed(store: Store, shelf: str, pointer: str = "latest") -> str:
    """Return the name that a pointer holds. Raises NotThere, NotWhole."""
    key = under(shelf, f"{pointer}.json")
    try:
        return check_name(json.loads(store.get_bytes(key))["name"])
    except NotThere:
        raise NotThere(f"nothing is published as {key} in {store.url}: ante artifacts ls shows what there is") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise NotWhole(f"{key} in {store.url} cannot be read ({error}): name a publication instead") from None


def standing(store: Store, item: str) -> Manifest | None:
    """Return the manifest published under this name, if any."""
    key = f"{item}/{MANIFEST}"
    return manifest_of(store.get_bytes(key), key) if store.stat(key) else None


def read_manifest(store: Store, item: str) -> Manifest:
    """Return the manifest of SHELF/NAME. Raises NotWhole if the publication is incomplete."""
    found = standing(store, item)
    if found is None:
        raise NotWhole(f"{item} in {store.url} has no {MANIFEST}: it was never completely published; take another one")
    return found


def fetch(store: Store, item: str, folder: Path, progress: Progress = no_progress) -> Manifest:
    """Download a publication to the new folder `folder` and verify every checksum.

    Raises NotWhole, Damaged, FileExistsError; then there is no such folder.
    """
    if folder.exists():
        raise FileExistsError(f"{folder} exists already: name a new folder")
    manifest, aside = read_manifest(store, item), folder.with_name(f".{folder.name}.part")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        for path, part in manifest.parts.items():
            try:
                found = store.get_file(f"{item}/{path}", aside / path, progress)
            except NotThere:
                raise NotWhole(f"{item} in {store.url} has lost {path}: take another one") from None
            if found.sha256 != part.sha256:
                raise Damaged(f"{item}/{path} in {store.url} is not what was published: take another one")
        aside.rename(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return manifest
