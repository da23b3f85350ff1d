"""Publishing from code without an event loop: a thread that sends events, with a bounded number of them in memory."""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ante.events.bus import Bus
from ante.events.messages import BadEvent, event_of
from ante.events.opening import open_bus
from ante.events.urls import BadBus
from ante.events.v1 import events_pb2 as pb
from ante.messages import described, masked, number_of

LOG = logging.getLogger(__name__)
ROOM = 4_096  # events that wait for their acknowledgement
SENDERS = 64
WAIT_SECONDS = 60.0  # for room
CLOSE_SECONDS = 10.0
PAUSE_SECONDS = 1.0  # between attempts to open the bus
Notify = Callable[[str], None]


class Publisher:
    """Publishes events from any thread: on a log in the order of `put`, on NATS up to SENDERS at a time.

    On NATS, an event that is sent again may be stored after later ones.

    Attributes:
        given: Events that were put.
        acknowledged: Those that the bus has stored.

    Args:
        url: See `open_bus`.
        source: What publishes, such as train/ppo.
        drops: Whether the caller must not wait: it continues without a bus, and an event without room is dropped. Else a
            bus that cannot be opened is an error, and `put` waits up to WAIT_SECONDS for room.
        notify: Prints a message for the user.

    Raises BadBus.
    """

    def __init__(self, url: str, source: str, drops: bool = True, notify: Notify = print) -> None:
        self.url, self.source, self.given, self.acknowledged = url, source, 0, 0
        self._drops, self._notify, self._reported = drops, notify, False
        self._room, self._opened = threading.BoundedSemaphore(ROOM), threading.Event()
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = self._runner.get_loop()
        self._task: asyncio.Task[Any] | None = None
        self._waiting: asyncio.Queue[pb.Event | None] = asyncio.Queue()
        self._error: BadBus | None = None
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="events", daemon=True)
        self._thread.start()
        if not drops:
            self._opened.wait()
            self._check()

    def put(self, subject: str, data: Any, event_id: str = "", correlation_id: str = "") -> None:
        """Publish an event; see `event_of`. Raises BadBus if events are not dropped and the bus does not take them."""
        event = event_of(self.source, subject, data, event_id, correlation_id)
        with self._lock:
            self.given += 1
        if self._drops:
            if not self._room.acquire(blocking=False):
                self._report(f"events are dropped: {ROOM:,} others wait for {self.url}")
                return
        elif not self._room.acquire(timeout=WAIT_SECONDS):
            raise BadBus(f"{self.url} has acknowledged no event for {WAIT_SECONDS:g} seconds: is it reachable?")
        self._check()
        self._queue(event)

    def _queue(self, event: "pb.Event | None") -> None:
        with suppress(RuntimeError):  # the loop has ended: `close` counts the event
            self._loop.call_soon_threadsafe(self._waiting.put_nowait, event)

    def _check(self) -> None:
        if self._error and not self._drops:
            raise self._error

    def _report(self, words: str) -> None:
        """Print the first failure."""
        if not self._reported:
            self._reported = True
            self._notify(masked(words))

    def _run(self) -> None:
        try:
            with self._runner:  # ends with all tasks, such as those of a lost connection
                self._runner.run(self._send_all())
        except asyncio.CancelledError:
            pass  # by `close`, which reports what was not sent
        except Exception as error:  # of a library: the caller must not end because events cannot be published
            LOG.exception("the thread that publishes to %s has ended", self.url)
            self._error = BadBus(f"{self.url} is not published to any more: {described(error)}")
            self._report(str(self._error))
        finally:
            self._opened.set()

    async def _send_all(self) -> None:
        self._task = asyncio.current_task()
        bus = await self._open()
        if bus is not None:
            await asyncio.gather(*(self._send(bus) for _ in range(SENDERS)))
            await bus.close()

    async def _open(self) -> Bus | None:
        while True:
            try:
                bus = await open_bus(self.url)
            except BadBus as error:
                if not self._drops:
                    self._error = error
                    return None
                self._report(f"events wait: {error}")
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            self._opened.set()
            return bus

    async def _send(self, bus: Bus) -> None:
        while (event := await self._waiting.get()) is not None:
            try:
                await bus.publish(event)
                self.acknowledged += 1
            except (BadBus, BadEvent) as error:
                self._error = BadBus(str(error))
                self._report(f"an event is dropped: {error}")
            finally:
                self._room.release()

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Wait until all events are acknowledged, at most for this time. Raises BadBus if some are not, unless dropped."""
        if self._thread.is_alive():
            for _ in range(SENDERS):
                self._queue(None)
            self._thread.join(seconds)
            if self._thread.is_alive() and self._task:
                self._loop.call_soon_threadsafe(self._task.cancel)
                self._thread.join()
        if missing := self.given - self.acknowledged:
            words = f"{number_of(missing, 'event')} not published to {self.url}, {self.acknowledged:,} published"
            if not self._drops:
                raise self._error or BadBus(words)
            self._notify(masked(words))


@contextmanager
def publishing_events(
    url: str | None, source: str, drops: bool = True, notify: Notify = print
) -> Iterator[Publisher | None]:
    """Yield a publisher, None without a URL; see `Publisher`. Raises BadBus."""
    if not url:
        yield None
        return
    publisher = Publisher(url, source, drops, notify)
    try:
        yield publisher
    finally:
        publisher.close()
