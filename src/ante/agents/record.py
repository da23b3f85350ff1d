"""Record a player's game as a replay."""

from dataclasses import asdict

import numpy as np

from ante.agents.evaluate import Player, check_legal
from ante.engine.actions import to_macro
from ante.env.games import MAX_DECISIONS, Games, Outcome
from ante.env.replay import Heading, write_replay


def record_game(player: Player, heading: Heading, max_decisions: int = MAX_DECISIONS) -> str:
    """Return the replay of one game, played until it is won or lost, or truncated after max_decisions.

    Raises UnknownSeed, UnknownDeck or UnknownStake, BadPlugin for an illegal action.
    """
    games = Games(1, reorder=player.reorder, max_decisions=max_decisions, discrete=player.discrete)
    games.reset(options={name: value for name, value in asdict(heading).items() if value is not None})
    playing = np.ones(1, dtype=np.bool_)
    actions = []
    while games.outcome[0] == Outcome.PLAYING:
        action = player.choose(games, playing)
        check_legal(player, games, action, playing)
        actions.append(int(to_macro(games.states[0], action[0])) if player.discrete else int(action[0]))
        games.step(action)
    return write_replay(heading, actions)
