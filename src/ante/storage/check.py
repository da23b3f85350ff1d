"""Listing and verification of publications in a store."""

from dataclasses import dataclass, field

from ante.storage.errors import Damaged, NotThere, NotWhole
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
    return found


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
