"""Jokers with a memory: when they grow, shrink, reset and disappear."""

import pytest

from ante.engine.actions import Verb
from ante.engine.core.state import Place
from ante.engine.run import new_run
from tests.support.table import (
    act,
    begin,
    consumables,
    deal,
    discard,
    give,
    hand,
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


def test_green_joker_grows_by_hands_and_shrinks_by_discards() -> None:
    s = deal("S_8 H_8", "j_green_joker")
    assert play(s, 0) == (5 + 8, 1 + 1)
    discard(s, 0, 1)
    assert s.jokers[0].value == 0
    redeal(s, "S_8 H_8")
    assert play(s, 0, 1) == (10 + 16, 2 + 1)
    redeal(s, "S_8 H_8")
    assert play(s, 0, 1) == (10 + 16, 2 + 2)


def test_green_joker_never_falls_below_zero() -> None:
    s = deal("S_8 H_8", "j_green_joker")
    discard(s, 0)
    discard(s, 0)
    redeal(s, "S_8")
    assert play(s, 0) == (5 + 8, 1 + 1)


def test_ride_the_bus_grows_until_a_face_card_scores() -> None:
    s = deal("S_8", "j_ride_the_bus", hands_left=9)
    assert play(s, 0) == (5 + 8, 1 + 1)
    redeal(s, "S_A H_K")
    assert play(s, 0, 1) == (5 + 11, 1 + 2)  # the King is played, but does not score
    redeal(s, "S_K")
    assert play(s, 0) == (5 + 10, 1)
    redeal(s, "S_8")
    assert play(s, 0) == (5 + 8, 1 + 1)


def test_ride_the_bus_meets_a_face_in_every_card_with_pareidolia() -> None:
    assert scored("S_8", "j_pareidolia", "j_ride_the_bus") == (5 + 8, 1)


def test_runner_grows_by_straights_only() -> None:
    s = deal("S_4 H_5 C_6 D_7 S_8", "j_runner")
    assert play(s, 0, 1, 2, 3, 4) == (30 + 30 + 15, 4)
    redeal(s, "S_8")
    assert play(s, 0) == (5 + 8 + 15, 1)


def test_square_grows_by_hands_of_four_cards() -> None:
    s = deal("S_8 H_8 C_2 D_3", "j_square")
    assert play(s, 0, 1, 2, 3) == (10 + 16 + 4, 2)
    redeal(s, "S_8 H_8 C_2 D_3 S_4")
    assert play(s, 0, 1, 2, 3, 4) == (10 + 16 + 4, 2)


def test_trousers_grow_by_two_pair_and_by_a_full_house() -> None:
    s = deal("S_8 H_8 C_9 D_9", "j_trousers")
    assert play(s, 0, 1, 2, 3) == (20 + 34, 2 + 2)
    redeal(s, "S_8 H_8 C_8 D_9 S_9")
    assert play(s, 0, 1, 2, 3, 4) == (40 + 42, 4 + 4)
    redeal(s, "S_8 H_8 C_8")
    assert play(s, 0, 1, 2) == (30 + 24, 3 + 4)


def test_ice_cream_melts_away_after_twenty_hands() -> None:
    s = deal("S_8", "j_ice_cream", hands_left=30)
    for hands_before in range(20):
        redeal(s, "S_8")
        assert play(s, 0) == (5 + 8 + 100 - 5 * hands_before, 1)
    assert s.n_jokers == 0


def test_selzer_retriggers_for_ten_hands() -> None:
    s = deal("S_8", "j_selzer", hands_left=30)
    for _ in range(10):
        redeal(s, "S_8")
        assert play(s, 0) == (5 + 8 + 8, 1)
    assert s.n_jokers == 0


def test_constellation_grows_by_planets_only() -> None:
    s = deal("S_8", "j_constellation")
    use(s, "c_pluto")
    use(s, "c_pluto")
    use(s, "c_hermit")
    use(s, "c_mars")
    chips, mult = play(s, 0)
    assert chips == 5 + 2 * 10 + 8
    assert mult == pytest.approx(3 * 1.3)


def test_fortune_teller_counts_tarots_of_the_run() -> None:
    s = deal("S_8")
    use(s, "c_hermit")
    own(s, "j_fortune_teller")
    use(s, "c_temperance")
    use(s, "c_mars")
    assert play(s, 0) == (5 + 8, 1 + 2)


def test_red_card_grows_by_skipped_packs() -> None:
    s = deal("S_8", "j_red_card")
    to_shop(s)
    assert act(s, Verb.OPEN_PACK, 0) == 0
    assert act(s, Verb.SKIP_PACK) == 0
    assert s.jokers[0].value == 3
    act(s, Verb.NEXT_ROUND)
    act(s, Verb.SELECT_BLIND)
    redeal(s, "S_8")
    assert play(s, 0) == (5 + 8, 1 + 3)


def test_flash_grows_by_rerolls_free_ones_too() -> None:
    s = deal("S_8", "j_flash", "j_chaos", dollars=20)
    to_shop(s)
    act(s, Verb.REROLL)
    act(s, Verb.REROLL)
    assert s.jokers[0].value == 4
    act(s, Verb.NEXT_ROUND)
    select(s, "bl_big")
    s.target = 1e300
    redeal(s, "S_8")
    assert play(s, 0) == (5 + 8, 1 + 4)


def test_madness_grows_and_destroys_another_joker() -> None:
    s = begin("j_joker", "j_madness", "j_egg")
    assert s.n_jokers == 2
    assert "j_madness" in jokers(s)
    at = jokers(s).split().index("j_madness")
    assert s.jokers[at].value == 1.5


def test_madness_rests_against_bosses_and_spares_eternals() -> None:
    s = begin("j_madness", "j_joker", blind="bl_club")
    assert jokers(s) == "j_madness j_joker"
    assert s.jokers[0].value == 1
    s = deal("S_8", "j_madness", "j_joker")
    s.jokers[1].stickers = 1  # Eternal
    to_shop(s)
    act(s, Verb.NEXT_ROUND)
    select(s, "bl_big")
    assert jokers(s) == "j_madness j_joker+E"
    redeal(s, "S_8")
    s.target = 1e300
    assert play(s, 0) == (5 + 8, 1 * 1.5 + 4)


def test_ceremonial_takes_twice_the_sell_value_of_its_right_neighbour() -> None:
    s = begin("j_joker", "j_ceremonial", "j_baron", "j_egg")  # Baron costs 8 and sells for 4
    assert jokers(s) == "j_joker j_ceremonial j_egg"
    s.target = 1e300
    redeal(s, "S_8")
    assert play(s, 0) == (5 + 8, 1 + 4 + 2 * 4)


def test_ceremonial_spares_an_eternal_joker_and_needs_a_neighbour() -> None:
    s = deal("S_8", "j_ceremonial", "j_baron", "j_ceremonial")
    s.jokers[1].stickers = 1  # Eternal
    to_shop(s)
    act(s, Verb.NEXT_ROUND)
    select(s, "bl_big")
    assert jokers(s) == "j_ceremonial j_baron+E j_ceremonial"
    assert (s.jokers[0].value, s.jokers[2].value) == (0, 0)


def test_vampire_strips_scored_cards_before_they_score() -> None:
    s = deal("S_8:m_bonus H_8:m_glass C_2:m_mult", "j_vampire")
    chips, mult = play(s, 0, 1, 2)
    assert chips == 10 + 8 + 8  # neither +30 nor X2: both pair cards were plain when they scored
    assert mult == pytest.approx(2 * 1.2)
    played = [s.cards[i] for i in range(s.n_cards) if s.cards[i].place == Place.DISCARD]
    assert sorted(int(card.enhancement) for card in played) == [0, 0, 2]  # the Mult card did not score


def test_vampire_passes_over_debuffed_cards() -> None:
    assert scored("S_8:m_bonus! H_8", "j_vampire") == (10 + 8, 2)


def test_vampire_bites_what_midas_mask_has_just_gilded() -> None:
    chips, mult = scored("S_K", "j_midas_mask", "j_vampire")
    assert chips == 5 + 10
    assert mult == pytest.approx(1.1)


def test_hologram_grows_by_cards_added_to_the_deck() -> None:
    s = deal("S_8 H_K", "j_hologram")
    use(s, "c_cryptid", 0)
    assert s.jokers[0].value == 1.5
    use(s, "c_grim")
    assert s.jokers[0].value == 2.0
    redeal(s, "S_8")
    assert play(s, 0) == (5 + 8, 2)
    s = begin("j_hologram", "j_marble", "j_certificate")
    assert s.jokers[0].value == 1.5


def test_obelisk_grows_until_the_most_played_hand_is_played() -> None:
    s = deal("S_8", "j_obelisk", hands_left=9)
    s.plays[10] = 5  # Pairs
    s.plays[11] = 3  # High Cards
    assert play(s, 0)[1] == pytest.approx(1.2)
    redeal(s, "S_8")
    assert play(s, 0)[1] == pytest.approx(1.4)  # the fifth: equal to Pair, so not the only most played hand
    redeal(s, "S_8")
    assert play(s, 0)[1] == 1


def test_lucky_cat_grows_by_lucky_hits() -> None:
    s = deal("S_8:m_lucky=Red", "j_oops", "j_oops", "j_oops", "j_lucky_cat", dollars=0)
    assert play(s, 0) == (5 + 16, (1 + 20 + 20) * 1.5)  # 8 in 5 hits each of the two triggers
    assert s.jokers[3].value == 1.5


def test_lucky_cat_ignores_cards_that_are_not_lucky() -> None:
    assert scored("S_8:m_mult", "j_oops", "j_oops", "j_oops", "j_lucky_cat") == (5 + 8, 1 + 4)


def test_popcorn_is_eaten_after_five_rounds() -> None:
    s = deal("S_8", "j_popcorn")
    assert play(s, 0) == (5 + 8, 1 + 20)
    for left in (16, 12, 8, 4):
        to_shop(s)
        assert s.jokers[0].value == left
        act(s, Verb.NEXT_ROUND)
        select(s, "bl_small")
    s.target = 1e300
    redeal(s, "S_8 H_8")
    assert play(s, 0) == (5 + 8, 1 + 4)
    win(s)
    assert s.n_jokers == 0


def test_ramen_loses_a_hundredth_per_discarded_card() -> None:
    s = deal("S_8 H_8 C_8 D_8", "j_ramen")
    discard(s, 0, 1, 2)
    redeal(s, "S_8")
    assert play(s, 0) == (5 + 8, pytest.approx(1.97))
    s.jokers[0].value = 1.02
    redeal(s, "S_8 H_8 C_8 D_8")
    discard(s, 0)
    assert jokers(s) == "j_ramen"
    discard(s, 0)
    assert jokers(s) == ""


def test_castle_grows_by_discards_of_its_suit() -> None:
    s = deal("S_8 H_8 H_9 H_2:m_stone C_3:m_wild H_4!", "j_castle", castle_suit=1)
    discard(s, 0, 1, 2, 3, 4)  # two Hearts and a Wild card; the Stone card has no suit
    assert s.jokers[0].value == 9
    redeal(s, "H_4! S_8")
    discard(s, 0)
    assert s.jokers[0].value == 9
    redeal(s, "S_8")
    assert play(s, 0) == (5 + 8 + 9, 1)


def test_castle_keeps_its_chips_when_the_suit_changes() -> None:
    s = deal("H_8 H_9", "j_castle", castle_suit=1)
    discard(s, 0)
    to_shop(s)
    assert s.jokers[0].value == 3


def test_campfire_grows_by_sales_and_goes_out_with_a_boss() -> None:
    s = deal("S_8 H_8", "j_campfire", "j_egg", blind="bl_club")
    give(s, "c_pluto")
    act(s, Verb.SELL_CONSUMABLE, 0)
    act(s, Verb.SELL_JOKER, 1)
    assert play(s, 0) == (5 + 8, 1.5)
    win(s)
    assert s.jokers[0].value == 1


def test_campfire_burns_on_after_a_small_blind() -> None:
    s = deal("S_8 H_8", "j_campfire", "j_egg")
    act(s, Verb.SELL_JOKER, 1)
    win(s)
    assert s.jokers[0].value == 1.25


def test_wee_grows_by_each_trigger_of_a_scored_2() -> None:
    s = deal("S_2 H_2=Red C_8", "j_wee")
    assert play(s, 0, 1, 2) == (10 + 2 + 2 + 2 + 3 * 8, 2)
    redeal(s, "S_2:m_stone")
    assert play(s, 0) == (5 + 50 + 24, 1)


def test_glass_grows_by_broken_and_by_destroyed_glass() -> None:
    s = deal("S_8:m_glass", "j_oops", "j_oops", "j_glass", held="H_9:m_glass H_3 H_4")
    assert play(s, 0) == (5 + 8, 2)  # two Oops! All 6s: 4 in 4 break it, after the hand
    assert s.jokers[2].value == 1.75
    redeal(s, "H_9:m_glass H_3 H_4")
    use(s, "c_hanged_man", 0, 1)
    assert s.jokers[2].value == 2.5
    redeal(s, "S_8")
    assert play(s, 0) == (5 + 8, 2.5)


def test_hit_the_road_counts_discarded_jacks_of_this_round() -> None:
    s = deal("S_J H_J C_J! D_Q S_J:m_stone", "j_hit_the_road")
    discard(s, 0, 1, 2, 3, 4)
    redeal(s, "S_8 H_8")
    assert play(s, 0) == (5 + 8, 2)
    win(s)
    assert s.jokers[0].value == 1


def test_caino_grows_by_destroyed_face_cards() -> None:
    s = deal("S_K H_9", "j_caino", held="D_Q:m_glass C_2")
    use(s, "c_hanged_man", 0, 1)
    assert s.jokers[0].value == 2
    assert hand(s) == "D_Q:m_glass C_2"
    own(s, "j_oops", "j_oops")
    play(s, 0)
    assert s.jokers[0].value == 3
    redeal(s, "S_8 H_2")
    assert play(s, 0) == (5 + 8, 3)


def test_caino_counts_the_king_that_trading_card_destroys() -> None:
    s = deal("S_K H_9", "j_caino", "j_trading")
    discard(s, 0)
    assert s.jokers[0].value == 2


def test_yorick_grows_every_23_discarded_cards() -> None:
    s = deal("S_8 H_8 C_8 D_8 S_9", "j_yorick", discards_left=9)
    for discards in range(1, 6):
        discard(s, 0, 1, 2, 3, 4)
        assert s.jokers[0].value == (1 if 5 * discards < 23 else 2)
    redeal(s, "S_8 H_2")
    assert play(s, 0) == (5 + 8, 2)


def test_loyalty_card_multiplies_every_sixth_hand() -> None:
    s = deal("S_8", "j_loyalty_card", hands_left=30)
    for number in range(1, 13):
        redeal(s, "S_8")
        assert play(s, 0) == (5 + 8, 4 if number in (6, 12) else 1)


def test_loyalty_card_counts_from_when_it_was_acquired() -> None:
    s = deal("S_8", hands_left=30)
    play(s, 0)
    own(s, "j_loyalty_card")
    for number in range(1, 7):
        redeal(s, "S_8")
        assert play(s, 0) == (5 + 8, 4 if number == 6 else 1)


def test_supernova_counts_this_hand_too() -> None:
    s = deal("S_8 H_8", "j_supernova")
    assert play(s, 0) == (5 + 8, 1 + 1)
    redeal(s, "S_8 H_8")
    assert play(s, 0, 1) == (10 + 16, 2 + 1)
    redeal(s, "S_8 H_8")
    assert play(s, 0, 1) == (10 + 16, 2 + 2)


def test_throwback_counts_skipped_blinds() -> None:
    s = new_run("TESTSEED", "b_red", 1)
    own(s, "j_throwback")
    act(s, Verb.SKIP_BLIND)
    select(s, "bl_big")
    redeal(s, "S_8 H_8")
    s.target = 1e300
    assert play(s, 0) == (5 + 8, 1.25)
    assert scored("S_8", "j_throwback") == (5 + 8, 1)
    assert scored("S_8", "j_throwback", blinds_skipped=3) == (5 + 8, 1.75)


def test_hiker_leaves_five_chips_on_each_trigger() -> None:
    s = deal("S_8=Red H_3", "j_hiker")
    assert play(s, 0, 1) == (5 + 8 + 8 + 5, 1)  # the second trigger already includes the first one's chips
    bonuses = sorted(int(s.cards[i].bonus) for i in range(s.n_cards))
    assert bonuses[-2:] == [0, 10]


def test_turtle_bean_shrinks_by_one_card_a_round() -> None:
    s = begin("j_turtle_bean")
    assert s.n_hand == 8 + 5
    for size in (12, 11, 10, 9):
        to_shop(s)
        assert s.hand_size == size
        act(s, Verb.NEXT_ROUND)
        select(s, "bl_small")
        assert s.n_hand == size
    win(s)
    assert s.hand_size == 8
    assert jokers(s) == ""
    assert consumables(s) == []
