"""A player of Ante in a game that runs elsewhere: the real one with BalatroBot, or our own server.

The engine plays the same seed beside it. The player decides on the engine's game, and each reply is compared with the
engine's own state: the first difference ends the game and is reported, so that every game checks the rules.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ante.agents.evaluate import Player
from ante.engine.actions import (
    F_CASH_OUT,
    F_NEXT_ROUND,
    F_SELECT_BLIND,
    F_SKIP_PACK,
    Verb,
    pack_action,
    to_macro,
    verb_of,
)
from ante.engine.core.state import Phase
from ante.env.games import Games, Outcome
from ante.errors import BalatroError, shown
from ante.serve.balatrobot.dialects import DIALECTS, Dialect
from ante.serve.balatrobot.gamestate import gamestate
from ante.serve.balatrobot.session import Session
from ante.serve.live.calls import Call, call_of
from ante.serve.live.client import Caller, Unreachable, recorded

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
MOST_DECISIONS = 5000
RESTING = {  # the decision in place of one that the protocol does not have
    Phase.BLIND_SELECT: (F_SELECT_BLIND, Verb.SELECT_BLIND),
    Phase.ROUND_END: (F_CASH_OUT, Verb.CASH_OUT),
    Phase.SHOP: (F_NEXT_ROUND, Verb.NEXT_ROUND),
    Phase.PACK: (F_SKIP_PACK, Verb.SKIP_PACK),
}


class StaleState(BalatroError):
    """The game changed between a decision and its call; nothing was sent."""


@dataclass
class Played:
    """The result of one game.

    outcome      won, lost, truncated, different or interrupted
    difference   the first difference between the game and the engine, empty if there is none
    replaced     number of decisions that the protocol does not have
    resumed      number of calls after which the server did not reply at first
    """

    seed: str
    outcome: str = ""
    ante: int = 1
    decisions: int = 0
    replaced: int = 0
    resumed: int = 0
    difference: str = ""


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


class Bridge:
    """Plays games of a server with a player. Raises Unreachable, RemoteError, StaleState.

    patience  seconds in which a server that does not reply can start again
    """

    def __init__(self, caller: Caller, player: Player, patience: float = PATIENCE) -> None:
        if player.reorder == "all":
            raise BalatroError(
                f"{player.name} reorders its hand, which the protocol cannot express: use another player"
            )
        self.caller, self.player, self.patience = caller, player, patience
        self.wait: Callable[[float], None] = time.sleep

    def play(self, seed: str, deck: str = "b_red", stake: int = 1) -> Played:
        """Play one game to its end, or to the first difference."""
        games = Games(
            1,
            deck,
            stake,
            reorder=self.player.reorder,
            discrete=self.player.discrete,
            max_decisions=MOST_DECISIONS,
        )
        games.reset(options={"seed": seed})
        self.caller.call("menu")
        dialect = DIALECTS["1.5"]
        words = {"deck": dialect.decks[games.states[0].deck_id], "stake": dialect.stakes[stake], "seed": seed}
        state = self.caller.call("start", **words)
        session = Session(dialect_of(state), s=games.states[0])
        played = Played(seed)
        while not played.outcome:
            played.difference = difference(comparable(gamestate(session)), comparable(state))
            if played.difference:
                played.outcome = "different"
                break
            state = self.step(games, session, state, played)
            played.ante = int(games.states[0].ante)
        return played

    def step(self, games: Games, session: Session, state: Any, played: Played) -> Any:
        """Take one decision in both games and return the state of the other one."""
        s = games.states[0]
        action = int(self.player.choose(games, np.ones(1, dtype=np.bool_))[0])
        macro = int(to_macro(s, action)) if self.player.discrete else action
        verb = Verb(int(verb_of(macro)))
        if verb in (Verb.SELECT, Verb.CLEAR):
            games.step(np.array([action]))
            return state
        call = call_of(s, macro, session.dialect)
        if call is None:
            played.replaced += 1
            index, verb = RESTING[Phase(int(s.phase))]
            action = index if self.player.discrete else int(pack_action(verb, 0, 0, 0))
            call = call_of(s, int(pack_action(verb, 0, 0, 0)), session.dialect)
        assert call
        panel, phase = int(s.blind_on_deck), int(s.phase)
        games.step(np.array([action]))
        session.follow(verb, panel, phase)
        played.decisions += 1
        state = self.send(call, state, session, played)
        if games.outcome[0] != Outcome.PLAYING and not played.outcome:
            played.difference = difference(comparable(gamestate(session)), comparable(state))
            played.outcome = "different" if played.difference else Outcome(int(games.outcome[0])).name.lower()
        return state

    def send(self, call: Call, before: Any, session: Session, played: Played) -> Any:
        """Send a call and return the state after it. Raises StaleState if the game is no longer in the state `before`.

        If the server does not reply, it may have taken the decision: the call is sent again if its state is still `before`.
        """
        method, params = call
        try:
            if why := difference(comparable(before), comparable(self.caller.call("gamestate"))):
                raise StaleState(f"the game changed before {method}: {why}")
            return self.caller.call(method, **params)
        except Unreachable:
            played.resumed += 1
            now = self.state_after_restart()
            if not difference(comparable(before), comparable(now)):
                return self.caller.call(method, **params)
            if difference(comparable(gamestate(session)), comparable(now)):
                played.outcome = "interrupted"
            return now

    def state_after_restart(self) -> Any:
        """Return the state as soon as the server replies. Raises Unreachable after `patience` seconds."""
        for _ in range(int(self.patience / PAUSE)):
            self.wait(PAUSE)
            try:
                return self.caller.call("gamestate")
            except Unreachable:
                continue
        return self.caller.call("gamestate")


def check_recording(name: Path, exchange: Callable[[Any], Any]) -> tuple[int, str]:
    """Send the requests of a recording and compare the replies, up to the first difference.

    A recording of the real game checks a server of the engine, and the other way round. Returns the number of equal
    replies and the difference, empty if there is none. Raises Unreadable, Unreachable.
    """
    equal = 0
    for body, reply in recorded(name):
        why = difference(comparable(reply), comparable(exchange(body)))
        if why:
            return equal, f"request {equal + 1}, {shown(body)}: {why}"
        equal += 1
    return equal, ""


def dialect_of(state: Any) -> Dialect:
    """Return the dialect of a state. Raises Unreachable."""
    deck = state.get("deck") if isinstance(state, dict) else None
    for dialect in DIALECTS.values():
        if deck in dialect.decks:
            return dialect
    raise Unreachable(f"the state after start has the deck {shown(deck)}, which no dialect has")
