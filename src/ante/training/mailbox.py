"""The way from an env runner to the broker and back; no call waits."""

from typing import Any, Protocol
from uuid import uuid4

import ray

from ante.hints.broker import Taken


class BrokerLost(Exception):
    """There is no broker at the moment. Training goes on without."""


class Mailbox(Protocol):
    """What `Hinting` sends and fetches through. Each of the three raises BrokerLost."""

    def ask(self, tickets: list[int], states: Any, reorder: str) -> None:
        """These positions (k,) state_t are asked about."""

    def note(self, rows: list[dict[str, Any]], compared: int, agreed: int) -> None:
        """Lines of the log, and how many hints were what had been chosen."""

    def fetch(self) -> Taken | None:
        """What came; None where it is still on its way."""


class ActorMailbox:
    """To an actor by its name, which is looked for at the first call and after it was lost."""

    def __init__(self, broker: str, player: int) -> None:
        self._broker = broker
        self._me = f"{player}-{uuid4().hex[:8]}"  # a runner that is started again gets no answers of its forerunner
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
        """As Mailbox."""
        self._found().ask.remote(self._me, tickets, states, reorder)

    def note(self, rows: list[dict[str, Any]], compared: int, agreed: int) -> None:
        """As Mailbox."""
        self._found().note.remote(rows, compared, agreed)

    def fetch(self) -> Taken | None:
        """As Mailbox: the answer to the last call, and another call is made."""
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
