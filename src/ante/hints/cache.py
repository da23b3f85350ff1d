"""Answers already given, by what was asked: SQLite, so that they outlive a run and are shared by those that follow."""

import sqlite3
import time
from pathlib import Path

from ante.hints.advice import Answer

TABLE = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL, at REAL NOT NULL)"
WAIT_SECONDS = 5.0  # for another process that writes


class AnswerCache:
    """Checked answers; None for a file keeps them in memory. Used by one thread. Raises sqlite3.Error."""

    def __init__(self, file: Path | None = None) -> None:
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(file or ":memory:", timeout=WAIT_SECONDS, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.execute(TABLE)

    def get(self, key: str) -> Answer | None:
        """The answer that was given, if there is one."""
        found = self._db.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return None if found is None else Answer.model_validate_json(found[0])

    def put(self, key: str, answer: Answer) -> None:
        """Remember an answer."""
        row = key, answer.model_dump_json(), time.time()
        self._db.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row)

    def __len__(self) -> int:
        """Answers."""
        return int(self._db.execute("SELECT count(*) FROM answers").fetchone()[0])

    def close(self) -> None:
        """The file is let go."""
        self._db.close()
