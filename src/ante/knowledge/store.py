"""The stored graph: writing, reading, and copies as Parquet files.

One process writes. A Ladybug file refuses a second writer; on a Bolt server the transactions of writers are managed.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ante.engine.core.compile_cache import base_folder, neighbours_hash, source_hash
from ante.errors import BalatroError
from ante.files import whole
from ante.knowledge.backends import Backend, Ladybug, Rows, StoreUnavailable, open_backend
from ante.knowledge.content import catalogue, edges, of_winning
from ante.knowledge.measuring.table import MOST_ROWS, BadTable, Table, fingerprint, read_parquet, read_table
from ante.knowledge.schema import COUNTED, EDGES, META, NODES, STRATEGY, VERSION, Edge, Node
from ante.knowledge.winning.table import Winning, read_winning

ROWS = 2000  # of one statement
MOST_COUNTED = 1_000_000  # rows of the counts of runs in an export: a run has at most 11,325
DEFAULT = "default"


class OtherSchema(BalatroError):
    """A graph of another version of the schema."""


class NotALoad(BalatroError, ValueError):
    """A folder does not contain an exported graph."""


class TooManyCounts(BalatroError):
    """A graph has more counts of runs than an export may have."""


class Knowledge:
    """A graph with the schema of this version. Raises OtherSchema, StoreUnavailable."""

    def __init__(self, backend: Backend, empty: bool = False) -> None:
        self.backend = backend
        if empty:
            backend.create()
        else:
            self._check()

    def _check(self) -> None:
        """Raise OtherSchema unless the graph has this version."""
        try:
            found = self.version
        except StoreUnavailable as error:  # for example for an unknown table
            raise OtherSchema(f"the store has no knowledge graph: write it with ante know load ({error})") from None
        if not found:
            raise OtherSchema("the store has no knowledge graph: write it with ante know load")
        if found != str(VERSION):
            raise OtherSchema(
                f"the graph has schema {found}, this version reads {VERSION}: write it again with ante know load"
            )

    @property
    def version(self) -> str:
        """Version of the stored graph's schema; empty before the first write."""
        found = self.backend.read("MATCH (m:Meta {key: 'schema'}) RETURN m.value AS version")
        return str(found[0]["version"]) if found else ""

    def write(self, content: Iterable[tuple[Node | Edge, Rows]], replaces: bool = False) -> int:
        """Write nodes and edges, the existing ones with new properties, and return their number.

        Each kind is one transaction, so an interrupted load leaves whole kinds; the schema's version is written last.
        With `replaces`, stored strategies, and edges of the written kinds, that are not in the content are deleted.
        """
        written, last = 0, []
        for kind, rows in content:
            if kind is META:
                last = list(rows)
                continue
            work = [(kind.merge, rows[first : first + ROWS]) for first in range(0, len(rows), ROWS)]
            if replaces and (kind is STRATEGY or isinstance(kind, Edge)):
                work.append((kind.delete, self._others(kind, rows)))
            self.backend.write(work)
            written += len(rows)
        self.backend.write([(META.merge, last)])
        return written + len(last)

    def _others(self, kind: Node | Edge, rows: Rows) -> Rows:
        """Return what identifies the stored nodes or edges of a kind that are not among these rows."""
        kept = {tuple(row[name] for name in kind.identity) for row in rows}
        stored = (tuple(row[name] for name in kind.identity) for row in self.backend.read(kind.match))
        return [dict(zip(kind.identity, each, strict=True)) for each in stored if each not in kept]

    def load(self, table: Table, winning: Winning | None = None) -> int:
        """Write the catalogue and the measured tables, in place of earlier ones, and return the number of nodes and edges.

        Counts of runs and estimates stay; without `winning`, so do strategies and the effects of pairs on the win rate.
        """
        content = [*catalogue(table), *edges(table), *(of_winning(winning) if winning else ())]
        return self.write(content, replaces=True)

    def export(self, folder: Path) -> int:
        """Write each kind of node and edge to a Parquet file of a new folder, and return the number of rows.

        Raises TooManyCounts.
        """
        import pyarrow as pa
        from pyarrow import parquet

        counted = self.backend.read(f"MATCH (x:{COUNTED.label}) RETURN count(x) AS n")[0]["n"]
        if counted > MOST_COUNTED:
            raise TooManyCounts(
                f"the graph has {counted:,} counts of runs, more than the {MOST_COUNTED:,} that an import reads: copy its "
                "file, or use the backup of its server"
            )
        folder.mkdir(parents=True, exist_ok=True)
        written = 0
        for kind in (*NODES, *EDGES):
            rows = self.backend.read(kind.match)
            table = pa.Table.from_pylist(rows, schema=arrow_schema(kind))
            with whole(folder / f"{kind.label}.parquet") as aside:
                parquet.write_table(table, aside, compression="zstd")
            written += len(rows)
        return written

    def import_from(self, folder: Path) -> int:
        """Write the content of exported files, and return the number of rows. Raises NotALoad, Unreadable."""
        return self.write(exported(folder))

    def close(self) -> None:
        """Close the backend."""
        self.backend.close()

    def __enter__(self) -> "Knowledge":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def exported(folder: Path) -> Iterator[tuple[Node | Edge, list[dict[str, Any]]]]:
    """Yield the rows of exported files by kind. Raises NotALoad, OtherSchema, Unreadable."""
    for kind in (*NODES, *EDGES):
        file = folder / f"{kind.label}.parquet"
        try:
            rows = read_parquet(file, arrow_schema(kind), MOST_COUNTED if kind is COUNTED else MOST_ROWS).to_pylist()
        except BadTable as error:
            raise NotALoad(f"{error}; use a folder of ante know export") from None
        if kind is META and {"key": "schema", "value": str(VERSION)} not in rows:
            raise OtherSchema(f"{folder} was exported with another schema than {VERSION}: export it again")
        yield kind, rows


