"""What decisions need: hands and discards left, cards to select, the shop, money and room."""

from typing import Any

import numpy as np
import pytest

from ante.catalog.cards import Edition
from ante.catalog.consumables import by_key as consumable_by_key
from ante.catalog.packs import by_key as pack_by_key
from ante.engine.actions import FIRST, N_DISCRETE, Verb, legal_mask
from ante.engine.core.state import Phase, Status
from ante.engine.items.making import make_given_consumable
from tests.support.table import act, begin, consumables, deal, give, to_shop


def shop_with(key: str) -> Any:
    """Return a shop whose first card is this consumable."""
    s = to_shop(begin())
    make_given_consumable(s, int(consumable_by_key[key]))
    s.row[0], s.dollars = s.made, 50
    return s


@pytest.mark.parametrize(("verb", "left"), [(Verb.PLAY, "hands_left"), (Verb.DISCARD, "discards_left")])
def test_the_last_hand_and_the_last_discard_can_be_used_and_no_further_one(verb: Verb, left: str) -> None:
    mask = np.zeros(N_DISCRETE, dtype=np.uint8)
    for count in (1, 0):
        s = deal("S_8 H_2", **{left: count})
        assert act(s, Verb.SELECT, 0) == Status.PLAYING
        legal_mask(s, mask)
        assert mask[FIRST[verb]] == count
        assert (act(s, verb, cards=(0,)) == Status.ILLEGAL) == (count == 0)
        assert s.selected == (count == 0)


def test_a_card_is_selected_once_and_only_selected_cards_are_cleared() -> None:
    s = deal("S_8 H_2")
    assert act(s, Verb.CLEAR) == Status.ILLEGAL
    assert act(s, Verb.SELECT, 2) == Status.ILLEGAL
    assert [act(s, Verb.SELECT, 1), act(s, Verb.SELECT, 1)] == [Status.PLAYING, Status.ILLEGAL]
    assert s.selected == 0b10
    assert act(s, Verb.CLEAR) == Status.PLAYING
    assert s.selected == 0


def test_a_card_for_1_dollar_needs_1_dollar() -> None:
    s = shop_with("c_mars")
    s.row[0].cost, s.dollars = 1, 0
    assert act(s, Verb.BUY, 0) == Status.ILLEGAL
    s.dollars = 1
    assert act(s, Verb.BUY, 0) == Status.PLAYING
    assert (s.dollars, consumables(s)) == (0, ["c_mars"])


@pytest.mark.parametrize("verb", [Verb.BUY, Verb.BUY_AND_USE])
def test_nothing_is_bought_from_the_shop_while_a_pack_is_open(verb: Verb) -> None:
    s = shop_with("c_mars")
    s.packs[0] = pack_by_key["p_celestial_normal_1"]
    assert act(s, Verb.OPEN_PACK, 0) == Status.PLAYING
    assert s.phase == Phase.PACK
    assert act(s, verb, 0) == Status.ILLEGAL
    assert act(s, Verb.SKIP_PACK) == Status.PLAYING
    assert act(s, verb, 0) == Status.PLAYING


def test_the_emperor_in_the_shop_needs_a_free_slot_of_its_own() -> None:
    s = shop_with("c_emperor")
    give(s, "c_mars", "c_pluto")
    assert act(s, Verb.BUY_AND_USE, 0) == Status.ILLEGAL
    assert act(s, Verb.SELL_CONSUMABLE, 0) == Status.PLAYING
    assert act(s, Verb.BUY_AND_USE, 0) == Status.PLAYING
    assert len(consumables(s)) == 2


def test_the_held_emperor_uses_its_own_slot_unless_it_is_negative() -> None:
    s = begin(held=("c_emperor", "c_mars"))
    assert act(s, Verb.USE, 0) == Status.PLAYING
    assert len(consumables(s)) == 2
    s = begin(held=("c_emperor", "c_mars"))
    s.consumables[0].edition = Edition.NEGATIVE
    give(s, "c_pluto")
    assert act(s, Verb.USE, 0) == Status.ILLEGAL
