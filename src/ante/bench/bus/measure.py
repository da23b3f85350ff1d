"""Measurements of the event buses, for `ante bench bus`: latencies at a fixed rate, and events after kills of the server.

Events are due at random times of a fixed rate, and the acknowledgement counts from the time an event was due. The handler's
time counts from the time in the event, which is set when it is published.
"""

import asyncio
import multiprocessing
import os
import random
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from ante.bench.bus.nats_server import NatsServer
from ante.events.bus import Bus
from ante.events.inbox import Inbox
from ante.events.jetstream import NatsBus
from ante.events.messages import event_of
from ante.events.opening import open_bus
from ante.events.urls import BadBus, is_nats
from ante.events.v1 import events_pb2 as pb
from ante.files import plain

LETTERS = 900  # of the text of an event, which has about 1,000 bytes
WARM = 200  # events that are not counted
DOWN_SECONDS = 0.5  # from a kill to the start
LAST_SECONDS = 60.0  # for the handler, after the last event
Advance = Callable[[str], None]


@dataclass(frozen=True)
class BusRow:
    """Latencies of one bus in milliseconds: from due to acknowledged, and from published to the handler.

    handler  whether it runs in the publisher's process or in another one
    load     load average of the machine before the row
    """

    bus: str
    handler: str
    rate: float
    events: int
    ack_p50: float
    ack_p95: float
    ack_p99: float
    p50: float
    p95: float
    p99: float
    load: float

    def as_json(self) -> dict[str, Any]:
        """Return the row as JSON data."""
        return {name: round(value, 3) if isinstance(value, float) else value for name, value in asdict(self).items()}


