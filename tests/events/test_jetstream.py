"""NATS: kills of the server, and messages that are no events."""

import asyncio
from pathlib import Path

import pytest

from ante.bench.bus.measure import survive
from ante.bench.bus.nats_server import NatsServer, NoServer
from ante.events.jetstream import NatsBus, connected
from ante.events.opening import open_bus
from ante.events.urls import BadBus
from tests.events.conftest import needs_nats, state

pytestmark = [pytest.mark.slow, needs_nats]


def test_publishing_waits_for_a_server_that_is_away(tmp_path: Path) -> None:
    async def run() -> None:
        with NatsServer(tmp_path) as server:
            bus = await open_bus(server.url)
            reader = await bus.subscribe("reader")
            assert await bus.publish(state(1)) == 1
            server.kill()
            publishing = [asyncio.create_task(bus.publish(state(n))) for n in range(2, 30)]
            await asyncio.sleep(0.3)
            assert not any(task.done() for task in publishing)
            server.start()
            assert sorted(await asyncio.gather(*publishing)) == list(range(2, 30))
            found = set[int]()
            while len(found) < 29:
                found |= {each.event.run_state.steps for each in await reader.fetch()}
            await bus.close()

    asyncio.run(asyncio.wait_for(run(), 30.0))


@pytest.mark.slow
def test_kills_lose_and_repeat_nothing(tmp_path: Path) -> None:
    found = asyncio.run(survive(tmp_path, events=3000, kills=3, rate=1000.0))
    assert found.acknowledged == 3000 and found.kills == 3 and found.retries > 0
    assert (found.lost, found.stored_twice, found.not_handled, found.handled_twice) == (0, 0, 0, 0)


def test_a_message_that_is_no_event_is_dropped(server: NatsServer) -> None:
    async def run() -> None:
        bus = await NatsBus.open(server.url, {})
        for data in (b"\xff\xff", b""):
            await bus.client.request("ante.v1.run.state", data)
        await bus.publish(state(1, run="after"))
        subscription, found = await bus.subscribe("picky"), list[str]()
        while not found:
            found += [each.event.subject for each in await subscription.fetch()]
        assert found == ["after"]
        await bus.close()

    asyncio.run(run())


def test_a_server_without_jetstream_or_with_another_token_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ante.events.jetstream.OPEN_SECONDS", 1.0)
    with NatsServer(tmp_path, "--auth", "right") as server:
        with pytest.raises(BadBus, match=r"(?i)cannot connect to .*: .*(authorization|reset by peer)"):
            asyncio.run(connected(server.url, {"ANTE_EVENTS_TOKEN": "wrong"}))
        asyncio.run(closed(server.url))


async def closed(url: str) -> None:
    bus = await open_bus(url, {"ANTE_EVENTS_TOKEN": "right"})
    assert await bus.publish(state(1)) == 1
    await bus.close()


def test_a_server_that_does_not_start_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NoServer, match="does not start"), NatsServer(tmp_path, "--no-such-flag"):
        pass
