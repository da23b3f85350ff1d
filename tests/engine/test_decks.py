"""Each deck and each stake: the initial state of a run and its rules."""

from collections import Counter
from typing import Any

import pytest

from ante.catalog.decks import DECKS, Stake
from ante.catalog.jokers import JOKERS
from ante.catalog.packs import by_key as pack_by_key
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import by_key as voucher_by_key
from ante.engine.actions import Verb
from ante.engine.core.state import Kind, Status
from ante.engine.notation import front_text
from ante.engine.run import new_run
from tests.support.table import act, consumables, facing, full_deck, own, play, redeal, select, to_shop, win

SUITS, RANKS = "SHCD", "23456789TJQKA"
ETERNAL, PERISHABLE, RENTAL = 1, 2, 4
PLAIN = {"hands": 4, "discards": 3, "hand_size": 8, "joker_slots": 5, "consumable_slots": 2, "dollars": 4}
CHANGES = {
    "b_red": {"discards": 4},
    "b_blue": {"hands": 5},
    "b_yellow": {"dollars": 14},
    "b_black": {"hands": 3, "joker_slots": 6},
    "b_magic": {"consumable_slots": 3},
    "b_nebula": {"consumable_slots": 1},
    "b_painted": {"hand_size": 10, "joker_slots": 4},
}
START_VOUCHERS = {
    "b_magic": {"v_crystal_ball"},
    "b_nebula": {"v_telescope"},
    "b_zodiac": {"v_tarot_merchant", "v_planet_merchant", "v_overstock_norm"},
}

NEVER_ETERNAL = "gros_michel ice_cream cavendish luchador turtle_bean diet_cola popcorn ramen selzer mr_bones invisible"
NEVER_PERISHABLE = (
    "ceremonial ride_the_bus runner constellation green_joker red_card madness square vampire hologram rocket obelisk "
    "lucky_cat flash trousers castle glass wee"
)


def fronts(s: Any) -> Counter[str]:
    return Counter(front_text(card) for card in full_deck(s))


def vouchers(s: Any) -> set[str]:
    return {key for key, number in voucher_by_key.items() if s.vouchers[number]}


def shop(deck: str = "b_red", stake: int = 1, seed: str = "TESTSEED") -> Any:
    """Return the shop after the first Small Blind, with $100."""
    s = to_shop(facing("bl_small", deck=deck, stake=stake, seed=seed))
    s.dollars = 100
    return s


def rerolled(s: Any, times: int) -> list[Any]:
    """Return the shop cards of this many rerolls."""
    shown = []
    for _ in range(times):
        s.dollars, s.reroll_raise = 100, 0
        assert act(s, Verb.REROLL) == Status.PLAYING
        shown += [s.row[i].copy() for i in range(s.n_row)]
    return shown


def stickers(stake: int, sticker: int) -> tuple[float, set[str]]:
    """Return the share of the shop's jokers with a sticker under a stake, and their keys."""
    items = [item for item in rerolled(shop(stake=stake), 1000) if item["kind"] == Kind.JOKER]
    marked = [item for item in items if item["stickers"] & sticker]
    return len(marked) / len(items), {JOKERS[item["id"]].key for item in marked}


def in_packs(stake: int, sticker: int) -> int:
    """Return the number of jokers with a sticker in 100 Mega Buffoon Packs."""
    found = 0
    for n in range(100):
        s = shop(stake=stake, seed=f"STAKE{n}")
        s.packs[0] = pack_by_key["p_buffoon_mega_1"]
        assert act(s, Verb.OPEN_PACK) == Status.PLAYING
        found += sum(bool(s.pack[i].stickers & sticker) for i in range(4))
    return found


@pytest.mark.parametrize("deck", [row.key for row in DECKS])
def test_red_blue_yellow_black_magic_nebula_painted_and_no_other_deck_change_the_counts(deck: str) -> None:
    s = facing("bl_small", deck=deck)
    assert {
        "hands": s.hands_left,
        "discards": s.discards_left,
        "hand_size": s.n_hand,
        "joker_slots": s.joker_slots,
        "consumable_slots": s.consumable_slots,
        "dollars": s.dollars,
    } == PLAIN | CHANGES.get(deck, {})


