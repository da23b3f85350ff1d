"""Properties of whole races: random play keeps every game valid, fair and reproducible."""

import numpy as np
import pytest

from ante.agents.baselines import Baseline
from ante.catalog.locks import LOCKS
from ante.engine.actions import N_DISCRETE
from ante.engine.core.state import Place, copy_states
from ante.engine.invariants import Broken, broken
from ante.engine.step import step_discrete
from ante.race.races import Races, Result, play_races
from ante.race.rules import BANNED, SEATS
from tests.race.test_rules import run_alone, shown_locks

SEEDS = [f"PLAY{i}" for i in range(1, 5)]


def random_actions(races: Races, rng: np.random.Generator) -> np.ndarray:
    """Return a random legal discrete action for every seat, -1 where a seat waits."""
    actions = np.full((races.n, SEATS), -1, dtype=np.int64)
    waiting = races.waiting()
    for seat, games in enumerate(races.games):
        for i in np.flatnonzero(~waiting[:, seat]):
            actions[i, seat] = rng.choice(np.flatnonzero(games.masks[i]))
    return actions


def cards_by_place(s: np.record) -> dict[Place, int]:
    """Return the number of playing cards in each place."""
    return {place: int((s.cards["place"][: s.n_cards] == place).sum()) for place in Place}


@pytest.mark.slow
def test_random_races_keep_every_game_valid_and_end() -> None:
    rng = np.random.default_rng(1)
    races = Races(len(SEEDS), flat=False)
    races.reset({"seed": SEEDS})
    banned = {LOCKS[key] for key in BANNED}
    while not races.ended.all():
        lives, alive = races.races.lives.copy(), ~races.ended
        races.step(random_actions(races, rng))
        assert ((lives - races.races.lives >= 0) & (lives - races.races.lives <= 1)).all()  # at most one in a round
        for games in races.games:
            for i in np.flatnonzero(alive):
                s = games.states[i]
                assert broken(s) == Broken.NOTHING
                places = cards_by_place(s)
                assert places[Place.DECK] == s.n_deck and places[Place.HAND] == s.n_hand
                assert not banned & shown_locks(s)
    assert (races.races.lives.min(axis=1) == 0).all()


def test_the_same_actions_give_the_same_bytes_whatever_the_other_races() -> None:
    rng = np.random.default_rng(2)
    together = Races(2, flat=False)
    together.reset({"seed": SEEDS[:2]})
    alone = Races(1, flat=False)
    alone.reset({"seed": SEEDS[1:2]})
    while not together.ended[1]:
        actions = random_actions(together, rng)
        together.step(actions)
        alone.step(actions[1:])
    for seat in range(SEATS):
        assert together.games[seat].states[1].tobytes() == alone.games[seat].states[0].tobytes()
    assert together.races[1].tobytes() == alone.races[0].tobytes()


def test_until_a_duel_or_a_lost_life_a_game_is_the_engine_s() -> None:
    rng = np.random.default_rng(3)
    races = Races(1, flat=False)
    for seed in SEEDS:
        races.reset({"seed": [seed]})
        alone = run_alone(seed)
        s = races.games[0].states[0]
        while races.races[0].lives[0] == 4 and s.ante == 1:
            assert s.tobytes() == alone.tobytes()
            actions = random_actions(races, rng)
            races.step(actions, np.array([[True, False]]))
            step_discrete(alone, actions[0, 0])
        assert races.games[0].steps[0] > 0


def test_masks_agree_with_the_step_in_every_phase() -> None:
    rng = np.random.default_rng(4)
    races = Races(1, flat=False)
    races.reset({"seed": ["MASKS"]})
    checked = 0
    while not races.ended.all():
        seat = int(rng.integers(SEATS))
        if races.waiting()[0, seat]:
            seat = 1 - seat
        acting = np.array([[seat == 0, seat == 1]])
        if rng.random() < 0.05:
            checked += 1
            for action in range(N_DISCRETE):
                actions = np.full((1, SEATS), action)
                assert (races.refused(actions, acting) is None) == bool(races.games[seat].masks[0, action])
            before = copy_states(races.games[seat].states)
            illegal = int(np.flatnonzero(races.games[seat].masks[0] == 0)[0])
            races.step(np.full((1, SEATS), illegal), acting)
            assert races.games[seat].states.tobytes() == before.tobytes()
        races.step(random_actions(races, rng), acting)
    assert checked > 10


def test_a_waiting_seat_is_refused() -> None:
    races = Races(1)
    races.reset({"seed": ["WAIT"]})
    races.races[0].ready[0] = 1
    assert races.refused(np.array([[0, 0]]), np.array([[True, False]])) == (0, 0)


def test_greedy_beats_random_and_equal_players_draw() -> None:
    won = play_races((Baseline("greedy"), Baseline("random")), SEEDS).results(0)
    assert (won == Result.WON).all()
    same = play_races((Baseline("greedy"), Baseline("greedy")), SEEDS[:2])
    assert (same.results(0) == Result.DRAWN).all()


@pytest.mark.parametrize("first", ["greedy", "random"])
def test_the_seat_does_not_matter(first: str) -> None:
    players = (
        (Baseline("greedy"), Baseline("random")) if first == "greedy" else (Baseline("random"), Baseline("greedy"))
    )
    seat = 0 if first == "greedy" else 1
    assert (play_races(players, SEEDS[:3]).results(seat) == Result.WON).all()
