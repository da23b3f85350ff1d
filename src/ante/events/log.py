"""The event bus of one machine: a log in a SQLite file in WAL mode, which other processes can read and write too.

One thread writes, up to BATCH statements in a transaction. An acknowledged event survives the end of the process; it may
be lost if the machine loses power within the second before the operating system writes it (PRAGMA synchronous=NORMAL).
"""

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from ante.events.bus import HOLD_SECONDS, IN_FLIGHT, Delivery, Since
from ante.events.messages import BadEvent, packed, read_event, types_of
from ante.events.urls import BadBus, check_consumer
from ante.events.v1 import events_pb2 as pb

BATCH = 256  # statements of one transaction
WAIT_SECONDS = 10.0  # for another process that writes
FIRST_POLL, LONGEST_POLL = 0.002, 0.05  # seconds between looks for events of other processes
VERSION = 1
TABLES = f"""
CREATE TABLE IF NOT EXISTS events (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL, at REAL NOT NULL, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS consumers (name TEXT PRIMARY KEY, sequence INTEGER NOT NULL);
PRAGMA user_version = {VERSION};
"""
INSERT = "INSERT INTO events (id, type, at, data) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING sequence"
KNOWN = "SELECT sequence FROM events WHERE id = ?"
ADVANCE = (
    "INSERT INTO consumers VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET sequence = max(sequence, excluded.sequence)"
)
Work = tuple[str, tuple[Any, ...], "asyncio.Future[int]"]


class LogBus:
    """A bus on a file. Raises BadBus if the file is not a log or cannot be written."""

    def __init__(self, file: Path) -> None:
        self.file, self._loop = file, asyncio.get_running_loop()
        self._work: queue.Queue[Work | None] = queue.Queue()
        self._room = asyncio.Semaphore(IN_FLIGHT)
        self._stored = asyncio.Event()
        try:
            with closing(sqlite3.connect(file, timeout=WAIT_SECONDS)) as db:
                found = db.execute("PRAGMA user_version").fetchone()[0]
                if found not in (0, VERSION) or (not found and db.execute("SELECT 1 FROM sqlite_master").fetchone()):
                    raise BadBus(f"{file} is not an event log of version {VERSION}: choose another file")
            with closing(self._connect()) as db:
                db.executescript(TABLES)
            self._reader = self._connect()
        except sqlite3.Error as error:
            raise BadBus(f"cannot open the event log {file}: {error}") from None
        self._thread = threading.Thread(target=self._write, name="event-log", daemon=True)
        self._thread.start()

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.file, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        return db

    async def publish(self, event: "pb.Event") -> int:
        """See `Bus`."""
        data = packed(event)
        at = event.time.seconds + 1e-9 * event.time.nanos
        async with self._room:
            sequence = await self._run(INSERT, (event.id, event.type, at, data))
        return sequence

    async def _run(self, statement: str, values: tuple[Any, ...]) -> int:
        """Run a statement in the writer's thread and return its number once it is committed. Raises BadBus."""
        future: asyncio.Future[int] = self._loop.create_future()
        self._work.put((statement, values, future))
        return await future

    def _write(self) -> None:
        """Write until the bus is closed; the thread of the writer."""
        with closing(self._connect()) as db:
            going = True
            while going:
                batch = [self._work.get()]
                with suppress(queue.Empty):
                    while len(batch) < BATCH:
                        batch.append(self._work.get_nowait())
                going = None not in batch
                works = [work for work in batch if work is not None]
                if works:
                    results = written(db, works)
                    try:
                        self._loop.call_soon_threadsafe(self._acknowledge, works, results)
                    except RuntimeError:  # the loop has ended without `close`, and no future awaits the results
                        return

    def _acknowledge(self, works: list[Work], results: list[int] | sqlite3.Error) -> None:
        """Resolve the futures of a transaction; in the event loop."""
        for number, (_, _, future) in enumerate(works):
            if future.done():  # cancelled
                continue
            if isinstance(results, sqlite3.Error):
                future.set_exception(BadBus(f"cannot write the event log {self.file}: {results}; free disk space"))
            else:
                future.set_result(results[number])
        stored, self._stored = self._stored, asyncio.Event()
        stored.set()

    async def subscribe(
        self, consumer: str | None = None, kind: str = "", since: Since = "all", hold_seconds: float = HOLD_SECONDS
    ) -> "LogSubscription":
        """See `Bus`. A consumer belongs to one process at a time."""
        types, start = types_of(kind) if kind else [], self._last() if since == "new" else 0
        if consumer is not None:
            check_consumer(consumer)
            known = self._rows("SELECT sequence FROM consumers WHERE name = ?", consumer)
            if not known:
                await self._run(ADVANCE, (consumer, start))
            else:
                start = known[0][0]
        return LogSubscription(self, consumer, types, start)

    def _rows(self, statement: str, *values: Any) -> list[Any]:
        """Return the rows of a statement that reads. Raises BadBus."""
        try:
            return self._reader.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise BadBus(f"cannot read the event log {self.file}: {error}") from None

    def _last(self) -> int:
        return int(self._rows("SELECT ifnull(max(sequence), 0) FROM events")[0][0])

    def _count(self) -> int:
        return int(self._rows("SELECT count(*) FROM events")[0][0])

    def read(self, after: int, types: Sequence[str], most: int) -> tuple[list[Delivery], int]:
        """Return stored events of these types, or of all, after a sequence, and the last sequence read. Raises BadBus."""
        chosen = f" AND type IN ({', '.join('?' * len(types))})" if types else ""
        statement = f"SELECT sequence, data FROM events WHERE sequence > ?{chosen} ORDER BY sequence LIMIT ?"
        rows = self._rows(statement, after, *types, most)
        return deliveries_of(rows, self.file), rows[-1][0] if rows else after

    async def stored(self, seconds: float) -> None:
        """Wait until this process has stored something, or for this time."""
        with suppress(TimeoutError):
            # Not wait_for, which in Python 3.11 drops a cancellation at the moment of the event.
            async with asyncio.timeout(seconds):
                await self._stored.wait()

    async def advance(self, consumer: str, sequence: int) -> None:
        """Remember what a consumer has acknowledged."""
        await self._run(ADVANCE, (consumer, sequence))

    async def forget(self, seconds: float) -> str:
        """See `Bus`."""
        before = self._count()
        await self._run("DELETE FROM events WHERE at < ?", (time.time() - seconds,))
        return f"{before - self._count():,} of {before:,} events deleted"

    async def close(self) -> None:
        """See `Bus`."""
        self._work.put(None)
        await asyncio.to_thread(self._thread.join)
        self._reader.close()


