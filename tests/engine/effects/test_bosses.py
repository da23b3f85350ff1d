"""Each blind: its target, its reward, and the effects of bosses."""

from itertools import pairwise
from typing import Any

import pytest

from ante.catalog.blinds import BLINDS
from ante.catalog.hands import by_name
from ante.engine.actions import Verb
from ante.engine.core.state import Place, Status
from ante.engine.run import new_run
from tests.support.table import (
    act,
    consumables,
    discard,
    facing,
    full_deck,
    in_hand,
    jokers,
    play,
    redeal,
    select,
    to_shop,
    win,
)

SPADES, HEARTS, CLUBS, DIAMONDS = range(4)
FACES = (11, 12, 13)
PAIR_OF_ACES = (10 + 11 + 11) * 2
ACE_HIGH = 5 + 11
HARD = {"bl_wall": 4, "bl_needle": 1, "bl_final_vessel": 6}
FIRST_ANTES = {
    1: {"hook", "club", "psychic", "goad", "window", "manacle", "pillar", "head"},
    2: {"house", "wall", "wheel", "arm", "fish", "water", "mouth", "needle", "flint", "mark"},
    3: {"eye", "tooth"},
    4: {"plant"},
    5: {"serpent"},
    6: {"ox"},
}
SHOWDOWNS = {"final_acorn", "final_leaf", "final_vessel", "final_heart", "final_bell"}
NORMAL_BOSSES = sorted(set().union(*FIRST_ANTES.values()))
GENTLE = "S_A D_K D_Q S_9 S_7 H_5 D_4 D_2"  # only a High Card unless a pair is played


def face_down(s: Any) -> list[bool]:
    return [bool(card.face_down) for card in in_hand(s)]


def sell_luchador(s: Any) -> None:
    assert jokers(s).split()[0] == "j_luchador"
    assert act(s, Verb.SELL_JOKER, 0) == Status.PLAYING


def chips_of(s: Any, *cards: int) -> float:
    """Return the score of playing these cards."""
    before = s.chips
    play(s, *cards)
    return float(s.chips - before)


@pytest.mark.parametrize(("blind", "target", "reward"), [("bl_small", 300, 3), ("bl_big", 450, 4)])
def test_small_and_big_blind_only_require_chips(blind: str, target: int, reward: int) -> None:
    s = facing(blind)
    assert (s.target, s.n_hand, s.hands_left, s.discards_left) == (target, 8, 4, 4)
    assert not any(card.debuffed or card.face_down or card.forced for card in full_deck(s))
    s.dollars = 0
    win(s)
    assert s.payout == reward + 3  # three hands left


@pytest.mark.parametrize("boss", [f"bl_{name}" for name in NORMAL_BOSSES])
def test_a_boss_requires_twice_the_base_and_pays_5(boss: str) -> None:
    s = facing(boss)
    assert s.target == 300 * HARD.get(boss, 2)
    s.target, s.dollars = 0.0, 0
    hands_left = s.hands_left - 1
    redeal(s, "S_A H_A D_K C_K S_2")
    play(s, 0, 1, 2, 3, 4)
    assert s.payout == 5 + hands_left


@pytest.mark.parametrize("boss", [f"bl_{name}" for name in sorted(SHOWDOWNS)])
def test_a_showdown_boss_pays_8(boss: str) -> None:
    s = facing(boss, ante=8)
    assert s.target == 50000 * HARD.get(boss, 2)
    s.dollars = 0
    assert win(s) == Status.WON
    assert s.payout == 8 + 3


@pytest.mark.parametrize("ante", range(1, 8))
def test_a_boss_is_drawn_from_its_first_ante_on(ante: int) -> None:
    s = new_run("TESTSEED")
    s.ante, s.dollars, s.boss_uses[:] = ante, 1000, 0
    s.vouchers[30] = 1  # Retcon
    eligible = {f"bl_{name}" for first, names in FIRST_ANTES.items() if first <= ante for name in names}
    drawn = []
    for _ in eligible:
        assert act(s, Verb.REROLL_BOSS) == Status.PLAYING
        drawn.append(BLINDS[s.boss].key)
    assert len(drawn) == len(set(drawn))  # all bosses appear once before any repeats
    assert set(drawn) == eligible


