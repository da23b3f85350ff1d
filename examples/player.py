"""A custom player: plays five random cards, buys nothing.

    ante eval examples.player:Hasty greedy --games 100
    ante play examples.player:Hasty --seed TESTSEED

An installed package can register it under a name with an entry point of group `ante.players`.
"""

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.engine.actions import Verb, is_legal, pack_action
from ante.engine.core.state import MAX_PLAYED, Phase
from ante.env.games import Games

ELSEWHERE = {  # decisions in phases without playing
    Phase.BLIND_SELECT: Verb.SELECT_BLIND,
    Phase.ROUND_END: Verb.CASH_OUT,
    Phase.SHOP: Verb.NEXT_ROUND,
    Phase.PACK: Verb.SKIP_PACK,
}


class Hasty:
    """Plays the first legal hand in random order."""

    name = "hasty"
    discrete = False  # macro decisions: a whole hand at once
    reorder = "none"  # never reorders cards or jokers

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return a decision for each game (n,), -1 for finished games."""
        decisions = np.full(games.n, -1, dtype=np.int64)
        for i in np.flatnonzero(playing):
            decisions[i] = self.decide(games.states[i])
        return decisions

    def decide(self, state: Any) -> int:
        """Return a legal decision for one game."""
        if state.phase != Phase.PLAY:
            return int(pack_action(ELSEWHERE[Phase(int(state.phase))], 0, 0, 0))
        order = self._rng.permutation(int(state.n_hand)).tolist()
        hands = (hand for size in range(MAX_PLAYED, 0, -1) for hand in combinations(order, size))
        plays = (int(pack_action(Verb.PLAY, 0, 0, sum(1 << card for card in hand))) for hand in hands)
        return next(play for play in plays if is_legal(state, play))
