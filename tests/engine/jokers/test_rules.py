"""Jokers that change a rule or a limit, copy another joker, or retrigger cards."""

import pytest

from ante.catalog.hands import Hand
from ante.catalog.packs import by_key as pack_by_key
from ante.engine.actions import Verb
from ante.engine.core.state import Phase, Status
from ante.engine.items.making import make_given_consumable
from ante.engine.jokers.lineup import refresh_lineup
from tests.support.table import (
    act,
    begin,
    consumables,
    deal,
    discard,
    give,
    happened,
    in_round,
    jokers,
    own,
    play,
    redeal,
    scored,
    to_shop,
    use,
    win,
)


def test_four_fingers_makes_flushes_and_straights_of_four_cards() -> None:
    assert scored("S_2 S_5 S_9 S_J", "j_four_fingers") == (35 + 2 + 5 + 9 + 10, 4)
    assert scored("S_2 H_3 S_4 D_5 C_K", "j_four_fingers") == (30 + 2 + 3 + 4 + 5, 4)
    assert scored("S_2 H_3 S_4 D_5") == (5 + 5, 1)


def test_four_fingers_joins_a_flush_and_a_straight_of_different_cards() -> None:
    s = deal("S_2 S_3 S_4 H_5 S_K", "j_four_fingers")
    assert play(s, 0, 1, 2, 3, 4) == (100 + 2 + 3 + 4 + 5 + 10, 8)


def test_shortcut_lets_a_straight_leave_out_single_ranks() -> None:
    assert scored("S_2 H_4 S_5 D_7 C_9", "j_shortcut") == (30 + 2 + 4 + 5 + 7 + 9, 4)
    assert scored("S_2 H_5 S_6 D_7 C_9", "j_shortcut") == (5 + 9, 1)  # two ranks are missing at once
    assert scored("S_A H_2 S_Q D_K C_T", "j_shortcut") == (5 + 11, 1)  # no wrap around the Ace


def test_smeared_makes_one_suit_of_each_colour() -> None:
    assert scored("S_2 C_5 S_9 C_J S_K", "j_smeared") == (35 + 2 + 5 + 9 + 10 + 10, 4)
    assert scored("S_2 C_5 S_9 H_J S_K", "j_smeared") == (5 + 10, 1)
    assert scored("H_8", "j_smeared", "j_greedy_joker") == (5 + 8, 1 + 3)
    assert scored("C_8", "j_smeared", "j_greedy_joker") == (5 + 8, 1)


def test_splash_lets_every_played_card_score() -> None:
    assert scored("S_8 H_8 C_2 D_K", "j_splash") == (10 + 16 + 2 + 10, 2)


def test_pareidolia_makes_faces_of_all_cards_but_debuffed_ones() -> None:
    assert scored("S_8 H_8", "j_pareidolia", "j_scary_face") == (10 + 16 + 60, 2)
    assert scored("S_8 H_8!", "j_pareidolia", "j_scary_face") == (10 + 8 + 30, 2)


def planets_made(seed: str, *keys: str) -> list[str]:
    """Return the consumables that The High Priestess makes if all planets except Pluto and one other are held."""
    s = in_round(seed=seed)
    own(s, *keys)
    s.consumable_slots = 10
    give(s, "c_mercury", "c_venus", "c_earth", "c_mars", "c_jupiter", "c_saturn", "c_uranus", "c_neptune")
    use(s, "c_high_priestess")
    return consumables(s)[8:]


def test_ring_master_lets_owned_cards_come_again() -> None:
    assert happened(lambda seed: planets_made(seed)[0] != "c_pluto", 20) == 0
    assert happened(lambda seed: planets_made(seed, "j_ring_master")[0] != "c_pluto", 20) > 10


def test_chicot_takes_the_bosses_abilities() -> None:
    assert begin("j_chicot", blind="bl_needle").hands_left == 4
    assert begin("j_chicot", blind="bl_water").discards_left == 4
    assert begin("j_chicot", blind="bl_manacle").n_hand == 8
    s = begin("j_chicot", blind="bl_club")
    assert not any(s.cards[i].debuffed for i in range(s.n_cards))
    s = begin("j_chicot", blind="bl_psychic")
    redeal(s, "S_8")
    s.target = 1e300
    assert play(s, 0) == (5 + 8, 1)


