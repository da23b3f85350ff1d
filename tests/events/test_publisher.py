"""Publishing from a thread, and effects that happen once."""

import re
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ante.bench.bus.nats_server import NatsServer
from ante.events import publisher as module
from ante.events.bus import Delivery
from ante.events.inbox import Inbox
from ante.events.log import stored_in
from ante.events.publisher import Publisher, publishing_events
from ante.events.urls import BadBus
from ante.events.v1 import events_pb2 as pb
from tests.events.conftest import needs_nats, state

DAMAGED = "-----BEGIN NATS USER JWT-----\na.b.c\n-----BEGIN USER NKEY SEED-----\nSUAXY\n"


def test_everything_is_published_in_order_before_close_returns(tmp_path: Path) -> None:
    file = tmp_path / "events.sqlite"
    with publishing_events(str(file), "test", drops=False) as publisher:
        assert publisher is not None
        for number in range(6000):  # more than its room
            publisher.put("ppo", pb.RunState(run="ppo", steps=number))
    found = stored_in(file, 10**6)
    assert [each.event.run_state.steps for each in found] == list(range(6000))
    assert publisher.acknowledged == 6000 and found[0].event.source == "test"


def test_without_a_bus_there_is_no_publisher() -> None:
    with publishing_events(None, "test") as publisher:
        assert publisher is None


def test_a_bus_that_is_away_is_an_error_where_events_matter() -> None:
    with pytest.raises(BadBus, match="cannot open the event log"):
        Publisher("/no/such/folder/events.sqlite", "test", drops=False)


@needs_nats
def test_training_goes_on_without_a_bus_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("ROOM", 10), ("PAUSE_SECONDS", 0.05)):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr("ante.events.jetstream.OPEN_SECONDS", 0.5)
    server, said = NatsServer(tmp_path), list[str]()
    publisher = Publisher(server.url, "test", notify=said.append)
    begin = time.monotonic()
    for number in range(15):
        publisher.put("ppo", pb.RunState(run="ppo", steps=number))
    assert time.monotonic() - begin < 0.3
    with server:
        publisher.close(20.0)
    assert publisher.acknowledged == 10 and len(said) == 2
    assert said[-1] == f"5 events not published to {server.url}, 10 published"


@pytest.mark.parametrize(
    ("variable", "text", "words"),
    [
        ("ANTE_EVENTS_CA", None, "ANTE_EVENTS_CA: .* cannot be read .*: name a file of certificates in PEM"),
        (
            "ANTE_EVENTS_CA",
            "no certificate",
            "ANTE_EVENTS_CA: .* cannot be read .*: name a file of certificates in PEM",
        ),
        ("ANTE_EVENTS_CREDENTIALS", None, "ANTE_EVENTS_CREDENTIALS cannot be read"),
        ("ANTE_EVENTS_CREDENTIALS", "no credentials", "has no user JWT and seed"),
        ("ANTE_EVENTS_CREDENTIALS", DAMAGED, "the seed in .* is damaged .*: create the file again"),
    ],
)
def test_a_file_that_cannot_be_used_is_reported_and_training_goes_on(
    variable: str, text: str | None, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, said, end = tmp_path / "file", list[str](), time.monotonic() + 10.0
    if text is not None:
        file.write_text(text)
    monkeypatch.setenv(variable, str(file))
    publisher = Publisher("tls://127.0.0.1:1", "test", notify=said.append)
    while not said and time.monotonic() < end:
        time.sleep(0.01)
    publisher.put("ppo", pb.RunState(run="ppo"))
    publisher.close(0.2)
    assert re.search(words, said[0]) and said[-1] == "1 event not published to tls://127.0.0.1:1, 0 published"
    with pytest.raises(BadBus, match=words):
        Publisher("tls://127.0.0.1:1", "test", drops=False)


@needs_nats
def test_close_gives_up_after_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = list[str]()
    with NatsServer(tmp_path) as server:
        publisher = Publisher(server.url, "test", notify=said.append)
        publisher.put("ppo", pb.RunState(run="ppo"))
        while not publisher.acknowledged:
            time.sleep(0.01)
        server.kill()
        publisher.put("ppo", pb.RunState(run="ppo"))
        publisher.close(0.5)
    assert said == [f"1 event not published to {server.url}, 1 published"]


class Defective:
    """A bus that raises an error that the publisher does not expect."""

    async def publish(self, event: Any) -> int:
        raise AssertionError("a defect\nof a library")

    async def close(self) -> None:
        pass


def test_a_defect_of_a_bus_ends_publishing_and_not_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    async def opened(url: str) -> Defective:
        return Defective()

    monkeypatch.setattr(module, "open_bus", opened)
    said = list[str]()
    publisher = Publisher("bus", "test", notify=said.append)
    for _ in range(3):
        publisher.put("ppo", pb.RunState())
        publisher._thread.join(0.5)
    publisher.close()
    ended = "bus is not published to any more: AssertionError: a defect"
    assert said == [ended, "3 events not published to bus, 0 published"]
    with pytest.raises(BadBus, match=ended), publishing_events("bus", "test", drops=False) as strict:
        assert strict is not None
        strict.put("ppo", pb.RunState())


def test_a_log_that_another_process_holds_is_left_without_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors, file, said = list[Any](), tmp_path / "events.sqlite", list[str]()
    monkeypatch.setattr(threading, "excepthook", errors.append)
    publisher = Publisher(str(file), "test", notify=said.append)
    publisher.put("ppo", pb.RunState())
    while not publisher.acknowledged:
        time.sleep(0.01)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        publisher.put("ppo", pb.RunState())
        publisher.close(0.2)
    writers = [each for each in threading.enumerate() if each.name == "event-log"]
    for each in writers:
        each.join(10.0)
    assert not any(each.is_alive() for each in writers) and errors == []
    assert said == [f"1 event not published to {file}, 1 published"]


def test_an_effect_happens_once_and_with_its_event(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path / "effects.sqlite")
    inbox.db.execute("CREATE TABLE effects (steps INTEGER)")
    first, second = (Delivery(number, state(number)) for number in (1, 2))

    def handle(*deliveries: Delivery, fails: bool = False) -> None:
        with inbox.once(deliveries) as new:
            for each in new:
                inbox.db.execute("INSERT INTO effects VALUES (?)", (each.event.run_state.steps,))
            if fails:
                raise RuntimeError("crash")

    with pytest.raises(RuntimeError):
        handle(first, fails=True)
    handle(first)
    handle(first, second, second)
    inbox.close()
    inbox = Inbox(tmp_path / "effects.sqlite")
    handle(second)
    assert inbox.db.execute("SELECT steps FROM effects").fetchall() == [(1,), (2,)]
    inbox.forget(-1.0)
    handle(first)
    assert inbox.db.execute("SELECT count(*) FROM effects").fetchone() == (3,)
    inbox.close()