@pytest.mark.parametrize("deck", [row.key for row in DECKS])
def test_magic_nebula_zodiac_and_no_other_deck_start_with_vouchers(deck: str) -> None:
    assert vouchers(new_run("TESTSEED", deck)) == START_VOUCHERS.get(deck, set())


@pytest.mark.parametrize("deck", [row.key for row in DECKS])
def test_magic_ghost_and_no_other_deck_start_with_consumables(deck: str) -> None:
    held = {"b_magic": ["c_fool", "c_fool"], "b_ghost": ["c_hex"]}
    assert consumables(new_run("TESTSEED", deck)) == held.get(deck, [])


@pytest.mark.parametrize(
    "deck", [row.key for row in DECKS if row.key not in ("b_abandoned", "b_checkered", "b_erratic")]
)
def test_most_decks_hold_each_card_once(deck: str) -> None:
    assert fronts(new_run("TESTSEED", deck)) == Counter(f"{suit}_{rank}" for suit in SUITS for rank in RANKS)


def test_red_deck_keeps_its_discard_every_round() -> None:
    s = to_shop(facing("bl_small", deck="b_red"))
    act(s, Verb.NEXT_ROUND)
    assert select(s, "bl_big").discards_left == 4


def test_blue_deck_keeps_its_hand_every_round() -> None:
    s = to_shop(facing("bl_small", deck="b_blue"))
    act(s, Verb.NEXT_ROUND)
    assert select(s, "bl_big").hands_left == 5


@pytest.mark.parametrize(("deck", "payout"), [("b_yellow", 3 + 3 + 5), ("b_green", 3 + 2 * 3 + 3)])
def test_green_deck_pays_hands_and_discards_but_no_interest(deck: str, payout: int) -> None:
    s = facing("bl_small", deck=deck)
    s.dollars = 30
    win(s)
    assert (s.hands_left, s.discards_left, s.payout) == (3, 3, payout)


def test_black_deck_holds_six_jokers() -> None:
    s = facing("bl_small", deck="b_black")
    own(s, *["j_egg"] * 5)
    assert s.joker_slots - s.n_jokers == 1


def test_nebula_deck_opens_celestial_packs_with_the_most_played_hand() -> None:
    s = facing("bl_small", deck="b_nebula")
    redeal(s, "S_A H_A D_5")
    s.target = 1.0
    play(s, 0, 1)
    act(s, Verb.CASH_OUT)
    s.packs[0] = pack_by_key["p_celestial_normal_1"]
    act(s, Verb.OPEN_PACK)
    assert s.pack[0].id == 23  # Mercury raises Pair


@pytest.mark.parametrize(("deck", "expected"), [("b_red", 0.0), ("b_ghost", 2 / (20 + 4 + 4 + 2))])
def test_ghost_deck_sells_spectral_cards(deck: str, expected: float) -> None:
    shown = rerolled(shop(deck), 1000)
    found = sum(item["kind"] == Kind.CONSUMABLE and item["id"] >= 35 for item in shown) / len(shown)
    assert abs(found - expected) < 0.02
    assert (found == 0) == (expected == 0)
    assert not any(item["kind"] == Kind.CONSUMABLE and item["id"] > 50 for item in shown)  # no Soul, no Black Hole


def test_abandoned_deck_has_no_face_cards() -> None:
    s = new_run("TESTSEED", "b_abandoned")
    assert fronts(s) == Counter(f"{suit}_{rank}" for suit in SUITS for rank in "23456789TA")
    assert s.n_deck == 40


def test_checkered_deck_has_26_spades_and_26_hearts() -> None:
    expected = Counter(f"{suit}_{rank}" for suit in "SH" for rank in RANKS)
    assert fronts(new_run("TESTSEED", "b_checkered")) == expected + expected


