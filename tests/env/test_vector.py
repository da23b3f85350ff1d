"""A batch of games gives the same results as each game alone."""

import os

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import ante.env  # noqa: F401
from ante.env.games import Games
from ante.env.single import IllegalAction, NeedsReset
from ante.env.vector import BalatroVectorEnv

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"
NAME = "ante/Balatro-v1"
N = 6
STEPS = 400 if COMPILED else 40


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("observation", ["dict", "flat", "masked"])
def test_it_equals_gymnasiums_own_vector_of_single_games(mode: str, observation: str) -> None:
    kwargs = {"observation": observation, "max_decisions": 50, "deck": "plasma", "stake": 2, "reorder": "jokers"}
    theirs = SyncVectorEnv([lambda: gymnasium.make(NAME, **kwargs) for _ in range(N)], autoreset_mode=mode)
    ours = gymnasium.make_vec(NAME, N, vectorization_mode="vector_entry_point", autoreset_mode=mode, **kwargs)
    assert ours.metadata["autoreset_mode"] == AutoresetMode(mode)
    assert ours.observation_space == theirs.observation_space
    assert ours.single_action_space == theirs.single_action_space
    assert equal(ours.reset(seed=11), theirs.reset(seed=11))
    ours.action_space.seed(1)
    ends = 0
    for _ in range(STEPS):
        actions = ours.action_space.sample()
        mine = ours.step(actions)
        assert equal(mine, theirs.step(actions))
        ends += int((mine[2] | mine[3]).sum())
    assert ends > 0 or not COMPILED
    ours.close()
    theirs.close()


def equal(a: tuple, b: tuple) -> bool:
    return all(same(x, y) for x, y in zip(a, b, strict=True))


def same(a: object, b: object) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        assert a.keys() == b.keys()
        for key in a:
            assert same(a[key], b[key]), key
        return True
    return bool(data_equivalence(a, b, exact=True))


def test_structured_actions_play_the_same() -> None:
    envs = gymnasium.make_vec(NAME, N, vectorization_mode="vector_entry_point", actions="structured")
    envs.reset(seed=1)
    envs.action_space.seed(2)
    for _ in range(STEPS // 4):
        seen, rewards, terminated, truncated, infos = envs.step(envs.action_space.sample())
        assert envs.observation_space.contains(seen)
        assert rewards.shape == terminated.shape == truncated.shape == (N,)
        assert infos["action_mask"].shape == (N, 143)


def test_one_illegal_action_plays_nothing() -> None:
    envs = BalatroVectorEnv(3)
    envs.reset(seed=0)
    before = envs.games.states.tobytes()
    with pytest.raises(IllegalAction, match="in game 1"):
        envs.step(np.array([27, 0, 27]))
    assert envs.games.states.tobytes() == before


def test_games_can_be_reset_by_hand() -> None:
    envs = BalatroVectorEnv(3, autoreset_mode="Disabled", max_decisions=1)
    _, infos = envs.reset(seed=0)
    envs.step(np.array([27, 27, 27]))
    with pytest.raises(NeedsReset, match="reset_mask"):
        envs.step(np.array([0, 0, 0]))
    _, again = envs.reset(options={"reset_mask": np.array([True, False, True])})
    assert again["_seed"].tolist() == [True, False, True]
    assert again["seed"][0] != infos["seed"][0]
    envs.reset(options={"reset_mask": np.array([False, True, False]), "seed": ["TESTSEED"]})
    assert envs.games.seeds[1] == "TESTSEED"


def test_buffers_are_the_callers_without_copy() -> None:
    envs = BalatroVectorEnv(3, observation="flat", copy=False)
    first, _ = envs.reset(seed=0)
    second = envs.step(envs.action_space.sample())[0]
    assert second is first
    assert first is envs.games.flat


def test_a_game_does_not_depend_on_its_neighbours() -> None:
    many, one = BalatroVectorEnv(5, max_decisions=20), BalatroVectorEnv(1, max_decisions=20)
    many.reset(seed=3)
    one.reset(seed=5)
    many.action_space.seed(1)
    for _ in range(60):
        actions = many.action_space.sample()
        many.step(actions)
        one.step(actions[2:3])
    assert many.games.states[2].tobytes() == one.games.states[0].tobytes()


def test_games_fill_their_buffers_in_place() -> None:
    games = Games(4, reward="sparse", reorder="none", flat=True)
    games.reset()
    flat, masks = games.flat, games.masks
    games.step(np.argmax(masks, axis=1))
    assert games.flat is flat
    assert np.shares_memory(games.masks, games.observations)
    assert (games.steps == 1).all()
    assert flat.any(axis=1).all()
