"""Compile the engine once, so that later processes load the code from the cache.

SPEED: with a cold cache, the parts compile in parallel, each in a separate process, as soon as the parts are stored
whose code they use. With a warm cache, this process loads all code.
"""

import multiprocessing
import os
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait

import numba
import numpy as np

from ante.cold_start import when_cold
from ante.engine.core.compile_cache import count_stored, is_complete, mark_complete, require_writable

FUNCTIONS = 793  # compiled functions of a complete cache; only the estimate of progress depends on it


def warm_up(report: Callable[[str, float], None] = lambda stage, share: None) -> float:
    """Compile the code for games, surveys, environments and baselines, and return the duration in seconds.

    report  receives the parts that compile now and the estimated share done, several times a second

    Raises CacheNotWritable if compiled code cannot be stored for other processes.
    """
    begin = time.perf_counter()
    if numba.config.DISABLE_JIT:
        return 0.0
    if is_complete():
        for part in PARTS:
            warm_part(part)
        return time.perf_counter() - begin
    require_writable()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), context, initializer=when_cold, initargs=(nothing,)) as pool:
        compile_parts(pool, report)
    mark_complete()
    return time.perf_counter() - begin


def compile_parts(pool: Executor, report: Callable[[str, float], None]) -> None:
    """Compile each part after those that it needs."""
    waiting, running, stored = dict(PARTS), dict[Future[None], str](), set[str]()
    while waiting or running:
        for part in [part for part, (_, needed) in waiting.items() if stored.issuperset(needed)]:
            running[pool.submit(warm_part, part)] = part
            del waiting[part]
        report(", ".join(running.values()), min(1.0, count_stored() / FUNCTIONS))
        for each in wait(running, timeout=0.25, return_when=FIRST_COMPLETED).done:
            each.result()
            stored.add(running.pop(each))


def nothing() -> None:
    """Let a worker of the pool compile without a message; its parent shows the progress."""


def warm_part(name: str) -> None:
    """Compile one part by its name."""
    PARTS[name][0]()


def warm_scoring() -> None:
    """Compile the scoring of hands and its consequences."""
    from ante.engine.core.state import new_states
    from ante.engine.rounds import play_cards

    play_cards.compile((numba.typeof(new_states(1)[0]), numba.int64))


def warm_shopping() -> None:
    """Compile buying, selling, packs, consumables, and the start of a run."""
    from ante.engine.core.state import new_states
    from ante.engine.run import restart
    from ante.engine.step import decide_on_slot

    record = numba.typeof(new_states(1)[0])
    decide_on_slot.compile((record, *[numba.int64] * 4))
    restart.compile((record, *[numba.int64] * 3))


def warm_decisions() -> None:
    """Compile whole decisions."""
    from ante.engine.core.state import new_states
    from ante.engine.step import step

    step.compile((numba.typeof(new_states(1)[0]), numba.int64))


def warm_random_play() -> None:
    """Compile random play and the seed survey."""
    from ante.engine.actions import N_DISCRETE
    from ante.engine.core.state import new_states
    from ante.engine.drivers.random_play import fuzz, play_random
    from ante.engine.drivers.survey import survey

    states = new_states(2)
    fuzz(states, 4, 1, 0, np.zeros(4, dtype=np.int64))
    play_random(states, 1, 1, np.ones(1, dtype=np.uint64), np.zeros(N_DISCRETE, dtype=np.uint8), 0)
    survey("TESTSEED", antes=1)


def warm_environments() -> None:
    """Compile the environments with each view."""
    from ante.env.entities.rows import new_rows, pack
    from ante.env.games import Games

    for flat in (True, False):
        games = Games(2, flat=flat)
        games.reset()
        actions = np.array([int(mask.argmax()) for mask in games.masks])
        games.refused(actions)
        games.step(actions)
        games.info()
    pack(games, new_rows(2))


def warm_agents() -> None:
    """Compile the baseline players; they decide in none of the games."""
    from ante.agents.baselines import AGENTS, Baseline
    from ante.env.games import Games

    games = Games(2, discrete=False)  # with one game, NumPy's masks would be contiguous, which is another type
    for name in AGENTS:
        Baseline(name).choose(games, np.zeros(2, dtype=np.bool_))


def warm_candidates() -> None:
    """Compile the candidate actions; games that have not begun have none."""
    from ante.env.games import Games
    from ante.lookahead.environments import Shortlists

    Shortlists(2).write(Games(2, discrete=False))


PARTS: dict[str, tuple[Callable[[], None], tuple[str, ...]]] = {  # what to call, and after which other parts
    "scoring": (warm_scoring, ()),
    "shop and packs": (warm_shopping, ()),
    "decisions": (warm_decisions, ("scoring", "shop and packs")),
    "candidates": (warm_candidates, ("scoring",)),
    "environments": (warm_environments, ("decisions",)),
    "random play": (warm_random_play, ("decisions",)),
    "baselines": (warm_agents, ("decisions",)),
}
