"""What every event bus does, on the log and on a real nats-server."""

import asyncio
import time

import pytest

from ante.events.bus import Bus, Subscription
from ante.events.messages import BadEvent, BadKind, warn_of
from ante.events.opening import open_bus
from ante.events.urls import BadBus
from tests.events.conftest import UNKNOWN, ended, put_unknown, state


async def steps_of(subscription: Subscription, most: int = 256, seconds: float = 1.0) -> list[int]:
    """Return the steps of the next events, and acknowledge them."""
    found = await subscription.fetch(most, seconds)
    await subscription.done(found)
    return [each.event.run_state.steps for each in found]


async def published(bus: Bus, *steps: int) -> None:
    for each in steps:
        await bus.publish(state(each))


def test_events_arrive_whole_and_in_order(url: str) -> None:
    async def run() -> None:
        bus, event = await open_bus(url), state(7)
        assert await bus.publish(event) == 1
        await published(bus, 8, 9)
        subscription = await bus.subscribe("reader")
        found = await subscription.fetch(2)
        while len(found) < 3:
            found += await subscription.fetch(2)
        assert [each.sequence for each in found] == [1, 2, 3] and found[0].event == event
        await bus.close()

    asyncio.run(run())


def test_an_event_with_a_known_id_is_stored_once(url: str) -> None:
    async def run() -> None:
        bus = await open_bus(url)
        first, again = await bus.publish(state(1, event_id="same")), await bus.publish(state(2, event_id="same"))
        await bus.publish(state(3))
        assert first == again
        subscription, found = await bus.subscribe(), list[int]()
        while len(found) < 2:
            found += await steps_of(subscription)
        assert found == [1, 3]
        await bus.close()

    asyncio.run(run())


def test_a_consumer_continues_where_it_has_acknowledged(url: str) -> None:
    async def run() -> None:
        bus = await open_bus(url)
        await published(bus, 1, 2)
        assert await steps_of(await bus.subscribe("mine")) == [1, 2]
        await bus.close()
        bus = await open_bus(url)
        await published(bus, 3)
        assert await steps_of(await bus.subscribe("mine")) == [3]
        assert await steps_of(await bus.subscribe("other")) == [1, 2, 3], "another consumer begins at the oldest event"
        await bus.close()

    asyncio.run(run())


def test_an_event_that_was_not_acknowledged_comes_again_although_later_ones_were(url: str) -> None:
    async def run() -> None:
        bus = await open_bus(url)
        await published(bus, 1, 2, 3)
        subscription = await bus.subscribe("mine", hold_seconds=1.0)
        deliveries = await subscription.fetch()
        assert len(deliveries) == 3
        await subscription.done(deliveries[1:])
        await bus.close()
        bus = await open_bus(url)
        again = await bus.subscribe("mine", hold_seconds=1.0)
        found = await again.fetch(seconds=5.0)
        assert found and found[0].event.run_state.steps == 1
        await again.done(found)
        await bus.close()
        bus = await open_bus(url)
        assert await steps_of(await bus.subscribe("mine", hold_seconds=1.0)) == []
        await bus.close()

    asyncio.run(run())


def test_a_consumer_gets_its_kinds_only(url: str) -> None:
    async def run() -> None:
        bus = await open_bus(url)
        await published(bus, 1)
        await bus.publish(ended())
        for kind in ("game", "game.ended"):
            (found,) = await (await bus.subscribe(kind.replace(".", ""), kind)).fetch()
            assert found.event.game_ended.outcome == "lost"
        with pytest.raises(BadKind, match=r"unknown kind of events 'game.end': did you mean game.ended\?"):
            await bus.subscribe("wrong", "game.end")
        await bus.close()

    asyncio.run(run())


def test_a_reader_of_new_events_gets_no_old_ones_and_does_not_wait_for_more(url: str) -> None:
    async def run() -> None:
        bus = await open_bus(url)
        await published(bus, 1)
        subscription = await bus.subscribe(since="new")
        assert await subscription.fetch(seconds=0.1) == []
        waiting = asyncio.create_task(subscription.fetch(256, 5.0))
        await asyncio.sleep(0)
        begin = time.monotonic()
        await published(bus, 2)
        assert [each.event.run_state.steps for each in await waiting] == [2] and time.monotonic() - begin < 2.0
        await bus.close()

    asyncio.run(run())