def test_zodiac_deck_shows_three_cards_and_many_tarots_and_planets() -> None:
    s = shop("b_zodiac")
    assert s.n_row == 3
    shown = rerolled(s, 600)
    tarots = sum(item["kind"] == Kind.CONSUMABLE and item["id"] <= 22 for item in shown)
    planets = sum(item["kind"] == Kind.CONSUMABLE and item["id"] >= 23 for item in shown)
    assert abs(tarots / len(shown) - 9.6 / (20 + 9.6 + 9.6)) < 0.035
    assert abs(planets / len(shown) - 9.6 / (20 + 9.6 + 9.6)) < 0.035


def test_painted_deck_deals_ten_cards() -> None:
    s = facing("bl_small", deck="b_painted")
    play(s, 0, 1, 2)
    assert s.n_hand == 10


def test_anaglyph_deck_gains_a_double_tag_after_each_boss() -> None:
    s = to_shop(facing("bl_small", deck="b_anaglyph"))
    assert s.n_tags == 0
    for n in (1, 2):
        act(s, Verb.NEXT_ROUND)
        win(select(s, "bl_hook"))
        assert [TAGS[s.tags[i]].key for i in range(s.n_tags)] == ["tag_double"] * n
        act(s, Verb.CASH_OUT)


def test_plasma_deck_asks_for_twice_as_much() -> None:
    assert facing("bl_small", deck="b_plasma").target == 300 * 2
    assert facing("bl_wall", deck="b_plasma", ante=3).target == 2000 * 4 * 2