def test_chicot_gives_the_wall_and_violet_vessel_an_ordinary_target() -> None:
    assert begin("j_chicot", blind="bl_wall").target == 600
    assert begin("j_chicot", blind="bl_final_vessel").target == 600
    s = begin("j_chicot", blind="bl_flint")
    redeal(s, "S_8")
    s.target = 1e300
    assert play(s, 0) == (5 + 8, 1)


def test_chicot_disables_the_boss_of_the_round_in_which_it_comes() -> None:
    s = begin(blind="bl_club")
    assert any(s.cards[i].debuffed for i in range(s.n_cards))
    own(s, "j_chicot")
    assert not any(s.cards[i].debuffed for i in range(s.n_cards))


def test_chicot_acts_in_its_place_among_the_jokers() -> None:
    s = begin("j_chicot", "j_burglar", blind="bl_water")
    assert (s.hands_left, s.discards_left) == (4 + 3, 0)  # Burglar removes the discards that The Water returned


def test_luchador_is_sold_to_disable_the_boss() -> None:
    s = begin("j_luchador", blind="bl_wall")
    assert s.target == 300 * 4
    act(s, Verb.SELL_JOKER, 0)
    assert s.target == 300 * 2
    s = begin("j_luchador", blind="bl_head")
    assert any(s.cards[i].debuffed for i in range(s.n_cards))
    act(s, Verb.SELL_JOKER, 0)
    assert not any(s.cards[i].debuffed for i in range(s.n_cards))


def test_luchador_gives_hands_and_discards_back() -> None:
    s = begin("j_luchador", blind="bl_needle")
    assert s.hands_left == 1
    act(s, Verb.SELL_JOKER, 0)
    assert s.hands_left == 4
    s = begin("j_luchador", blind="bl_water")
    assert s.discards_left == 0
    act(s, Verb.SELL_JOKER, 0)
    assert s.discards_left == 4


def test_astronomer_makes_planets_and_celestial_packs_free() -> None:
    s = deal("S_8", "j_astronomer")
    to_shop(s)
    s.dollars = 0
    make_given_consumable(s, 23)  # a planet
    s.row[0] = s.made
    s.packs[0], s.packs[1] = pack_by_key["p_celestial_mega_1"], pack_by_key["p_arcana_normal_1"]
    assert act(s, Verb.BUY, 0) == Status.PLAYING
    assert act(s, Verb.OPEN_PACK, 1) == Status.ILLEGAL
    assert act(s, Verb.OPEN_PACK, 0) == Status.PLAYING
    assert s.dollars == 0


def test_astronomer_gone_planets_cost_3_again() -> None:
    s = deal("S_8", "j_astronomer")
    to_shop(s)
    make_given_consumable(s, 23)
    s.row[0] = s.made
    assert s.row[0].cost == 0
    act(s, Verb.SELL_JOKER, 0)
    assert s.row[0].cost == 3


def test_oops_doubles_listed_chances() -> None:
    def space_hits(*keys: str) -> int:
        return happened(lambda seed: scored("S_8", "j_space", *keys, seed=seed)[1] == 2)

    assert abs(space_hits() - 50) < 20  # 1 in 4 of 200
    assert abs(space_hits("j_oops") - 100) < 22
    assert space_hits("j_oops", "j_oops") == 200


def test_credit_card_lets_the_money_fall_to_minus_20() -> None:
    s = deal("S_8", "j_credit_card")
    to_shop(s)
    s.dollars = -16
    assert act(s, Verb.REROLL) == Status.ILLEGAL  # costs $5
    s.dollars = -15
    assert act(s, Verb.REROLL) == Status.PLAYING
    assert s.dollars == -20


def test_chaos_gives_one_free_reroll_per_shop() -> None:
    s = deal("S_8", "j_chaos")
    to_shop(s)
    s.dollars = 20
    act(s, Verb.REROLL)
    assert s.dollars == 20
    act(s, Verb.REROLL)
    assert s.dollars == 20 - 5
    act(s, Verb.REROLL)
    assert s.dollars == 20 - 5 - 6


