"""One game as a Gymnasium environment."""

import copy
import os
import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence

import ante.env  # noqa: F401
from ante.engine.actions import FIRST, Verb
from ante.engine.core.state import Phase
from ante.env.reward import REWARDS, Reward, UnknownReward
from ante.env.single import BalatroEnv, IllegalAction
from ante.env.spaces import pack, unpack
from ante.errors import UnknownDeck, UnknownSeed, UnknownStake

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"
NAME = "ante/Balatro-v1"
STEPS = 400 if COMPILED else 60
KINDS = ("dict", "flat", "masked")


@pytest.mark.parametrize("actions", ["discrete", "structured"])
@pytest.mark.parametrize("observation", KINDS)
def test_gymnasium_finds_nothing_to_complain_about(actions: str, observation: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(NAME, actions=actions, observation=observation)
        check_env(env.unwrapped, skip_render_check=True)


@pytest.mark.parametrize("actions", ["discrete", "structured"])
@pytest.mark.parametrize("observation", KINDS)
def test_samples_are_legal_and_observations_stay_in_their_space(actions: str, observation: str) -> None:
    env = BalatroEnv(actions=actions, observation=observation, deck="checkered", stake=8)
    env.action_space.seed(3)
    env.reset(seed=3)
    ended = 0
    for _ in range(STEPS):
        seen, _, terminated, truncated, info = env.step(env.action_space.sample())
        assert env.observation_space.contains(seen)
        if terminated or truncated:
            assert info["outcome"] in ("lost", "won", "truncated")
            ended += 1
            env.reset()
        else:
            assert info["outcome"] == "playing"
            assert info["action_mask"].any()
    assert ended > 0 or not COMPILED


def test_the_same_seed_deals_the_same_run() -> None:
    env = BalatroEnv()
    first, info = env.reset(seed=5)
    again, info_again = env.reset(seed=5)
    assert info["seed"] == info_again["seed"]
    assert data_equivalence(first, again, exact=True)
    assert env.reset()[1]["seed"] != info["seed"]


def test_a_game_seed_can_be_given_once_or_for_good() -> None:
    assert BalatroEnv(seed="TESTSEED").reset()[1]["seed"] == "TESTSEED"
    env = BalatroEnv()
    assert env.reset(seed=1, options={"seed": "abc123", "deck": "b_plasma", "stake": 3})[1]["seed"] == "ABC123"
    assert (env.state.deck_id, env.state.stake) == (13, 3)
    env.reset()
    assert (env.state.deck_id, env.state.stake) == (0, 1)


def test_random_seeds_use_the_letters_of_the_game() -> None:
    env = BalatroEnv()
    letters = "".join(env.reset(seed=i)[1]["seed"] for i in range(60 if COMPILED else 10))
    assert not set(letters) - set("123456789ABCDEFGHIJKLMNPQRSTUVWXYZ")


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"deck": "b_rad"}, UnknownDeck, "did you mean b_red"),
        ({"stake": 9}, UnknownStake, "1 .* to 8"),
        ({"seed": "no seed"}, UnknownSeed, "no seed"),
        ({"reward": "shapd"}, UnknownReward, "sparse, blinds, shaped"),
        ({"actions": "both"}, ValueError, "discrete, structured"),
        ({"observation": "pixels"}, ValueError, "dict, flat, masked"),
        ({"reorder": "some"}, ValueError, "none, jokers, all"),
        ({"illegal": "maybe"}, ValueError, "raise, ignore"),
    ],
)
def test_a_wrong_option_says_what_is_right(wrong: dict, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        BalatroEnv(**wrong)


def test_an_illegal_action_is_named_and_changes_nothing() -> None:
    env = BalatroEnv(seed="TESTSEED")
    env.reset()
    before = env.state.tobytes()
    with pytest.raises(IllegalAction, match=r"25 \(play no cards\).*27 select Small Blind"):
        env.step(FIRST[Verb.PLAY])
    with pytest.raises(IllegalAction, match="no action 500"):
        env.step(500)
    assert env.state.tobytes() == before


def test_an_illegal_action_can_be_ignored() -> None:
    env = BalatroEnv(seed="TESTSEED", illegal="ignore")
    env.reset()
    before = env.state.tobytes()
    for nonsense in (FIRST[Verb.PLAY], -1, 143, 10**9):
        assert env.step(nonsense)[1] == 0.0
    assert env.state.tobytes() == before


def test_structured_illegal_actions_are_named() -> None:
    env = BalatroEnv(seed="TESTSEED", actions="structured")
    env.reset()
    cards = np.zeros(24, dtype=np.int8)
    cards[:3] = 1
    with pytest.raises(IllegalAction, match="illegal action: play"):
        env.step({"verb": Verb.PLAY, "target": 0, "to": 0, "cards": cards})
    env.step({"verb": Verb.SELECT_BLIND, "target": 0, "to": 0, "cards": cards * 0})
    env.step({"verb": Verb.PLAY, "target": 0, "to": 0, "cards": cards})
    assert env.state.hands_played == 1


def test_a_structured_action_is_one_macro_decision() -> None:
    for action in (0, 4, (7 << 22) | 2, 20 | (3 << 6) | (1 << 14)):
        assert pack(unpack(action)).tolist() == [action]


@pytest.mark.parametrize(("reorder", "left"), [("none", 0), ("jokers", 0), ("all", 9)])
def test_reordering_can_be_left_out(reorder: str, left: int) -> None:
    env = BalatroEnv(seed="TESTSEED", reorder=reorder)
    env.reset()
    info = env.step(FIRST[Verb.SELECT_BLIND])[4]
    mask = info["action_mask"]
    assert mask[FIRST[Verb.MOVE_CARD] :].sum() + mask[FIRST[Verb.SORT_HAND] : FIRST[Verb.SORT_HAND] + 2].sum() == left
    if reorder != "all":
        with pytest.raises(IllegalAction):
            env.step(FIRST[Verb.MOVE_CARD])


def test_a_long_game_is_truncated() -> None:
    env = BalatroEnv(max_decisions=3)
    env.reset(seed=0)
    results = [env.step(env.action_space.sample())[2:4] for _ in range(3)]
    assert results == [(False, False), (False, False), (False, True)]


def test_winning_ends_the_episode_unless_endless() -> None:
    for endless in (False, True):
        env = BalatroEnv(endless=endless, seed="TESTSEED", reward="sparse")
        env.reset()
        env.step(FIRST[Verb.SELECT_BLIND])
        env.state.ante = 8
        env.state.blind = env.state.boss = 22  # The Head
        env.state.blind_on_deck = 2
        env.state.target = 1.0
        env.step(0)
        _, reward, terminated, _, info = env.step(FIRST[Verb.PLAY])
        assert (reward, terminated) == (1.0, not endless)
        assert info["outcome"] == ("playing" if endless else "won")
        assert env.state.phase == Phase.ROUND_END


def test_ansi_shows_the_game() -> None:
    env = gymnasium.make(NAME, render_mode="ansi", seed="TESTSEED")
    env.reset()
    assert "Small Blind" in env.render()
    env.step(FIRST[Verb.SELECT_BLIND])
    assert "hand" in env.render()


@pytest.mark.filterwarnings("error")
def test_frames_are_drawn() -> None:
    pytest.importorskip("cv2")
    env = gymnasium.make(NAME, render_mode="rgb_array", seed="TESTSEED")
    env.reset()
    frame = env.render()
    assert (frame.shape, frame.dtype) == ((360, 640, 3), np.uint8)
    big = BalatroEnv(render_mode="rgb_array", render_size=(1280, 720))
    big.reset(seed=1)
    assert big.render().shape == (720, 1280, 3)


def test_spaces_travel_without_their_games() -> None:
    env = BalatroEnv()
    for space in (env.action_space, BalatroEnv(actions="structured").action_space):
        assert copy.deepcopy(space) == space
        assert len(pickle.dumps(space)) < 2000


def test_rewards_are_weights() -> None:
    env = BalatroEnv(reward=Reward("mine", "twice the blinds", blind=2.0), seed="TESTSEED")
    env.reset()
    env.step(FIRST[Verb.SELECT_BLIND])
    env.state.target = 1.0
    env.step(0)
    assert env.step(FIRST[Verb.PLAY])[1] == 2.0
    assert set(REWARDS) == {"sparse", "blinds", "shaped", "potential"}


def test_progress_sums_to_one_for_each_blind_beaten() -> None:
    env = BalatroEnv(reward=Reward("progress", "", progress=1.0), seed="TESTSEED")
    env.reset()
    total = env.step(FIRST[Verb.SELECT_BLIND])[1]
    env.state.hands_left = 100
    while env.state.phase == Phase.PLAY and env.state.n_hand:
        env.step(0)
        total += env.step(FIRST[Verb.PLAY])[1]
    assert env.state.phase == Phase.ROUND_END
    assert total == pytest.approx(1.0)
    assert env.step(FIRST[Verb.CASH_OUT])[1] == 0.0
