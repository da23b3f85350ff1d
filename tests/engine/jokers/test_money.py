"""Jokers that earn or save money, or convert money and sell value to score."""

from typing import Any

import pytest

from ante.catalog.hands import Hand
from ante.engine.actions import Verb
from tests.support.table import (
    act,
    begin,
    deal,
    discard,
    give,
    hand_of,
    happened,
    own,
    play,
    redeal,
    scored,
    select,
    to_shop,
    use,
    win,
)

ANY_BOSS = "bl_club"


def money(cards: str, *keys: str, **options: Any) -> int:
    """Return the dollars earned by playing these cards at once, starting with none."""
    options.setdefault("dollars", 0)
    s = deal(cards, *keys, **options)
    play(s, *range(len(cards.split())))
    return int(s.dollars - options["dollars"])


def payout(s: Any) -> int:
    """Return the dollars on the cash-out screen except the blind's reward and the remaining hands."""
    reward = {1: 3, 2: 4}.get(int(s.blind), 5)
    win(s)
    return int(s.payout) - reward - int(s.hands_left)


def test_golden_pays_4_a_round() -> None:
    assert payout(deal("S_8", "j_golden", dollars=0)) == 4
    assert payout(deal("S_8", "j_blueprint", "j_golden", dollars=0)) == 4  # not copied
    assert payout(deal("S_8", "j_golden", "j_golden", dollars=0)) == 8


def test_delayed_grat_pays_2_for_each_discard_if_none_was_used() -> None:
    assert payout(deal("S_8", "j_delayed_grat", dollars=0, discards_left=3)) == 6
    s = deal("S_8 H_2", "j_delayed_grat", dollars=0)
    discard(s, 1)
    assert payout(s) == 0


def test_cloud_9_pays_1_for_each_9_of_the_full_deck() -> None:
    assert payout(begin_without_money("j_cloud_9")) == 4
    s = begin_without_money("j_cloud_9")
    redeal(s, "S_8:m_glass")
    nines = [s.cards[i] for i in range(s.n_cards) if s.cards[i].rank == 9]
    nines[0].enhancement = 6  # Stone: no rank
    assert payout(s) == len(nines) - 1


def begin_without_money(*keys: str) -> Any:
    """Return a round of a player without money."""
    s = begin(*keys)
    s.dollars = 0
    return s


def test_rocket_pays_2_more_after_each_boss() -> None:
    s = deal("S_8", "j_rocket", dollars=0)
    assert payout(s) == 1
    act(s, Verb.CASH_OUT)
    act(s, Verb.NEXT_ROUND)
    select(s, ANY_BOSS)
    s.dollars = 0
    assert payout(s) == 3
    act(s, Verb.CASH_OUT)
    act(s, Verb.NEXT_ROUND)
    select(s, "bl_small")
    s.dollars = 0
    assert payout(s) == 3


def test_satellite_pays_1_for_each_different_planet_used() -> None:
    s = deal("S_8", dollars=0)
    for planet in ("c_pluto", "c_mars", "c_mars", "c_hermit", "c_black_hole"):
        use(s, planet)
    own(s, "j_satellite")
    s.dollars = 0
    assert payout(s) == 2


@pytest.mark.parametrize(("dollars", "moons", "interest"), [(4, 1, 0), (12, 0, 2), (12, 1, 4), (12, 2, 6), (90, 1, 10)])
def test_to_the_moon_pays_interest_once_more(dollars: int, moons: int, interest: int) -> None:
    assert payout(deal("S_8", *["j_to_the_moon"] * moons, dollars=dollars)) == interest


def test_egg_gains_3_of_sell_value_a_round() -> None:
    s = deal("S_8", "j_egg")
    to_shop(s)
    s.dollars = 0
    act(s, Verb.SELL_JOKER, 0)
    assert s.dollars == 2 + 3


def test_gift_raises_every_sell_value_by_1_a_round() -> None:
    s = deal("S_8", "j_gift", "j_joker")
    give(s, "c_pluto")
    to_shop(s)
    s.dollars = 0
    act(s, Verb.SELL_JOKER, 1)
    assert s.dollars == 1 + 1
    act(s, Verb.SELL_CONSUMABLE, 0)
    assert s.dollars == 2 + 1 + 1
    act(s, Verb.SELL_JOKER, 0)
    assert s.dollars == 4 + 3 + 1


def test_business_pays_2_for_every_second_scored_face() -> None:
    assert abs(happened(lambda seed: money("S_K", "j_business", seed=seed)) - 100) < 22
    assert money("S_K H_K C_K", "j_oops", "j_business") == 6
    assert money("S_A", "j_oops", "j_business") == 0


