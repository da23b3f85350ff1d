"""Jokers that only affect the score of one hand."""

import pytest

from tests.support.table import deal, happened, play, redeal, scored

PAIR = "S_8 H_8"  # 10 chips, 2 mult; 16 from the cards
TRIPLE = "S_8 H_8 C_8"
TWO_PAIR = "S_8 H_8 C_2 D_2"
STRAIGHT = "S_4 H_5 C_6 D_7 S_8"
FLUSH = "S_2 S_4 S_6 S_8 S_T"
QUADS = "S_8 H_8 C_8 D_8"
FULL_HOUSE = "S_8 H_8 C_8 D_2 S_2"
BARE = {
    "S_8": (5 + 8, 1),
    PAIR: (10 + 16, 2),
    TRIPLE: (30 + 24, 3),
    TWO_PAIR: (20 + 16 + 4, 2),
    STRAIGHT: (30 + 30, 4),
    FLUSH: (35 + 30, 4),
    QUADS: (60 + 32, 7),
    FULL_HOUSE: (40 + 24 + 4, 4),
}


def gives(joker: str, cards: str, chips: int = 0, mult: int = 0, factor: float = 1, **options: object) -> bool:
    """Return whether the joker changes the plain score of these cards by exactly these amounts."""
    bare_chips, bare_mult = BARE[cards]
    return scored(cards, joker, **options) == (bare_chips + chips, (bare_mult + mult) * factor)


def test_joker_gives_4_mult() -> None:
    assert gives("j_joker", "S_8", mult=4)


@pytest.mark.parametrize(
    ("joker", "suit"),
    [("j_greedy_joker", "D"), ("j_lusty_joker", "H"), ("j_wrathful_joker", "S"), ("j_gluttenous_joker", "C")],
)
def test_greedy_joker_lusty_joker_wrathful_joker_gluttenous_joker_like_their_suit(joker: str, suit: str) -> None:
    other = {"D": "S", "H": "C", "S": "H", "C": "D"}[suit]
    assert scored(f"{suit}_8=Red {other}_8 {suit}_2", joker) == (10 + 24, 2 + 3 + 3)
    assert scored(f"{other}_8:m_wild {suit}_8!", joker) == (10 + 8, 2 + 3)
    assert scored(f"{suit}_8:m_stone", joker) == (5 + 50, 1)


def test_jolly_gives_8_mult_for_a_pair() -> None:
    assert gives("j_jolly", PAIR, mult=8)
    assert gives("j_jolly", FULL_HOUSE, mult=8)
    assert gives("j_jolly", FLUSH)


def test_zany_gives_12_mult_for_three_of_a_kind() -> None:
    assert gives("j_zany", TRIPLE, mult=12)
    assert gives("j_zany", QUADS, mult=12)
    assert gives("j_zany", TWO_PAIR)


def test_mad_gives_10_mult_for_two_pair() -> None:
    assert gives("j_mad", TWO_PAIR, mult=10)
    assert gives("j_mad", FULL_HOUSE, mult=10)
    assert gives("j_mad", QUADS)


def test_crazy_gives_12_mult_for_a_straight() -> None:
    assert gives("j_crazy", STRAIGHT, mult=12)
    assert gives("j_crazy", FLUSH)


def test_droll_gives_10_mult_for_a_flush() -> None:
    assert gives("j_droll", FLUSH, mult=10)
    assert gives("j_droll", STRAIGHT)


def test_sly_gives_50_chips_for_a_pair() -> None:
    assert gives("j_sly", TWO_PAIR, chips=50)
    assert gives("j_sly", "S_8")


def test_wily_gives_100_chips_for_three_of_a_kind() -> None:
    assert gives("j_wily", FULL_HOUSE, chips=100)
    assert gives("j_wily", TWO_PAIR)


def test_clever_gives_80_chips_for_two_pair() -> None:
    assert gives("j_clever", TWO_PAIR, chips=80)
    assert gives("j_clever", PAIR)


def test_devious_gives_100_chips_for_a_straight() -> None:
    assert gives("j_devious", STRAIGHT, chips=100)
    assert gives("j_devious", PAIR)


def test_crafty_gives_80_chips_for_a_flush() -> None:
    assert gives("j_crafty", FLUSH, chips=80)
    assert gives("j_crafty", PAIR)


