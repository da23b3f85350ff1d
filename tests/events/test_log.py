"""The log: other processes, kills, and files that are none."""

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ante.events.log import VERSION, LogBus, stored_in
from ante.events.opening import open_bus
from ante.events.urls import BadBus
from tests.events.conftest import state


def killed_writer(file: Path, events: int) -> list[str]:
    """Start a process that publishes, kill it, and return the ids of the events that it knew to be acknowledged."""
    command = [sys.executable, "-m", "tests.events.writer", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = [next(process.stdout).strip() for _ in range(events)]
        process.kill()
        return found + [line.strip() for line in process.stdout if line.endswith("\n")]


def test_acknowledged_events_survive_a_kill_of_the_publisher(tmp_path: Path) -> None:
    file = tmp_path / "events.sqlite"
    acknowledged = killed_writer(file, 300)
    stored = [each.event.id for each in stored_in(file, 10**6)]
    assert set(acknowledged) <= set(stored) and len(stored) == len(set(stored)) and len(acknowledged) >= 300


def test_another_process_reads_while_one_writes(tmp_path: Path) -> None:
    file = tmp_path / "events.sqlite"

    async def run() -> None:
        bus = await open_bus(str(file))
        subscription = await bus.subscribe("reader")
        acknowledged = await asyncio.to_thread(killed_writer, file, 50)
        found = set[str]()
        while len(found) < len(acknowledged):
            found |= {each.event.id for each in await subscription.fetch()}
        assert found >= set(acknowledged)
        await bus.publish(state(1, event_id="after the kill"))
        await bus.close()

    asyncio.run(run())


def test_an_error_of_the_disk_reaches_each_publisher_and_the_log_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        bus = await open_bus(str(tmp_path / "events.sqlite"))
        monkeypatch.setattr("ante.events.log.written", lambda *_: sqlite3.OperationalError("disk is full"))
        results = await asyncio.gather(*(bus.publish(state(n)) for n in range(3)), return_exceptions=True)
        assert all(isinstance(each, BadBus) and "disk is full; free disk space" in str(each) for each in results)
        monkeypatch.undo()
        assert await bus.publish(state(4)) == 1
        await bus.close()

    asyncio.run(run())


def test_other_files_are_no_logs(tmp_path: Path) -> None:
    text, database, missing = tmp_path / "text.sqlite", tmp_path / "other.sqlite", tmp_path / "none" / "e.sqlite"
    text.write_text("no database" * 100)
    with sqlite3.connect(database) as db:
        db.execute("CREATE TABLE t (x)")
    before = database.read_bytes()

    async def opened(file: Path) -> None:
        LogBus(file)

    for file, words in (
        (text, "file is not a database"),
        (database, "is not an event log"),
        (missing, "unable to open"),
    ):
        with pytest.raises(BadBus, match=words):
            asyncio.run(opened(file))
        with pytest.raises(BadBus):
            stored_in(file, 10)
    assert database.read_bytes() == before


@pytest.mark.parametrize("since", ["new", "all"])
def test_a_damaged_log_is_reported(tmp_path: Path, since: Any) -> None:
    file = tmp_path / "events.sqlite"
    with closing(sqlite3.connect(file)) as db:
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("CREATE TABLE events (other INTEGER)")

    async def run() -> None:
        bus = LogBus(file)
        for ask in (bus.forget(1.0), fetched(bus, since)):
            with pytest.raises(BadBus, match=r"the event log .*events.sqlite: no such column"):
                await ask
        await bus.close()

    async def fetched(bus: LogBus, since: Any) -> None:
        await (await bus.subscribe(None, since=since)).fetch()

    asyncio.run(run())
