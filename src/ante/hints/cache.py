"""A cache of answers in SQLite, keyed by request, which successive runs can share."""

import sqlite3
import time
from pathlib import Path

from pydantic import ValidationError

from ante.files import check_regular
from ante.hints.advice import Answer
from ante.hints.settings import BadHints

TABLE = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL, at REAL NOT NULL)"
SHAPE = "SELECT key, answer, at FROM answers LIMIT 0"  # fails for another table of this name
WAIT_SECONDS = 5.0  # seconds to wait for another writer


class AnswerCache:
    """Validated answers in a file, or in memory without one. Methods raise sqlite3.Error.

    Another thread than the one that opened it may use it, but only one at a time.
    """

    def __init__(self, file: Path | None = None) -> None:
        """Open the file. Raises BadHints."""
        try:
            if file is not None:
                file.parent.mkdir(parents=True, exist_ok=True)
                if file.exists():
                    check_regular(file)
            self._db = sqlite3.connect(
                file or ":memory:", timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(TABLE)
            self._db.execute(SHAPE)
        except (OSError, ValueError, sqlite3.Error) as error:
            raise BadHints(f"{file} cannot cache answers ({error}): delete it, or choose another file") from None

    def get(self, key: str) -> Answer | None:
        """Return the cached answer, if any."""
        found = self._db.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        try:
            return None if found is None else Answer.model_validate_json(found[0])
        except ValidationError:  # an invalid row written by another program: request it again
            return None

    def put(self, key: str, answer: Answer) -> None:
        """Store an answer."""
        row = key, answer.model_dump_json(), time.time()
        self._db.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row)

    def __len__(self) -> int:
        """Return the number of answers."""
        return int(self._db.execute("SELECT count(*) FROM answers").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._db.close()
