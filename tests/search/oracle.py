"""A player that searches the true future: the measure of what hidden information is worth. For tests and measurements."""

import numpy as np
from numpy.typing import NDArray

from ante.agents.evaluate import Player
from ante.env.games import REORDERS
from ante.search.budget import Budget
from ante.search.player import SearchPlayer, Settings
from ante.search.protocol import Searchable
from ante.search.rollouts import Simulator


class TrueFuture(Simulator):
    """Simulations of the game itself, with its seed, streams and draw pile."""

    def begin(
        self, states: np.recarray, which: NDArray[np.int64], worlds: NDArray[np.uint64], out: np.recarray
    ) -> None:
        """Write copies of the games that contain everything hidden."""
        source, target = (each.view(np.uint8).reshape(len(each), -1) for each in (states, out))
        target[: len(which)] = source[which]


def oracle(player: Player, budget: Budget, settings: Settings, seed: int = 0) -> SearchPlayer:
    """Return a player that searches like `SearchPlayer`, but in the true future."""
    found = SearchPlayer(player, budget, settings, seed)
    assert isinstance(player, Searchable)
    found._simulator = TrueFuture(player.thinker(), REORDERS[player.reorder], settings.rounds, settings.decisions)
    found.name = f"{player.name} that knows the future"
    return found