def stored_in(file: Path, most: int) -> list[Delivery]:
    """Return the events of a log, which is only read. Raises BadBus if it is none, or has more than `most` events."""
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=WAIT_SECONDS)) as db:
            if db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                raise BadBus(f"{file} is not an event log of version {VERSION}")
            rows = db.execute("SELECT sequence, data FROM events ORDER BY sequence LIMIT ?", (most + 1,)).fetchall()
    except sqlite3.Error as error:
        raise BadBus(f"cannot read the event log {file}: {error}") from None
    if len(rows) > most:
        raise BadBus(
            f"{file} has more than {most:,} events: archive it first, with ante events archive {file} --to FOLDER"
        )
    return deliveries_of(rows, file)


def deliveries_of(rows: Sequence[tuple[int, bytes]], file: Path) -> list[Delivery]:
    """Return rows of sequence and data as deliveries, without those of unknown kinds. Raises BadBus."""
    found = []
    for sequence, data in rows:
        try:
            event = read_event(data)
        except (BadEvent, TypeError) as error:
            raise BadBus(f"event {sequence} of {file} is damaged: {' '.join(str(error).split())}") from None
        if event is not None:
            found.append(Delivery(sequence, event))
    return found


def written(db: sqlite3.Connection, works: Sequence[Work]) -> list[int] | sqlite3.Error:
    """Run the statements in one transaction and return the number of each, or the error that undid all."""
    try:
        db.execute("BEGIN IMMEDIATE")
        numbers = []
        for statement, values, _ in works:
            rows = db.execute(statement, values).fetchall()
            if not rows and statement is INSERT:
                rows = db.execute(KNOWN, values[:1]).fetchall()
            numbers.append(rows[0][0] if rows else 0)
        db.execute("COMMIT")
    except sqlite3.Error as error:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        return error
    return numbers


class LogSubscription:
    """See `Subscription`."""

    def __init__(self, bus: LogBus, consumer: str | None, types: Sequence[str], after: int) -> None:
        self._bus, self._consumer, self._types, self._after = bus, consumer, types, after
        self._unhandled = set[int]()  # delivered to this consumer and not acknowledged

    async def fetch(self, most: int = 256, seconds: float = 1.0) -> list[Delivery]:
        """See `Subscription`."""
        end, pause = time.monotonic() + seconds, FIRST_POLL
        while True:
            before = self._after
            found, self._after = self._bus.read(before, self._types, most)
            if found:
                self._unhandled.update(each.sequence for each in found if self._consumer)
                return found
            if self._after > before:  # all of them are of unknown kinds
                continue
            left = end - time.monotonic()
            if left <= 0:
                return []
            await self._bus.stored(min(pause, left))
            pause = min(LONGEST_POLL, 1.5 * pause)

    async def done(self, deliveries: Sequence[Delivery]) -> None:
        """See `Subscription`."""
        if self._consumer and deliveries:
            self._unhandled.difference_update(each.sequence for each in deliveries)
            await self._bus.advance(self._consumer, min(self._unhandled, default=self._after + 1) - 1)

    async def close(self) -> None:
        """See `Subscription`."""
