"""Enhancements, editions, seals and stickers: their effects in every place."""

import pytest

from ante.catalog.cards import ACE, Edition, Sticker, Suit
from ante.engine.actions import Verb
from ante.engine.core.state import Place, Status
from ante.engine.items.owned import room_for_consumable, room_for_joker
from ante.engine.notation import item_text
from tests.support.table import (
    act,
    begin,
    consumables,
    deal,
    discard,
    give,
    happened,
    in_hand,
    jokers,
    own,
    play,
    redeal,
    scored,
    select,
    to_shop,
    use,
    win,
)

EIGHT = (5 + 8, 1)  # a single 8 as High Card


def test_bonus_card_gives_30_chips_when_it_scores() -> None:
    assert scored("S_8:m_bonus") == (5 + 8 + 30, 1)
    assert scored("S_8:m_bonus=Red") == (5 + 2 * 38, 1)
    assert scored("S_8", held="H_9:m_bonus") == EIGHT


def test_mult_card_gives_4_mult_when_it_scores() -> None:
    assert scored("S_8:m_mult H_8:m_mult=Red") == (10 + 24, 2 + 12)
    assert scored("S_8", held="H_9:m_mult") == EIGHT


def test_wild_card_is_of_every_suit() -> None:
    assert scored("S_2 S_4 S_6 S_8 H_K:m_wild") == (35 + 30, 4)
    for joker in ("j_greedy_joker", "j_lusty_joker", "j_wrathful_joker", "j_gluttenous_joker"):
        assert scored("H_8:m_wild", joker) == (5 + 8, 1 + 3)


def test_glass_card_doubles_mult_and_breaks_one_time_in_four() -> None:
    def broke(seed: str) -> bool:
        s = deal("S_8:m_glass", seed=seed)
        assert play(s, 0) == (5 + 8, 2)
        gone = [card for card in s.cards[: s.n_cards] if card["place"] == Place.GONE]
        assert all(card["enhancement"] == 4 for card in gone)
        return len(gone) == 1

    assert abs(happened(broke) - 50) < 20
    s = deal("S_8", "j_oops", "j_oops", held="H_9:m_glass")
    assert play(s, 0) == EIGHT
    assert not any(card["place"] == Place.GONE for card in s.cards[: s.n_cards])


def test_steel_card_multiplies_by_1_and_a_half_while_held() -> None:
    assert scored("S_8", held="H_9:m_steel C_9:m_steel=Red") == (5 + 8, 1.5**3)
    assert scored("S_8:m_steel") == EIGHT


def test_stone_card_gives_50_chips_without_rank_or_suit() -> None:
    assert scored("S_8:m_stone") == (5 + 50, 1)
    assert scored("S_8 H_8:m_stone") == (5 + 8 + 50, 1)  # no Pair
    assert scored("S_2 S_4 S_6 S_8 S_K:m_stone") == (5 + 8 + 50, 1)  # no Flush


def test_gold_card_pays_3_when_held_at_the_end_of_the_round() -> None:
    s = deal("S_8:m_gold", held="H_9:m_gold C_9:m_gold=Red", dollars=0)
    win(s)
    assert s.dollars == 3 * 3


def test_lucky_card_gives_20_mult_in_five_and_20_dollars_in_fifteen() -> None:
    mult, money = [], []
    for n in range(600):
        s = deal("S_8:m_lucky", seed=f"LUCKY{n}", dollars=0)
        mult.append(play(s, 0)[1])
        money.append(int(s.dollars))
    assert set(mult) == {1, 21}
    assert set(money) == {0, 20}
    assert abs(mult.count(21) - 600 / 5) < 40
    assert abs(money.count(20) - 600 / 15) < 25


def test_two_cards_of_one_rank_and_suit_are_sorted_by_their_first_suit() -> None:
    s = deal("C_5 C_9 C_2")
    older, younger = sorted(int(card) for card in s.hand[:2])
    for card, suit in ((older, Suit.HEARTS), (younger, Suit.SPADES)):  # both are Diamonds now
        s.cards[card].rank, s.cards[card].suit, s.cards[card].first_suit = ACE, Suit.DIAMONDS, suit
    for by_suit in (0, 1):
        assert act(s, Verb.SORT_HAND, 0, by_suit) == Status.PLAYING
        assert [card for card in s.hand[:3] if card in (older, younger)] == [younger, older]


def test_foil_edition_gives_50_chips() -> None:
    assert scored("S_8/foil") == (5 + 8 + 50, 1)
    s = deal("S_8", "j_joker")
    s.jokers[0].edition = Edition.FOIL
    assert play(s, 0) == (5 + 8 + 50, 1 + 4)


def test_holo_edition_gives_10_mult() -> None:
    assert scored("S_8/holo") == (5 + 8, 1 + 10)
    s = deal("S_8", "j_cavendish")
    s.jokers[0].edition = Edition.HOLO
    assert play(s, 0) == (5 + 8, (1 + 10) * 3)  # before the joker's ability


def test_polychrome_edition_multiplies_by_1_and_a_half() -> None:
    assert scored("S_8/polychrome") == (5 + 8, 1.5)
    s = deal("S_8", "j_joker")
    s.jokers[0].edition = Edition.POLYCHROME
    assert play(s, 0) == (5 + 8, (1 + 4) * 1.5)  # after the joker's ability


