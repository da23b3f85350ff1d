"""The shortlist view: Gymnasium's checks, the same games as the other views, and errors."""

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from ante.checks import BadValue
from ante.engine.actions import Verb
from ante.env.games import Games
from ante.env.single import IllegalAction
from ante.lookahead import NAME
from ante.lookahead.candidates import list_candidates
from ante.lookahead.environments import (
    CANDIDATE_ID,
    N_NUMBERS,
    NUMBER,
    ONE,
    BalatroShortlistEnv,
    BalatroShortlistVectorEnv,
)
from ante.lookahead.records import KIND_OF_VERB, LEGAL, MAX_CANDIDATES, N_ESTIMATES, N_FLAGS


def choose(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a random legal candidate of each row; 0 in a row without one."""
    return np.asarray((rng.random(mask.shape) * mask).argmax(axis=-1))


def test_gymnasium_accepts_the_environment() -> None:
    check_env(gymnasium.make(f"ante.lookahead:{NAME}", max_decisions=30).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("mode", ["vector_entry_point", "sync"])
def test_gymnasium_makes_vectors(mode: str) -> None:
    made = gymnasium.make_vec(f"ante.lookahead:{NAME}", 3, vectorization_mode=mode)
    observed, info = made.reset(seed=1)
    assert "seed" in info and "action_mask" not in info, (
        "the mask of the discrete view would be mistaken for the list's"
    )
    assert observed["candidates"].shape == (3, MAX_CANDIDATES, made.single_observation_space["candidates"].shape[1])
    for _ in range(20):
        observed, *_ = made.step(made.action_space.sample() if mode != "sync" else observed["action_mask"].argmax(1))
        assert made.observation_space.contains(observed)
    made.close()


def test_one_game_equals_its_row_of_a_batch_and_the_macro_view() -> None:
    """100 decisions: single and vector view agree, and the same decisions give the same states and rewards."""
    rng, settings = np.random.default_rng(5), {"max_decisions": 60, "stake": 2}
    single = BalatroShortlistEnv(**settings)
    vector = BalatroShortlistVectorEnv(2, autoreset_mode=AutoresetMode.SAME_STEP, **settings)
    games = Games(1, stake=2, max_decisions=60, discrete=False, reorder="jokers", reward="shaped")
    for seed in ("ANTE2", "7LB2WVPK"):
        one, _ = single.reset(options={"seed": seed})
        both, _ = vector.reset(options={"seed": [seed, "OTHER"]})
        games.reset(options={"seed": seed})
        for _ in range(60):
            for name, view in one.items():
                np.testing.assert_array_equal(view, both[name][0], err_msg=name)
            action, other = int(choose(one["action_mask"], rng)), choose(both["action_mask"][1], rng)
            games.step(vector.shortlists.decisions(np.array([action, other]))[:1])
            one, reward, terminated, truncated, _ = single.step(action)
            both, rewards, *_, info = vector.step(np.array([action, other]))
            assert reward == rewards[0] == games.rewards[0]
            assert (terminated, truncated) == (bool(games.terminated[0]), bool(games.truncated[0]))
            assert games.states[0].tobytes() == single.state.tobytes()
            if terminated or truncated:
                for name, view in info["final_obs"][0].items():
                    np.testing.assert_array_equal(view, one[name], err_msg=name)
                assert truncated or not one["action_mask"].any()
                break


def test_features_are_those_of_the_list() -> None:
    made, rng = BalatroShortlistEnv(), np.random.default_rng(3)
    observed, _ = made.reset(options={"seed": "ANTE5"})
    verbs = set()
    for _ in range(200):
        (found,) = list_candidates(made.games.states)
        for k, entry in enumerate(found.entries):
            listed, flags = k < found.n, int(entry.flag_bits)
            assert observed["action_mask"][k] == (listed and bool(flags & LEGAL))
            ids = observed["candidate_ids"][k]
            assert (ids[CANDIDATE_ID.verb], ids[CANDIDATE_ID.item]) == (entry.verb, entry.item_id)
            blocks = observed["candidates"][k].reshape(-1, N_NUMBERS)
            kind = KIND_OF_VERB[entry.verb]
            assert not np.delete(blocks, kind, axis=0).any() and blocks[kind, NUMBER.listed] == listed
            if listed:
                verbs.add(Verb(int(entry.verb)))
                numbers = blocks[kind]
                estimates = numbers[NUMBER.estimates : NUMBER.estimates + N_ESTIMATES] * ONE
                np.testing.assert_array_equal(estimates, entry.estimates)
                assert numbers[NUMBER.price] * ONE == entry.price
                assert [int(bit) for bit in numbers[NUMBER.flags :]] == [(flags >> j) & 1 for j in range(N_FLAGS)]
        observed, _, terminated, truncated, _ = made.step(int(choose(observed["action_mask"], rng)))
        if terminated or truncated:
            observed, _ = made.reset()
    assert {Verb.PLAY, Verb.DISCARD, Verb.BUY, Verb.SELECT_BLIND} <= verbs


@pytest.mark.parametrize("index", [-1, MAX_CANDIDATES, MAX_CANDIDATES - 1, 10**12])
def test_an_illegal_candidate_is_an_error_that_lists_the_legal_ones(index: int) -> None:
    single, vector = BalatroShortlistEnv(), BalatroShortlistVectorEnv(2)
    single.reset(options={"seed": "ANTE1"})
    vector.reset(options={"seed": "ANTE1"})
    before = single.state.tobytes()
    with pytest.raises(IllegalAction, match=rf"candidate {index}\. Legal now: 0 "):
        single.step(index)
    with pytest.raises(IllegalAction, match=rf"in game 1: candidate {index}\. Legal now: 0 "):
        vector.step(np.array([0, index]))
    assert single.state.tobytes() == before == vector.games.states[1].tobytes()
    ignoring = BalatroShortlistEnv(illegal="ignore")
    ignoring.reset(options={"seed": "ANTE1"})
    assert ignoring.step(index)[1:4] == (0.0, False, False)
    assert {name: words for name, words in single.describe_candidates().items() if name < 1}[0]


@pytest.mark.parametrize("name", ["actions", "observation"])
def test_arguments_that_the_view_determines_are_refused(name: str) -> None:
    with pytest.raises(BadValue, match="the shortlist view has its own"):
        BalatroShortlistEnv(**{name: "discrete"})


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_plays_on_alike(copied: Any) -> None:
    made = BalatroShortlistEnv()
    made.reset(seed=4)
    made.action_space.seed(9)
    for _ in range(3):
        made.step(made.action_space.sample())
    other = copied(made)
    for _ in range(20):
        action = made.action_space.sample()
        assert action == other.action_space.sample()
        first, second = made.step(action), other.step(action)
        assert first[1:4] == second[1:4]
        np.testing.assert_array_equal(first[0]["candidates"], second[0]["candidates"])
        if first[2] or first[3]:
            break
