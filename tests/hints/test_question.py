"""A state as a question: every option is legal and described correctly, and hidden state is not included."""

import json
import os
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ante.catalog.blinds import Blind
from ante.catalog.cards import ENHANCEMENTS, RANK_LETTERS, SUIT_LETTERS, Enhancement, Seal
from ante.catalog.decks import DECKS, Deck
from ante.catalog.jokers import JOKERS, Joker
from ante.engine.actions import is_legal
from ante.engine.core.state import Phase, Place
from ante.hints.advice import Discarded, advice_of, check, schema_of
from ante.hints.question import question_of
from ante.hints.rules import answer, choose
from ante.lookahead.candidates import list_candidates
from ante.lookahead.records import candidates_t
from tests.env.test_observe import shuffle_what_is_hidden
from tests.lookahead.test_candidates import in_round, some_games
from tests.support.hidden import hide_more

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"
GAMES = 40 if COMPILED else 6


@pytest.mark.slow
@settings(max_examples=8 if COMPILED else 2, deadline=None)
@given(seed=st.integers(0, 10_000), one_chip=st.integers(0, 1))
def test_two_games_that_look_the_same_are_the_same_question(seed: int, one_chip: int) -> None:
    rng = np.random.default_rng(seed)
    states = some_games(GAMES, seed, one_chip)
    hide_more(states)
    before = [question_of(s, r) for s, r in zip(states, list_candidates(states), strict=True)]
    for s in states:
        shuffle_what_is_hidden(s, rng)
        s.seed[: s.seed_length] = rng.permutation(s.seed[: s.seed_length])
    after = [question_of(s, r) for s, r in zip(states, list_candidates(states), strict=True)]
    for one, other in zip(before, after, strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert (one.text, one.options, one.key("m")) == (other.text, other.options, other.key("m"))
            assert answer(one) == answer(other)


@settings(max_examples=8 if COMPILED else 2, deadline=None)
@given(seed=st.integers(0, 10_000), one_chip=st.integers(0, 1))
def test_every_option_is_legal_and_told_and_the_rules_choose_one(seed: int, one_chip: int) -> None:
    states = some_games(GAMES, seed, one_chip)
    lists = list_candidates(states)
    for s, r in zip(states, lists, strict=True):
        question = question_of(s, r)
        if question is None:
            assert s.phase == Phase.OVER
            continue
        name = bytes(s.seed[: s.seed_length]).decode()
        assert name not in question.text and "seed" not in question.text
        for k, option in enumerate(question.options):
            assert is_legal(s, option.decision), option
            assert f"\n{k}: {option.name}" in question.text
        found = answer(question)
        check(question, found.model_dump_json())
        assert question.options[found.option].entry == choose(r)


def test_asking_changes_nothing() -> None:
    states = some_games(GAMES, 5, 0)
    before = states.tobytes()
    for s, r in zip(states, list_candidates(states), strict=True):
        question_of(s, r)
    assert states.tobytes() == before


def a_question() -> Any:
    states = some_games(1, 1, 0)
    question = question_of(states[0], list_candidates(states)[0])
    assert question is not None and len(question.options) > 1
    return question


GOOD = {"option": 0, "confidence": 50, "outlook": 10, "reason": "Why not."}


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"option": 99}, "illegal"),
        ({"option": -1}, "schema"),
        ({"option": 0.0}, "schema"),
        ({"option": True}, "schema"),
        ({"option": "0"}, "schema"),
        ({"confidence": 101}, "schema"),
        ({"reason": 7}, "schema"),
        ({"more": 1}, "schema"),
    ],
)
def test_what_breaks_the_schema_or_the_rules_is_discarded(change: dict[str, Any], cause: str) -> None:
    question = a_question()
    with pytest.raises(Discarded) as discarded:
        check(question, json.dumps(GOOD | change))
    assert discarded.value.cause == cause


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "play the aces", '{"option": 0', "null", "[]"])
def test_what_is_no_json_object_is_discarded(text: str) -> None:
    with pytest.raises(Discarded):
        check(a_question(), text)


