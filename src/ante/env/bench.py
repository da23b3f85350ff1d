"""Random legal play with observations, compiled: the load of `ante bench`."""

import numpy as np

from ante.engine.play import begin_random_game, random_decision
from ante.engine.rule import rule
from ante.engine.state import Status, new_states
from ante.engine.step import step
from ante.env.flat import flatten
from ante.env.games import observe_games
from ante.env.layout import FLAT_SIZE, new_observations
from ante.env.observe import REORDER_ALL, observe


@rule
def play_observed(states, decisions, turn, rng, observations, flat, one_chip):
    """Play `decisions` random legal decisions in every game, writing mask and observation after each.

    turn  decisions one game plays before the next one's turn
    rng   (1,) uint64, scratch
    flat  (n, FLAT_SIZE) float32, or (0, 0) where no vector is wanted

    Answers how many games ended.
    """
    ended = 0
    played = 0
    while played < decisions:
        now = min(turn, decisions - played)
        for i in range(len(states)):
            s, o = states[i], observations[i]
            for _ in range(now):
                status = step(s, random_decision(s, o.action_mask, rng))
                if status == Status.LOST:
                    begin_random_game(s, rng, int(s.deck_id), int(s.stake), int(s.challenge), one_chip)
                    ended += 1
                observe(s, o, REORDER_ALL)
                if len(flat) > 0:
                    flatten(o, flat[i])
        played += now
    return ended


class ObservedBatch:
    """A batch of random games with their observations, ready to be played on."""

    def __init__(self, games: int, one_chip: int, flat: bool) -> None:
        self.states = new_states(games)
        self.observations = new_observations(games)
        self.flat = np.zeros((games, FLAT_SIZE) if flat else (0, 0), dtype=np.float32)
        self.rng = np.array([1], dtype=np.uint64)
        self.one_chip = one_chip
        for s in self.states:
            begin_random_game(s, self.rng, 0, 1, 0, one_chip)
        observe_games(self.states, np.arange(games), REORDER_ALL, self.observations, self.flat)

    def play(self, decisions: int, turn: int) -> None:
        """Play so many decisions in every game."""
        play_observed(self.states, decisions, turn, self.rng, self.observations, self.flat, self.one_chip)
