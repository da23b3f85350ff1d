"""NATS: kills of the server, and messages that are no events."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from nats.aio.client import Client

from ante.bench.bus.measure import survive
from ante.bench.bus.nats_server import NatsServer, NoServer
from ante.events.archive import WRITE_SECONDS, archive
from ante.events.bus import Delivery
from ante.events.jetstream import NatsBus, connected
from ante.events.opening import open_bus
from ante.events.urls import BadBus
from tests.events.conftest import needs_nats, state
from tests.events.credentials import Authority

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
    assert (found.acknowledged, found.kills) == (3000, 3)
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


async def api(client: Client, subject: str, request: object = "") -> Any:
    """Return the server's own answer to a request about streams."""
    answer = await client.request(f"$JS.API.{subject}", json.dumps(request).encode() if request else b"")
    return json.loads(answer.data)


def test_pruning_changes_only_the_age_of_a_stream(tmp_path: Path) -> None:
    made = {"name": "ANTE", "subjects": ["ante.v1.>", "other"], "storage": "file", "description": "made by hand"}
    made |= {"max_bytes": 1 << 30, "discard": "new", "duplicate_window": 60 * 10**9, "compression": "s2"}

    async def run() -> None:
        with NatsServer(tmp_path) as server:
            client = await connected(server.url, {})
            await api(client, "STREAM.CREATE.ANTE", made)
            before = (await api(client, "STREAM.INFO.ANTE"))["config"]
            assert made.items() <= before.items()
            bus = NatsBus(server.url, client)
            for seconds, window in ((86_400, 60), (30, 30)):
                await bus.forget(float(seconds))
                after = (await api(client, "STREAM.INFO.ANTE"))["config"]
                assert after == before | {"max_age": seconds * 10**9, "duplicate_window": window * 10**9}
            await bus.close()

    asyncio.run(run())


def test_an_archiver_with_a_longer_pause_than_before_gets_each_event_once(tmp_path: Path) -> None:
    async def run() -> None:
        with NatsServer(tmp_path) as server:
            bus, written = await NatsBus.open(server.url, {}), list[Delivery]()
            await (await bus.subscribe("archive", hold_seconds=0.3)).close()
            while (await api(bus.client, "CONSUMER.INFO.ANTE.archive")).get("push_bound"):
                await asyncio.sleep(0.01)  # until the server has noticed it
            for number in range(3):
                await bus.publish(state(number))
            async for _ in archive(bus, written.extend, 2.0, follow=True):
                break
            config = (await api(bus.client, "CONSUMER.INFO.ANTE.archive"))["config"]
            assert config["ack_wait"] == (2 + WRITE_SECONDS) * 10**9
            assert [each.token.metadata.num_delivered for each in written] == [1, 1, 1]
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


async def closed(url: str, variable: str = "ANTE_EVENTS_TOKEN", value: str = "right") -> None:
    bus = await open_bus(url, {variable: value})
    assert await bus.publish(state(1)) == 1
    await bus.close()


def test_credentials_of_the_account_are_accepted_and_others_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ante.events.jetstream.OPEN_SECONDS", 2.0)
    authority, name = Authority(), "ANTE_EVENTS_CREDENTIALS"
    with NatsServer(tmp_path, *authority.configure(tmp_path / "server.conf")) as server:
        asyncio.run(closed(server.url, name, str(authority.credentials(tmp_path / "user.creds"))))
        other = Authority().credentials(tmp_path / "other.creds")
        for environment in ({}, {name: str(other)}):
            refused = "Authorization Violation|reset by peer"  # the end of the connection may overtake its reason
            with pytest.raises(BadBus, match=rf"cannot connect to .*: .*({refused})"):
                asyncio.run(connected(server.url, environment))


def test_a_server_that_does_not_start_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NoServer, match="does not start"), NatsServer(tmp_path, "--no-such-flag"):
        pass