@dataclass(frozen=True)
class Kills:
    """What became of events while the server was killed.

    retries         publications that were repeated
    lost            acknowledged events that the stream does not have
    stored_twice    events that the stream has more than once
    delivered_again deliveries of an event after its first one
    not_handled     acknowledged events without an effect
    handled_twice   events with more than one effect
    back            seconds from the start of the server to the next acknowledgement, the longest; null without one
    """

    kills: int
    acknowledged: int
    seconds: float
    retries: int
    lost: int
    stored_twice: int
    delivered_again: int
    not_handled: int
    handled_twice: int
    back: float

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON data."""
        found = {name: round(value, 3) if isinstance(value, float) else value for name, value in asdict(self).items()}
        return cast(dict[str, Any], plain(found))


def sample(number: int) -> Any:
    """Return the event of a measurement."""
    return event_of("bench", "bench", pb.HintAsked(seed="BENCH", step=number, text="x" * LETTERS))


async def handled(bus: Bus, consumer: str, n: int, ready: Callable[[], None]) -> list[float]:
    """Return the seconds from publication to here of the next n events."""
    subscription, delays = await bus.subscribe(consumer, since="new"), list[float]()
    ready()
    while len(delays) < n:
        found = await subscription.fetch()
        now = time.time_ns()
        delays += [1e-9 * (now - each.event.time.ToNanoseconds()) for each in found]
        await subscription.done(found)
    return delays


def handle(url: str, consumer: str, n: int, answers: Any) -> None:
    """Handle n events and send their delays; the process of a handler."""

    async def run() -> list[float]:
        bus = await open_bus(url)
        try:
            return await handled(bus, consumer, n, lambda: answers.send(None))
        finally:
            await bus.close()

    answers.send(asyncio.run(run()))


def answer(answers: Any) -> Any:
    """Return what the process of a handler sends. Raises BadBus if it has ended."""
    try:
        return answers.recv()
    except EOFError:
        raise BadBus("the process that handles events has ended without a result") from None


@asynccontextmanager
async def handling(bus: Bus, url: str, handler: str, n: int) -> AsyncIterator["asyncio.Future[list[float]]"]:
    """Run a handler of n events in this process or another one; yield the future of its delays."""
    consumer = f"bench-{random.getrandbits(32):x}"
    if handler == "same":
        ready = asyncio.get_running_loop().create_future()
        future: Any = asyncio.create_task(handled(bus, consumer, n, lambda: ready.set_result(None)))
        await asyncio.wait((ready, future), return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            await future
        yield future
        return
    context = multiprocessing.get_context("spawn")
    answers, theirs = context.Pipe(duplex=False)
    process = context.Process(target=handle, args=(url, consumer, n, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        await asyncio.to_thread(answer, answers)
        yield asyncio.create_task(asyncio.to_thread(answer, answers))
    finally:
        process.kill()
        process.join()


async def publish_at(bus: Bus, rate: float, n: int, acknowledged: Callable[["pb.Event", float], None]) -> None:
    """Publish n events that are due at random times; call `acknowledged` with each and the time at which it was due.

    Raises BadBus.
    """
    clock, due = random.Random(0), time.perf_counter() + 0.1
    tasks = list[asyncio.Task[None]]()

    async def publish(number: int, due: float) -> None:
        event = sample(number)
        await bus.publish(event)
        acknowledged(event, due)

    for number in range(n):
        due += clock.expovariate(rate)
        await asyncio.sleep(due - time.perf_counter())
        tasks.append(asyncio.create_task(publish(number, due)))
    await asyncio.gather(*tasks)


async def latencies(url: str, handler: str, rate: float, seconds: float) -> BusRow:
    """Return the latencies of a bus at this rate. Raises BadBus."""
    load, n, acks = os.getloadavg()[0], max(1, int(rate * seconds)) + WARM, list[float]()
    bus = await open_bus(url)
    try:
        async with handling(bus, url, handler, n) as future:
            await publish_at(bus, rate, n, lambda _, due: acks.append(time.perf_counter() - due))
            try:
                delays = await asyncio.wait_for(future, LAST_SECONDS)
            except TimeoutError:
                raise BadBus(
                    f"{url}: not all of {n:,} events reach the handler within {LAST_SECONDS:.0f} s after the last one: "
                    f"give a lower --rate than {rate:g}, or fewer --seconds"
                ) from None
    finally:
        await bus.close()
    ack, delay = (1e3 * np.percentile(each[WARM:], [50, 95, 99]) for each in (acks, delays))
    name = "NATS JetStream" if is_nats(url) else "SQLite log"
    return BusRow(name, handler, rate, n - WARM, ack[0], ack[1], ack[2], delay[0], delay[1], delay[2], load)


class Effects:
    """A consumer that writes one row for each event, with its inbox, until it is stopped."""

    def __init__(self, file: Path) -> None:
        self.deliveries = 0
        self._inbox = Inbox(file)
        self._inbox.db.execute("CREATE TABLE effects (id TEXT NOT NULL)")

    async def run(self, bus: Bus) -> None:
        """Handle events."""
        subscription = await bus.subscribe("effects")
        while True:
            found = await subscription.fetch()
            self.deliveries += len(found)
            with self._inbox.once(found) as new:
                self._inbox.db.executemany("INSERT INTO effects VALUES (?)", [(each.event.id,) for each in new])
            await subscription.done(found)

    def ids(self) -> list[str]:
        """Return the ids of all effects."""
        return [row[0] for row in self._inbox.db.execute("SELECT id FROM effects")]

    def close(self) -> None:
        """Close the inbox."""
        self._inbox.close()


async def stored_ids(bus: Bus) -> list[str]:
    """Return the ids of all events of a bus."""
    subscription, found = await bus.subscribe(), list[str]()
    while more := await subscription.fetch(10_000, 3.0):
        found += [each.event.id for each in more]
    return found


async def survive(folder: Path, events: int, kills: int, rate: float, advance: Advance = lambda _: None) -> Kills:
    """Publish events while the server is killed `kills` times, and count what became of them. Raises BadBus, NoServer."""
    acked: dict[str, float] = {}
    started = [0.0]
    backs = list[float]()

    def acknowledged(event: Any, _: float) -> None:
        now = time.perf_counter()
        if started[0]:
            backs.append(now - started[0])
            started[0] = 0.0
        acked[event.id] = now

    with NatsServer(folder) as server, closing(Effects(folder / "effects.sqlite")) as effects:
        begin = time.perf_counter()
        bus = await NatsBus.open(server.url, {})
        handling = asyncio.create_task(effects.run(bus))
        publishing = asyncio.create_task(publish_at(bus, rate, events, acknowledged))
        for kill in range(kills):
            while len(acked) < (kill + 0.5) * events / kills and not publishing.done():
                await asyncio.sleep(0.01)
            server.kill()
            advance(f"kill {kill + 1} of {kills}, {len(acked):,} events acknowledged")
            await asyncio.sleep(DOWN_SECONDS)
            server.launch()
            await asyncio.to_thread(server.wait)
            started[0] = time.perf_counter()
        await publishing
        seconds, end = time.perf_counter() - begin, time.monotonic() + LAST_SECONDS
        advance("reading the stream")
        stored = await stored_ids(bus)
        while not handling.done() and not acked.keys() <= set(effects.ids()) and time.monotonic() < end:
            await asyncio.sleep(0.5)
        handling.cancel()
        await asyncio.gather(handling, return_exceptions=True)
        if not handling.cancelled():
            handling.result()  # raises what ended the consumer
        retries, written = bus.retries, effects.ids()
        await bus.close()
    return Kills(
        kills=kills,
        acknowledged=len(acked),
        seconds=seconds,
        retries=retries,
        lost=len(acked.keys() - set(stored)),
        stored_twice=len(stored) - len(set(stored)),
        delivered_again=effects.deliveries - len(set(written)),
        not_handled=len(acked.keys() - set(written)),
        handled_twice=len(written) - len(set(written)),
        back=max(backs, default=float("nan")),
    )
