"""Positions as what a player sees: complete for every decision, without anything hidden, and refused if impossible."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

from ante.agents.evaluate import Player
from ante.engine.core.state import Phase, copy_states, save_state, state_t
from ante.engine.run import new_run
from ante.engine.validation import validate_states
from ante.env.games import Games
from ante.errors import BalatroError
from ante.hints.question import games_at
from ante.hints.rules import RulesPlayer
from ante.serve.balatrobot.dialects import DIALECTS
from ante.serve.balatrobot.gamestate import gamestate
from ante.serve.balatrobot.session import Session
from ante.serve.decisions.positions import batch_of, hashes_of
from ante.serve.decisions.v1 import decisions_pb2 as pb
from ante.serve.decisions.visible import FIELDS, LONGEST, NOT_SHOWN, position_seen, visible_form
from tests.search.test_determinise import change_what_is_hidden, some_games
from tests.serve.decisions.conftest import Running, refusal
from tests.serve.decisions.test_service import greedy_game, new_id


def positions(player: Player, games: int, every: int, deck: str = "b_red", stake: int = 1) -> np.recarray:
    """Return every n-th position of a player's games."""
    table = Games(games, deck, stake, reorder=player.reorder, discrete=player.discrete)
    table.reset(options={"seed": [f"SEEN{i + 11}" for i in range(games)]})
    playing, found = np.ones(games, dtype=np.bool_), []
    while playing.any():
        which = np.flatnonzero(playing & (table.steps % every == 0))
        found += [record.copy() for record in table.states[which]]
        table.step(player.choose(table, playing))
        playing &= table.outcome == 0
    return batch_of(found)


def reconstructed(states: np.recarray) -> np.recarray:
    """Return the games of the forms of these games; each form is validated."""
    found = batch_of([position_seen(visible_form(s)) for s in states])
    validate_states(found)
    return found


def decisions(player: Player, states: np.recarray) -> np.ndarray:
    games = games_at(states, player.reorder)
    return player.choose(games, np.ones(len(states), dtype=np.bool_))


def check_decisions(player: Player, states: np.recarray) -> None:
    """Check that state hashes and decisions are equal for records and forms."""
    again = reconstructed(states)
    assert hashes_of(games_at(again, player.reorder)) == hashes_of(games_at(states, player.reorder))
    np.testing.assert_array_equal(decisions(player, again), decisions(player, states))


@pytest.mark.parametrize(
    ("deck", "stake"),
    [
        ("b_red", 1),
        ("b_ghost", 8),
        pytest.param("b_erratic", 4, marks=pytest.mark.slow),
        pytest.param("b_anaglyph", 1, marks=pytest.mark.slow),
    ],
)
def test_decisions_for_the_form_are_those_for_the_record(deck: str, stake: int) -> None:
    states = positions(RulesPlayer(), 4, 3, deck, stake)
    assert len(states) >= 50
    check_decisions(RulesPlayer(), states)


@pytest.mark.slow
def test_decisions_of_the_released_policy_are_equal_in_all_antes() -> None:
    from ante.training.players.by_name import player_of

    player = player_of("white-stake", True, "best")
    states = positions(player, 12, 5)
    assert len(states) >= 200 and set(states.ante) >= set(range(1, 8)) and set(states.phase) >= set(range(5))
    check_decisions(player, states)


@pytest.mark.parametrize(("seed", "one_chip"), [(1, 0), (40, 0)])
def test_what_is_seen_stays_in_games_of_all_decks_also_with_face_down_cards(seed: int, one_chip: int) -> None:
    states = some_games(seed, one_chip)
    states = batch_of([s for s in states if s.phase != Phase.OVER])
    states.one_chip_blinds = 0
    assert hashes_of(games_at(reconstructed(states))) == hashes_of(games_at(states))


def test_a_form_has_nothing_that_is_hidden() -> None:
    states = some_games(7, 0)
    others, rng = copy_states(states), np.random.default_rng(0)
    for s in others:
        change_what_is_hidden(s, rng)
    assert [visible_form(s) for s in others] == [visible_form(s) for s in states]


def test_equal_forms_give_equal_games_and_every_field_of_the_record_is_in_a_group() -> None:
    text = visible_form(some_games(3, 0, 4)[1])
    assert position_seen(text).tobytes() == position_seen(text).tobytes()
    renamed = {"deck_id": "deck"}
    shown = {renamed.get(name, name) for name in state_t.names or ()} - NOT_SHOWN
    assert shown - {"deck"} <= set(FIELDS) and set(json.loads(text)) <= set(FIELDS)


def test_an_empty_form_is_the_start_of_a_run_and_a_short_one_a_round() -> None:
    start, wanted = position_seen('{"deck": "b_blue", "stake": 2}'), new_run("1", "b_blue", 2)
    assert (start.hands_each_round, start.phase, start.n_deck) == (wanted.hands_each_round, Phase.BLIND_SELECT, 52)
    hand = [{"rank": rank, "suit": "S"} for rank in "AKQJT"] + [{"face_down": True}]
    form = {
        "phase": "play",
        "blind": "bl_small",
        "target": 300,
        "hands_left": 4,
        "round_number": 1,
        "hand": hand,
        "unseen": [{"rank": rank, "suit": "H"} for rank in "23456789"],
        "jokers": [{"key": "j_four_fingers", "cost": 7}, {"key": "j_juggler", "cost": 4, "edition": "foil"}],
    }
    s = position_seen(json.dumps(form))
    validate_states(batch_of([s]))
    assert (s.n_hand, s.n_deck, s.n_jokers, s.hand_size, s.rules & 1) == (6, 7, 2, 9, 1)
    down = s.cards[s.hand[5]]
    assert down.face_down and down.suit == 1 and s.used[s.jokers[0].id]