def arrow_schema(kind: Node | Edge) -> Any:
    """Return the Arrow schema of an exported kind; Edge files have the keys of both nodes."""
    import pyarrow as pa

    kinds = {"STRING": pa.string(), "INT64": pa.int64(), "DOUBLE": pa.float64(), "BOOLEAN": pa.bool_()}
    ends = [("source", pa.string()), ("target", pa.string())] if isinstance(kind, Edge) else []
    return pa.schema([*ends, *((name, kinds[each]) for name, each in kind.properties.items())])


def default_file(table: Table, winning: Winning) -> Path:
    """Return the file of the graph of measured tables, in the user's cache folder; its name identifies the content."""
    parts = (fingerprint(table), winning.fingerprint, source_hash("engine"), neighbours_hash(Path(__file__)))
    return base_folder() / f"knowledge-{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}.lbug"


def open_default() -> Knowledge:
    """Return the graph of the package's tables.

    If the cache does not have it, or only a damaged one, it is written there, or to memory if that fails.
    """
    table, winning = read_table(), read_winning()
    file = default_file(table, winning)
    with suppress(StoreUnavailable, OtherSchema):
        return open_knowledge(str(file))
    aside = file.with_name(f".{os.getpid()}.{file.name}")
    try:
        with open_knowledge(str(aside), write=True) as made:
            made.load(table, winning)
        aside.replace(file)
        return open_knowledge(str(file))
    except (OSError, StoreUnavailable):
        memory = Knowledge(Ladybug(None), empty=True)
        memory.load(table, winning)
        return memory
    finally:
        for left in file.parent.glob(f"{aside.name}*") if file.parent.is_dir() else ():
            with suppress(OSError):
                left.unlink()


def open_knowledge(
    store: str = DEFAULT, write: bool = False, user: str = "", password: str = "", database: str | None = None
) -> Knowledge:
    """Open a graph.

    Args:
        store: `default` for the tables of the package, a Ladybug file, or the URL of a Bolt server.
        write: Whether to write; the tables are created if they do not exist.
        user: User of a Bolt server.
        password: Password of a Bolt server.
        database: Database of a Bolt server, by default the server's.

    Raises:
        BadStore: This is neither a file nor the URL of a Bolt server.
        StoreUnavailable: The graph cannot be opened or reached.
        StoreBusy: Another process writes to the file.
        OtherSchema: The graph has another version.
    """
    if store == DEFAULT:
        if write:
            raise StoreUnavailable("the default store is read-only: name a file or a Bolt URL with --store")
        return open_default()
    backend = open_backend(store, read_only=not write, user=user, password=password, database=database)
    try:
        return Knowledge(backend, write)
    except BaseException:
        backend.close()
        raise


def open_as(store: str, environment: Mapping[str, str], write: bool = False) -> Knowledge:
    """Open a graph with the user, the password and the database of the environment; see `open_knowledge`."""
    user, password = environment.get("KNOWLEDGE_USER", ""), environment.get("KNOWLEDGE_PASSWORD", "")
    return open_knowledge(store, write, user, password, environment.get("KNOWLEDGE_DATABASE") or None)
