"""Events in tables of QuestDB, written with its line protocol (ILP) over HTTP.

Each kind of event has a table, ante_game_ended and so on: the attributes, and a column for each field. Tables are created
with deduplication by time and id, so that an event that is written again, after a lost acknowledgement, is stored once.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Self

import httpx2
import questdb
from google.protobuf.descriptor import FieldDescriptor as Field

from ante.events.archive import DATA, row_of
from ante.events.bus import Delivery
from ante.events.urls import BadBus
from ante.messages import printable

CONSUMER = "questdb"
PREFIX = "ante_"
URL = re.compile(r"(questdbs?)://([\w.-]+):(\d{1,5})/?", re.ASCII)
USER, PASSWORD, TOKEN = (f"ANTE_QUESTDB_{name}" for name in ("USER", "PASSWORD", "TOKEN"))
RETRY_MS = 30_000  # in which a write is repeated; within archive.WRITE_SECONDS
SECONDS = 10.0  # for a statement
TYPES = {Field.TYPE_STRING: "VARCHAR", Field.TYPE_BOOL: "BOOLEAN", Field.TYPE_DOUBLE: "DOUBLE"}  # others: LONG


class QuestDbSink:
    """Writes events to a server: questdb://HOST:PORT, or questdbs:// with TLS.

    environment  ANTE_QUESTDB_USER and ANTE_QUESTDB_PASSWORD, or ANTE_QUESTDB_TOKEN

    Raises BadBus.
    """

    def __init__(self, url: str, environment: Mapping[str, str]) -> None:
        found = URL.fullmatch(url)
        if found is None:
            raise BadBus(
                f"{printable(url, 60)!r} is no QuestDB server: use questdb://HOST:PORT, such as questdb://127.0.0.1:9000"
            )
        scheme, self._host, self._port = found.groups()
        self.url, self._tls = url, scheme == "questdbs"
        user, password, token = (environment.get(name) or None for name in (USER, PASSWORD, TOKEN))
        self._access: dict[str, Any] = {"username": user, "password": password, "token": token}
        self._statements = httpx2.Client(
            base_url=f"{'https' if self._tls else 'http'}://{self._host}:{self._port}",
            auth=(user, password or "") if user else None,
            headers={"Authorization": f"Bearer {token}"} if token else None,
            timeout=SECONDS,
        )
        self._tables: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._statements.close()

    def write(self, deliveries: Sequence[Delivery]) -> None:
        """Write events and return after the server's answer; a write is repeated for RETRY_MS. Raises BadBus."""
        for name in {str(each.event.WhichOneof("data")) for each in deliveries} - self._tables:
            self._create(name)
        protocol = questdb.Protocol.Https if self._tls else questdb.Protocol.Http
        try:
            with questdb.Sender(
                protocol, self._host, self._port, auto_flush=False, retry_timeout=RETRY_MS, **self._access
            ) as sender:
                for each in deliveries:
                    name, columns = columns_of(each)
                    at = questdb.TimestampNanos(each.event.time.ToNanoseconds())
                    sender.row(PREFIX + name, symbols={"source": each.event.source}, columns=columns, at=at)
                sender.flush()
        except questdb.QuestDBError as error:
            raise BadBus(f"{self.url} does not take events: {printable(error, 300)}; they stay on the bus") from None

    def _create(self, name: str) -> None:
        """Create the table of a kind if it does not exist. Raises BadBus."""
        try:
            answer = self._statements.get("/exec", params={"query": statement_of(name)})
            answer.raise_for_status()
        except httpx2.HTTPError as error:
            raise BadBus(f"cannot create the table {PREFIX}{name} at {self.url}: {printable(error, 300)}") from None
        self._tables.add(name)


def statement_of(name: str) -> str:
    """Return the statement that creates the table of a kind."""
    fields = ", ".join(f"{each.name} {type_of(each)}" for each in DATA[name].fields)
    return (
        f"CREATE TABLE IF NOT EXISTS {PREFIX}{name} (time TIMESTAMP, id VARCHAR, source SYMBOL, subject VARCHAR, "
        f"correlation_id VARCHAR, {fields}) TIMESTAMP(time) PARTITION BY DAY WAL DEDUP UPSERT KEYS(time, id)"
    )


def type_of(field: Any) -> str:
    """Return the type of a field's column; lists are text in JSON."""
    return "VARCHAR" if field.is_repeated else TYPES.get(field.type, "LONG")


def columns_of(delivery: Delivery) -> tuple[str, dict[str, Any]]:
    """Return the kind of an event and its columns except time and source; None where a field has no value."""
    row, name = row_of(delivery), str(delivery.event.WhichOneof("data"))
    columns: dict[str, Any] = {key: row[key] for key in ("id", "subject", "correlation_id")}
    for field in DATA[name].fields:
        value = row[name][field.name]
        if field.is_repeated:
            value = json.dumps(value)
        elif field.type == Field.TYPE_UINT64 and value >= 1 << 63:
            value -= 1 << 64  # the same bits: QuestDB has signed numbers only
        columns[field.name] = value
    return name, columns
