"""Copies of the small files of all runs in a store, brought up to date by one listing."""

import os
import shutil
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

from ante.errors import BalatroError
from ante.storage.errors import StorageError
from ante.storage.store import Stat, Store, check_key, under
from ante.watch.gallery import FOLDER, INDEX
from ante.watch.runs import CONFIG, RUN_FILES

REPORT_FILES = ("machine.json", "hints/ledger.json", "hints/effect.json", f"{FOLDER}/{INDEX}")
LARGEST = 32 << 20  # bytes of a file that is copied
MOST_KEYS = 1_000_000  # keys of a listing
MOST_RUNS = 5_000
THREADS = 8


class Mirror:
    """The runs below a store's URL as folders on this machine, without checkpoints, episodes and videos.

    Attributes:
        folder: The copies, named as the last part of the URL. A copied file has the time of its object.
        failed: Runs whose files could not be copied, with the reason.
        there: The objects of the last listing by key.
        videos: Number of videos by run.
    """

    def __init__(self, store: Store, place: Path) -> None:
        self.store = store
        self.folder = place / (store.url.rstrip("/").rpartition("/")[2] or "store")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.failed: dict[str, str] = {}
        self.there: dict[str, Stat] = {}
        self.videos: Counter[str] = Counter()
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._copying, self._closed = threading.Lock(), False

    def close(self) -> None:
        """Copy no further runs, and wait for those that are being copied."""
        self._closed = True
        with self._copying:
            pass

    def refresh(self) -> None:
        """List the store, copy what changed and remove runs that no longer exist. Raises StorageError."""
        there = {stat.key: stat for stat in islice(self.store.list(""), MOST_KEYS)}
        found = outermost([key.removesuffix(CONFIG).rstrip("/") for key in there if f"/{key}".endswith(f"/{CONFIG}")])
        runs = [name for name in found if is_name(name)][:MOST_RUNS]
        films = f"/{FOLDER}/"
        self.videos = Counter(
            f"/{key}".rpartition(films)[0].removeprefix("/")
            for key in there
            if key.endswith(".mp4") and films in f"/{key}"
        )
        self.there = there
        self.remove_others(runs)
        with self._copying, ThreadPoolExecutor(THREADS) as pool:
            results = pool.map(self.bring_listed, runs)
            self.failed = {name or self.folder.name: why for name, why in zip(runs, results, strict=True) if why}
        if len(found) > len(runs):
            why = f"names are not paths of a run, or there are more than {MOST_RUNS:,} runs: use a prefix of the store"
            self.failed[f"{len(found) - len(runs):,} other runs"] = why
        if len(there) == MOST_KEYS:
            self.failed["further objects"] = f"the limit is {MOST_KEYS:,} objects: use a prefix of the store"

    def bring_listed(self, name: str) -> str:
        """Copy the files of a run that the list shows; return why it failed, empty if it did not."""
        if self._closed:
            return "the server stops"
        try:
            self.bring(name, reversed(RUN_FILES))  # the settings last: with them the folder is one of a run
        except (BalatroError, OSError) as error:
            return str(error)
        return ""

    def bring(self, name: str, files: Iterable[str]) -> None:
        """Copy those files of a run that changed since they were copied. Raises StorageError."""
        with self._locks[name]:
            for file in files:
                stat, here = self.there.get(under(name, file)), self.folder / name / file
                if stat is None:
                    here.unlink(missing_ok=True)
                elif stat.bytes > LARGEST:
                    raise StorageError(f"{stat.key} has {stat.bytes:,} bytes, more than the limit of {LARGEST:,}")
                elif mark(here) != (stat.bytes, int(stat.modified)):
                    self.store.get_file(stat.key, here)
                    os.utime(here, (stat.modified, stat.modified))

    def remove_others(self, runs: Sequence[str]) -> None:
        """Remove the copies of runs that are not in the store any more."""
        kept = set(runs)
        for config in list(self.folder.rglob(CONFIG)):
            name = config.parent.relative_to(self.folder).as_posix()
            if ("" if name == "." else name) not in kept:
                shutil.rmtree(config.parent)
                self.folder.mkdir(exist_ok=True)


def is_name(name: str) -> bool:
    """Return whether a run's name is a path below the store; hidden folders are left out."""
    try:
        return not name or not any(part.startswith(".") for part in check_key(name).split("/"))
    except StorageError:
        return False


def mark(file: Path) -> tuple[int, int] | None:
    """Return size and time of a copy, None if it does not exist."""
    try:
        facts = file.stat()
    except OSError:
        return None
    return facts.st_size, int(facts.st_mtime)


def outermost(folders: Sequence[str]) -> list[str]:
    """Return the folders that are not inside another one: a checkpoint contains the settings of its run."""
    found: list[str] = []
    for folder in sorted(folders, key=lambda path: path.split("/") if path else []):
        last = found[-1] if found else None
        if last is None or (last != "" and folder != last and not folder.startswith(f"{last}/")):
            found.append(folder)
    return found