def test_juggler_holds_one_card_more() -> None:
    assert begin("j_juggler").n_hand == 8 + 1


def test_drunkard_gives_a_discard_at_once_and_takes_it_along() -> None:
    s = begin("j_drunkard")
    assert s.discards_left == 4 + 1
    act(s, Verb.SELL_JOKER, 0)
    assert s.discards_left == 4
    own(s, "j_drunkard")
    assert s.discards_left == 4 + 1


def test_troubadour_holds_two_cards_more_for_a_hand_less() -> None:
    s = begin("j_troubadour")
    assert (s.n_hand, s.hands_left) == (8 + 2, 4 - 1)


def test_merry_andy_gives_three_discards_for_a_card_in_hand() -> None:
    s = begin("j_merry_andy")
    assert (s.n_hand, s.discards_left) == (8 - 1, 4 + 3)


def test_stuntman_gives_250_chips_for_two_cards_in_hand() -> None:
    assert begin("j_stuntman").n_hand == 8 - 2
    assert scored("S_8", "j_stuntman") == (5 + 8 + 250, 1)


def test_burglar_trades_all_discards_for_three_hands() -> None:
    s = begin("j_burglar")
    assert (s.hands_left, s.discards_left) == (4 + 3, 0)
    s = begin("j_blueprint", "j_burglar")
    assert (s.hands_left, s.discards_left) == (4 + 6, 0)


def test_mr_bones_saves_a_run_with_a_quarter_of_the_score() -> None:
    s = deal("S_8", "j_mr_bones", "j_joker", hands_left=1)
    s.target = 4 * 13 * 5  # 13 chips times 1 + 4 mult
    assert act(s, Verb.PLAY, cards=(0,)) == Status.PLAYING
    assert s.phase == Phase.ROUND_END
    assert jokers(s) == "j_joker"


def test_mr_bones_lets_a_run_with_less_be_lost() -> None:
    s = deal("S_8", "j_mr_bones", "j_joker", hands_left=1)
    s.target = 4 * 13 * 5 + 1
    assert act(s, Verb.PLAY, cards=(0,)) == Status.LOST


def test_mime_retriggers_held_cards() -> None:
    assert scored("S_8", "j_mime", held="H_2:m_steel") == (5 + 8, 1.5 * 1.5)
    assert scored("S_8", "j_mime", "j_baron", held="H_K=Red") == (5 + 8, 1.5**3)
    assert scored("S_8=Red", "j_mime") == (5 + 16, 1)


def test_mime_doubles_gold_cards_and_blue_seals_at_round_end() -> None:
    s = deal("S_8", "j_mime", held="H_2:m_gold H_3=Blue", dollars=0)
    win(s)
    assert s.dollars == 2 * 3
    assert consumables(s) == ["c_pluto", "c_pluto"]


def test_dusk_retriggers_in_the_last_hand() -> None:
    assert scored("S_8 H_8", "j_dusk", hands_left=2) == (10 + 16, 2)
    assert scored("S_8 H_8 C_2", "j_dusk", "j_joker", hands_left=1, target=26) == (10 + 32, 2 + 4)


def test_hack_retriggers_2_3_4_and_5() -> None:
    for rank, chips in (("2", 2), ("3", 3), ("4", 4), ("5", 5)):
        assert scored(f"S_{rank}", "j_hack") == (5 + 2 * chips, 1)
    assert scored("S_6", "j_hack") == (5 + 6, 1)
    assert scored("S_2:m_stone", "j_hack") == (0 + 5 + 50, 1)


def test_sock_and_buskin_retriggers_faces() -> None:
    assert scored("S_J H_Q C_K D_A", "j_sock_and_buskin", "j_splash") == (5 + 3 * 20 + 11, 1)
    assert scored("S_8", "j_sock_and_buskin", "j_pareidolia") == (5 + 16, 1)


