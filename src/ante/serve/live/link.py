"""One game of a server, and the engine's game of the same seed beside it: calls, comparison, lost replies."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ante.engine.actions import Verb
from ante.errors import BalatroError, shown
from ante.serve.balatrobot.dialects import DIALECTS, Dialect
from ante.serve.balatrobot.gamestate import gamestate
from ante.serve.balatrobot.session import Session
from ante.serve.live.calls import Call
from ante.serve.live.client import Caller, Unreachable

NOT_COMPARED = (
    "id",
    "label",
    "effect",
    "tag_effect",
    "example",
    "highlighted_limit",
    "highlight",
    "revealed",
    "paused",
)
PATIENCE = 60.0  # seconds in which a server that does not reply can start again
PAUSE = 0.5  # seconds between two attempts


class StaleState(BalatroError):
    """The game changed between a decision and its call; nothing was sent."""


def comparable(value: Any) -> Any:
    """Return a state without the fields that are not compared: texts and identifiers; an empty object as a list."""
    if isinstance(value, dict):
        return {name: comparable(each) for name, each in value.items() if name not in NOT_COMPARED} or []
    if isinstance(value, list):
        return [comparable(each) for each in value]
    return value


def difference(expected: Any, found: Any, place: str = "") -> str:
    """Return the place of the first difference and both values; empty if there is none."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in sorted({*expected, *found}):
            if why := difference(expected.get(name), found.get(name), f"{place}.{name}" if place else name):
                return why
        return ""
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return next((why for i, (a, b) in pairs if (why := difference(a, b, f"{place}[{i}]"))), "")
    if expected == found or (
        is_number(expected) and is_number(found) and bool(np.isclose(expected, found, rtol=1e-13))
    ):
        return ""
    return f"{place}: expected {shown(expected)}, found {shown(found)}"


def is_number(value: Any) -> bool:
    """Return whether a JSON value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


class Link:
    """A game of a server. Raises Unreachable, RemoteError, StaleState.

    patience     seconds in which a server that does not reply can start again
    session      the engine's game as the protocol shows it
    state        the last state of the server
    resumed      number of calls after which the server did not reply at first
    interrupted  whether the server's game is gone after a restart
    """

    def __init__(self, caller: Caller, patience: float = PATIENCE) -> None:
        self.caller, self.patience = caller, patience
        self.wait: Callable[[float], None] = time.sleep
        self.session, self.state = Session(), None
        self.resumed, self.interrupted = 0, False

    def begin(self, s: Any, seed: str) -> None:
        """Start the run of the record s on the server."""
        self.resumed, self.interrupted = 0, False
        self.caller.call("menu")
        dialect = DIALECTS["1.5"]
        words = {"deck": dialect.decks[int(s.deck_id)], "stake": dialect.stakes[int(s.stake)], "seed": seed}
        self.state = self.caller.call("start", **words)
        self.session = Session(dialect_of(self.state), s=s)

    def difference(self) -> str:
        """Return the first difference between the server's last state and the engine's; empty if there is none."""
        return difference(comparable(gamestate(self.session)), comparable(self.state))

    def take(self, call: Call, verb: Verb, panel: int, phase: int) -> None:
        """Send the decision that the engine has just taken.

        panel, phase  the blind on deck and the phase before it
        """
        self.session.follow(verb, panel, phase)
        self.state = self.send(*call)

    def send(self, method: str, params: dict[str, Any]) -> Any:
        """Send a call and return the state after it. Raises StaleState if the game is no longer in the last state.

        If the server does not reply, it may have taken the decision: the call is sent again if its state is still the last one.
        """
        before = comparable(self.state)
        try:
            if why := difference(before, comparable(self.caller.call("gamestate"))):
                raise StaleState(f"the game changed before {method}: {why}")
            return self.caller.call(method, **params)
        except Unreachable:
            self.resumed += 1
            now = self.state_after_restart()
            if not difference(before, comparable(now)):
                return self.caller.call(method, **params)
            self.interrupted = bool(difference(comparable(gamestate(self.session)), comparable(now)))
            return now

    def state_after_restart(self) -> Any:
        """Return the state as soon as the server replies. Raises Unreachable after `patience` seconds.

        A call in progress then may take its own timeout in addition.
        """
        deadline = time.monotonic() + self.patience
        while True:
            self.wait(min(PAUSE, max(0.0, deadline - time.monotonic())))
            try:
                return self.caller.call("gamestate")
            except Unreachable:
                if time.monotonic() >= deadline:
                    raise


def dialect_of(state: Any) -> Dialect:
    """Return the dialect of a state. Raises Unreachable."""
    deck = state.get("deck") if isinstance(state, dict) else None
    for dialect in DIALECTS.values():
        if deck in dialect.decks:
            return dialect
    raise Unreachable(f"the state after start has the deck {shown(deck)}, which no dialect has")