def test_duo_doubles_a_pair() -> None:
    assert gives("j_duo", FULL_HOUSE, factor=2)
    assert gives("j_duo", STRAIGHT)


def test_trio_triples_three_of_a_kind() -> None:
    assert gives("j_trio", QUADS, factor=3)
    assert gives("j_trio", PAIR)


def test_family_quadruples_four_of_a_kind() -> None:
    assert gives("j_family", QUADS, factor=4)
    assert gives("j_family", FULL_HOUSE)


def test_order_triples_a_straight() -> None:
    assert gives("j_order", STRAIGHT, factor=3)
    assert gives("j_order", FLUSH)


def test_tribe_doubles_a_flush() -> None:
    assert gives("j_tribe", FLUSH, factor=2)
    assert gives("j_tribe", STRAIGHT)


def test_half_gives_20_mult_for_three_cards_or_fewer() -> None:
    assert gives("j_half", TRIPLE, mult=20)
    assert gives("j_half", QUADS)


def test_stencil_multiplies_by_empty_slots_its_own_among_them() -> None:
    assert gives("j_stencil", "S_8", factor=5)
    assert scored("S_8", "j_stencil", "j_egg", "j_egg") == (13, 3)
    assert scored("S_8", "j_stencil", "j_stencil", "j_egg") == (13, 4 * 4)
    assert scored("S_8", "j_stencil", *["j_egg"] * 4) == (13, 1)


def test_stencil_counts_its_own_negative_slot_and_debuffed_stencils() -> None:
    s = deal("S_8", "j_stencil", "j_stencil")
    s.jokers[0].edition = 4  # Negative
    s.jokers[1].debuffed = 1
    assert play(s, 0) == (13, 6)  # 5 + 1 slots, 2 of them filled with Stencils


def test_banner_gives_30_chips_per_discard_left() -> None:
    assert gives("j_banner", "S_8", chips=90, discards_left=3)
    assert gives("j_banner", "S_8", discards_left=0)


def test_mystic_summit_gives_15_mult_without_discards() -> None:
    assert gives("j_mystic_summit", "S_8", mult=15, discards_left=0)
    assert gives("j_mystic_summit", "S_8", discards_left=1)


def test_misprint_gives_0_to_23_mult() -> None:
    rolled = {scored("S_8", "j_misprint", seed=f"MISPRINT{i}")[1] - 1 for i in range(300)}
    assert rolled == set(range(24))


def test_raised_fist_doubles_the_lowest_held_rank() -> None:
    assert gives("j_raised_fist", "S_8", mult=2 * 4, held="H_K D_4 C_9")
    assert gives("j_raised_fist", "S_8", mult=2 * 11, held="H_A")
    assert gives("j_raised_fist", "S_8", mult=2 * 10, held="H_K C_2:m_stone")
    assert gives("j_raised_fist", "S_8")


def test_raised_fist_takes_the_rightmost_of_equals() -> None:
    assert gives("j_raised_fist", "S_8", mult=2 * 4 * 2, held="H_4 D_4=Red")
    assert gives("j_raised_fist", "S_8", mult=2 * 4, held="H_4=Red D_4")
    assert gives("j_raised_fist", "S_8", held="H_4 D_4!")


def test_fibonacci_gives_8_mult_for_ace_2_3_5_8() -> None:
    for rank, chips in (("A", 11), ("2", 2), ("3", 3), ("5", 5), ("8", 8)):
        assert scored(f"S_{rank}", "j_fibonacci") == (5 + chips, 1 + 8)
    for rank, chips in (("4", 4), ("6", 6), ("7", 7), ("9", 9), ("T", 10), ("J", 10), ("K", 10)):
        assert scored(f"S_{rank}", "j_fibonacci") == (5 + chips, 1)


def test_even_steven_gives_4_mult_for_even_ranks() -> None:
    for rank, chips in (("2", 2), ("4", 4), ("6", 6), ("8", 8), ("T", 10)):
        assert scored(f"S_{rank}", "j_even_steven") == (5 + chips, 1 + 4)
    for rank, chips in (("3", 3), ("Q", 10), ("A", 11)):
        assert scored(f"S_{rank}", "j_even_steven") == (5 + chips, 1)


def test_odd_todd_gives_31_chips_for_odd_ranks() -> None:
    for rank, chips in (("A", 11), ("3", 3), ("5", 5), ("7", 7), ("9", 9)):
        assert scored(f"S_{rank}", "j_odd_todd") == (5 + chips + 31, 1)
    for rank, chips in (("2", 2), ("J", 10), ("K", 10)):
        assert scored(f"S_{rank}", "j_odd_todd") == (5 + chips, 1)