def test_events_of_unknown_kinds_are_skipped_with_one_warning(url: str, caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        warn_of.cache_clear()
        bus = await open_bus(url)
        for number in range(3):
            await put_unknown(bus, f"newer-{number}")
        await published(bus, 1)
        for consumer in ("reader", None):
            assert await steps_of(await bus.subscribe(consumer), 2) == [1], "also if a whole batch is skipped"
        assert caplog.text.count(UNKNOWN) == 1
        await bus.close()
        bus = await open_bus(url)
        assert await steps_of(await bus.subscribe("reader"), seconds=0.2) == []
        await bus.close()

    asyncio.run(run())


def test_many_publishers_lose_nothing(url: str) -> None:
    async def run() -> None:
        bus = await open_bus(url)
        await asyncio.gather(*(bus.publish(state(number)) for number in range(1500)))
        subscription, found = await bus.subscribe("reader"), list[int]()
        while more := await steps_of(subscription, 200, 0.5):
            found += more
        assert sorted(found) == list(range(1500))
        await bus.close()

    asyncio.run(run())


def test_a_cancelled_consumer_ends_although_an_event_arrives_at_that_moment(url: str) -> None:
    async def consume(subscription: Subscription) -> None:
        while True:
            await subscription.done(await subscription.fetch())

    async def run() -> None:
        bus = await open_bus(url)
        subscription = await bus.subscribe("reader")
        for moment in range(200):
            consuming = asyncio.create_task(consume(subscription))
            await asyncio.sleep(0)
            publishing = asyncio.create_task(published(bus, moment))
            if moment % 2:
                await publishing
            for _ in range(moment // 20):
                await asyncio.sleep(0)
            consuming.cancel()
            await asyncio.wait([consuming], timeout=10.0)
            assert consuming.cancelled()
            await publishing
        await bus.close()

    asyncio.run(run())


def test_old_events_are_deleted(url: str) -> None:
    async def run() -> None:
        bus, old = await open_bus(url), state(1)
        old.time.FromSeconds(int(time.time()) - 3600)
        await bus.publish(old)
        await published(bus, 2)
        words = await bus.forget(1800.0)
        if "sqlite" in url:
            assert words == "1 of 2 events deleted" and await steps_of(await bus.subscribe()) == [2]
        else:
            assert words == "the stream ANTE drops events after 0.0208333 days"
        await bus.close()

    asyncio.run(run())


def test_malformed_events_are_refused(url: str) -> None:
    async def run() -> None:
        bus, wrong = await open_bus(url), state(1)
        wrong.type = "ante.v1.game.ended"
        for event, words in (
            (wrong, "does not name its data, run_state"),
            (state(1, event_id="x" * 129), "must have 1 to 128 printable characters"),
            (state(1, run="x" * 300_000), "at most 262,144 are stored"),
        ):
            with pytest.raises(BadEvent, match=words):
                await bus.publish(event)
        await bus.close()

    asyncio.run(run())


@pytest.mark.parametrize("name", ["", "a.b"])
def test_a_consumer_has_a_plain_name(url: str, name: str) -> None:
    async def run() -> None:
        bus = await open_bus(url)
        with pytest.raises(BadBus, match="no name of a consumer"):
            await bus.subscribe(name)
        await bus.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("http://127.0.0.1", "is no event bus: use nats://HOST:PORT, or the path of a file"),
        (
            "nats://me:secret@host:4222",
            "is no NATS server: use nats://HOST:PORT, with credentials in ANTE_EVENTS_TOKEN",
        ),
        *[(f"nats://{each}", "is no NATS server") for each in ("host:99999", "host:0", "host:port", ":4222", "[::1")],
        ("nats://127.0.0.1:1", "cannot connect to nats://127.0.0.1:1: .*is nats-server running there"),
    ],
)
def test_a_wrong_url_is_reported_without_secrets(wrong: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ante.events.jetstream.OPEN_SECONDS", 0.3)
    with pytest.raises(BadBus, match=words) as caught:
        asyncio.run(open_bus(wrong))
    assert "secret" not in str(caught.value)
