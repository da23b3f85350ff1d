"""Compile the engine once, so that whoever comes next finds the code in the cache."""

import time
from collections.abc import Callable

import numpy as np


def warm_up(say: Callable[[str], None] = lambda _: None) -> float:
    """Compile everything that a game, a survey, an environment and an agent need. Answers the seconds it took."""
    begin = time.perf_counter()
    for what, compile_part in PARTS.items():
        say(what)
        compile_part()
    return time.perf_counter() - begin


def warm_engine() -> None:
    """Random play, the invariants, and steps of the discrete view."""
    from ante.engine.actions import N_DISCRETE
    from ante.engine.play import fuzz, play_random
    from ante.engine.state import new_states
    from ante.engine.step import step_discrete_all

    states = new_states(2)
    fuzz(states, 4, 1, 0, np.zeros(4, dtype=np.int64))
    play_random(states, 1, np.ones(1, dtype=np.uint64), np.zeros(N_DISCRETE, dtype=np.uint8), 0)
    masks = np.zeros((2, N_DISCRETE), dtype=np.uint8)
    step_discrete_all(states, np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.uint8), masks)


def warm_survey() -> None:
    """What a seed holds."""
    from ante.engine.survey import survey

    survey("TESTSEED", antes=1)


def warm_environments() -> None:
    """One step of each view of the environments."""
    from ante.env.bench import random_play_observed
    from ante.env.games import Games

    random_play_observed(1, 1, 0)
    for flat in (True, False):
        games = Games(2, flat=flat)
        games.reset()
        actions = np.array([int(mask.argmax()) for mask in games.masks])
        games.refused(actions)
        games.step(actions)
        games.info()


def warm_agents() -> None:
    """The baseline players."""
    from ante.agents.baselines import AGENTS, Baseline
    from ante.env.games import Games

    games = Games(1, discrete=False)
    games.reset()
    for name in AGENTS:
        Baseline(name).choose(games, np.ones(1, dtype=np.bool_))


PARTS: dict[str, Callable[[], None]] = {
    "engine": warm_engine,
    "seed survey": warm_survey,
    "environments": warm_environments,
    "agents": warm_agents,
}