SHORT: dict[str, Any] = {"hand": [{"rank": "A", "suit": "S"}], "unseen": [{"rank": "2", "suit": "H"}]}
WRONG: dict[str, tuple[Any, str]] = {
    "no JSON": ("{", "invalid JSON"),
    "no object": ("[]", "use an object"),
    "unknown field": ({"anti": 3}, "did you mean ante"),
    "hidden field": ({"seed": "ABC"}, "no field"),
    "name": ({"boss": "bl_hok"}, "did you mean bl_hook"),
    "no name": ({"boss": 3}, "no such name"),
    "number": ({"dollars": "4"}, "whole number"),
    "fraction": ({"dollars": 4.5}, "whole number"),
    "large number": ({"dollars": 10**30}, "out of range"),
    "large score": ({"chips": 10**400}, "out of range"),
    "range": ({"ante": 5000}, "ante is 5000, expected"),
    "negative": ({"hands_left": -1}, "hands_left"),
    "deck": ({"deck": "b_rot"}, "b_rot"),
    "list as deck": ({"deck": ["b_red"]}, "deck"),
    "stake": ({"stake": 9}, "9"),
    "stake as text": ({"stake": "1"}, "stake"),
    "deck of a challenge": ({"challenge": "c_omelette_1", "deck": "b_blue"}, "Omelette"),
    "locked": ({"locked": [5]}, "5"),
    "too many jokers": ({"jokers": [{"key": "j_joker"}] * 17}, "at most 16"),
    "joker": ({"jokers": [{"key": "j_jokr"}]}, "did you mean j_joker"),
    "empty joker": ({"jokers": [None]}, "invariant|joker|OWNED"),
    "sticker": ({"jokers": [{"key": "j_joker", "stickers": ["sticky"]}]}, "eternal"),
    "card without rank": ({**SHORT, "hand": [{"suit": "S"}]}, "rank"),
    "too many cards": ({"unseen": [{"rank": "2", "suit": "H"}] * 129}, "at most 128"),
    "too many cards in all": ({**SHORT, "unseen": [{"rank": "2", "suit": "H"}] * 128}, "at most 128"),
    "too many hidden cards": ({**SHORT, "hand": [{"face_down": True}] * 2}, "fewer cards than lie face down"),
    "content of a hidden card": ({**SHORT, "hand": [{"face_down": True, "rank": "A"}]}, "no field"),
    "no cards": ({"unseen": []}, "n_cards is 0"),
    "hand without a round": ({"phase": "play", **SHORT}, "blind is 0"),
    "panels": ({"skip_tags": ["tag_rare"]}, "use 2"),
    "hands of tags": ({"tag_hands": ["Pair"]}, "use 0"),
    "level": ({"levels": {"Pair": 0}}, "levels"),
    "hand": ({"levels": {"Pear": 1}}, "did you mean Pair"),
    "infinite chips": ({"target": "-inf"}, "target"),
    "deep": ("[" * 5000 + "]" * 5000, "deep|nested"),
    "long": (" " * (LONGEST + 1), "at most"),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_impossible_form_is_refused_with_its_place(case: str) -> None:
    form, message = WRONG[case]
    with pytest.raises(BalatroError, match=message) as caught:
        found = position_seen(form if isinstance(form, str) else json.dumps(form))
        validate_states(batch_of([found]))
    assert isinstance(caught.value, ValueError)


def test_random_changes_of_a_form_are_read_or_refused() -> None:
    """No value of any field raises an error of another class."""
    text, rng = visible_form(some_games(3, 0, 4)[1]), np.random.default_rng(1)
    values: tuple[Any, ...] = (None, True, -1, 10**20, 1e300, "", "x", [], {}, [[]], {"key": "j_joker"}, "inf")
    refused = 0
    for _ in range(300):
        form = json.loads(text)
        name = str(rng.choice(list(form)))
        form[name] = values[rng.integers(len(values))]
        try:
            position_seen(json.dumps(form))
        except BalatroError as error:
            refused += 1
            assert isinstance(error, ValueError)
    assert 100 < refused < 300


def test_the_service_decides_a_form_like_the_record(service: Running) -> None:
    _, games = greedy_game(14)
    s = games.states[0]
    queries = [
        pb.Query(request_id=new_id(), record=save_state(s)),
        pb.Query(request_id=new_id(), visible=visible_form(s)),
    ]
    found = service.stub().GetDecisions(pb.GetDecisionsRequest(queries=queries)).answers
    assert found[0].decision.packed_action == found[1].decision.packed_action
    assert found[0].decision.state_hash == found[1].decision.state_hash
    bot_state = json.dumps(gamestate(Session(DIALECTS["2.0"], s=s)))
    from_bot = pb.Query(request_id=new_id(), gamestate=bot_state)
    answer = service.stub().GetDecision(pb.GetDecisionRequest(query=from_bot)).answer
    assert answer.decision.packed_action == found[0].decision.packed_action
    refused: Callable[[], Any] = lambda: service.stub().GetDecision(  # noqa: E731
        pb.GetDecisionRequest(query=pb.Query(request_id=new_id(), visible='{"ante": 5000}'))
    )
    code, message = refusal(refused)
    assert code is grpc.StatusCode.INVALID_ARGUMENT and "ante is 5000" in message


def test_the_examples_of_the_page_of_formats_are_valid() -> None:
    text = (Path(__file__).parents[3] / "docs" / "reference" / "formats.md").read_text()
    examples = [found for found in re.findall(r"```json\n(.*?)```", text, re.DOTALL) if '"phase"' in found]
    phases = [int(position_seen(found).phase) for found in examples]
    assert phases == [Phase.PLAY, Phase.SHOP]
