"""The event store: events of a bus as Parquet files in a folder or a bucket, and their retention.

    STORE/date=YYYY-MM-DD/FIRST-LAST-DIGEST.parquet    events of a day (UTC), named by their sequences and ids

Each row is an event: the attributes, and a column for each kind of data, null in rows of other kinds. An event whose
acknowledgement was lost may be in two files; queries drop the second.
"""

import hashlib
import re
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from google.protobuf.descriptor import FieldDescriptor as Field

from ante.events.bus import Bus, Delivery
from ante.events.v1 import events_pb2 as pb
from ante.storage.store import Store

CONSUMER = "archive"
MOST_EVENTS = 10_000  # of a file; less than the bus delivers without acknowledgement
WRITE_SECONDS = 60.0  # longest time that a write may take
KEY = re.compile(r"date=(\d{4}-\d{2}-\d{2})/[\w-]+\.parquet")
TYPES = {
    Field.TYPE_STRING: pa.string(),
    Field.TYPE_BOOL: pa.bool_(),
    Field.TYPE_DOUBLE: pa.float64(),
    Field.TYPE_INT32: pa.int32(),
    Field.TYPE_INT64: pa.int64(),
    Field.TYPE_UINT32: pa.uint32(),
    Field.TYPE_UINT64: pa.uint64(),
}
ATTRIBUTES = ("id", "source", "type", "subject", "correlation_id")
DATA = {each.name: each.message_type for each in pb.Event.DESCRIPTOR.fields if each.containing_oneof is not None}


def column(field: Any) -> Any:
    """Return the Arrow field of a message's field."""
    kind = TYPES[field.type]
    return pa.field(field.name, pa.list_(kind) if field.is_repeated else kind)


SCHEMA = pa.schema(
    [
        ("sequence", pa.int64()),
        ("time", pa.timestamp("ns")),  # UTC
        *((name, pa.string()) for name in ATTRIBUTES),
        *((name, pa.struct([column(field) for field in kind.fields])) for name, kind in DATA.items()),
    ]
)


def row_of(delivery: Delivery) -> dict[str, Any]:
    """Return an event as a row."""
    event = delivery.event
    name = event.WhichOneof("data")
    data = getattr(event, name)
    values = {
        field.name: None
        if field.has_presence and not data.HasField(field.name)
        else list(getattr(data, field.name))
        if field.is_repeated
        else getattr(data, field.name)
        for field in DATA[name].fields
    }
    attributes = {each: getattr(event, each) for each in ATTRIBUTES}
    return {"sequence": delivery.sequence, "time": event.time.ToNanoseconds(), **attributes, name: values}


def table_of(deliveries: Iterable[Delivery]) -> Any:
    """Return events as an Arrow table."""
    return pa.Table.from_pylist([row_of(each) for each in deliveries], schema=SCHEMA)


def day_of(delivery: Delivery) -> str:
    """Return the day of an event."""
    return datetime.fromtimestamp(delivery.event.time.seconds, UTC).strftime("%Y-%m-%d")


def store_events(store: Store, deliveries: Sequence[Delivery]) -> list[str]:
    """Write events to the store, a file for each day, and return the keys. Raises StorageError."""
    keys = []
    with tempfile.TemporaryDirectory() as folder:
        for day, group in groupby(sorted(deliveries, key=lambda each: (day_of(each), each.sequence)), day_of):
            events = list(group)
            digest = hashlib.blake2b(" ".join(each.event.id for each in events).encode(), digest_size=4).hexdigest()
            keys.append(f"date={day}/{events[0].sequence:015d}-{events[-1].sequence:015d}-{digest}.parquet")
            pq.write_table(table_of(events), Path(folder) / digest, compression="zstd")
            store.put_file(keys[-1], Path(folder) / digest)
    return keys


async def archive(
    bus: Bus, write: Callable[[list[Delivery]], object], seconds: float, follow: bool, consumer: str = CONSUMER
) -> AsyncIterator[list[Delivery]]:
    """Move events from the bus to a store; yield those of each write.

    Args:
        bus: Where they are.
        write: Stores events, such as `store_events` of a store, and returns when they are safe.
        seconds: Longest time that an event waits for its write.
        follow: Whether to wait for further events; else it ends after the last one.
        consumer: Name under which the bus remembers what is archived.

    Raises BadBus, and what `write` raises.
    """
    subscription = await bus.subscribe(consumer, hold_seconds=seconds + WRITE_SECONDS)
    waiting: dict[int, Delivery] = {}  # by sequence: NATS may deliver one again before it is acknowledged
    since = time.monotonic()
    while True:
        found = await subscription.fetch(MOST_EVENTS - len(waiting), 1.0)
        since = since if waiting else time.monotonic()
        waiting |= {each.sequence: each for each in found}
        ended = not found and not follow
        if waiting and (ended or len(waiting) >= MOST_EVENTS or time.monotonic() - since >= seconds):
            events = list(waiting.values())
            write(events)
            await subscription.done(events)
            yield events
            waiting = {}
        if ended:
            await subscription.close()
            return


def forget(store: Store, seconds: float, now: Callable[[], float] = time.time) -> int:
    """Delete the files of days that ended longer ago, and return their number. Raises StorageError."""
    oldest = datetime.fromtimestamp(now() - seconds, UTC).strftime("%Y-%m-%d")
    old = [key for key in keys_of(store) if key[5:15] < oldest]
    for key in old:
        store.delete(key)
    return len(old)


def keys_of(store: Store) -> list[str]:
    """Return the keys of the files of events in a store. Raises StorageError."""
    return [each.key for each in store.list() if KEY.fullmatch(each.key)]