@pytest.mark.parametrize("ante", [8, 16])
def test_every_eighth_ante_ends_with_a_showdown(ante: int) -> None:
    s = new_run("TESTSEED")
    s.ante, s.dollars = ante, 1000
    s.vouchers[30] = 1  # Retcon
    drawn = set()
    for _ in SHOWDOWNS:
        act(s, Verb.REROLL_BOSS)
        drawn.add(BLINDS[s.boss].key)
    assert drawn == {f"bl_{name}" for name in SHOWDOWNS}


def test_hook_discards_two_cards_after_each_hand() -> None:
    s = facing("bl_hook")
    before = [int(s.hand[i]) for i in range(8)]
    play(s, 3)
    lost = [i for i in before if s.cards[i].place == Place.DISCARD]
    assert len(lost) == 3
    assert before[3] in lost
    assert s.n_hand == 8
    assert (s.discards_left, s.discards_used) == (4, 0)


def test_hook_takes_its_cards_before_the_hand_is_scored() -> None:
    s = facing("bl_hook", "S_A H_5:m_steel D_6:m_steel")
    assert chips_of(s, 0) == ACE_HIGH


def test_hook_sets_off_purple_seals() -> None:
    s = facing("bl_hook", "S_A H_5=Purple D_6=Purple")
    play(s, 0)
    assert len(consumables(s)) == 2


def test_hook_takes_the_only_card_there_is() -> None:
    s = facing("bl_hook", "S_A H_5")
    play(s, 0)
    assert sum(card.place == Place.DISCARD for card in full_deck(s)) == 2


def test_ox_takes_all_money_for_the_most_played_hand() -> None:
    s = facing("bl_ox", "S_A H_A D_5 C_2", ante=6)
    s.ox_hand, s.dollars = by_name["Pair"], 30
    play(s, 2)
    assert s.dollars == 30
    redeal(s, "S_A H_A D_5 C_2")
    play(s, 0, 1)
    assert s.dollars == 0


def test_ox_looks_at_the_hands_played_before_the_ante_began() -> None:
    s = facing("bl_hook")
    s.plays[by_name["Pair"]], s.plays[by_name["Flush"]] = 3, 4
    to_shop(s)
    s.plays[by_name["Pair"]] = 9
    act(s, Verb.NEXT_ROUND)
    select(s, "bl_ox", "S_A H_A D_5 S_K S_9 S_4 S_2")
    s.dollars, s.target = 30, 1e9
    play(s, 0, 1)
    assert s.dollars == 30
    redeal(s, "S_A H_A D_5 S_K S_9 S_4 S_2")
    play(s, 0, 3, 4, 5, 6)
    assert s.dollars == 0


def test_house_turns_the_first_hand_face_down() -> None:
    s = facing("bl_house")
    assert face_down(s) == [True] * 8
    discard(s, 0, 1, 2)
    assert sorted(face_down(s)) == [False] * 3 + [True] * 5
    play(s, 0)
    assert sum(face_down(s)) <= 5


def test_house_shows_the_cards_that_are_played() -> None:
    s = facing("bl_house")
    cards = in_hand(s)[:2]
    play(s, 0, 1)
    assert [(card.place, card.face_down) for card in cards] == [(Place.DISCARD, 0)] * 2


def test_wall_asks_for_four_times_the_base_until_it_is_disabled() -> None:
    s = facing("bl_wall", owned=("j_luchador",), ante=2)
    assert s.target == 800 * 4
    sell_luchador(s)
    assert s.target == 800 * 2


def test_wheel_turns_one_card_in_seven() -> None:
    turned = sum(sum(face_down(facing("bl_wheel", seed=f"WHEEL{n}"))) for n in range(100))
    assert 800 / 7 - 30 < turned < 800 / 7 + 30


def test_wheel_turns_two_cards_in_seven_with_oops_all_6s() -> None:
    turned = sum(sum(face_down(facing("bl_wheel", owned=("j_oops",), seed=f"WHEEL{n}"))) for n in range(100))
    assert 1600 / 7 - 40 < turned < 1600 / 7 + 40


def test_arm_lowers_the_level_before_the_hand_scores() -> None:
    s = facing("bl_arm", GENTLE)
    s.levels[by_name["High Card"]] = 3
    assert chips_of(s, 0) == (5 + 10 + 11) * (1 + 1)
    assert s.levels[by_name["High Card"]] == 2


