"""Non-blocking communication between an env runner and the broker."""

from typing import Any, Protocol
from uuid import uuid4

import ray

from ante.hints.broker import Taken


class BrokerLost(Exception):
    """The broker is not available. Training continues without hints."""


class Mailbox(Protocol):
    """The interface between `HintRequester` and the broker. All methods raise BrokerLost."""

    def ask(self, tickets: list[int], states: Any, reorder: str) -> None:
        """Request hints for these positions (k,) state_t."""

    def note(self, rows: list[dict[str, Any]], compared: int, agreed: int) -> None:
        """Send log lines, and how many of the compared hints agree with the policy's action."""

    def fetch(self) -> Taken | None:
        """Return new responses, or None while they are pending."""


class ActorMailbox:
    """Connects to an actor by name, at the first call and after each loss of the connection."""

    def __init__(self, broker: str, player: int) -> None:
        self._broker = broker
        self._me = f"{player}-{uuid4().hex[:8]}"  # unique: a restarted runner must not receive old responses
        self._actor: Any = None
        self._taking: Any = None

    def _found(self) -> Any:
        if self._actor is None:
            try:
                self._actor = ray.get_actor(self._broker)
            except ValueError:
                raise BrokerLost(self._broker) from None
        return self._actor

    def ask(self, tickets: list[int], states: Any, reorder: str) -> None:
        """See Mailbox."""
        self._found().ask.remote(self._me, tickets, states, reorder)

    def note(self, rows: list[dict[str, Any]], compared: int, agreed: int) -> None:
        """See Mailbox."""
        self._found().note.remote(rows, compared, agreed)

    def fetch(self) -> Taken | None:
        """See Mailbox: returns the response to the previous call and sends the next one."""
        taken: Taken | None = None
        try:
            if self._taking is not None:
                ready, _ = ray.wait([self._taking], timeout=0)
                if not ready:
                    return None
                taken = ray.get(self._taking)
            self._taking = self._found().take.remote(self._me)
        except ray.exceptions.RayError as error:
            self._actor = self._taking = None
            raise BrokerLost(self._broker) from error
        return taken
