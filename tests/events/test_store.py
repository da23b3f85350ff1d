"""The event store: files, repetitions, retention, and queries that only read."""

import asyncio
import json
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from ante.events import archive
from ante.events.bus import Bus, Delivery
from ante.events.messages import KINDS, NAMES, event_of, types_of
from ante.events.opening import open_bus
from ante.events.query import BadQuery, kinds_of, query, select_kind, stored_events
from ante.events.v1 import events_pb2 as pb
from ante.storage.local import LocalStore
from tests.events.conftest import ended, put_unknown, state


async def archived(bus: Bus, store: LocalStore) -> int:
    return sum(
        [len(each) async for each in archive.archive(bus, partial(archive.store_events, store), 60.0, follow=False)]
    )


def filled() -> list[Any]:
    """Return an event of each kind, with a value in every field."""
    values = {
        "string": "text",
        "bool": True,
        "double": 0.25,
        "int32": -3,
        "int64": -(2**40),
        "uint32": 7,
        "uint64": 2**60,
    }
    events = []
    for kind in NAMES:
        data = kind()
        for field in kind.DESCRIPTOR.fields:
            value = values[
                {9: "string", 8: "bool", 1: "double", 5: "int32", 3: "int64", 13: "uint32", 4: "uint64"}[field.type]
            ]
            if field.is_repeated:
                getattr(data, field.name).extend([value, value])
            else:
                setattr(data, field.name, value)
        events.append(event_of("test", "subject", data, correlation_id="c"))
    return events


def read_back(row: dict[str, Any]) -> Any:
    """Return the event of a row of the store."""
    name = next(each for each in KINDS if row[each] is not None)
    data = next(kind for kind, field in NAMES.items() if field == name)
    values = {key: value for key, value in row[name].items() if value is not None}
    event = pb.Event(**{key: row[key] for key in archive.ATTRIBUTES}, **{name: data(**values)})
    event.time.FromNanoseconds(row["time"])
    return event


