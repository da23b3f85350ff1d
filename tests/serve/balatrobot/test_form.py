"""Gamestates as visible positions: what they contain is kept, decisions are nearly always those for the record."""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

from ante.engine.core.state import Phase
from ante.engine.validation import validate_states
from ante.errors import BalatroError
from ante.hints.rules import RulesPlayer
from ante.serve.balatrobot.dialects import DIALECTS
from ante.serve.balatrobot.form import BadGamestate, form_of
from ante.serve.balatrobot.gamestate import gamestate
from ante.serve.balatrobot.session import Session
from ante.serve.decisions.positions import batch_of
from ante.serve.decisions.visible import position_seen
from tests.serve.balatrobot.bot import bot
from tests.serve.decisions.test_visible import decisions, positions

TARGETED = ("j_mail", "j_idol", "j_ancient", "j_castle", "j_todo_list")  # their targets are only in texts
HIDDEN_CARD = {"state"}  # what is compared of a face-down card
CASES = [(dialect, fair) for dialect in DIALECTS for fair in (True, False)]


@cache
def some_positions(deck: str, stake: int) -> np.recarray:
    """Return positions of games of the rules."""
    return positions(RulesPlayer(), 4, 4, deck, stake)


def state_of(s: Any, dialect: str, fair: bool) -> Any:
    """Return the gamestate of a record as a client reads it."""
    return json.loads(json.dumps(gamestate(Session(DIALECTS[dialect], fair, s=s))))


def unseen(state: Any) -> list[str]:
    """Return the draw pile and the face-down cards of the hand, which a fair server lists in the draw pile."""
    hidden = [each["key"] for each in state["hand"]["cards"] if each["state"] and each["state"].get("hidden")]
    return sorted([each["key"] for each in state["cards"]["cards"]] + [key for key in hidden if key])


def again(s: Any, dialect: str, fair: bool) -> Any:
    """Return the game of the gamestate of a record."""
    return position_seen(json.dumps(form_of(state_of(s, dialect, fair))))


@pytest.mark.parametrize(("dialect", "fair"), CASES)
def test_the_gamestate_of_the_game_read_is_that_which_was_read(dialect: str, fair: bool) -> None:
    """In all fields but those that are drawn again, identifiers, and what is only in texts."""
    states = some_positions("b_zodiac", 3)
    assert {Phase.PLAY, Phase.SHOP, Phase.BLIND_SELECT, Phase.ROUND_END} <= set(states.phase)
    for s in states:
        before, after = state_of(s, dialect, fair), state_of(again(s, dialect, fair), dialect, fair)
        for name in ("state", "ante_num", "round_num", "money", "won", "deck", "stake", "used_vouchers", "hands"):
            assert after[name] == before[name], name
        for name in ("jokers", "consumables", "shop", "hand", "pack"):
            mine, theirs = (found.get(name, {}) for found in (after, before))
            assert len(mine) == len(theirs)
            for one, other in zip(mine.get("cards", ()), theirs.get("cards", ()), strict=True):
                names = HIDDEN_CARD if other["state"] and other["state"].get("hidden") else set(other) - {"id"}
                for field in names - ({"value"} if other["key"] in TARGETED else set()):
                    assert one[field] == other[field]
        assert after["round"] == before["round"] and after["hand"]["limit"] == before["hand"]["limit"]
        assert unseen(after) == unseen(before)
        for panel, blind in before["blinds"].items():
            assert {**after["blinds"][panel], "status": ""} == {**blind, "status": ""}


@pytest.mark.slow
@pytest.mark.parametrize(("dialect", "fair"), CASES)
def test_decisions_are_nearly_always_those_for_the_record(dialect: str, fair: bool) -> None:
    states = some_positions("b_red", 1)
    found = batch_of([again(s, dialect, fair) for s in states])
    validate_states(found)
    equal = decisions(RulesPlayer(), found) == decisions(RulesPlayer(), states)
    assert len(states) > 80 and np.mean(equal) > 0.95


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_face_down_card_stays_hidden_in_both_modes(dialect: str) -> None:
    client = bot(dialect)
    client.hand()
    s = client.desk.session.s
    s.cards[s.hand[2]].face_down = 1
    for fair in (True, False):
        found = again(s, dialect, fair)
        assert [int(found.cards[i].face_down) for i in found.hand[:8]] == [0, 0, 1, 0, 0, 0, 0, 0]
        assert found.n_deck == 44 and found.n_cards == 52


def test_what_is_no_game_in_play_is_refused() -> None:
    client = bot()
    for state in (client("menu"), {**client.begin(), "state": "GAME_OVER"}):
        with pytest.raises(BadGamestate, match="no run waits"):
            form_of(state)
    good = client.begin()
    for name in set(good) - {"seed"}:
        for value in (None, [], {}, "x", 10**30):
            try:
                position_seen(json.dumps(form_of({**good, name: value})))
            except BalatroError as error:
                assert isinstance(error, ValueError)
    for wrong in (None, [], "x", {}, {"state": []}, {"state": "SHOP"}):
        with pytest.raises(BadGamestate):
            form_of(wrong)
