"""The protocol of event buses."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ante.events.v1 import events_pb2 as pb

IN_FLIGHT = 512  # events of one bus that wait for their acknowledgement; further publishers wait
HOLD_SECONDS = 30.0
Since = Literal["all", "new"]


@dataclass(frozen=True)
class Delivery:
    """One stored event.

    Attributes:
        sequence: Its number in the log or stream, increasing.
        event: The event.
        token: What the transport needs to acknowledge it.
    """

    sequence: int
    event: "pb.Event"
    token: Any = field(default=None, repr=False, compare=False)


class Subscription(Protocol):
    """The events of one consumer."""

    async def fetch(self, most: int = 256, seconds: float = 1.0) -> list[Delivery]:
        """Return the next events, at least one, or none if there is none within `seconds`."""

    async def done(self, deliveries: Sequence[Delivery]) -> None:
        """Acknowledge events, which are then not delivered again. Others are, after a restart of consumer or bus."""

    async def close(self) -> None:
        """End the subscription; the bus keeps what the consumer has acknowledged."""


class Bus(Protocol):
    """Stores events and delivers them at least once. For use in one event loop."""

    async def publish(self, event: "pb.Event") -> int:
        """Store an event and return its sequence, once it is durable.

        Waits as long as the bus is unreachable. An event whose id is known is not stored again. Raises BadBus, BadEvent.
        """

    async def subscribe(
        self, consumer: str | None = None, kind: str = "", since: Since = "all", hold_seconds: float = HOLD_SECONDS
    ) -> Subscription:
        """Return the events of a kind, or all.

        Args:
            consumer: Name under which the bus remembers what was acknowledged; None for a reader that it forgets.
            kind: A kind or a group of kinds, such as game or game.begun.
            since: Where a new consumer begins: at the oldest event, or after the newest one.
            hold_seconds: Time in which the consumer acknowledges an event, before NATS delivers it again.

        Raises BadBus, BadKind.
        """

    async def forget(self, seconds: float) -> str:
        """Delete events that are older, and return what was done, in words. Raises BadBus."""

    async def close(self) -> None:
        """Wait for events that are being published, and close the bus."""