def test_reserved_parking_pays_1_for_every_second_held_face() -> None:
    assert abs(happened(lambda seed: money("S_8", "j_reserved_parking", held="S_K", seed=seed)) - 100) < 22
    assert money("S_K", "j_oops", "j_reserved_parking", held="S_J H_Q C_K! D_A") == 2
    assert money("S_8", "j_oops", "j_reserved_parking", "j_mime", held="S_J") == 2


def test_rough_gem_pays_1_for_each_scored_diamond() -> None:
    assert money("D_8 D_8=Red H_8 C_8:m_wild", "j_rough_gem") == 4
    assert money("D_2 S_8", "j_rough_gem") == 0


def test_ticket_pays_4_for_each_scored_gold_card() -> None:
    assert money("S_8:m_gold H_8:m_gold C_8", "j_ticket") == 8
    assert money("S_8", "j_ticket", held="H_8:m_gold") == 0
    assert money("S_K", "j_midas_mask", "j_ticket") == 4


def test_todo_list_pays_4_for_its_hand_which_changes_every_round() -> None:
    s = deal("S_8 H_8", "j_todo_list", dollars=0)
    s.jokers[0].hand = Hand.PAIR
    play(s, 0, 1)
    assert s.dollars == 4
    redeal(s, "S_8 H_2")
    play(s, 0)
    assert s.dollars == 4
    win(s)
    assert s.jokers[0].hand != Hand.PAIR


def test_todo_list_lists_no_secret_hand() -> None:
    def listed(seed: str) -> int:
        s = deal("S_8", "j_todo_list", seed=seed)
        return int(s.jokers[0].hand)

    assert {listed(f"LIST{i}") for i in range(150)} == set(range(3, 12))


def test_faceless_pays_5_for_three_discarded_faces() -> None:
    assert discarded("S_J H_Q C_K", "j_faceless") == 5
    assert discarded("S_J H_Q C_K D_K", "j_faceless") == 5
    assert discarded("S_J H_Q C_A", "j_faceless") == 0
    assert discarded("S_J H_Q C_K!", "j_faceless") == 0
    assert discarded("S_2 H_3 C_4", "j_pareidolia", "j_faceless") == 5


def discarded(cards: str, *keys: str, **options: Any) -> int:
    """Return the dollars earned by discarding these cards at once."""
    s = deal(cards, *keys, dollars=0, **options)
    discard(s, *range(len(cards.split())))
    return int(s.dollars)


def test_mail_pays_5_for_each_discarded_card_of_its_rank() -> None:
    assert discarded("S_8 H_8 C_2", "j_mail", mail_rank=8) == 10
    assert discarded("S_8! H_8:m_stone C_2", "j_mail", mail_rank=8) == 0
    assert discarded("S_8", "j_blueprint", "j_mail", mail_rank=8) == 10


def test_trading_pays_3_for_a_first_lone_discard() -> None:
    assert discarded("S_8", "j_trading") == 3
    assert discarded("S_8", "j_blueprint", "j_trading") == 3
    assert discarded("S_8", "j_trading", discards_used=1) == 0


def test_matador_is_paid_8_a_hand() -> None:
    assert money("C_8!", "j_matador", blind=ANY_BOSS) == 8
    assert money("C_8!", "j_blueprint", "j_matador", blind=ANY_BOSS) == 16


def test_bull_gives_2_chips_per_dollar() -> None:
    assert scored("S_8", "j_bull", dollars=17) == (5 + 8 + 34, 1)
    assert scored("S_8", "j_bull", dollars=-6) == (5 + 8, 1)
    assert scored("S_8=Gold", "j_bull", dollars=2) == (5 + 8 + 10, 1)  # the seal's $3 are added first


def test_bootstraps_give_2_mult_per_5_dollars() -> None:
    assert scored("S_8", "j_bootstraps", dollars=17) == (5 + 8, 1 + 6)
    assert scored("S_8", "j_bootstraps", dollars=4) == (5 + 8, 1)
    assert scored("S_8", "j_bootstraps", dollars=-6) == (5 + 8, 1)


def test_swashbuckler_adds_the_sell_values_of_the_other_jokers() -> None:
    assert scored("S_8", "j_swashbuckler", "j_egg", "j_baseball") == (5 + 8, 1 + 2 + 4)
    s = deal("S_8", "j_swashbuckler", "j_egg")
    s.jokers[1].extra_sell = 9
    s.jokers[1].debuffed = 1
    assert play(s, 0) == (5 + 8, 1 + 2 + 9)


def test_credit_card_sells_for_a_dollar() -> None:
    s = hand_of("S_8")
    own(s, "j_credit_card")
    s.dollars = 0
    act(s, Verb.SELL_JOKER, 0)
    assert s.dollars == 1
