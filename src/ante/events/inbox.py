"""Effects that happen once: a database in which a consumer writes them together with the ids of handled events."""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ante.events.bus import Delivery

TABLE = "CREATE TABLE IF NOT EXISTS handled_events (id TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID"


class Inbox:
    """The database of one consumer. Buses deliver at least once; what `once` yields is new, also after a crash.

        deliveries = await subscription.fetch()
        with inbox.once(deliveries) as new:
            for delivery in new:
                inbox.db.execute("INSERT INTO ...")
        await subscription.done(deliveries)

    Attributes:
        db: The database, for the consumer's own tables.
    """

    def __init__(self, file: Path) -> None:
        self.db = sqlite3.connect(file, isolation_level=None, timeout=10.0)
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA synchronous=NORMAL")
        self.db.execute(TABLE)

    @contextmanager
    def once(self, deliveries: Sequence[Delivery]) -> Iterator[list[Delivery]]:
        """Yield the events that were not handled, in a transaction that the block's statements belong to."""
        now = time.time()
        self.db.execute("BEGIN IMMEDIATE")
        try:
            statement = "INSERT OR IGNORE INTO handled_events VALUES (?, ?)"
            yield [each for each in deliveries if self.db.execute(statement, (each.event.id, now)).rowcount]
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def forget(self, seconds: float) -> None:
        """Forget ids that were handled longer ago; the bus must not deliver their events any more."""
        self.db.execute("DELETE FROM handled_events WHERE at < ?", (time.time() - seconds,))

    def close(self) -> None:
        """Close the database."""
        self.db.close()
