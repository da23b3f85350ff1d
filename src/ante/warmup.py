"""Compile the engine once, so that whoever comes next finds the code in the cache."""

import time

import numpy as np


def warm_up() -> float:
    """Compile everything that a game, a survey and a batch need. Answers the seconds it took."""
    begin = time.perf_counter()
    from ante.engine.actions import N_DISCRETE
    from ante.engine.play import fuzz, play_random
    from ante.engine.state import new_states
    from ante.engine.step import step_discrete_all
    from ante.engine.survey import survey

    states = new_states(2)
    fuzz(states, 4, 1, 0, np.zeros(4, dtype=np.int64))
    play_random(states, 1, np.ones(1, dtype=np.uint64), np.zeros(N_DISCRETE, dtype=np.uint8), 0)
    masks = np.zeros((2, N_DISCRETE), dtype=np.uint8)
    step_discrete_all(states, np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.uint8), masks)
    survey("TESTSEED", antes=1)
    return time.perf_counter() - begin
