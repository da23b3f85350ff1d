"""The PettingZoo environments: PettingZoo's own tests, and the messages for wrong use."""

import copy
import warnings
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

from ante.checks import BadValue
from ante.env.single import EnvironmentClosed, IllegalAction, NeedsReset
from ante.errors import UnknownSeed
from ante.race.environments import AGENTS, ParallelRaceEnv, RaceEnv
from ante.race.races import WAIT


@pytest.fixture(autouse=True)
def quiet() -> Any:
    """Ignore PettingZoo's advice against dictionaries as observations."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="pettingzoo")
        yield


@pytest.mark.parametrize("observation", ["dict", "flat"])
def test_pettingzoo_s_api_test(observation: str) -> None:
    api_test(RaceEnv(observation=observation), num_cycles=150)


def test_pettingzoo_s_parallel_api_test() -> None:
    parallel_api_test(ParallelRaceEnv(observation="flat"), num_cycles=150)


def test_pettingzoo_s_seed_tests() -> None:
    seed_test(lambda: RaceEnv(observation="flat"), num_cycles=150)
    parallel_seed_test(lambda: ParallelRaceEnv(illegal="ignore"), num_cycles=50)  # it samples without masks


def play_out(env: RaceEnv, seed: int) -> list[tuple[str, float]]:
    """Play legal actions to the end of a race. Returns the players in the order of their last turns, with rewards."""
    env.reset(seed=seed)
    for agent in AGENTS:
        env.action_space(agent).seed(seed)
    last = []
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        assert observation is not None
        assert env.observation_space(agent).contains(observation)
        if terminated or truncated:
            last.append((info["result"], reward))
            env.step(None)
        else:
            assert observation["action_mask"][WAIT] == 0  # who has the turn never waits
            env.step(env.action_space(agent).sample(observation["action_mask"]))
    return last


@pytest.mark.slow
def test_a_race_has_one_winner_whose_reward_is_one() -> None:
    assert sorted(play_out(RaceEnv(), 3)) == [("lost", -1.0), ("won", 1.0)]


def test_the_turn_alternates_and_passes_over_who_waits() -> None:
    env = RaceEnv(seed="TURN")
    env.reset()
    assert env.agent_selection == "player_0"
    env.step(int(env.observe("player_0")["action_mask"].argmax()))
    assert env.agent_selection == "player_1"
    env.table.races.races[0].ready[0] = 1
    env.step(int(env.observe("player_1")["action_mask"].argmax()))
    assert env.agent_selection == "player_1"


def test_a_waiting_player_has_one_legal_action() -> None:
    env = ParallelRaceEnv(seed="WAITS")
    observations, _ = env.reset()
    assert observations["player_0"]["action_mask"][WAIT] == 0
    env.table.races.races[0].ready[0] = 1
    legal = int(observations["player_1"]["action_mask"].argmax())
    with pytest.raises(IllegalAction, match=f"in game 0: {legal}. Legal now: {WAIT} wait for the opponent"):
        env.step({"player_0": legal, "player_1": legal})
    observations, *_ = env.step({"player_0": WAIT, "player_1": legal})
    assert np.flatnonzero(observations["player_0"]["action_mask"]).tolist() == [WAIT]
    with pytest.raises(IllegalAction, match=r"\(wait\)"):
        env.step({"player_0": WAIT, "player_1": WAIT})


def test_illegal_actions_are_named_with_the_legal_ones() -> None:
    env = RaceEnv(seed="WRONG")
    env.reset()
    with pytest.raises(
        IllegalAction, match=r"illegal action in game 0: 9 \(select card 9\)\. Legal now: 27 select Small Blind"
    ):
        env.step(9)
    with pytest.raises(BadValue):
        env.step("play")  # type: ignore[arg-type]


def test_wrong_use_is_told() -> None:
    env = ParallelRaceEnv()
    with pytest.raises(NeedsReset):
        env.step(dict.fromkeys(AGENTS, 0))
    with pytest.raises(UnknownSeed):
        env.reset(options={"seed": "no seed!"})
    env.reset(seed=1)
    with pytest.raises(IllegalAction, match="none for player_1"):
        env.step({"player_0": 0})
    env.close()
    with pytest.raises(EnvironmentClosed):
        env.reset()


def test_the_number_of_a_generator_and_a_game_seed_both_determine_the_race() -> None:
    env = ParallelRaceEnv()
    seeds = [env.reset(seed=number)[1]["player_0"]["seed"] for number in (5, 5, 6)]
    assert seeds[0] == seeds[1] != seeds[2]
    _, infos = env.reset(options={"seed": "FIXED"})
    assert infos == {agent: {"seed": "FIXED", "ante": 1, "lives": 4, "result": "playing"} for agent in AGENTS}


def test_a_copy_continues_like_the_original() -> None:
    env = ParallelRaceEnv(observation="flat")
    observations, _ = env.reset(seed=8)
    twin = copy.deepcopy(env)
    for _ in range(40):
        actions = {agent: int(observations[agent]["action_mask"].argmax()) for agent in AGENTS}
        observations, *_ = env.step(actions)
        others, *_ = twin.step(actions)
        for agent in AGENTS:
            assert observations[agent]["observation"].tobytes() == others[agent]["observation"].tobytes()


def test_a_race_as_text() -> None:
    env = RaceEnv(render_mode="ansi", seed="TEXT")
    env.reset()
    text = env.render()
    assert text is not None
    assert text.startswith("player_0, 4 of 4 lives\n") and "player_1, 4 of 4 lives" in text