def test_scholar_likes_aces() -> None:
    assert scored("S_A H_A", "j_scholar") == (10 + 22 + 40, 2 + 8)
    assert gives("j_scholar", "S_8")


def test_walkie_talkie_likes_tens_and_fours() -> None:
    assert scored("S_T H_T C_4 D_4", "j_walkie_talkie") == (20 + 28 + 40, 2 + 16)
    assert gives("j_walkie_talkie", "S_8")


def test_scary_face_gives_30_chips_per_face() -> None:
    assert scored("S_K H_K", "j_scary_face") == (10 + 20 + 60, 2)
    assert scored("S_A H_K", "j_scary_face") == (5 + 11, 1)


def test_smiley_gives_5_mult_per_face() -> None:
    assert scored("S_J H_J=Red", "j_smiley") == (10 + 30, 2 + 15)
    assert scored("S_J H_J:m_stone", "j_smiley") == (5 + 10 + 50, 1 + 5)


def test_photograph_doubles_at_the_first_face() -> None:
    assert scored("S_K H_K", "j_photograph") == (10 + 20, 2 * 2)
    assert scored("S_K=Red H_K", "j_photograph") == (10 + 30, 2 * 2 * 2)
    assert scored("S_K! H_K", "j_photograph") == (10 + 10, 2 * 2)
    assert gives("j_photograph", "S_8")


def test_triboulet_doubles_at_each_king_and_queen() -> None:
    assert scored("S_K H_K C_Q D_Q", "j_triboulet") == (20 + 40, 2 * 2**4)
    assert scored("S_J", "j_triboulet") == (5 + 10, 1)


def test_arrowhead_gives_50_chips_per_spade() -> None:
    assert gives("j_arrowhead", FLUSH, chips=250)
    assert gives("j_arrowhead", PAIR, chips=50)


def test_onyx_agate_gives_7_mult_per_club() -> None:
    assert gives("j_onyx_agate", TRIPLE, mult=7)
    assert gives("j_onyx_agate", PAIR)


def test_bloodstone_multiplies_for_every_second_heart() -> None:
    assert abs(happened(lambda seed: scored("H_8", "j_bloodstone", seed=seed)[1] == 1.5) - 100) < 22
    assert scored("H_8 H_8 C_8", "j_oops", "j_bloodstone") == (30 + 24, 3 * 1.5**2)
    assert scored("S_8", "j_oops", "j_bloodstone") == (13, 1)


def test_ancient_multiplies_at_each_card_of_its_suit() -> None:
    assert gives("j_ancient", FLUSH, factor=1.5**5, ancient_suit=0)
    assert gives("j_ancient", PAIR, factor=1.5, ancient_suit=1)
    assert gives("j_ancient", PAIR, ancient_suit=2)


def test_idol_doubles_at_each_copy_of_its_card() -> None:
    assert scored("H_8 H_8 C_8", "j_idol", idol_rank=8, idol_suit=1) == (30 + 24, 3 * 4)
    assert scored("C_8:m_wild H_8!", "j_idol", idol_rank=8, idol_suit=1) == (10 + 8, 2 * 2)
    assert scored("H_8", "j_idol", idol_rank=9, idol_suit=1) == (13, 1)


def test_baron_multiplies_for_each_held_king() -> None:
    assert gives("j_baron", "S_8", factor=1.5**2, held="H_K C_K D_Q S_K:m_stone S_K!")
    assert scored("S_K", "j_baron") == (15, 1)


def test_shoot_the_moon_gives_13_mult_for_each_held_queen() -> None:
    assert gives("j_shoot_the_moon", "S_8", mult=26, held="H_Q C_Q D_K S_Q:m_stone")
    assert scored("S_Q", "j_shoot_the_moon") == (15, 1)


def test_blackboard_triples_if_every_held_card_is_black() -> None:
    assert gives("j_blackboard", "S_8", factor=3, held="S_2 C_3 H_4:m_wild")
    assert gives("j_blackboard", "S_8", factor=3)
    assert gives("j_blackboard", "S_8", held="S_2 H_3")
    assert gives("j_blackboard", "S_8", held="S_2:m_stone")


