"""Tests of device games other than their equality; test_equality.py runs this file on the simulator or a device."""

import numpy as np
import pytest
from numba import cuda

from ante.engine.actions import N_DISCRETE, Verb, legal_mask, pack_action
from ante.engine.core.state import Phase, Status, new_states
from ante.engine.drivers.cuda import DeviceStates
from ante.engine.drivers.random_play import begin_player, random_decision, random_seed
from ante.engine.run import restart
from ante.engine.step import step
from ante.env.cuda import DeviceGames, NotMacro, UnfitActions
from ante.env.games import BadGoal, Outcome
from ante.errors import UnknownSeed


def seeds_of(games: DeviceGames) -> list[bytes]:
    return [bytes(seed).rstrip(b"\0") for seed in games.states.copy_to_host()["seed"]]


def test_random_play_without_observations_is_the_engines() -> None:
    n, decisions = 5, 40
    device = DeviceStates(n, stake=2, one_chip=True, number=4, block=2)
    for _ in range(decisions):
        device.choose()
        device.step()
        assert (device.status.copy_to_host() != Status.ILLEGAL).all()
    states, masks = device.states.copy_to_host(), device.masks.copy_to_host()
    mask, rng = np.zeros(N_DISCRETE, dtype=np.uint8), np.zeros(1, dtype=np.uint64)
    for i in range(n):
        s = new_states(1)[0]
        begin_player(rng, 4 * 1_000_003 + i)
        lost = True
        for k in range(decisions + 1):
            if k > 0:
                action = random_decision(s, mask, rng)
            if lost:
                random_seed(s, rng)
                restart(s, 0, 2, 0)
                s.one_chip_blinds, lost = 1, False
            else:
                lost = step(s, action) == Status.LOST
            legal_mask(s, mask)
        assert np.array_equal(mask, masks[i])
        for field in states.dtype.names:
            assert np.asarray(s[field]).tobytes() == states[field][i].tobytes(), field
    assert (states["round_number"] > 1).any()


def test_seeds_are_given_fixed_or_drawn() -> None:
    games = DeviceGames(3, block=2)
    assert len(set(seeds_of(games))) == 3
    games.reset(["AAAA", "BBBB", "CCCCCCCC"])
    assert seeds_of(games) == [b"AAAA", b"BBBB", b"CCCCCCCC"]
    games.reset()
    assert not set(seeds_of(games)) & {b"AAAA", b"BBBB", b"CCCCCCCC"}
    fixed = DeviceGames(2, seed="TESTSEED", block=2)
    fixed.reset(["AAAA", "BBBB"])
    fixed.reset()
    assert seeds_of(fixed) == [b"TESTSEED"] * 2
    with pytest.raises(UnknownSeed):
        games.reset(["AAAA", "BBBB", "no seed"])


def test_games_are_renewed_at_will() -> None:
    games = DeviceGames(3, block=2)
    blind = np.array([int(mask.argmax()) for mask in games.host()["observations"]["action_mask"]])
    games.step(blind)
    before = seeds_of(games)
    games.renew.copy_to_device(np.array([0, 1, 0], dtype=np.uint8))
    games.step(np.zeros(3, dtype=np.int64))
    after, host = seeds_of(games), games.host()
    assert [a == b for a, b in zip(after, before, strict=True)] == [True, False, True]
    assert host["steps"].tolist() == [2, 0, 2]
    assert host["states"]["phase"].tolist() == [Phase.PLAY, Phase.BLIND_SELECT, Phase.PLAY]


@pytest.mark.parametrize("actions", [np.zeros(3, np.int32), np.zeros(4, np.int64), np.zeros(6, np.int64)[::2]])
def test_actions_that_no_kernel_could_read_are_refused(actions: np.ndarray) -> None:
    with pytest.raises(UnfitActions, match=r"use contiguous int64 of shape \(3,\)"):
        DeviceGames(3, block=2).step(actions)


def test_random_decisions_want_macro_games() -> None:
    with pytest.raises(NotMacro, match="discrete=False"):
        DeviceGames(2, block=2).choose()
    games = DeviceGames(2, discrete=False, flat=False, block=2)
    for _ in range(10):
        games.choose()
        games.step()
    assert games.steps.copy_to_host().max() > 0
    assert games.host()["flat"].shape == (0, 0)


@pytest.mark.parametrize(("goal", "outcomes"), [(3, [Outcome.PLAYING, Outcome.WON]), (8, [Outcome.PLAYING] * 2)])
def test_a_goal_ends_games(goal: int, outcomes: list[Outcome]) -> None:
    """Two games play a card against the boss of ante 2 and of ante 3, which requires one chip."""
    games = DeviceGames(2, seed="TESTSEED", reward="sparse", discrete=False, goal=goal, block=2)
    games.step(np.full(2, pack_action(Verb.SELECT_BLIND, 0, 0, 0)))
    states = games.states.copy_to_host()
    states["ante"], states["blind"], states["boss"] = [2, 3], 22, 22  # The Head
    states["blind_on_deck"], states["target"] = 2, 1.0
    games.states = cuda.to_device(states)
    games.step(np.full(2, pack_action(Verb.PLAY, 0, 0, 1)))
    host = games.host()
    assert host["states"]["phase"].tolist() == [Phase.ROUND_END] * 2
    assert host["outcome"].tolist() == outcomes
    assert host["rewards"].tolist() == [float(outcome == Outcome.WON) for outcome in outcomes]
    with pytest.raises(BadGoal):
        DeviceGames(1, goal=9)
