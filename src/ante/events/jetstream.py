"""The event bus of several machines: a stream of NATS JetStream, in files of the server.

`publish` awaits the server's acknowledgement and repeats the event until it comes; the server drops repetitions by the
event's id. A lost connection is restored without limit. The stream is created if it does not exist; one that exists, such as
a replicated one, is used as it is.
"""

import asyncio
import logging
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import nats.errors
import nkeys
from nats.aio.client import Client
from nats.js import errors as js_errors
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, StorageType, StreamConfig
from tenacity import AsyncRetrying, retry_if_exception_type, wait_random_exponential

from ante.events.bus import HOLD_SECONDS, IN_FLIGHT, Delivery, Since
from ante.events.messages import PREFIX, BadEvent, packed, read_event, types_of
from ante.events.urls import BadBus, check_consumer
from ante.events.v1 import events_pb2 as pb

LOG = logging.getLogger(__name__)
STREAM, SUBJECTS = "ANTE", f"{PREFIX}>"
OPEN_SECONDS = 5.0  # until a server that does not answer at the start is an error
ACK_SECONDS = 2.0  # until an event without an acknowledgement is sent again
DUPLICATE_SECONDS = 600.0  # in which the server holds the ids of events: longer than an outage
KEPT_SECONDS = 30 * 86_400.0  # age at which the stream drops events
UNHANDLED = 20_000  # events of a consumer that it has not acknowledged; the server then waits
PENDING_BYTES = 8 << 20  # of messages that wait for a connection
RETRIED = (
    nats.errors.TimeoutError,
    nats.errors.OutboundBufferLimitError,
    nats.errors.StaleConnectionError,
    nats.errors.ConnectionReconnectingError,
    nats.errors.NoServersError,
    js_errors.NoStreamResponseError,  # the server has started, and its stream is not ready
    js_errors.ServiceUnavailableError,
)
TOKEN, CREDENTIALS, CA = (f"ANTE_EVENTS_{name}" for name in ("TOKEN", "CREDENTIALS", "CA"))
MARKS = (b"NATS USER JWT", b"USER NKEY SEED")  # of the parts of a file of credentials


async def connected(url: str, environment: Mapping[str, str]) -> Client:
    """Return a connection, which is restored without limit. Raises BadBus."""
    options = options_of(environment)
    client, errors = Client(), ["no answer"]

    async def report(error: Exception) -> None:
        errors[:] = [cause(error)]
        LOG.info("events: %s", errors[0])

    try:
        await asyncio.wait_for(
            client.connect(
                url,
                max_reconnect_attempts=-1,
                reconnect_time_wait=0.25,  # type: ignore[arg-type]
                ping_interval=2,
                connect_timeout=2,
                pending_size=PENDING_BYTES,
                error_cb=report,
                **options,
            ),
            OPEN_SECONDS,
        )
    except (TimeoutError, OSError, nats.errors.Error) as error:
        await client.close()
        words = errors[-1] if isinstance(error, TimeoutError) else cause(error)
        raise BadBus(f"cannot connect to {url}: {words}; is nats-server running there, with JetStream?") from None
    return client


