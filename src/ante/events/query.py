"""SQL on stored events: DuckDB reads the files of an archive, or a log. Statements can only read.

`events` is the table: one row per event, without repetitions; see `archive` for its columns.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from ante.errors import BalatroError, shown
from ante.events.archive import keys_of, table_of
from ante.events.log import stored_in
from ante.events.messages import FIELDS, KINDS, types_of
from ante.events.urls import is_nats
from ante.files import check_regular, inside
from ante.storage.local import LocalStore
from ante.storage.opening import open_store

MOST_ROWS = 1_000_000  # of a log that is read into memory
ATTRIBUTES = "time, type, source, subject"


class BadQuery(BalatroError, ValueError):
    """A statement that cannot be run, or a source without events."""


@dataclass(frozen=True)
class Rows:
    """The result of a query."""

    columns: tuple[str, ...]
    values: list[tuple[Any, ...]]


@contextmanager
def stored_events(source: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a database with the table `events`.

    Args:
        source: Folder or s3://bucket/prefix of an archive, or the file of a log.

    Raises BadQuery, BadBus, StorageError.
    """
    if is_nats(source):
        raise BadQuery(f"{source} is a bus: archive its events first, with ante events archive {source} --to FOLDER")
    with tempfile.TemporaryDirectory() as folder, duckdb.connect(":memory:") as db:
        try:
            place = placed(db, source, Path(folder))
            first = "QUALIFY row_number() OVER (PARTITION BY id ORDER BY sequence) = 1"
            db.execute(f"CREATE VIEW events AS SELECT * FROM {place} {first}")
            for setting in ("enable_external_access = false", "lock_configuration = true"):
                db.execute(f"SET {setting}")
            yield db
        except duckdb.Error as error:
            raise BadQuery(f"the query fails: {str(error).partition(chr(10))[0]}") from None


def placed(db: duckdb.DuckDBPyConnection, source: str, folder: Path) -> str:
    """Return the table of a source in SQL; files of a bucket are copied to `folder`."""
    if Path(source).is_file():
        check_regular(Path(source))
        db.register("log", table_of(stored_in(Path(source), MOST_ROWS)))
        return "log"
    names = ", ".join(quoted(str(file)) for file in files_of(source, folder))
    db.execute(f"SET allowed_paths = [{names}]")
    return f"read_parquet([{names}], union_by_name = true)"


def files_of(source: str, folder: Path) -> list[Path]:
    """Return the files of an archive, those of a bucket copied to `folder`."""
    store = open_store(source)
    keys = keys_of(store)
    if not keys:
        raise BadQuery(f"{source} has no events: name an archive of ante events archive, or the file of a log")
    if isinstance(store, LocalStore):
        return [inside(store.folder, key) for key in keys]
    for key in keys:
        file = inside(folder, key)
        file.parent.mkdir(exist_ok=True)
        store.get_file(key, file)
    return [inside(folder, key) for key in keys]


def quoted(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def query(db: duckdb.DuckDBPyConnection, statement: str, most: int) -> Rows:
    """Run a SELECT on `events` and return up to `most` rows. Raises BadQuery."""
    try:
        statements = duckdb.extract_statements(statement)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise BadQuery(f"{shown(statement)} is not one SELECT: events can only be read")
        found = db.execute(statements[0])
        return Rows(tuple(each[0] for each in found.description), found.fetchmany(most))
    except duckdb.Error as error:
        raise BadQuery(f"the query fails: {str(error).partition(chr(10))[0]}") from None


def select_kind(kind: str) -> str:
    """Return the statement that lists the events of a kind, the newest first. Raises BadKind."""
    types = types_of(kind)
    names = ", ".join(quoted(each) for each in types)
    data = f", {FIELDS[types[0]]}.*" if len(types) == 1 else ""
    return f"SELECT {ATTRIBUTES}{data} FROM events WHERE type IN ({names}) ORDER BY time DESC, sequence DESC"


def kinds_of(db: duckdb.DuckDBPyConnection) -> Rows:
    """Return how many events of each kind there are, and when the first and last one happened."""
    return query(
        db,
        "SELECT type, count(*) AS events, date_trunc('second', min(time)) AS first, date_trunc('second', max(time)) AS last "
        "FROM events GROUP BY 1 ORDER BY 1",
        len(KINDS),
    )
