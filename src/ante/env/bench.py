"""Random legal play with observations, compiled: the load of `ante bench`."""

import numpy as np

from ante.engine.play import begin_random_game, random_decision
from ante.engine.rule import rule
from ante.engine.state import Status, new_states
from ante.engine.step import step
from ante.env.flat import flatten
from ante.env.layout import FLAT_SIZE, new_observations
from ante.env.observe import REORDER_ALL, observe

SLICE = 32  # decisions one game plays before the next one's turn, so that its record stays in the cache


@rule
def play_observed(states, decisions, rng, observations, flat, one_chip):
    """Play `decisions` random legal decisions in every game, writing mask and observation after each.

    rng   (1,) uint64, scratch
    flat  (n, FLAT_SIZE) float32, or (0, 0) where no vector is wanted

    Answers how many games ended.
    """
    ended = 0
    played = 0
    while played < decisions:
        for i in range(len(states)):
            s, o = states[i], observations[i]
            for _ in range(min(SLICE, decisions - played)):
                status = step(s, random_decision(s, o.action_mask, rng))
                if status == Status.LOST:
                    begin_random_game(s, rng, int(s.deck_id), int(s.stake), int(s.challenge), one_chip)
                    ended += 1
                observe(s, o, REORDER_ALL)
                if len(flat) > 0:
                    flatten(o, flat[i])
        played += SLICE
    return ended


def random_play_observed(games: int, decisions: int, one_chip: int, flat: bool = True) -> float:
    """Decisions played; the time it takes is the caller's to measure."""
    states = new_states(games)
    observations = new_observations(games)
    vectors = np.zeros((games, FLAT_SIZE) if flat else (0, 0), dtype=np.float32)
    rng = np.array([1], dtype=np.uint64)
    for i in range(games):
        begin_random_game(states[i], rng, 0, 1, 0, one_chip)
        observe(states[i], observations[i], REORDER_ALL)
    play_observed(states, decisions, rng, observations, vectors, one_chip)
    return float(games * decisions)