def test_arm_leaves_level_1_alone() -> None:
    s = facing("bl_arm", GENTLE)
    assert chips_of(s, 0) == ACE_HIGH
    assert s.levels[by_name["High Card"]] == 1


@pytest.mark.parametrize(
    ("boss", "suit"), [("bl_club", CLUBS), ("bl_goad", SPADES), ("bl_window", DIAMONDS), ("bl_head", HEARTS)]
)
def test_club_goad_window_and_head_debuff_their_suit(boss: str, suit: int) -> None:
    s = facing(boss)
    assert len(full_deck(s)) == 52
    assert all(card.debuffed == (card.suit == suit) for card in full_deck(s))


@pytest.mark.parametrize(("boss", "suit"), [("bl_club", "C"), ("bl_goad", "S"), ("bl_window", "D"), ("bl_head", "H")])
def test_club_goad_window_and_head_leave_the_bare_flush(boss: str, suit: str) -> None:
    s = facing(boss, " ".join(f"{suit}_{rank}" for rank in "AK962"))
    assert chips_of(s, 0, 1, 2, 3, 4) == 35 * 4


@pytest.mark.parametrize("boss", ["bl_club", "bl_goad", "bl_window", "bl_head"])
def test_club_goad_window_and_head_see_wild_cards_but_no_stone_cards(boss: str) -> None:
    s = facing(boss, "S_A:m_wild H_A:m_wild C_A:m_wild D_A:m_wild S_K:m_stone H_K:m_stone C_K:m_stone D_K:m_stone")
    assert [card.debuffed for card in in_hand(s)] == [1, 1, 1, 1, 0, 0, 0, 0]


def test_club_and_smeared_joker_debuff_both_black_suits() -> None:
    s = facing("bl_club", owned=("j_smeared",))
    assert all(card.debuffed == (card.suit in (CLUBS, SPADES)) for card in full_deck(s))


def test_fish_turns_what_is_drawn_after_a_hand() -> None:
    s = facing("bl_fish")
    assert not any(face_down(s))
    discard(s, 0, 1)
    assert not any(face_down(s))
    play(s, 0, 1, 2)
    assert sum(face_down(s)) == 3
    up = face_down(s).index(False)
    discard(s, up)
    assert sum(face_down(s)) == 3


def test_fish_turns_no_card_of_the_first_hand_of_a_later_round() -> None:
    s = to_shop(facing("bl_small"))
    act(s, Verb.NEXT_ROUND)
    assert face_down(select(s, "bl_fish")) == [False] * 8


def test_psychic_lets_only_five_cards_score() -> None:
    s = facing("bl_psychic", "S_A H_A D_K D_Q C_5 C_2")
    s.target = 1e9
    assert chips_of(s, 0, 1, 2, 3) == 0
    assert s.hands_left == 3
    redeal(s, "S_A H_A D_K D_Q C_5 C_2")
    assert chips_of(s, 0, 1, 2, 3, 4) == PAIR_OF_ACES


def test_water_leaves_no_discards() -> None:
    s = facing("bl_water", owned=("j_luchador",))
    assert s.discards_left == 0
    assert act(s, Verb.DISCARD, cards=(0,)) == Status.ILLEGAL
    sell_luchador(s)
    assert s.discards_left == 4


def test_manacle_takes_one_card_of_hand_size() -> None:
    s = facing("bl_manacle")
    assert (s.n_hand, s.hand_size) == (7, 7)
    discard(s, 0, 1)
    assert s.n_hand == 7
    to_shop(s)
    assert s.hand_size == 8


def test_eye_refuses_a_hand_it_has_seen() -> None:
    s = facing("bl_eye", GENTLE)
    assert chips_of(s, 0) == ACE_HIGH
    redeal(s, "S_A H_A D_K")
    assert chips_of(s, 0, 1) == PAIR_OF_ACES
    redeal(s, GENTLE)
    assert chips_of(s, 0) == 0


def test_eye_has_forgotten_everything_by_the_next_round() -> None:
    s = to_shop(facing("bl_eye", GENTLE))
    act(s, Verb.NEXT_ROUND)
    select(s, "bl_eye", GENTLE)
    assert chips_of(s, 0) == ACE_HIGH