def options_of(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the options of a connection that the environment sets. Raises BadBus."""
    options: dict[str, Any] = {}
    if token := environment.get(TOKEN):
        options["token"] = token
    if credentials := environment.get(CREDENTIALS):
        check_credentials(Path(credentials))
        options["user_credentials"] = credentials
    if authority := environment.get(CA):
        import ssl

        try:
            options["tls"] = ssl.create_default_context(cafile=authority)
        except OSError as error:  # also ssl.SSLError
            raise BadBus(
                f"{CA}: {authority} cannot be read ({cause(error)}): name a file of certificates in PEM"
            ) from None
    return options


def check_credentials(file: Path) -> None:
    """Raise BadBus unless the client can read these credentials; without both parts it would not end."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise BadBus(f"{CREDENTIALS} cannot be read ({cause(error)}): name a file of credentials of NATS") from None
    token, seed = (re.search(rb"BEGIN %b-+\s+([^\s-]\S*)" % mark, data) for mark in MARKS)
    if not token or not seed:
        raise BadBus(f"{CREDENTIALS}: {file} has no user JWT and seed: name a file of credentials of NATS")
    try:
        nkeys.from_seed(seed[1])
    except nkeys.NkeysError as error:
        raise BadBus(f"{CREDENTIALS}: the seed in {file} is damaged ({error}): create the file again") from None


def check_cancelled() -> None:
    """Raise CancelledError if this task was cancelled; asyncio.wait_for of Python 3.11 forgets it when a message arrives just then."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def cause(error: BaseException) -> str:
    """Return an error as one line."""
    return " ".join(str(error).split())[:200] or type(error).__name__


class NatsBus:
    """A bus on a NATS server.

    Attributes:
        client: The connection, for requests that no stream stores.
        retries: Events that were sent again.
    """

    def __init__(self, url: str, client: Client) -> None:
        self.url, self.client, self.retries = url, client, 0
        self._js = client.jetstream(timeout=OPEN_SECONDS)
        self._room = asyncio.Semaphore(IN_FLIGHT)

    @classmethod
    async def open(cls, url: str, environment: Mapping[str, str]) -> "NatsBus":
        """Connect, and create the stream if it does not exist. Raises BadBus."""
        bus = cls(url, await connected(url, environment))
        try:
            await bus._ensure_stream()
        except BadBus:
            await bus.client.close()
            raise
        return bus

    async def _ensure_stream(self) -> None:
        try:
            await self._js.stream_info(STREAM)
        except js_errors.NotFoundError:
            await self._create_stream()
        except (nats.errors.Error, TimeoutError) as error:
            raise BadBus(f"the server at {self.url} has no JetStream: {cause(error)}") from None

    async def _create_stream(self) -> None:
        config = StreamConfig(
            name=STREAM,
            subjects=[SUBJECTS],
            storage=StorageType.FILE,
            max_age=KEPT_SECONDS,
            duplicate_window=DUPLICATE_SECONDS,
        )
        try:
            await self._js.add_stream(config)
        except (nats.errors.Error, TimeoutError) as error:
            raise BadBus(f"cannot create the stream {STREAM} at {self.url}: {cause(error)}") from None

    async def publish(self, event: "pb.Event") -> int:
        """See `Bus`."""
        data = packed(event)
        async with self._room:
            try:
                try:  # SPEED: without the retries of tenacity, which cost as much as the rest
                    return await self._send(event, data)
                except RETRIED:
                    return await self._send_again(event, data)
            except nats.errors.Error as error:
                raise BadBus(f"{self.url} refuses an event: {cause(error)}") from None

    async def _send(self, event: "pb.Event", data: bytes) -> int:
        """Send an event once and return its sequence."""
        headers = {"Nats-Msg-Id": event.id}
        return int((await self._js.publish(event.type, data, timeout=ACK_SECONDS, headers=headers)).seq)

    async def _send_again(self, event: "pb.Event", data: bytes) -> int:
        """Send an event until it is acknowledged."""
        wait = wait_random_exponential(multiplier=0.05, max=1.0)
        sequence = 0
        async for attempt in AsyncRetrying(wait=wait, retry=retry_if_exception_type(RETRIED)):
            self.retries += 1
            with attempt:
                sequence = await self._send(event, data)
        return sequence

    async def subscribe(
        self, consumer: str | None = None, kind: str = "", since: Since = "all", hold_seconds: float = HOLD_SECONDS
    ) -> "NatsSubscription":
        """See `Bus`. Several processes of a consumer share its events."""
        if consumer is not None:
            check_consumer(consumer)
        types = types_of(kind)
        config = ConsumerConfig(deliver_policy=DeliverPolicy.NEW if since == "new" else DeliverPolicy.ALL)
        if consumer is not None:
            config.ack_policy, config.ack_wait, config.max_ack_pending = AckPolicy.EXPLICIT, hold_seconds, UNHANDLED
        subject = SUBJECTS if not kind else types[0] if types == [PREFIX + kind] else f"{PREFIX}{kind}.>"
        try:
            if consumer is not None:
                await self._hold(consumer, hold_seconds)
            found = await self._js.subscribe(
                subject,
                queue=consumer,
                durable=consumer,
                stream=STREAM,
                config=config,
                manual_ack=True,
                ordered_consumer=consumer is None,  # which the client makes again after a restart of the server
                pending_msgs_limit=2 * UNHANDLED,
                pending_bytes_limit=256 << 20,
            )
        except (nats.errors.Error, TimeoutError) as error:
            raise BadBus(f"cannot subscribe to {subject} at {self.url}: {cause(error)}") from None
        return NatsSubscription(found, consumer is not None)

    async def _hold(self, consumer: str, seconds: float) -> None:
        """Give an existing consumer this time to acknowledge an event."""
        with suppress(js_errors.NotFoundError):
            config = (await self._js.consumer_info(STREAM, consumer)).config
            if config.ack_wait != seconds:
                await self._js.add_consumer(STREAM, config.evolve(name=None, ack_wait=seconds))  # updates it

    async def forget(self, seconds: float) -> str:
        """See `Bus`. Events that are published later also live no longer than that. The stream's other settings stay."""
        try:
            config = (await self._js.stream_info(STREAM)).config
            window = min(config.duplicate_window or 0.0, seconds)  # which must not exceed the age
            await self._js.update_stream(config.evolve(max_age=seconds, duplicate_window=window))
        except (nats.errors.Error, TimeoutError) as error:
            raise BadBus(f"cannot change the stream {STREAM} at {self.url}: {cause(error)}") from None
        return f"the stream {STREAM} drops events after {seconds / 86_400:g} days"

    async def close(self) -> None:
        """See `Bus`."""
        with suppress(nats.errors.Error, TimeoutError):
            if self.client.is_connected:
                await self.client.flush(int(OPEN_SECONDS))
        await self.client.close()


class NatsSubscription:
    """See `Subscription`."""

    def __init__(self, subscription: Any, acknowledges: bool) -> None:
        self._subscription, self._acknowledges = subscription, acknowledges

    async def fetch(self, most: int = 256, seconds: float = 1.0) -> list[Delivery]:
        """See `Subscription`. A message that is no event, or of a kind that this version does not know, is dropped."""
        end = time.monotonic() + seconds
        while messages := await self._messages(most, end - time.monotonic()):
            found = [each for message in messages if (each := await self._delivery(message)) is not None]
            if found:
                return found
        return []

    async def _messages(self, most: int, seconds: float) -> list[Any]:
        """Return the next messages, none if there is none within `seconds`. Raises BadBus."""
        try:
            messages = [await self._subscription.next_msg(timeout=seconds)]
            while len(messages) < most and self._subscription.pending_msgs:
                messages.append(await self._subscription.next_msg())
        except TimeoutError:
            return []
        except nats.errors.Error as error:
            raise BadBus(f"the subscription has ended: {cause(error)}") from None
        check_cancelled()
        return messages

    async def _delivery(self, message: Any) -> Delivery | None:
        """Return a message as a delivery; None if it is no event of this version, which is not delivered again."""
        try:
            event = read_event(message.data)
        except BadEvent as error:
            LOG.warning("a message of %s is no event and is dropped: %s", message.subject, error)
            event = None
        if event is not None:
            return Delivery(message.metadata.sequence.stream, event, message)
        if self._acknowledges:
            with suppress(nats.errors.Error):
                await message.term()
        return None

    async def done(self, deliveries: Sequence[Delivery]) -> None:
        """See `Subscription`. An acknowledgement that is lost delivers the event again."""
        for each in deliveries if self._acknowledges else ():
            with suppress(nats.errors.Error):
                await each.token.ack()

    async def close(self) -> None:
        """See `Subscription`."""
        with suppress(nats.errors.Error):
            await self._subscription.unsubscribe()
