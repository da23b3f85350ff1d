"""Listing and verification of publications in a store, and verified copies of stores."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from tempfile import TemporaryDirectory

from ante.storage.errors import BadStore, Damaged, NotThere, NotWhole
from ante.storage.local import LocalStore
from ante.storage.publish import MANIFEST, POINTERS, Part, read_manifest
from ante.storage.store import Progress, Stat, Store, no_progress, under


@dataclass
class Shelf:
    """A prefix that contains publications: their files by path, and the names of pointers."""

    items: dict[str, dict[str, Stat]] = field(default_factory=dict)
    pointers: list[str] = field(default_factory=list)

    @property
    def finished(self) -> list[str]:
        """Names of publications with a manifest."""
        return [name for name, files in self.items.items() if MANIFEST in files]


@dataclass(frozen=True)
class Finding:
    """A defect of a publication: `unfinished`, or a part that is `missing` or has a wrong `size` or `checksum`."""

    item: str
    part: str
    wrong: str


def shelves(store: Store, prefix: str = "") -> dict[str, Shelf]:
    """Return the shelves under a prefix, which contain at least one complete publication, by their key."""
    listed = list(store.list(prefix))
    roots = sorted(
        {stat.key.removesuffix(MANIFEST).rstrip("/").rpartition("/")[0] for stat in listed if is_manifest(stat)}
    )
    found = {root: Shelf() for root in roots}
    for stat in listed:
        for root, shelf in found.items():
            if stat.key.startswith(under(root, "")):
                name, _, path = stat.key.removeprefix(under(root, "")).partition("/")
                if path:
                    shelf.items.setdefault(name, {})[path] = stat
                elif name in (f"{pointer}.json" for pointer in POINTERS):
                    shelf.pointers.append(name.removesuffix(".json"))
    for shelf in found.values():
        shelf.items = {name: files for name, files in shelf.items.items() if not contains_shelves(files)}
    return found


def contains_shelves(files: dict[str, Stat]) -> bool:
    """Return whether a folder, such as a run, is no publication but contains some."""
    return MANIFEST not in files and any(map(is_manifest, files.values()))


def is_manifest(stat: Stat) -> bool:
    """Return whether an object is a publication's manifest."""
    return stat.key.endswith(f"/{MANIFEST}")


def bytes_under(store: Store, prefix: str) -> int:
    """Return the number of bytes that `verify` reads."""
    return sum(
        stat.bytes
        for shelf in shelves(store, prefix).values()
        for name in shelf.finished
        for path, stat in shelf.items[name].items()
        if path != MANIFEST
    )


def verify(store: Store, prefix: str = "", deep: bool = True, progress: Progress = no_progress) -> list[Finding]:
    """Return the defects of the publications under a prefix.

    deep  verify checksums too; otherwise only sizes are compared
    """
    findings: list[Finding] = []
    for root, shelf in shelves(store, prefix).items():
        for name, files in shelf.items.items():
            findings += wrong_parts(store, under(root, name), files, deep, progress)
    return findings


def wrong_parts(store: Store, item: str, files: dict[str, Stat], deep: bool, progress: Progress) -> list[Finding]:
    """Return the defects of one publication."""
    if MANIFEST not in files:
        return [Finding(item, "", "unfinished")]
    try:
        manifest = read_manifest(store, item)
    except (NotWhole, Damaged):
        return [Finding(item, MANIFEST, "checksum")]
    findings = []
    for path, part in manifest.parts.items():
        wrong = wrong_part(store, f"{item}/{path}", part, files.get(path), deep)
        progress(part.bytes)
        findings += [Finding(item, path, wrong)] if wrong else []
    return findings


def wrong_part(store: Store, key: str, part: Part, stat: Stat | None, deep: bool) -> str:
    """Return the defect of a part, or an empty string."""
    if stat is None:
        return "missing"
    if stat.bytes != part.bytes:
        return "size"
    if not deep:
        return ""
    try:
        same = store.digest(key) == part.sha256
    except NotThere:  # deleted since it was listed
        return "missing"
    except Damaged:
        same = False
    return "" if same else "checksum"