def test_mouth_lets_only_the_first_kind_of_hand_score() -> None:
    s = facing("bl_mouth", "S_A H_A D_K")
    assert chips_of(s, 0, 1) == PAIR_OF_ACES
    redeal(s, GENTLE)
    assert chips_of(s, 0) == 0
    redeal(s, "S_A H_A D_K")
    assert chips_of(s, 0, 1) == PAIR_OF_ACES


def test_plant_debuffs_face_cards() -> None:
    s = facing("bl_plant")
    assert all(card.debuffed == (card.rank in FACES) for card in full_deck(s))
    redeal(s, "S_K H_K D_2")
    assert chips_of(s, 0, 1) == 10 * 2


def test_plant_and_pareidolia_debuff_every_card() -> None:
    s = facing("bl_plant", owned=("j_pareidolia",))
    assert all(card.debuffed for card in full_deck(s))


@pytest.mark.parametrize(("cards", "left"), [((0,), 10), ((0, 1, 2), 8), ((0, 1, 2, 3, 4), 6)])
def test_serpent_always_draws_three(cards: tuple[int, ...], left: int) -> None:
    s = facing("bl_serpent")
    assert s.n_hand == 8
    discard(s, *cards)
    assert s.n_hand == left
    s = facing("bl_serpent")
    play(s, *cards)
    assert s.n_hand == left


def test_pillar_debuffs_what_was_played_this_ante() -> None:
    s = facing("bl_small")
    played = {int(s.cards[s.hand[i]].created) for i in range(5)}
    s.target = 0.0
    play(s, 0, 1, 2, 3, 4)
    act(s, Verb.CASH_OUT)
    act(s, Verb.NEXT_ROUND)
    select(s, "bl_pillar")
    assert {int(card.created) for card in full_deck(s) if card.debuffed} == played


def test_pillar_forgets_the_ante_before() -> None:
    s = to_shop(facing("bl_hook"))
    act(s, Verb.NEXT_ROUND)
    select(s, "bl_pillar")
    assert not any(card.debuffed for card in full_deck(s))


def test_pillar_lets_a_new_card_score() -> None:
    s = facing("bl_pillar", owned=("j_certificate",))
    (new,) = (card for card in in_hand(s) if card.seal)
    assert (len(full_deck(s)), new.debuffed) == (53, 0)


def test_pillar_lets_a_card_score_once_in_its_own_round() -> None:
    s = facing("bl_pillar", GENTLE)
    assert chips_of(s, 0) == ACE_HIGH


def test_needle_leaves_one_hand() -> None:
    s = facing("bl_needle", GENTLE)
    assert (s.hands_left, s.target) == (1, 300)
    assert act(s, Verb.PLAY, cards=(0,)) == Status.LOST


def test_needle_gives_the_hands_back_when_it_is_disabled() -> None:
    s = facing("bl_needle", owned=("j_luchador",))
    sell_luchador(s)
    assert s.hands_left == 4


def test_tooth_takes_a_dollar_for_each_card_played() -> None:
    s = facing("bl_tooth")
    s.dollars, s.target = 3, 1e9
    discard(s, 0, 1, 2)
    assert s.dollars == 3
    play(s, 0, 1, 2, 3, 4)
    assert s.dollars == -2


def test_tooth_discards_no_card() -> None:
    s = facing("bl_tooth", "S_A=Purple H_5=Purple")
    play(s, 0)
    assert (consumables(s), s.hands_left) == ([], 3)


@pytest.mark.parametrize(
    ("hand", "chips", "mult"),
    [
        ("S_A", 3 + 11, 1),  # 5 and 1: 2.5 is rounded up, mult stays 1
        ("S_A H_A", 5 + 22, 1),  # 10 and 2
        ("S_A H_A D_A", 15 + 33, 2),  # 30 and 3: 1.5 is rounded up
        ("S_A S_K S_9 S_6 S_2", 18 + 38, 2),  # 35 and 4: 17.5 is rounded up
    ],
)
def test_flint_halves_base_chips_and_mult(hand: str, chips: int, mult: int) -> None:
    s = facing("bl_flint", f"{hand} C_3")
    assert chips_of(s, *range(len(hand.split()))) == chips * mult


