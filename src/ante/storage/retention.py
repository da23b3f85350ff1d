"""Retention of publications. Publications that a pointer refers to are never deleted."""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from ante.storage.check import Shelf, shelves
from ante.storage.errors import BadStore, Damaged, NotWhole
from ante.storage.publish import MANIFEST, Manifest, pointed, read_manifest
from ante.storage.store import Store, under

HOUR, DAY = 3600.0, 86400.0


@dataclass(frozen=True)
class Retention:
    """The publications to keep in addition to those of pointers: the newest, and the best by a metadata value."""

    newest: int | None = None
    """Number of newest publications to keep."""
    days: float | None = None
    """Maximum age of the newest publications, in days."""
    metric: str | None = None
    """Metadata value by which the best are also kept, regardless of age."""
    best: int = 1
    """Number of best publications to keep."""
    unfinished_hours: float = 48
    """Age of the last file at which an incomplete publication is deleted."""

    def __post_init__(self) -> None:
        for name in ("newest", "days", "best", "unfinished_hours"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise BadStore(f"{name} is {value}: it must be at least 0")
        if self.metric is None and self.best != 1:
            raise BadStore(f"--best {self.best} has no effect without --metric")


def doomed(store: Store, root: str, shelf: Shelf, keep: Retention, now: float) -> list[str]:
    """Return the names of a shelf's publications to delete, oldest first."""
    found = sorted(readable(store, root, shelf), key=lambda item: item.published)
    kept = {pointed(store, root, pointer) for pointer in shelf.pointers}
    if keep.newest is None and keep.days is None:
        kept |= {item.name for item in found}
    newest = found if keep.newest is None else found[len(found) - min(keep.newest, len(found)) :]
    kept |= {item.name for item in newest if keep.days is None or now - item.published <= keep.days * DAY}
    kept |= {item.name for item in best_of(found, keep)}
    old = [item.name for item in found if item.name not in kept]
    return old + [name for name in unfinished(shelf, keep, now) if name not in kept]


def readable(store: Store, root: str, shelf: Shelf) -> Iterator[Manifest]:
    """Yield the readable manifests of a shelf. Unreadable publications are kept; `verify` reports them."""
    for name in shelf.finished:
        with suppress(NotWhole, Damaged):
            yield read_manifest(store, under(root, name))


def check_metric(store: Store, found: dict[str, Shelf], keep: Retention) -> None:
    """Raise BadStore if publications exist and none has the metric: it is misspelt, and would keep nothing."""
    if keep.metric is None:
        return
    known: set[str] = set()
    for root, shelf in found.items():
        for item in readable(store, root, shelf):
            if keep.metric in item.metadata:
                return
            known |= {name for name, value in item.metadata.items() if isinstance(value, int | float)}
    if known:
        raise BadStore(f"no publication has the value {keep.metric!r}: choose one of {', '.join(sorted(known))}")


def best_of(found: list[Manifest], keep: Retention) -> list[Manifest]:
    """Return the best publications by the metric, without those that lack it."""
    if keep.metric is None:
        return []
    rated = [(item.metadata.get(keep.metric), item) for item in found]
    numbers = [(float(value), item) for value, item in rated if isinstance(value, int | float) and value == value]
    return [item for _, item in sorted(numbers, key=lambda pair: pair[0], reverse=True)[: keep.best]]


def unfinished(shelf: Shelf, keep: Retention, now: float) -> list[str]:
    """Return the names without a manifest whose last file is old enough."""
    left = {name: files for name, files in shelf.items.items() if MANIFEST not in files}
    return [
        name
        for name, files in left.items()
        if now - max(stat.modified for stat in files.values()) > keep.unfinished_hours * HOUR
    ]


def prune(
    store: Store, prefix: str, keep: Retention, rehearse: bool = False, now: float | None = None
) -> list[tuple[str, int]]:
    """Delete publications that are not retained, and return them with their sizes.

    The manifest is deleted first, so readers ignore partially deleted publications. Raises BadStore.

    rehearse  delete nothing, only return the publications
    """
    gone = []
    # The whole shelves, because the prefix may exclude their pointers.
    found = {root: shelves(store, under(root, ""))[root] for root in shelves(store, prefix)}
    check_metric(store, found, keep)
    for root, shelf in found.items():
        for name in doomed(store, root, shelf, keep, time.time() if now is None else now):
            files = shelf.items[name]
            for path in sorted(files, key=lambda path: path != MANIFEST) if not rehearse else ():
                store.delete(f"{under(root, name)}/{path}")
            gone.append((under(root, name), sum(stat.bytes for stat in files.values())))
    return gone