def test_every_kind_of_event_comes_back_from_the_store(url: str, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    events, store = filled(), LocalStore(tmp_path / "archive")

    async def run() -> None:
        bus = await open_bus(url)
        for each in events:
            await bus.publish(each)
        assert await archived(bus, store) == len(events) == len(KINDS)
        await bus.publish(events[0])
        await bus.publish(state(1))
        assert await archived(bus, store) == 1, "the rest is archived already"
        await bus.close()

    asyncio.run(run())
    first, second = archive.keys_of(store)
    table = pq.read_table(store.folder / first)
    rows = table.set_column(1, "time", table["time"].cast("int64")).to_pylist()
    assert [read_back(row) for row in rows] == events
    assert first.startswith(f"date={datetime.now(UTC):%Y-%m-%d}/000000000000001-") and second > first


def test_events_of_unknown_kinds_are_not_archived(url: str, tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "archive")

    async def run() -> None:
        bus = await open_bus(url)
        await put_unknown(bus, "newer")
        await bus.publish(state(1))
        await put_unknown(bus, "newest")
        assert [await archived(bus, store) for _ in range(2)] == [1, 0]
        await bus.close()

    asyncio.run(run())
    for place in (str(store.folder), *([url] if Path(url).exists() else [])):
        with stored_events(place) as db:
            assert [row[:2] for row in kinds_of(db).values] == [("ante.v1.run.state", 1)]


class Repeating:
    """A bus with one subscription, which delivers events again before they are acknowledged."""

    def __init__(self, *batches: list[Delivery]) -> None:
        self.batches, self.acknowledged = list(batches), list[int]()

    async def subscribe(self, consumer: str, hold_seconds: float) -> "Repeating":
        return self

    async def fetch(self, most: int, seconds: float) -> list[Delivery]:
        return self.batches.pop(0) if self.batches else []

    async def done(self, deliveries: list[Delivery]) -> None:
        self.acknowledged += [each.sequence for each in deliveries]

    async def close(self) -> None:
        pass


def test_an_event_that_comes_again_before_its_write_is_written_once() -> None:
    first, second, third = (Delivery(number, state(number)) for number in (1, 2, 3))
    bus, written = Repeating([first, second], [first, third]), list[Delivery]()

    async def run() -> None:
        async for _ in archive.archive(cast(Bus, bus), written.extend, 60.0, follow=False):
            pass

    asyncio.run(run())
    assert written == [first, second, third] and bus.acknowledged == [1, 2, 3]


def test_an_event_in_two_files_is_one_row(tmp_path: Path) -> None:
    store, events = LocalStore(tmp_path), [Delivery(number, state(number)) for number in range(3)]
    archive.store_events(store, events[:2])
    archive.store_events(store, events)  # as after a crash between writing and acknowledging
    with stored_events(str(tmp_path)) as db:
        assert len(archive.keys_of(store)) == 2
        assert query(db, "SELECT run_state.steps FROM events ORDER BY 1", 10).values == [(0,), (1,), (2,)]


class Bucket:
    """A store that is no folder."""

    def __init__(self, folder: Path) -> None:
        self._store = LocalStore(folder)
        self.list, self.get_file = self._store.list, self._store.get_file


def test_the_files_of_a_bucket_are_copied_for_a_query(stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ante.events.query.open_store", lambda url: Bucket(Path(stored)))
    with stored_events("s3://bucket/events") as db:
        assert query(db, "SELECT count(*) FROM events", 1).values == [(4,)]


def test_a_damaged_file_is_reported(stored: str) -> None:
    (file,) = Path(stored).rglob("*.parquet")
    file.write_bytes(b"PAR1 no parquet PAR1")
    with pytest.raises(BadQuery, match="the query fails"), stored_events(stored):
        pass


def test_old_days_are_deleted(tmp_path: Path) -> None:
    store, now = LocalStore(tmp_path), time.time()
    events = [Delivery(number, state(number)) for number in range(3)]
    for number, each in enumerate(events):
        each.event.time.FromSeconds(int(now) - 86_400 * 10 * number)
    assert len(archive.store_events(store, events)) == 3, "a file for each day"
    assert archive.forget(store, 86_400 * 15) == 1 and len(archive.keys_of(store)) == 2
    assert archive.forget(store, 86_400 * 15) == 0


@pytest.fixture
def stored(tmp_path: Path) -> str:
    """Return the URL of a store with four events."""
    events = [state(1), ended("a", "won", ante=8), ended("b", ante=2), ended("c", ante=3)]
    archive.store_events(LocalStore(tmp_path / "archive"), [Delivery(n, event) for n, event in enumerate(events)])
    return str(tmp_path / "archive")


def test_queries_answer_about_kinds_and_fields(stored: str) -> None:
    with stored_events(stored) as db:
        assert [row[:2] for row in kinds_of(db).values] == [("ante.v1.game.ended", 3), ("ante.v1.run.state", 1)]
        text = "SELECT game_ended.outcome, avg(game_ended.ante) FROM events WHERE game_ended IS NOT NULL GROUP BY 1 ORDER BY 1"
        assert query(db, text, 10).values == [("lost", 2.5), ("won", 8.0)]
        found = query(db, select_kind("game.ended"), 2)
        assert found.columns[:5] == ("time", "type", "source", "subject", "outcome") and len(found.values) == 2
        assert len(query(db, select_kind("game"), 10).columns) == 4


@pytest.mark.parametrize(
    "statement",
    [
        "COPY events TO '{folder}/out.csv'",
        "DROP VIEW events",
        "CREATE TABLE t AS SELECT 1",
        "SELECT 1; SELECT 2",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '{folder}/../secret.csv'",
        "ATTACH '{folder}/x.db'",
        "SET enable_external_access = true",
        "INSTALL httpfs",
        "SELECT nothing FROM events",
        "",
    ],
)
def test_statements_can_only_read_events(stored: str, statement: str) -> None:
    folder = Path(stored)
    (folder.parent / "secret.csv").write_text("a\n1\n")
    before = sorted(folder.parent.rglob("*"))
    with stored_events(stored) as db, pytest.raises(BadQuery):
        query(db, statement.format(folder=folder), 10)
    assert sorted(folder.parent.rglob("*")) == before


def test_places_without_events_are_reported(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("text")
    for source, words in (
        (str(tmp_path), "has no events: name an archive"),
        ("nats://127.0.0.1:4222", "is a bus: archive its events first"),
        (str(tmp_path / "text"), "cannot read the event log"),
    ):
        with pytest.raises(ValueError, match=words), stored_events(source):
            pass


def test_kinds_are_those_of_the_messages() -> None:
    assert len(types_of("")) == len(KINDS) == len(NAMES)
    assert types_of("learning.decision") == ["ante.v1.learning.decision.request", "ante.v1.learning.decision.response"]
    assert json.loads(json.dumps(list(KINDS))) == list(NAMES.values())
