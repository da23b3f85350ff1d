"""Records from outside: games that `validate_states` accepts can be played, after any change.

Compiled code does not check indices, so the games are played with NUMBA_BOUNDSCHECK=1 (`make test-bounds`, or the slow
which sets it), or uncompiled (`make test-nojit`).
"""

import os
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.table import begin

from ante.catalog.consumables import Consumable
from ante.catalog.jokers import Joker
from ante.engine.actions import N_DISCRETE, legal_mask
from ante.engine.core.state import Phase, Status, copy_states, new_states, state_t
from ante.engine.drivers.random_play import begin_game_of_kind, begin_player, random_decision
from ante.engine.step import step
from ante.engine.validation import BadState, validate_states
from ante.env.games import Games
from ante.recording.starts import stand

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"
CHECKED = os.environ.get("NUMBA_BOUNDSCHECK") == "1" or not COMPILED
KINDS, AFTER = (140, (0, 3, 20, 60, 150, 400)) if COMPILED else (6, (0, 5, 25))
EXAMPLES = int(os.environ.get("ANTE_FOREIGN_RECORDS", "3000" if COMPILED else "40"))
STEPS = 200 if COMPILED else 20
ODD = (0, 1, -1, 2, 5, 15, 16, 24, 31, 32, 127, 128, 255, 256, -128, -32768, 32767, 2**31 - 1, -(2**31))
ODD_FLOATS = (0.0, -1.0, 1e308, float("nan"), float("inf"), float("-inf"), 0.5, 2.0)


@cache
def real_games() -> np.recarray:
    """Return games in progress, of many decks, stakes and challenges."""
    found = []
    for kind in range(KINDS):
        states = new_states(1)
        s, rng, mask = states[0], np.zeros(1, dtype=np.uint64), np.zeros(N_DISCRETE, dtype=np.uint8)
        begin_player(rng, kind)
        begin_game_of_kind(s, rng, kind, kind % 2)
        for decision in range(1 + max(AFTER)):
            if decision in AFTER:
                found.append(copy_states(states))
            legal_mask(s, mask)
            if step(s, random_decision(s, mask, rng)) == Status.LOST:
                break
    together = new_states(len(found))
    together.view(np.uint8)[:] = np.concatenate([each.view(np.uint8) for each in found])
    return together


def places(dtype: np.dtype, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the fields of a record, including nested ones."""
    if dtype.names is None:
        return [path]
    return [place for name in dtype.names for place in places(dtype[name].base, (*path, name))]


PLACES = places(state_t)


@st.composite
def corrupted(draw: st.DrawFn) -> np.recarray:
    """Return a real game, (1,), with some changed fields or bytes."""
    games = real_games()
    states = copy_states(games[(at := draw(st.integers(0, len(games) - 1))) : at + 1])
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            place = draw(st.sampled_from(PLACES))
            array = states.view(np.ndarray)
            for name in place:
                array = array[name]
            cells = array.reshape(-1)  # a view of one game's field, or a copy of a nested one
            slot = draw(st.integers(0, max(0, min(cells.size - 1, 5))) | st.integers(0, cells.size - 1))
            value = draw(st.sampled_from(ODD_FLOATS if array.dtype.kind == "f" else ODD) | st.integers(0, 60))
            if array.dtype.kind != "f":
                value = int(np.array(value, dtype=np.int64).astype(array.dtype))
            array[np.unravel_index(slot, array.shape)] = value
        else:
            octets = states.view(np.uint8)
            octets[draw(st.integers(0, octets.size - 1))] = draw(st.integers(0, 255))
    return states


def play_on(states: np.recarray, number: int) -> int:
    """Play random legal decisions in an environment, from this game on; return their number."""
    games = Games(1, max_decisions=10**6, rngs=[np.random.default_rng(number)])
    games.reset()
    stand(games, np.arange(1), states)
    rng = np.random.default_rng(number)
    for played in range(STEPS):
        legal = np.flatnonzero(games.observations["action_mask"][0])
        if games.outcome[0] or not len(legal) or games.states[0].phase == Phase.OVER:
            return played
        games.step(rng.choice(legal, 1))
    return STEPS


def test_every_record_of_real_games_is_let_through() -> None:
    states = real_games()
    assert len(states) > KINDS
    validate_states(states)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("n_jokers", 17, "n_jokers is 17, expected 0 to 16"),
        ("n_jokers", -1, "n_jokers is -1, expected 0 to 16"),
        ("n_cards", 2**30, "n_cards is 1073741824, expected 1 to 128"),
        ("n_hand", 25, "n_hand is 25, expected 0 to 24"),
        ("phase", 9, "phase is 9, expected 0 to 5"),
        ("deck_id", 15, "deck_id is 15, expected 0 to 14"),
        ("stake", 0, "stake is 0, expected 1 to 8"),
        ("boss", 31, "boss is 31, expected 1 to 30"),
        ("chips", float("nan"), "chips is nan, expected 0 to inf"),
        ("seed", 33, "expected letters A-Z and digits"),
        ("seed_hash", 0.5, "for this seed"),
        ("n_streams", 3, "n_streams is 3, but stream_ids contains"),
        ("locked", 255, "locked contains items that every profile has"),
        ("deck", 0, "deck contains a card twice"),
        ("n_deck", 3, "invariant CARD_PLACES is broken"),
    ],
)
def test_the_field_and_its_value_are_named(field: str, value: Any, message: str) -> None:
    states = copy_states(real_games()[:1])
    states[field] = value
    with pytest.raises(BadState, match=message.replace("[", r"\[")):
        validate_states(states)
    several = new_states(2)
    several.view(np.uint8)[:] = np.concatenate([real_games()[:1].view(np.uint8), states.view(np.uint8)])
    with pytest.raises(BadState, match="record 2 is not a valid game"):
        validate_states(several)


def test_the_first_tag_and_the_last_items_are_let_through() -> None:
    states = new_states(1)
    states[0] = begin("j_perkeo", held=("c_black_hole",))
    s = states[0]
    s.tags[0], s.n_tags = 1, 1
    assert (s.jokers[0].id, s.consumables[0].id) == (max(Joker), max(Consumable))
    validate_states(states)


@pytest.mark.parametrize(("field", "shown"), [("hands_left", "8 and hands_left 0"), ("n_hand", "0 and hands_left 4")])
def test_a_round_needs_a_hand_and_cards(field: str, shown: str) -> None:
    states = new_states(1)
    states[0] = begin()
    states[0][field] = 0
    with pytest.raises(BadState, match=f"phase is PLAY with n_hand {shown}"):
        validate_states(states)


@pytest.mark.slow
@pytest.mark.skipif(not CHECKED, reason="compiled code without index checks may crash; the next test starts this one")
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(states=corrupted(), number=st.integers(0, 2**32 - 1))
def test_a_spoilt_record_is_refused_or_can_be_played(states: np.recarray, number: int) -> None:
    try:
        validate_states(states)
    except BadState:
        return
    play_on(states, number)


@pytest.mark.nightly
@pytest.mark.skipif(CHECKED, reason="checks indices itself")
def test_spoilt_records_are_refused_or_played_with_every_index_checked() -> None:
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "slow", "-p", "no:cacheprovider", __file__]
    found = subprocess.run(words, env={**os.environ, "NUMBA_BOUNDSCHECK": "1"}, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout[-3000:]
    assert "1 passed" in found.stdout
