"""Memory use of a run: this process and its descendants, with shared pages counted once."""

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType

import ray

# isort: split
import psutil  # a dependency of Ray, importable after Ray
from rich.table import Table

GB = 2**30
PERIOD_SECONDS = 5.0  # SPEED: a reading takes about 5 ms per process, most of it in the kernel
REST = "Ray itself"
ROLES = {"Runner": "runner", "_WrappedExecutable": "learner"}  # in Ray's titles of actor processes


@dataclass(frozen=True)
class Reading:
    """Memory at one moment, in GB (2**30 bytes).

    by_process  by name: driver, runner 1 ..., learner 1 ..., and all other Ray processes
    store       objects in Ray's object store; also part of the processes that have accessed them
    """

    by_process: dict[str, float]
    store: float = 0.0

    @property
    def total(self) -> float:
        """The sum over all processes."""
        return sum(self.by_process.values())


def memory_of(process: psutil.Process) -> float:
    """Return the memory of a process in GB: its proportional share of every page (PSS), or its private memory (USS)."""
    found = process.memory_full_info()
    return float(getattr(found, "pss", found.uss)) / GB


def role_of(process: psutil.Process) -> str | None:
    """Return the role of a Ray process by its title; None for other Ray processes."""
    title = (process.cmdline() or [""])[0]
    return next((role for mark, role in ROLES.items() if title.startswith("ray::") and mark in title), None)


def measure() -> Reading:
    """Measure this process and its descendants. Processes of an existing cluster are not included."""
    here = psutil.Process()
    found, numbers = {"driver": memory_of(here)}, Counter[str]()
    for process in sorted(here.children(recursive=True), key=lambda child: child.pid):
        try:
            role, amount = role_of(process), memory_of(process)
        except psutil.Error:  # it has exited
            continue
        numbers[role or REST] += 1
        name = f"{role} {numbers[role]}" if role else REST
        found[name] = found.get(name, 0.0) + amount
    return Reading(found, stored())


def stored() -> float:
    """Return the size of the objects in the object store in GB."""
    if not ray.is_initialized():
        return 0.0
    name = "object_store_memory"
    return float(ray.cluster_resources().get(name, 0.0) - ray.available_resources().get(name, 0.0)) / GB


class MemoryGauge(AbstractContextManager["MemoryGauge"]):
    """Reads the memory every few seconds in a thread.

    now    last reading
    peak   highest total; peaks  highest of each process by name; store  highest of the object store
    """

    def __init__(self, read: Callable[[], Reading] | None = None, period_seconds: float | None = None) -> None:
        self._read, self._period = read or measure, period_seconds or PERIOD_SECONDS
        self._highest: Reading | None = None
        self._failed: Exception | None = None
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory gauge", daemon=True)
        self.now = Reading({})
        self.peak, self.store = 0.0, 0.0
        self.peaks: dict[str, float] = {}

    def __enter__(self) -> "MemoryGauge":
        """Take a first reading and start the thread."""
        self.read()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the thread."""
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(self._period):
            try:
                self.read()
            except Exception as error:  # reported by `take`: a thread's errors are not shown
                self._failed = error
                return

    def read(self) -> None:
        """Take one reading."""
        with self._lock:
            self.now = reading = self._read()
            if self._highest is None or reading.total > self._highest.total:
                self._highest = reading
            self.peak, self.store = max(self.peak, reading.total), max(self.store, reading.store)
            for name, amount in reading.by_process.items():
                self.peaks[name] = max(self.peaks.get(name, 0.0), amount)

    def take(self) -> Reading | None:
        """Return the highest reading since the last call, or None. Re-raises errors of the thread."""
        if self._failed:
            raise self._failed
        with self._lock:
            highest, self._highest = self._highest, None
            return highest


def memory_table(gauge: MemoryGauge, budget: float) -> Table:
    """Return a table of the peaks of a run, by process."""
    of = f" of a budget of {budget:g}" if budget else ""
    table = Table(title=f"memory: {gauge.peak:.2f} GB peak{of}")
    table.add_column("process")
    table.add_column("peak GB", justify="right")
    for name, amount in sorted(gauge.peaks.items(), key=lambda pair: -pair[1]):
        table.add_row(name, f"{amount:.2f}")
    table.add_row("objects in the store (included above)", f"{gauge.store:.2f}", end_section=True)
    return table
