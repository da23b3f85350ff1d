"""A copy of an environment continues like the original, and its action space samples legal actions of its own game."""

import copy
import hashlib
import multiprocessing
import os
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import FrameStackObservation, NormalizeReward, TimeLimit

from ante.env.registration import NAME, register_environments
from ante.env.reward import PythonReward
from ante.env.single import BalatroEnv
from ante.env.vector import BalatroVectorEnv
from ante.wrappers import Curriculum, LegalAction, Lesson, SeedSampler

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"
BEFORE, AFTER = (30, 60) if COMPILED else (3, 5)
register_environments()


class Chips(PythonReward):
    """Rewards the chips won."""

    name = "chips"

    def before(self, states: np.recarray) -> Any:
        return states["chips"].copy()

    def after(self, before: Any, states: np.recarray, outcome: Any) -> Any:
        return states["chips"] - before


class Captured(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Stores the action space as its own."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.action_space = env.action_space


def through_pickle(env: Any) -> Any:
    return pickle.loads(pickle.dumps(env))


def made(**options: Any) -> Any:
    return gymnasium.make(NAME, **options)


SINGLE: dict[str, Callable[[], Any]] = {
    "dict": BalatroEnv,
    "flat": lambda: BalatroEnv(observation="flat", deck="plasma", stake=8, reorder="jokers"),
    "masked": lambda: BalatroEnv(observation="masked", max_decisions=40),
    "structured": lambda: BalatroEnv(actions="structured", challenge="omelette"),
    "python reward": lambda: BalatroEnv(reward=Chips(), endless=True),
    "registered": made,
    "gymnasium's wrappers": lambda: TimeLimit(NormalizeReward(FrameStackObservation(made(observation="flat"), 3)), 30),
    "legal action": lambda: LegalAction(made()),
    "curriculum": lambda: Curriculum(made(), [Lesson(goal=1, promote=0.0), Lesson(goal=2, stake=3)], window=2),
    "seed sampler": lambda: SeedSampler(made(), ["ABC", "DEF", "GHI"]),
    "captured space": lambda: Captured(made()),
}
VECTOR: dict[str, Callable[[], Any]] = {
    "next step": lambda: BalatroVectorEnv(4, max_decisions=40),
    "same step": lambda: BalatroVectorEnv(4, max_decisions=40, autoreset_mode="SameStep", observation="flat"),
    "views": lambda: BalatroVectorEnv(3, observation="masked", copy=False, reward="potential"),
    "structured": lambda: BalatroVectorEnv(3, actions="structured", reward=Chips()),
    "gymnasium's": lambda: SyncVectorEnv([lambda: made(max_decisions=40)] * 3),
}
MAKERS = {**SINGLE, **{f"vector: {name}": make for name, make in VECTOR.items()}}
WAYS = {"deepcopy": copy.deepcopy, "pickle": through_pickle}


def action_of(env: Any) -> Any:
    """Sample from the environment's own space; Gymnasium's batched space has no masks."""
    if isinstance(env, SyncVectorEnv):
        return np.array([each.action_space.sample() for each in env.envs])
    return env.action_space.sample()


def turns(env: Any, n: int) -> list[tuple[Any, ...]]:
    """Return the results of the next decisions, with all that the environment returns; ended games are reset."""
    results = []
    for _ in range(n):
        action = action_of(env)
        result = env.step(action)
        results.append(copy.deepcopy((action, *result)))
        if not hasattr(env, "num_envs") and (result[2] or result[3]):
            results.append(copy.deepcopy(env.reset()))
    return results


def begun(make: Callable[[], Any], n: int = BEFORE) -> Any:
    """Return an environment in the middle of a game."""
    env = make()
    env.action_space.seed(7)
    env.reset(seed=3)
    if isinstance(env, SyncVectorEnv):
        for i, each in enumerate(env.envs):
            each.action_space.seed(i)
            each.action_space.sample()
    else:
        env.action_space.sample()
    turns(env, n)
    return env


def assert_alike(one: list[tuple[Any, ...]], other: list[tuple[Any, ...]]) -> None:
    for number, (mine, theirs) in enumerate(zip(one, other, strict=True)):
        for a, b in zip(mine, theirs, strict=True):
            assert data_equivalence(a, b, exact=True), f"decision {number}: {a} is not {b}"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", MAKERS)
def test_a_copy_plays_on_decision_by_decision(kind: str, way: str) -> None:
    if (kind, way) == ("vector: gymnasium's", "pickle"):
        pytest.skip("SyncVectorEnv keeps the functions of its constructor")
    env = begun(MAKERS[kind])
    first = WAYS[way](env)
    wanted = turns(env, AFTER)
    second = WAYS[way](env)
    assert_alike(turns(first, AFTER), wanted)  # not affected by the original's decisions in between
    assert_alike(turns(second, AFTER), turns(env, AFTER))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [BalatroEnv, lambda: BalatroVectorEnv(2), lambda: BalatroEnv(actions="structured")])