def test_hanging_chad_retriggers_the_first_scored_card_twice() -> None:
    assert scored("S_2 H_8 C_8", "j_hanging_chad") == (10 + 3 * 8 + 8, 2)
    assert scored("S_8=Red", "j_hanging_chad") == (5 + 4 * 8, 1)


def test_blueprint_copies_its_right_neighbour() -> None:
    assert scored("S_8", "j_joker", "j_blueprint", "j_stuntman") == (5 + 8 + 500, 1 + 4)
    assert scored("S_8", "j_joker", "j_blueprint") == (5 + 8, 1 + 4)
    assert scored("S_2", "j_blueprint", "j_hack") == (5 + 3 * 2, 1)
    assert scored("S_8", "j_blueprint", "j_baron", held="H_K") == (5 + 8, 1.5 * 1.5)


def test_blueprint_acts_in_its_own_place() -> None:
    assert scored("S_8", "j_joker", "j_blueprint", "j_cavendish") == (5 + 8, (1 + 4) * 3 * 3)
    assert scored("S_8", "j_blueprint", "j_cavendish", "j_joker") == (5 + 8, 1 * 3 * 3 + 4)


def test_blueprint_shows_what_its_target_has_grown_to_but_does_not_grow_it() -> None:
    s = deal("S_8", "j_blueprint", "j_green_joker")
    assert play(s, 0) == (5 + 8, 1 + 1 + 1)
    assert s.jokers[1].value == 1


def test_blueprint_copies_no_standing_rule() -> None:
    s = begin("j_blueprint", "j_juggler")
    assert s.n_hand == 8 + 1
    assert scored("S_8 H_2", "j_blueprint", "j_pareidolia", "j_scary_face") == (5 + 8 + 30, 1)


def test_brainstorm_copies_the_leftmost_joker() -> None:
    assert scored("S_8", "j_joker", "j_stuntman", "j_brainstorm") == (5 + 8 + 250, 1 + 4 + 4)
    assert scored("S_8", "j_brainstorm", "j_joker") == (5 + 8, 1 + 4)


def test_brainstorm_and_blueprint_copy_through_each_other() -> None:
    assert scored("S_8", "j_blueprint", "j_joker", "j_brainstorm") == (5 + 8, 1 + 3 * 4)
    assert scored("S_8", "j_joker", "j_blueprint", "j_brainstorm") == (5 + 8, 1 + 3 * 4)
    assert scored("S_8", "j_blueprint", "j_brainstorm") == (5 + 8, 1)  # a cycle without an ability


def test_blueprint_copies_nothing_through_a_debuffed_link() -> None:
    s = deal("S_8", "j_blueprint", "j_blueprint", "j_joker")
    s.jokers[1].debuffed = 1
    refresh_lineup(s)
    assert play(s, 0) == (5 + 8, 1 + 4)


def test_space_upgrades_the_played_hand_before_it_scores() -> None:
    s = deal("S_8 H_8", "j_oops", "j_oops", "j_space")
    assert play(s, 0, 1) == (10 + 15 + 16, 2 + 1)
    assert s.levels[Hand.PAIR] == 2


def test_burnt_upgrades_the_first_discarded_hand() -> None:
    s = deal("S_8 H_8 C_2 D_2", "j_burnt", held="S_K H_K")
    discard(s, 0, 1, 2, 3)
    assert s.levels[Hand.TWO_PAIR] == 2
    redeal(s, "S_8 H_8")
    discard(s, 0, 1)
    assert s.levels.sum() == 12 + 1


@pytest.mark.parametrize(
    ("blind", "cards", "paid"),
    [
        ("bl_small", "S_8", 0),
        ("bl_club", "S_8", 0),
        ("bl_club", "C_8!", 8),  # a debuffed card scores
        ("bl_psychic", "S_8", 8),  # the hand does not score
        ("bl_flint", "S_8", 8),
        ("bl_arm", "S_8", 0),  # level 1 cannot be lowered
    ],
)
def test_matador_is_paid_when_the_boss_bites(blind: str, cards: str, paid: int) -> None:
    s = deal(cards, "j_matador", blind=blind, dollars=0)
    play(s, 0)
    assert s.dollars == paid