def test_steel_joker_counts_steel_in_the_full_deck() -> None:
    chips, mult = scored("S_8:m_steel", "j_steel_joker", held="H_2 C_3")
    assert (chips, mult) == (13, pytest.approx(1.2))
    assert gives("j_steel_joker", "S_8")


def test_stone_counts_stones_in_the_full_deck() -> None:
    assert gives("j_stone", "S_8", chips=50, held="H_2:m_stone C_3:m_stone")
    assert gives("j_stone", "S_8")


def test_drivers_license_needs_16_enhanced_cards() -> None:
    for enhanced, factor in ((15, 1), (16, 3)):
        s = deal("S_8", "j_drivers_license")
        for i in range(enhanced):
            s.cards[s.deck[i]].enhancement = 1
        assert play(s, 0) == (13, factor)


def test_abstract_gives_3_mult_per_joker() -> None:
    assert scored("S_8", "j_abstract", "j_egg", "j_egg") == (13, 1 + 9)


def test_blue_joker_gives_2_chips_per_card_in_the_draw_pile() -> None:
    assert gives("j_blue_joker", "S_8", chips=2 * 51)  # all but the one card played
    assert gives("j_blue_joker", "S_8", chips=2 * 44, held="H_2 H_3 H_4 H_5 H_6 H_7 H_9")


def test_erosion_gives_4_mult_per_card_lost() -> None:
    assert gives("j_erosion", "S_8", mult=4 * 3, starting_deck_size=55)
    assert gives("j_erosion", "S_8", starting_deck_size=40)


def test_card_sharp_triples_a_hand_played_before_in_this_round() -> None:
    s = deal("S_8", "j_card_sharp")
    assert play(s, 0) == (13, 1)
    redeal(s, PAIR)
    assert play(s, 0, 1) == (26, 2)
    redeal(s, "S_8")
    assert play(s, 0) == (13, 3)


def test_acrobat_triples_the_last_hand() -> None:
    assert gives("j_acrobat", "S_8", factor=3, hands_left=1, target=1)
    assert gives("j_acrobat", "S_8", hands_left=2)


def test_baseball_multiplies_for_each_uncommon_joker() -> None:
    assert scored("S_8", "j_baseball", "j_hack", "j_mime", "j_joker") == (13, 1.5 * 1.5 + 4)
    assert gives("j_baseball", "S_8")


def test_baseball_counts_debuffed_uncommon_jokers() -> None:
    s = deal("S_8", "j_hack", "j_baseball")
    s.jokers[0].debuffed = 1
    assert play(s, 0) == (13, 1.5)


def test_flower_pot_triples_all_four_suits() -> None:
    assert gives("j_flower_pot", QUADS, factor=3)
    assert gives("j_flower_pot", TRIPLE)
    assert scored("S_8 H_8 C_8 C_8:m_wild", "j_flower_pot") == (60 + 32, 7 * 3)
    assert scored("S_8 H_8 C_8 D_2", "j_flower_pot") == (30 + 24, 3)  # the Diamond does not score


def test_flower_pot_and_seeing_double_see_suits_as_smeared_shows_them() -> None:
    assert scored("S_8 S_8 H_8 H_8", "j_smeared", "j_flower_pot") == (60 + 32, 7 * 3)
    assert scored("S_8 H_8 H_8 H_8", "j_smeared", "j_flower_pot") == (60 + 32, 7)
    assert scored("S_8 H_8", "j_smeared", "j_seeing_double") == (10 + 16, 2 * 2)
    assert scored("D_8 H_8", "j_smeared", "j_seeing_double") == (10 + 16, 2)


def test_blackboard_sees_the_printed_suit_of_debuffed_cards() -> None:
    assert gives("j_blackboard", "S_8", factor=3, held="S_2! C_3:m_wild!")
    assert gives("j_blackboard", "S_8", held="H_3:m_wild!")


def test_seeing_double_doubles_a_club_with_another_suit() -> None:
    assert gives("j_seeing_double", TRIPLE, factor=2)
    assert gives("j_seeing_double", PAIR)
    assert scored("C_8 C_8", "j_seeing_double") == (26, 2)
    assert scored("C_8! H_8", "j_seeing_double") == (18, 2)
    assert scored("S_8 H_8:m_wild", "j_seeing_double") == (26, 4)
    assert scored("H_8:m_wild", "j_seeing_double") == (13, 1)
