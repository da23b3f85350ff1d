"""Practice: a share of the games begins in the middle, from positions that earlier games of this runner have reached.

Late antes are rare until a policy is good, and it gets good by playing them. At each first blind of an ante the game's
record is kept (it is 8.6 KB; saving and forking a game is copying it), and some of the games that are dealt go on from
such a record with another seed, so that what comes is new. They count for learning, not for the statistics.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.engine.rounds import WIN_ANTE
from ante.engine.state import Phase, new_states
from ante.env.games import Games

KEPT = 64  # positions kept of each ante, newest first to go


class Practice:
    """Positions that were reached, by ante, and which games began from one.

    begun  (n,) bool: this game began in the middle
    """

    def __init__(self, games: Games, share: float, seed: int) -> None:
        self.share, self.begun = share, np.zeros(games.n, dtype=np.bool_)
        self._rng = np.random.default_rng(seed)
        self._kept = new_states(KEPT * WIN_ANTE)
        self._counts = np.zeros(WIN_ANTE, dtype=np.int64)  # kept so far, by ante - 1
        self._antes = np.ones(games.n, dtype=np.int64)

    def watch(self, games: Games) -> None:
        """Keep the positions of games that stand before the first blind of another ante than they did."""
        if self.share == 0.0:
            return
        states = games.states.view(np.ndarray)
        antes = states["ante"]
        for i in np.flatnonzero((antes > self._antes) & (states["phase"] == Phase.BLIND_SELECT)):
            self._antes[i] = antes[i]
            if antes[i] <= WIN_ANTE:
                row = int(antes[i]) - 1
                self._keep(KEPT * row + self._counts[row] % KEPT, games.states[i : i + 1])
                self._counts[row] += 1

    def _keep(self, at: int, state: NDArray[Any]) -> None:
        """Copy one record, byte by byte."""
        self._kept[at : at + 1].view(np.uint8)[:] = state.view(np.uint8)

    def deal(self, games: Games, which: NDArray[np.int64]) -> None:
        """Some of these games, which were just dealt, go on from a kept position instead: an ante, then one of it."""
        self._antes[which] = 1
        self.begun[which] = False
        antes = np.flatnonzero(self._counts)
        if self.share == 0.0 or len(antes) == 0:
            return
        chosen = which[self._rng.random(len(which)) < self.share]
        if len(chosen) == 0:
            return
        rows = self._rng.choice(antes, len(chosen))
        places = self._rng.integers(0, np.minimum(self._counts[rows], KEPT))
        games.put(chosen, self._kept[KEPT * rows + places])
        self._antes[chosen] = rows + 1
        self.begun[chosen] = True