def test_a_copy_of_what_has_no_game_yet_begins_the_same_game(make: Callable[[], Any], way: str) -> None:
    env = make()
    other = WAYS[way](env)
    assert_alike([env.reset()], [other.reset()])
    assert_alike(turns(env, 5), turns(other, 5))


def test_a_copy_shares_nothing_with_its_original() -> None:
    env = begun(BalatroVectorEnv)
    other = copy.deepcopy(env)
    before = other.games.states.tobytes(), other.games.observations.tobytes(), other.action_space.sample()
    turns(env, 10)
    env.reset()
    assert (other.games.states.tobytes(), other.games.observations.tobytes()) == before[:2]
    assert np.shares_memory(other.games.masks, other.games.observations)
    assert not np.shares_memory(other.games.states, env.games.states)


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_a_copy_is_played_by_the_code_that_is_compiled_already() -> None:
    from ante.env.games import step_observe_all

    env = begun(BalatroEnv)
    compiled = len(step_observe_all.signatures)
    turns(through_pickle(env), 3)
    assert len(step_observe_all.signatures) == compiled


def digests(env: Any, n: int) -> list[str]:
    """Return one digest for each of the next decisions."""
    found = []
    for turn in turns(env, n):
        digest = hashlib.sha256()
        add(digest, turn)
        found.append(digest.hexdigest())
    return found


def add(digest: Any, value: Any) -> None:
    """Add every number and name of an environment's return value."""
    if isinstance(value, dict):
        value = [each for pair in sorted(value.items()) for each in pair]
    if isinstance(value, (list, tuple)):
        for each in value:
            add(digest, each)
    elif isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(value.tobytes())
    else:
        digest.update(str(value).encode())


def played_there(env: Any, n: int, answer: Any) -> None:
    answer.put(digests(env, n))


@pytest.mark.skipif(not COMPILED, reason="too slow uncompiled")
@pytest.mark.parametrize("start", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_another_process_plays_on_as_this_one(start: str) -> None:
    context = multiprocessing.get_context(start)
    envs = [begun(SINGLE["structured"]), begun(VECTOR["next step"])]
    for env in envs:
        answer = context.Queue()
        process = context.Process(target=played_there, args=(env, AFTER, answer))
        process.start()
        there = answer.get(timeout=180)
        process.join(30)
        assert process.exitcode == 0
        assert there == digests(env, AFTER)


@pytest.mark.skipif(not COMPILED, reason="too slow uncompiled")
@pytest.mark.parametrize("context", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_copies_play_on_in_gymnasiums_processes(context: str) -> None:
    """Copies in the middle of a game are reset together, then compared in AsyncVectorEnv and SyncVectorEnv."""
    env = begun(lambda: made(max_decisions=40))
    makers = [Copy(env), Copy(env)]
    there = AsyncVectorEnv(makers, context=context, autoreset_mode=AutoresetMode.NEXT_STEP)
    here = SyncVectorEnv(makers, autoreset_mode=AutoresetMode.NEXT_STEP)
    try:
        assert_alike([there.reset(seed=5)], [here.reset(seed=5)])
        for _ in range(50):
            actions = action_of(here)
            assert_alike([there.step(actions)], [here.step(actions)])
    finally:
        there.close()
        here.close()


class Copy:
    """Return a function that copies an environment."""

    def __init__(self, env: Any) -> None:
        self.data = pickle.dumps(env)

    def __call__(self) -> Any:
        return pickle.loads(self.data)


def test_a_space_without_its_environment_is_an_ordinary_space() -> None:
    for make in (*SINGLE.values(), *VECTOR.values()):
        env = make()
        space = env.action_space
        alone = through_pickle(space)
        assert alone == space and copy.deepcopy(space) == space
        env.reset(seed=1)
        assert space.contains(alone.sample())
    space = BalatroEnv().action_space  # its environment was garbage-collected
    assert space.contains(space.sample())
