"""A player of Ante in a game that runs elsewhere: the real one with BalatroBot, or our own server.

The engine plays the same seed beside it. The player decides on the engine's game, and each reply is compared with the
engine's own state: the first difference ends the game and is reported, so that every game checks the rules.
"""

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
from ante.serve.live.calls import call_of
from ante.serve.live.client import Caller, recorded
from ante.serve.live.link import PATIENCE, Link, comparable, difference

MOST_DECISIONS = 5000
RESTING = {  # the decision in place of one that the protocol does not have
    Phase.BLIND_SELECT: (F_SELECT_BLIND, Verb.SELECT_BLIND),
    Phase.ROUND_END: (F_CASH_OUT, Verb.CASH_OUT),
    Phase.SHOP: (F_NEXT_ROUND, Verb.NEXT_ROUND),
    Phase.PACK: (F_SKIP_PACK, Verb.SKIP_PACK),
}


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


class Bridge(Link):
    """Plays games of a server with a player. Raises Unreachable, RemoteError, StaleState."""

    def __init__(self, caller: Caller, player: Player, patience: float = PATIENCE) -> None:
        if player.reorder == "all":
            raise BalatroError(
                f"{player.name} reorders its hand, which the protocol cannot express: use another player"
            )
        super().__init__(caller, patience)
        self.player = player

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
        self.begin(games.states[0], seed)
        played = Played(seed)
        while not played.outcome:
            played.difference = self.difference()
            if played.difference:
                played.outcome = "different"
                break
            self.step(games, played)
            played.ante = int(games.states[0].ante)
        played.resumed = self.resumed
        return played

    def step(self, games: Games, played: Played) -> None:
        """Take one decision in both games."""
        s = games.states[0]
        action = int(self.player.choose(games, np.ones(1, dtype=np.bool_))[0])
        macro = int(to_macro(s, action)) if self.player.discrete else action
        verb = Verb(int(verb_of(macro)))
        if verb in (Verb.SELECT, Verb.CLEAR):
            games.step(np.array([action]))
            return
        call = call_of(s, macro, self.session.dialect)
        if call is None:
            played.replaced += 1
            index, verb = RESTING[Phase(int(s.phase))]
            action = index if self.player.discrete else int(pack_action(verb, 0, 0, 0))
            call = call_of(s, int(pack_action(verb, 0, 0, 0)), self.session.dialect)
        assert call
        panel, phase = int(s.blind_on_deck), int(s.phase)
        games.step(np.array([action]))
        played.decisions += 1
        self.take(call, verb, panel, phase)
        if self.interrupted:
            played.outcome = "interrupted"
        elif games.outcome[0] != Outcome.PLAYING:
            played.difference = self.difference()
            played.outcome = "different" if played.difference else Outcome(int(games.outcome[0])).name.lower()


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