def test_editions_of_a_debuffed_joker_give_nothing() -> None:
    for edition in (Edition.FOIL, Edition.HOLO, Edition.POLYCHROME):
        s = deal("S_8", "j_joker")
        s.jokers[0].edition, s.jokers[0].debuffed = edition, 1
        assert play(s, 0) == EIGHT


def test_negative_edition_brings_its_own_slot() -> None:
    s = begin(*["j_egg"] * 5)
    assert not room_for_joker(s)
    s.jokers[0].edition = Edition.NEGATIVE
    assert room_for_joker(s)
    give(s, "c_pluto", "c_mars")
    assert not room_for_consumable(s)
    s.consumables[0].edition = Edition.NEGATIVE
    assert room_for_consumable(s)


def test_gold_seal_pays_3_for_each_trigger() -> None:
    s = deal("S_8=Gold", "j_hanging_chad", held="H_9=Gold", dollars=0)
    play(s, 0)
    assert s.dollars == 3 * 3


def test_red_seal_triggers_a_card_once_more() -> None:
    assert scored("S_8=Red") == (5 + 8 + 8, 1)
    assert scored("S_8", "j_baron", held="H_K=Red") == (5 + 8, 1.5**2)


@pytest.mark.parametrize(
    ("cards", "planet"),
    [
        ("S_8", "c_pluto"),
        ("S_8 H_8", "c_mercury"),
        ("S_2 S_4 S_6 S_8 S_K", "c_jupiter"),
        ("S_8 S_8 S_8 S_8 S_8", "c_eris"),  # Flush Five, the first hand
    ],
)
def test_blue_seal_makes_the_planet_of_the_last_hand(cards: str, planet: str) -> None:
    s = deal(cards, held="H_9=Blue")
    s.target = 1.0
    play(s, *range(len(cards.split())))
    assert consumables(s) == [planet]


def test_blue_seal_needs_room_and_a_held_card() -> None:
    s = deal("S_8=Blue", held="H_9=Blue")
    give(s, "c_hermit", "c_hermit")
    win(s)
    assert consumables(s) == ["c_hermit", "c_hermit"]
    s = deal("S_8=Blue", held="H_9:m_gold")
    win(s)
    assert consumables(s) == []


def test_purple_seal_makes_a_tarot_when_it_is_discarded() -> None:
    s = deal("S_8=Purple H_8=Purple C_8=Purple D_8")
    discard(s, 3)
    assert consumables(s) == []
    redeal(s, "S_8=Purple H_8=Purple C_8=Purple")
    discard(s, 0, 1, 2)
    assert s.n_consumables == 2  # no slot for a third
    assert all(1 <= s.consumables[i].id <= 22 for i in range(2))
    s = deal("S_8=Purple!")
    discard(s, 0)
    assert consumables(s) == []


def test_an_eternal_joker_is_neither_sold_nor_destroyed() -> None:
    for spectral in ("c_hex", "c_ankh"):
        s = begin("j_egg", "j_joker")
        for i in range(2):
            s.jokers[i].stickers = Sticker.ETERNAL
        assert act(s, Verb.SELL_JOKER, 0) == Status.ILLEGAL
        assert use(s, spectral) == Status.PLAYING
        assert {"j_egg+E", "j_joker+E"} <= {text.replace("/polychrome", "") for text in jokers(s).split()}


def test_a_perishable_joker_works_for_five_rounds() -> None:
    s = begin("j_joker")
    s.jokers[0].stickers, s.jokers[0].rounds = Sticker.PERISHABLE, 5
    for rounds in range(1, 7):
        redeal(s, "S_8 H_2")
        s.target = 1e300
        assert play(s, 0) == (5 + 8, 1 + 4 if rounds <= 5 else 1)
        to_shop(s)
        act(s, Verb.NEXT_ROUND)
        select(s, "bl_small")
    assert (item_text(s.jokers[0]), s.jokers[0].rounds) == ("j_joker+P", 0)


def test_a_rental_joker_costs_3_a_round() -> None:
    s = begin("j_baron", "j_egg")
    s.jokers[0].stickers = Sticker.RENTAL
    s.dollars = 1
    win(s)
    assert s.dollars == 1 - 3


def test_a_rental_joker_is_sold_for_a_dollar() -> None:
    s = begin()
    to_shop(s)
    own(s, "j_baron")
    s.jokers[0].stickers = Sticker.RENTAL
    s.shop_vouchers[0], s.n_shop_vouchers, s.dollars = 3, 1, 10  # Clearance Sale changes all prices
    assert act(s, Verb.BUY_VOUCHER) == Status.PLAYING
    assert s.vouchers[3] == 1
    before = int(s.dollars)
    act(s, Verb.SELL_JOKER, 0)
    assert s.dollars - before == 1


def test_a_debuffed_card_keeps_its_place_and_gives_nothing() -> None:
    s = deal("S_8:m_mult/foil=Gold! H_8", held="H_9:m_steel!", dollars=0)
    assert play(s, 0, 1) == (10 + 8, 2)
    assert s.dollars == 0
    assert len(in_hand(s)) == 8