@pytest.mark.parametrize(("cards", "half"), [("S_A H_A", (32 + 2) // 2), ("S_A H_A D_A", (63 + 3) // 2), ("S_9", 7)])
def test_plasma_deck_balances_chips_and_mult(cards: str, half: int) -> None:
    s = facing("bl_small", f"{cards} C_2", deck="b_plasma")
    s.target = 1e9
    play(s, *range(len(cards.split())))
    assert s.hand_total == half * half  # 14 + 1 is 7.5, rounded down


def test_erratic_deck_has_52_random_cards() -> None:
    decks = [fronts(new_run(f"ERRATIC{n}", "b_erratic")) for n in range(100)]
    assert all(deck.total() == 52 for deck in decks)
    assert all(max(deck.values()) > 1 for deck in decks)
    everything: Counter[str] = sum(decks, Counter())
    assert len(everything) == 52
    assert all(60 < count < 140 for count in everything.values())  # each about 100 times


@pytest.mark.parametrize(
    ("stake", "reward"), [(Stake.WHITE, 3), (Stake.RED, 0), *((stake, 0) for stake in Stake if stake > Stake.RED)]
)
def test_stake_white_pays_for_the_small_blind_and_stake_red_and_all_above_do_not(stake: Stake, reward: int) -> None:
    s = facing("bl_small", stake=stake)
    s.dollars = 0
    win(s)
    assert s.payout == reward + 3
    act(s, Verb.CASH_OUT)
    act(s, Verb.NEXT_ROUND)
    select(s, "bl_big")
    s.dollars = 0
    win(s)
    assert s.payout == 4 + 3


@pytest.mark.parametrize(
    ("stakes", "bases"),
    [
        ((Stake.WHITE, Stake.RED), (300, 800, 2000, 5000, 11000, 20000, 35000, 50000)),
        ((Stake.GREEN, Stake.BLACK, Stake.BLUE), (300, 900, 2600, 8000, 20000, 36000, 60000, 100000)),
        ((Stake.PURPLE, Stake.ORANGE, Stake.GOLD), (300, 1000, 3200, 9000, 25000, 60000, 110000, 200000)),
    ],
    ids=("white_red", "green_black_blue", "purple_orange_gold"),
)
def test_stake_green_and_stake_purple_ask_for_more(stakes: tuple[Stake, ...], bases: tuple[int, ...]) -> None:
    for stake in stakes:
        assert tuple(facing("bl_small", ante=ante, stake=stake).target for ante in range(1, 9)) == bases


@pytest.mark.parametrize(
    ("ante", "target"),
    [
        (0, 100),
        (-3, 100),
        (9, 110000),  # 50000 (1.6 + 0.75^1.2)^1 = 115403
        (10, 560000),  # 50000 (1.6 + 1.5^1.4)^2 = 565864
        (11, 7200000),  # 50000 (1.6 + 2.25^1.6)^3 = 7276961
    ],
)
def test_antes_outside_1_to_8(ante: int, target: int) -> None:
    assert facing("bl_small", ante=ante).target == target


@pytest.mark.parametrize(("stake", "expected"), [(Stake.GREEN, 0.0), (Stake.BLACK, 0.3), (Stake.GOLD, 0.3)])
def test_stake_black_makes_three_jokers_in_ten_eternal(stake: Stake, expected: float) -> None:
    part, who = stickers(stake, ETERNAL)
    assert expected - 0.06 < part <= expected + 0.03  # some jokers cannot be Eternal
    assert not who & {f"j_{name}" for name in NEVER_ETERNAL.split()}
    assert abs(in_packs(stake, ETERNAL) - 400 * expected) < 45


@pytest.mark.parametrize("stake", Stake)
def test_stake_blue_takes_a_discard(stake: Stake) -> None:
    assert facing("bl_small", deck="b_blue", stake=stake).discards_left == (3 if stake < Stake.BLUE else 2)


@pytest.mark.parametrize(("stake", "expected"), [(Stake.PURPLE, 0.0), (Stake.ORANGE, 0.3), (Stake.GOLD, 0.3)])
def test_stake_orange_makes_three_jokers_in_ten_perishable(stake: Stake, expected: float) -> None:
    part, who = stickers(stake, PERISHABLE)
    assert expected - 0.09 < part <= expected + 0.03  # some jokers cannot be Perishable
    assert not who & {f"j_{name}" for name in NEVER_PERISHABLE.split()}
    assert abs(in_packs(stake, PERISHABLE) - 400 * expected) < 45


@pytest.mark.parametrize(("stake", "expected"), [(Stake.ORANGE, 0.0), (Stake.GOLD, 0.3)])
def test_stake_gold_makes_three_jokers_in_ten_rental(stake: Stake, expected: float) -> None:
    assert abs(stickers(stake, RENTAL)[0] - expected) < 0.04
    assert abs(in_packs(stake, RENTAL) - 400 * expected) < 45


def test_stake_gold_rents_for_1_and_3_more_each_round() -> None:
    s = shop(stake=Stake.GOLD)
    rented = [item for item in rerolled(s, 200) if item["stickers"] & RENTAL]
    assert {int(item["cost"]) for item in rented} == {1}
    while not s.row[0].stickers & RENTAL:
        rerolled(s, 1)
    s.dollars = 4
    act(s, Verb.BUY)
    assert s.dollars == 3
    act(s, Verb.NEXT_ROUND)
    select(s, "bl_big")
    s.dollars, s.jokers[0].debuffed = 10, 1
    win(s)
    assert s.dollars == 7


def test_stake_orange_jokers_stop_working_after_five_rounds() -> None:
    s = facing("bl_small", stake=Stake.ORANGE)
    own(s, "j_joker")
    s.jokers[0].stickers, s.jokers[0].rounds = PERISHABLE, 5
    for n in range(5):
        assert (s.jokers[0].rounds, s.jokers[0].debuffed) == (5 - n, 0)
        to_shop(s)
        act(s, Verb.NEXT_ROUND)
        select(s, "bl_small", "S_A C_2")
    assert s.jokers[0].debuffed
    s.target = 1e9
    play(s, 0)
    assert s.hand_total == 5 + 11


def test_stake_black_jokers_cannot_be_sold() -> None:
    s = facing("bl_small", stake=Stake.BLACK)
    own(s, "j_joker")
    s.jokers[0].stickers = ETERNAL
    assert act(s, Verb.SELL_JOKER, 0) == Status.ILLEGAL
