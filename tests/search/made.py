"""Small players and games for tests of search."""

from typing import Any

import numpy as np

from ante.engine.core.state import copy_states
from ante.engine.run import set_seed
from ante.env.games import Games, observe_games
from ante.training.acting.player import PolicyPlayer
from ante.training.acting.win_head import WinHead
from ante.training.policies.shortlist import ShortlistPolicy
from tests.search.test_determinise import change_what_is_hidden
from tests.support.hidden import hide_more
from tests.support.lists import small


def small_player() -> PolicyPlayer:
    """Return a player with a small policy of random weights."""
    player = PolicyPlayer(small(ShortlistPolicy), "small", likeliest=True, reorder="jokers")
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(24, 8)).astype(np.float32)
    output = rng.normal(size=8).astype(np.float32)
    player.win_head = WinHead(hidden, np.zeros(8, np.float32), output, np.zeros((), np.float32), "")
    return player


def some_games(n: int, steps: int, seeds: str = "SEARCH") -> Games:
    """Return games in play after up to `steps` decisions of the small player; a blind needs one chip, and much is hidden."""
    games = Games(n, discrete=False, reorder="jokers")
    games.reset(options={"seed": [f"{seeds}{i + 11}" for i in range(n)]})
    games.states.one_chip_blinds = 1
    observe_games(games.states, np.arange(n), games.reorder, games.observations, games.flat)
    player = small_player()
    for _ in range(steps):
        saved = copy_states(games.states)
        games.step(player.choose(games, np.ones(n, dtype=np.bool_)))
        for i in np.flatnonzero(games.outcome):
            games.states[i] = saved[i]
    hide_more(games.states)
    observe_games(games.states, np.arange(n), games.reorder, games.observations, games.flat)
    return games


def with_other_hidden_state(games: Games, seed: int) -> Games:
    """Return copies of games that differ only in what their players have not seen."""
    from copy import deepcopy

    other: Any = deepcopy(games)
    rng = np.random.default_rng(seed)
    for i, s in enumerate(other.states):
        change_what_is_hidden(s, rng)
        set_seed(s, f"OTHER{i + 11}")
        other.seeds[i] = f"OTHER{i + 11}"
    return other  # type: ignore[no-any-return]