def check_filled(store: Store) -> None:
    """Raise BadStore if a store has no objects, such as one whose name is misspelt."""
    if next(iter(store.list()), None) is None:
        raise BadStore(f"{store.url} has no objects: check its name")


@dataclass(frozen=True)
class Copied:
    """The result of a copy: objects copied, their bytes, objects that the target had, and those deleted meanwhile."""

    objects: int = 0
    bytes: int = 0
    unchanged: int = 0
    vanished: int = 0

    def __add__(self, other: "Copied") -> "Copied":
        """Return the sum of two copies."""
        return Copied(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(Copied)))


def copy(source: Store, target: Store, deep: bool = False, progress: Progress = no_progress) -> Copied:
    """Copy what a store has to another one, reading each copied object back. Raises StorageError, Damaged.

    Objects of the target that have the same size and checksum are kept, others replaced, and none deleted. Files are
    copied before their manifest, and manifests before pointers, so that the target is complete at every moment. What is
    published meanwhile is copied too if a pointer refers to it.

    deep  also read back objects that the target has, and replace damaged ones
    """
    for one, two in ((source.url, target.url), (target.url, source.url)):
        if f"{one}/".startswith(f"{two}/"):
            raise BadStore(f"{target.url} and {source.url} overlap: copy to another bucket or prefix")
    check_filled(source)
    with TemporaryDirectory(prefix="ante-copy-") as folder:
        file, pointers = Path(folder) / "object", LocalStore(Path(folder) / "pointers")
        listed = list(source.list())
        found = copy_all(source, target, in_order(listed), file, deep, progress)
        copy_all(source, pointers, list(filter(is_pointer, listed)), file, False, no_progress)
        known = {stat.key for stat in listed}
        new = [stat for stat in source.list() if stat.key not in known]
        found += copy_all(source, target, in_order(new), file, deep, progress)
        found += copy_all(pointers, target, list(pointers.list()), file, deep, progress)
    return found


def copy_all(source: Store, target: Store, stats: Sequence[Stat], file: Path, deep: bool, progress: Progress) -> Copied:
    """Copy these objects, each through the file. Objects that the source no longer has are counted only."""
    found = Copied()
    for stat in stats:
        try:
            new = copy_object(source, target, stat.key, file, deep)
        except NotThere:
            if source.stat(stat.key) is not None:
                raise
            found += Copied(vanished=1)
            continue
        progress(stat.bytes)
        found += Copied(unchanged=1) if new is None else Copied(objects=1, bytes=new)
    return found


def in_order(listed: Sequence[Stat]) -> list[Stat]:
    """Return objects in the order of copying, without pointers: manifests after all other files."""
    return sorted((stat for stat in listed if not is_pointer(stat)), key=lambda stat: (is_manifest(stat), stat.key))


def is_pointer(stat: Stat) -> bool:
    """Return whether an object is named like a pointer."""
    return stat.key.rpartition("/")[2] in [f"{pointer}.json" for pointer in POINTERS]


def intact(store: Store, key: str) -> bool:
    """Return whether an object has its recorded checksum. Raises StorageError."""
    try:
        store.digest(key)
    except Damaged:
        return False
    return True


def copy_object(source: Store, target: Store, key: str, file: Path, deep: bool) -> int | None:
    """Copy one object through a file and return its size, or None if the target has it. Raises StorageError."""
    has, wanted = target.stat(key), source.stat(key)
    if wanted and has and wanted.bytes == has.bytes and None is not wanted.sha256 == has.sha256:
        if not deep or intact(target, key):
            return None
    got = source.get_file(key, file)
    target.put_file(key, file, got.sha256)
    if target.digest(key) != got.sha256:
        raise Damaged(f"{key} in {target.url} differs from {source.url} after copying")
    return got.bytes
