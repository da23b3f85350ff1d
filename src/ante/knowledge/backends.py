"""Backends of the graph: Ladybug embedded in this process, and any server with the Bolt protocol.

A backend executes statements; `store.Knowledge` defines what they mean. Writes run in one transaction each: after `write`
has returned, its rows survive the end of the process.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from ante.errors import BalatroError, shown
from ante.files import check_regular
from ante.knowledge.schema import bolt_ddl, ladybug_ddl
from ante.messages import described, has_address

Rows = Sequence[Mapping[str, Any]]
BOLT = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
SECONDS = 2.0  # to connect, and of retries
MEMORY = 256 << 20  # bytes of Ladybug's buffer pool
LARGEST = 1 << 33  # bytes of a Ladybug file; its default, 8 TB, exceeds the address space of some containers
SERVER = re.compile(r"[A-Za-z0-9._-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")
BUSY = re.compile(r"lock", re.IGNORECASE)


class StoreUnavailable(BalatroError):
    """The graph cannot be opened or reached."""


class StoreBusy(StoreUnavailable):
    """Another process writes to the graph."""


class BadStore(BalatroError, ValueError):
    """The name of a store is neither a file nor a Bolt URL."""


class Backend(Protocol):
    """Executes statements of portable Cypher."""

    def read(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        """Return the rows of a query."""

    def write(self, work: Iterable[tuple[str, Rows]]) -> None:
        """Execute statements, each with its `$rows`, in one transaction."""

    def create(self) -> None:
        """Create tables or constraints that do not exist yet."""

    def close(self) -> None:
        """Release the connection."""


class Ladybug:
    """A graph in a file, opened by one writer or by any number of readers."""

    def __init__(self, file: Path | None, read_only: bool = False) -> None:
        import ladybug

        self._name = file or "the graph in memory"
        if file is not None and file.exists():
            check_regular(file)
            if file.stat().st_size > LARGEST:
                raise StoreUnavailable(f"cannot open {file}: it is larger than the limit of {LARGEST:,} bytes")
        elif file is not None:
            if read_only:
                raise StoreUnavailable(f"there is no graph in {file}: write it with ante know load --store {file}")
            file.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._database = ladybug.Database(
                str(file) if file else ":memory:",
                buffer_pool_size=MEMORY,
                max_num_threads=1,  # SPEED: queries take less than a millisecond
                max_db_size=LARGEST,
                read_only=read_only,
            )
            self._connection = ladybug.Connection(self._database)
        except (RuntimeError, OSError) as error:
            if BUSY.search(str(error)):
                raise StoreBusy(f"another process writes to {file}: wait until it has ended") from None
            raise StoreUnavailable(f"cannot open {file}: {error}") from None

    def _execute(self, statement: str, parameters: dict[str, Any] | None = None) -> Any:
        """Execute a statement. Raises StoreUnavailable."""
        try:
            return self._connection.execute(statement, parameters)
        except RuntimeError as error:
            raise StoreUnavailable(f"{self._name} cannot be used: {error}") from error

    def read(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        """Return the rows of a query."""
        result = self._execute(statement, parameters)
        names = result.get_column_names()
        return [dict(zip(names, row, strict=True)) for row in result.get_all()]

    def write(self, work: Iterable[tuple[str, Rows]]) -> None:
        """Execute statements in one transaction."""
        self._execute("BEGIN TRANSACTION")
        try:
            for statement, rows in work:
                if rows:
                    self._execute(statement, {"rows": [dict(row) for row in rows]})
        except BaseException:
            with suppress(StoreUnavailable):  # a failed statement has already ended the transaction
                self._execute("ROLLBACK")
            raise
        self._execute("COMMIT")

    def create(self) -> None:
        """Create the tables."""
        for statement in ladybug_ddl():
            self._execute(statement)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
        self._database.close()


class Bolt:
    """A graph on a server, such as Memgraph, Neo4j or ArcadeDB."""

    def __init__(self, url: str, user: str = "", password: str = "", database: str | None = None) -> None:
        import neo4j
        from neo4j.exceptions import AuthError, DriverError, Neo4jError

        self._errors = (DriverError, Neo4jError, OSError)
        self._url, self._database = url, database
        self._driver = neo4j.GraphDatabase.driver(
            url,
            auth=(user, password) if user else None,
            connection_timeout=SECONDS,
            max_transaction_retry_time=SECONDS,
        )
        try:
            self._driver.verify_connectivity()
        except AuthError:
            self._driver.close()
            raise StoreUnavailable(f"{url} rejects the user: set KNOWLEDGE_USER and KNOWLEDGE_PASSWORD") from None
        except self._errors as error:
            self._driver.close()
            raise StoreUnavailable(f"cannot reach {url}: {described(error)}") from None

    @contextmanager
    def _session(self) -> Iterator[Any]:
        """Open a session. Raises StoreUnavailable for errors in it."""
        try:
            with self._driver.session(database=self._database) as session:
                yield session
        except self._errors as error:
            raise StoreUnavailable(f"{self._url} cannot be used: {described(error)}") from error

    def read(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        """Return the rows of a query."""
        with self._session() as session:
            found: list[dict[str, Any]] = session.execute_read(lambda tx: tx.run(statement, parameters).data())
            return found

    def write(self, work: Iterable[tuple[str, Rows]]) -> None:
        """Execute statements in one managed transaction, which the driver repeats if it conflicts with another."""
        held = [(statement, [dict(row) for row in rows]) for statement, rows in work if rows]

        def run(tx: Any) -> None:
            for statement, rows in held:
                tx.run(statement, rows=rows).consume()

        with self._session() as session:
            session.execute_write(run)

    def create(self) -> None:
        """Create the constraints."""
        with self._session() as session:
            for statement in bolt_ddl():
                session.run(statement).consume()

    def close(self) -> None:
        """Close the connections."""
        self._driver.close()


def is_bolt(store: str) -> bool:
    """Return whether this is the URL of a Bolt server, not a file."""
    return store.partition("://")[0] in BOLT and "://" in store


def check_store(store: str) -> str:
    """Return the name of a store that can be written: a file, or a Bolt URL without credentials. Raises BadStore."""
    scheme, separator, rest = store.partition("://")
    if separator and scheme not in BOLT:
        raise BadStore(f"{shown(scheme)}:// is no graph: use a file, or a URL of {', '.join(BOLT)}")
    if separator and not (SERVER.fullmatch(rest) and has_address(store)):
        raise BadStore(
            f"{scheme}://... is no Bolt server: use {scheme}://HOST:PORT, with credentials in KNOWLEDGE_USER and "
            "KNOWLEDGE_PASSWORD"
        )
    if not separator and (not store.strip() or not store.isprintable() or store == "default"):
        raise BadStore(f"{shown(store)} cannot be written: use a file such as knowledge.lbug, or a Bolt URL")
    return store


def open_backend(
    store: str, read_only: bool = False, user: str = "", password: str = "", database: str | None = None
) -> Backend:
    """Open the graph in a file or on a Bolt server. Raises BadStore, StoreUnavailable, StoreBusy."""
    if "://" in store:
        return Bolt(check_store(store), user, password, database)
    return Ladybug(Path(store), read_only)
