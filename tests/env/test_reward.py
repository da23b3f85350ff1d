"""Potentials do not change the optimal policy, and goals end games; tested on random games."""

import os
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from ante.engine.actions import N_DISCRETE
from ante.engine.core.state import Phase
from ante.engine.drivers.random_play import begin_player, choose_random
from ante.env.games import BadGoal, Games, Outcome
from ante.env.reward import BLINDS_OF_A_RUN, REWARDS

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"
N = 48 if COMPILED else 2
FAR = 1500 if COMPILED else 60


@dataclass
class Played:
    """n complete games.

    total    (n,) discounted sum of rewards; length (n,) steps
    outcome  (n,) Outcome
    stands   (n,) blinds beaten and share of the last blind, from `info`
    wins     (n,) steps that beat the boss of ante 8
    """

    total: NDArray[np.float64]
    length: NDArray[np.int64]
    outcome: NDArray[np.uint8]
    stands: NDArray[np.float64]
    wins: NDArray[np.int64]


def standing(games: Games) -> NDArray[np.float64]:
    info, playing = games.info(), games.states["phase"] == Phase.PLAY
    share = np.minimum(1.0, np.log1p(info["chips"]) / np.log1p(np.maximum(info["target"], 1.0)))
    return info["blinds"] + np.where(playing, share, 0.0)


def play(reward: str, discount: float, one_chip: bool = False, **options: object) -> Played:
    games = Games(N, reward=REWARDS[reward].discounted(discount), discrete=False, flat=False, **options)
    games.reset()
    games.states["one_chip_blinds"] = one_chip
    rng, mask = np.zeros(1, np.uint64), np.zeros(N_DISCRETE, np.uint8)
    begin_player(rng, 5)
    actions, outcome = np.zeros(N, np.int64), np.zeros(N, np.uint8)
    found = Played(np.zeros(N), np.zeros(N, np.int64), outcome, np.zeros(N), np.zeros(N, np.int64))
    while (outcome == 0).any():
        won = games.states["won"].copy()
        choose_random(games.states, rng, mask, actions)
        games.step(actions)
        going = outcome == 0
        found.total += np.where(going, discount**found.length * games.rewards, 0.0)
        found.length += going
        found.wins += going & (games.states["won"] > won)
        ended = going & (games.outcome != 0)
        found.stands[ended] = standing(games)[ended]
        outcome[ended] = games.outcome[ended]
    return found


@pytest.mark.parametrize("discount", [0.997, 1.0])
@pytest.mark.parametrize(
    ("options", "ends"),
    [
        ({"max_decisions": 9}, {Outcome.LOST, Outcome.TRUNCATED}),
        ({"one_chip": True, "max_decisions": 60}, {Outcome.TRUNCATED}),
        ({"one_chip": True, "max_decisions": FAR}, {Outcome.WON}),
        ({"one_chip": True, "max_decisions": FAR, "goal": 2}, {Outcome.WON}),
        ({"one_chip": True, "max_decisions": FAR, "endless": True}, {Outcome.TRUNCATED}),
    ],
)
def test_over_a_whole_game_a_potential_is_worth_nothing(
    discount: float, options: dict[str, object], ends: set[Outcome]
) -> None:
    sparse, shaped = play("sparse", discount, **options), play("potential", discount, **options)
    assert (shaped.length == sparse.length).all(), "the same games"
    assert set(shaped.outcome.tolist()) >= ends or not COMPILED
    cut = shaped.outcome == Outcome.TRUNCATED
    np.testing.assert_allclose(shaped.total[~cut], sparse.total[~cut], rtol=0, atol=1e-12)
    left = discount**shaped.length * shaped.stands / BLINDS_OF_A_RUN
    np.testing.assert_allclose(shaped.total[cut] - sparse.total[cut], left[cut], rtol=0, atol=1e-9)
    assert (left[cut] > 0).any() or not cut.any()
    if options.get("endless") and COMPILED:
        assert (shaped.wins == 1).sum() > N / 2, "these games continue after a win"
        assert (shaped.stands[shaped.wins == 1] >= 1).all()


def test_a_potential_grows_on_the_way() -> None:
    """The first blind beaten yields 1/24 immediately, and a loss takes everything back."""
    games = Games(1, reward=REWARDS["potential"].discounted(0.9), discrete=False, goal=1)
    games.reset(options={"seed": "TESTSEED"})
    rng, mask, actions = np.zeros(1, np.uint64), np.zeros(N_DISCRETE, np.uint8), np.zeros(1, np.int64)
    begin_player(rng, 3)
    held = 0.0
    while games.outcome[0] == Outcome.PLAYING:
        choose_random(games.states, rng, mask, actions)
        games.step(actions)
        now = 0.0 if games.outcome[0] else standing(games)[0] / BLINDS_OF_A_RUN
        assert games.rewards[0] == pytest.approx(0.9 * now - held, abs=1e-9)
        held = now
    assert games.outcome[0] == Outcome.LOST
    assert games.rewards[0] < 0


@pytest.mark.parametrize("goal", [1, 3, 8])
def test_a_goal_is_the_boss_that_ends_a_game_as_won(goal: int) -> None:
    """Bosses are counted from blinds and phases, independently of the step's results."""
    limit = 3000 if COMPILED else 60
    games = Games(N, reward="sparse", discrete=False, flat=False, goal=goal, max_decisions=limit)
    games.reset()
    games.states["one_chip_blinds"] = np.arange(N) % 8 != 0  # one game in eight plays normally and loses
    rng, mask, actions = np.zeros(1, np.uint64), np.zeros(N_DISCRETE, np.uint8), np.zeros(N, np.int64)
    begin_player(rng, 8)
    outcome = np.zeros(N, np.uint8)
    while (outcome == 0).any():
        before = games.states.copy()
        choose_random(games.states, rng, mask, actions)
        games.step(actions)
        boss = (before["phase"] == Phase.PLAY) & (games.states["phase"] == Phase.ROUND_END)
        boss &= before["blind_on_deck"] == 2
        going = outcome == 0
        won = games.outcome == Outcome.WON
        assert (won == (boss & (before["ante"] >= goal)))[going].all()
        assert (games.rewards == won)[going].all()
        outcome[going] = games.outcome[going]
    if COMPILED:
        assert (outcome == Outcome.WON).sum() >= N // 4
        assert (outcome == Outcome.LOST).any()


@pytest.mark.parametrize(("goal", "endless"), [(0, False), (9, False), (True, False), (2.5, False), (4, True)])
def test_a_goal_that_cannot_be_is_refused(goal: object, endless: bool) -> None:
    with pytest.raises(BadGoal, match=r"does not end at a goal" if endless else "an ante from 1 to 8"):
        Games(1, goal=goal, endless=endless)