@pytest.mark.parametrize("ending", ["x" * 200 + '"}', "x" * 200, "it is \\"], ids=["whole", "cut", "cut in an escape"])
def test_a_long_or_cut_reason_costs_no_answer(ending: str) -> None:
    found = check(a_question(), '{"option": 1, "confidence": 50, "outlook": 10, "reason": "' + ending)
    assert found.option == 1 and 0 < len(found.reason) <= 120


def test_the_text_explains_what_is_in_sight_and_counts_what_was_not_seen() -> None:
    s = in_round(Joker.BARON, Joker.BLUEPRINT)
    s.cards[s.hand[0]].enhancement = Enhancement.GLASS
    s.cards[s.hand[1]].seal = Seal.GOLD
    s.cards[s.hand[2]].face_down = 1
    question = question_of(s, list_candidates(s.reshape(1))[0])
    assert question is not None
    for row in (JOKERS[Joker.BARON], JOKERS[Joker.BLUEPRINT], DECKS[Deck.RED], ENHANCEMENTS[Enhancement.GLASS]):
        assert f"\n{row.name}: {row.effect}\n" in question.text
    assert "\ngold seal: " in question.text and f"\n{JOKERS[Joker.JOKER].name}: " not in question.text
    (unseen,) = (line for line in question.text.splitlines() if line.startswith("not seen this round: "))
    suits, ranks = (
        {word[0]: int(word[2:]) for word in re.findall(r"\w \d+", part)} for part in unseen[21:].split(" | ")
    )
    expected = [card for card in s.cards[: s.n_cards] if card.place == Place.DECK or card.face_down]
    assert suits == Counter(SUIT_LETTERS[card.suit] for card in expected) and sum(suits.values()) == 52 - s.n_hand + 1
    assert ranks == Counter(RANK_LETTERS[card.rank] for card in expected)


def test_the_order_of_jokers_face_down_is_not_told() -> None:
    texts = set()
    for jokers in ((Joker.BARON, Joker.BLUEPRINT, Joker.EGG), (Joker.EGG, Joker.BARON, Joker.BLUEPRINT)):
        s = in_round(*jokers)
        s.blind = s.boss = Blind.FINAL_ACORN
        question = question_of(s, list_candidates(s.reshape(1))[0])
        assert question is not None
        texts.add(question.text[: question.text.index("Options:")])
    assert len(texts) == 1 and JOKERS[Joker.EGG].effect in texts.pop()


def test_a_model_gives_its_reason_before_it_decides_and_the_first_version_is_kept() -> None:
    states = some_games(1, 1, 0)
    one, two = (question_of(states[0], list_candidates(states)[0], prompt) for prompt in ("v1", "v2"))
    assert one is not None and two is not None and one.options == two.options
    assert list(schema_of(two)["properties"]) == ["reason", "option", "confidence", "outlook"]
    assert list(schema_of(one)["properties"]) == ["option", "confidence", "outlook", "reason"]
    assert "Effects:" not in one.text and len(two.text) > len(one.text)


def test_a_good_answer_is_a_decision_of_the_list() -> None:
    question = a_question()
    advice = advice_of(question, check(question, json.dumps(GOOD)), "llm")
    assert advice.decision == question.options[0].decision and advice.source == "llm"


def test_the_schema_bounds_the_option_by_what_there_is() -> None:
    import jsonschema

    question = a_question()
    schema = schema_of(question)
    jsonschema.validate(GOOD, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(GOOD | {"option": len(question.options)}, schema)


def test_an_empty_list_is_no_question() -> None:
    states = some_games(1, 1, 0)
    assert question_of(states[0], np.zeros(1, dtype=candidates_t).view(np.recarray)[0]) is None