def test_mark_turns_face_cards() -> None:
    s = facing("bl_mark")
    for _ in range(3):
        assert [card.rank in FACES for card in in_hand(s)] == face_down(s)
        discard(s, 0, 1, 2, 3, 4)


def test_mark_and_pareidolia_turn_every_card() -> None:
    assert face_down(facing("bl_mark", owned=("j_pareidolia",))) == [True] * 8


def test_a_disabled_boss_turns_no_card_any_more() -> None:
    for boss in ("bl_house", "bl_mark", "bl_wheel", "bl_fish"):
        s = facing(boss, owned=("j_luchador",))
        sell_luchador(s)
        assert not any(face_down(s))
        play(s, 0, 1, 2, 3, 4)
        assert not any(face_down(s))


def test_final_acorn_amber_acorn_shuffles_the_jokers() -> None:
    orders = {jokers(facing("bl_final_acorn", owned=("j_joker", "j_egg", "j_baron"), seed=f"A{n}")) for n in range(60)}
    assert len(orders) == 6  # all orders of three


def test_final_leaf_verdant_leaf_debuffs_all_cards_until_a_joker_is_sold() -> None:
    s = facing("bl_final_leaf", "S_A H_A D_K", owned=("j_egg",))
    assert all(card.debuffed for card in full_deck(s))
    assert chips_of(s, 0, 1) == 10 * 2
    act(s, Verb.SELL_JOKER, 0)
    assert not any(card.debuffed for card in full_deck(s))
    redeal(s, "S_A H_A D_K")
    assert chips_of(s, 0, 1) == PAIR_OF_ACES


def test_final_vessel_violet_vessel_asks_for_six_times_the_base_until_it_is_disabled() -> None:
    s = facing("bl_final_vessel", owned=("j_luchador",), ante=8)
    assert s.target == 50000 * 6
    sell_luchador(s)
    assert s.target == 50000 * 2


def test_final_heart_crimson_heart_disables_one_joker_after_each_hand() -> None:
    s = facing("bl_final_heart", GENTLE, owned=("j_joker",))
    assert chips_of(s, 0) == ACE_HIGH * (1 + 4)
    redeal(s, GENTLE)
    assert chips_of(s, 0) == ACE_HIGH


def test_final_heart_crimson_heart_never_disables_a_joker_twice_in_a_row() -> None:
    s = facing("bl_final_heart", owned=("j_joker", "j_egg", "j_baron"))
    s.target, s.hands_left = 1e9, 40
    disabled = []
    for _ in range(8):
        play(s, 0)
        disabled.append([i for i in range(3) if s.jokers[i].debuffed])
    assert all(len(one) == 1 for one in disabled)
    assert all(one != other for one, other in pairwise(disabled))
    assert {one[0] for one in disabled} == {0, 1, 2}


def test_final_heart_crimson_heart_lets_go_at_the_end_of_the_round() -> None:
    s = facing("bl_final_heart", owned=("j_joker",))
    play(s, 0)
    assert s.jokers[0].debuffed
    to_shop(s)
    assert not s.jokers[0].debuffed


def test_final_bell_cerulean_bell_forces_one_card_into_every_hand() -> None:
    s = facing("bl_final_bell")
    for verb in (Verb.PLAY, Verb.DISCARD, Verb.PLAY):
        (forced,) = (i for i in range(8) if s.cards[s.hand[i]].forced)
        other = (forced + 1) % 8
        assert act(s, verb, cards=(other,)) == Status.ILLEGAL
        assert act(s, verb, cards=(forced, other)) == Status.PLAYING


def test_final_bell_cerulean_bell_keeps_its_card_selected_when_it_moves() -> None:
    s = facing("bl_final_bell")
    (forced,) = (i for i in range(8) if s.cards[s.hand[i]].forced)
    assert s.selected == 1 << forced
    other = (forced + 3) % 8
    assert act(s, Verb.MOVE_CARD, forced, other) == Status.PLAYING
    assert (s.cards[s.hand[other]].forced, s.selected) == (1, 1 << other)


def test_final_bell_cerulean_bell_may_force_any_card() -> None:
    forced = set()
    for n in range(60):
        s = facing("bl_final_bell", seed=f"BELL{n}")
        forced |= {i for i in range(8) if s.cards[s.hand[i]].forced}
    assert forced == set(range(8))
