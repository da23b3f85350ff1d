"""The choices of a player in parallel games."""

from typing import Any

import numpy as np

from ante.agents.evaluate import Player
from ante.env.games import Games


def choices(player: Player, seeds: list[str], steps: int, times: int = 1, **settings: Any) -> list[list[int]]:
    """Return choices (steps, seeds), each queried `times` times; an ended game is followed by one of the first seed."""
    games = Games(len(seeds), discrete=True, reorder="none", **settings)
    games.reset(options={"seed": seeds})
    found = []
    for _ in range(steps):
        for _ in range(times):
            actions = player.choose(games, np.ones(games.n, dtype=np.bool_))
        found.append(actions.tolist())
        games.step(actions)
        if games.outcome.any():
            games.reset(np.flatnonzero(games.outcome), options={"seed": seeds[0]})
    return found
