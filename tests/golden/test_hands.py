"""Records of recorded hands, immediately before they are scored."""

from typing import Any

import pytest

from ante.catalog.hands import HANDS
from ante.engine.notation import item_text
from ante.engine.scoring import score_hand
from ante.verification.recorded_hands import compare_hand, record_of


def recorded(*jokers: str, rolled: int = 0, **fields: Any) -> dict[str, Any]:
    """Return a recorded High Card of a single 8 with these jokers."""
    state = {"j_misprint": {"rolled": rolled}}
    return {
        "id": "one",
        "boss": None,
        "levels": {row.name: 1 for row in HANDS},
        "plays": {},
        "round_hands_played": 0,
        "dollars": 20,
        "hands_left": 3,
        "discards_left": 3,
        "deck_left": 40,
        "deck_size": 52,
        "deck_facts": {"starting_deck_size": 52, "stone_cards": 0, "steel_cards": 0, "enhanced_cards": 0},
        "joker_slots": 9,
        "consumables": [],
        "vouchers": [],
        "jokers": [{"key": key, "edition": None, "sell": 2, "state": state.get(key, {})} for key in jokers],
        "played": ["S_8"],
        "held": [],
    } | fields


@pytest.mark.parametrize("rolled", range(24))
def test_a_recorded_misprint_and_its_copies_give_the_recorded_number(rolled: int) -> None:
    s = record_of(recorded("j_blueprint", "j_misprint", "j_misprint", rolled=rolled))
    score_hand(s)
    assert (s.score_chips, s.score_mult) == (5 + 8, 1 + 3 * rolled)


@pytest.mark.slow
def test_a_recorded_misprint_rolls_no_more_than_23() -> None:
    with pytest.raises(ValueError, match="not 24"):
        record_of(recorded("j_misprint", rolled=24))


def test_jokers_beside_a_recorded_misprint_make_different_cards() -> None:
    makers = ("j_8_ball", "j_vagabond", "j_superposition", "j_oops", "j_oops")
    for rolled in range(24):
        s = record_of(recorded("j_misprint", *makers, rolled=rolled, dollars=0, played=["S_8", "H_8", "D_8"]))
        s.consumable_slots = 9
        score_hand(s)
        made = [item_text(s.consumables[i]) for i in range(s.n_consumables)]
        assert len(made) == len(set(made)) == 3 + 1  # three from the 8 Ball, one from Vagabond


def test_the_deck_of_a_record_holds_what_was_counted() -> None:
    facts = {"starting_deck_size": 40, "stone_cards": 3, "steel_cards": 2, "enhanced_cards": 7}
    s = record_of(recorded(deck_facts=facts, deck_size=30, deck_left=11, held=["H_K:m_steel", "D_2:m_stone"]))
    cards = [s.cards[i] for i in range(s.n_cards)]
    assert (len(cards), s.n_deck, s.starting_deck_size) == (30, 11, 40)
    assert [sum(card.enhancement == number for card in cards) for number in (6, 5)] == [3, 2]
    assert sum(card.enhancement > 0 for card in cards) == 7
    assert len({int(card.created) for card in cards}) == 30
    assert [int(card.place) for card in cards].count(0) == 11


@pytest.mark.parametrize(("field", "value"), [("deck_size", 129), ("held", ["S_2"] * 25)])
def test_what_a_record_has_no_room_for_is_named(field: str, value: Any) -> None:
    found = compare_hand(recorded(**{field: value}))
    assert found is not None
    assert (found.field, found.where) == (field, "one")
