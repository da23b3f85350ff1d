"""Writes the counts of a run's line-ups to a graph (`tracking.knowledge`), without ever delaying the training.

A thread writes the newest counts after each checkpoint. They replace those that the run has written before, and a resumed
run continues from the counts of its checkpoint, so that each game is in the graph once. If a write fails, the
counts are written with the next checkpoint; after several failures the circuit breaker skips writes for a while.
"""

import importlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_random

from ante import __version__
from ante.engine.core.compile_cache import source_hash
from ante.knowledge.backends import StoreBusy, is_bolt
from ante.knowledge.observing.counts import RunCounts
from ante.messages import foreign, number_of
from ante.training.sampling.line_ups import LineUpSums
from ante.training.settings.config import TrainConfig

FAILURES, OPEN_SECONDS = 3, 60.0  # of the circuit breaker
BUSY_SECONDS = 15.0  # for which a write waits for another writer of the same file
CLOSE_SECONDS = 10.0  # for the last write of a run
CIRCUIT = "graph"


class RunKnowledge:
    """Writes the counts of one run to the graph of its settings; without one, does nothing. See `run_knowledge`."""

    def __init__(self, config: TrainConfig, notify: Callable[[str], None]) -> None:
        self._config, self._store, self._notify = config, config.tracking.knowledge, notify
        self._next: RunCounts | None = None  # to be written
        self._unwritten: RunCounts | None = None  # the newest counts, until they are written
        self._closing = self._failing = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        if self._store is not None:
            importlib.import_module("neo4j" if is_bolt(self._store) else "ladybug")  # a missing extra ends the start
            from purgatory import SyncCircuitBreakerFactory

            self._breakers = SyncCircuitBreakerFactory(FAILURES, OPEN_SECONDS)
            self._thread = threading.Thread(target=self._run, name="knowledge", daemon=True)
            self._thread.start()

    def put(self, sums: LineUpSums, steps: int) -> None:
        """Let the thread write these counts next, in place of counts that still wait."""
        if self._store is None:
            return
        config = self._config
        counts = RunCounts(
            key=sums.key,
            name=config.name,
            policy=config.policy.kind,
            deck=config.games.deck,
            stake=config.games.stake,
            steps=steps,
            version=__version__,
            engine=source_hash("engine"),
            counts=sums.counts.copy(),
        )
        with self._changed:
            self._next = self._unwritten = counts
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closing or self._next is not None)
                counts, self._next = self._next, None
                if counts is None:  # closing: one more try for counts whose write failed
                    counts, closing = self._unwritten, True
                else:
                    closing = self._closing
            if counts is not None:
                self._try(counts, last=closing)
            if closing:
                return

    def _try(self, counts: RunCounts, last: bool) -> None:
        """Write counts; report the first failure of several, and the recovery. The last try ignores the breaker."""
        from purgatory.domain.model import OpenedState

        try:
            if last:
                self._write(counts)
            else:
                with self._breakers.get_breaker(CIRCUIT):
                    self._write(counts)
        except OpenedState:
            return  # its cause was reported
        except Exception as error:  # error classes differ between backends
            if not self._failing:
                said = foreign(error) or type(error).__name__
                self._notify(
                    f"line-ups are not written to {self._store}: {said}. Training continues; a later checkpoint tries again"
                )
            self._failing = True
            return
        if self._failing:
            self._notify(f"line-ups are written to {self._store} again")
        self._failing = False
        with self._changed:
            if self._unwritten is counts:
                self._unwritten = None

    def _write(self, counts: RunCounts) -> None:
        from ante.knowledge.observing.runs import write_run
        from ante.knowledge.store import open_as

        assert self._store is not None
        for attempt in Retrying(
            retry=retry_if_exception_type(StoreBusy),
            stop=stop_after_delay(BUSY_SECONDS),
            wait=wait_random(0.1, 0.5),
            reraise=True,
        ):
            with attempt, open_as(self._store, os.environ, write=True) as graph:
                write_run(graph, counts)

    def close(self) -> None:
        """Wait for the last write, at most CLOSE_SECONDS, and report games that the graph does not have."""
        if self._thread is None:
            return
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(CLOSE_SECONDS)
        if left := self._unwritten:
            self._notify(
                f"{self._store} does not have the line-ups of all {number_of(left.games, 'game')} of this run: its last "
                "checkpoint has them, and a resumed run writes them"
            )


@contextmanager
def run_knowledge(config: TrainConfig, notify: Callable[[str], None]) -> Iterator[RunKnowledge]:
    """Yield the writer of a run. Raises ModuleNotFoundError if the extra of the graph is not installed."""
    knowledge = RunKnowledge(config, notify)
    try:
        yield knowledge
    finally:
        knowledge.close()
