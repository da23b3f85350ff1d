"""Each voucher, redeemed in a shop."""

from typing import Any

import numpy as np
import pytest

from ante.catalog.consumables import CONSUMABLES
from ante.catalog.packs import by_key as pack_by_key
from ante.catalog.vouchers import VOUCHERS
from ante.catalog.vouchers import by_key as voucher_by_key
from ante.engine.actions import Verb
from ante.engine.core.state import Kind, Phase, Status
from ante.engine.notation import item_text
from ante.engine.run import new_run
from tests.support.table import act, consumables, facing, give, own, play, redeal, select, to_shop, use, win

FIRST_TIERS = {
    "v_overstock_norm": "v_overstock_plus",
    "v_clearance_sale": "v_liquidation",
    "v_hone": "v_glow_up",
    "v_reroll_surplus": "v_reroll_glut",
    "v_crystal_ball": "v_omen_globe",
    "v_telescope": "v_observatory",
    "v_grabber": "v_nacho_tong",
    "v_wasteful": "v_recyclomancy",
    "v_tarot_merchant": "v_tarot_tycoon",
    "v_planet_merchant": "v_planet_tycoon",
    "v_seed_money": "v_money_tree",
    "v_blank": "v_antimatter",
    "v_magic_trick": "v_illusion",
    "v_hieroglyph": "v_petroglyph",
    "v_directors_cut": "v_retcon",
    "v_paint_brush": "v_palette",
}
SPECTRALS = range(35, 51)  # without The Soul and Black Hole


def shop(*vouchers: str, seed: str = "TESTSEED") -> Any:
    """Return the shop after the first Small Blind with these vouchers redeemed and $100 left."""
    s = to_shop(facing("bl_small", seed=seed))
    redeem(s, *vouchers)
    s.dollars = 100
    return s


def redeem(s: Any, *vouchers: str) -> None:
    """Put each of these vouchers on display and buy it."""
    for voucher in vouchers:
        s.shop_vouchers[0], s.n_shop_vouchers, s.dollars = voucher_by_key[voucher], 1, 100
        assert act(s, Verb.BUY_VOUCHER) == Status.PLAYING


def next_round(s: Any, blind: str = "bl_big", texts: str = "") -> Any:
    act(s, Verb.NEXT_ROUND)
    return select(s, blind, texts)


def after(*vouchers: str) -> Any:
    """Return the round after the shop in which these vouchers were redeemed."""
    return next_round(shop(*vouchers))


def rerolled(s: Any, times: int) -> list[Any]:
    """Return the shop cards of this many rerolls."""
    shown = []
    for _ in range(times):
        s.dollars, s.reroll_raise = 100, 0
        assert act(s, Verb.REROLL) == Status.PLAYING
        shown += [s.row[i].copy() for i in range(s.n_row)]
    return shown


def share(s: Any, kind: Kind, first: int = 0, last: int = 999) -> float:
    """Return the share of the shop cards of 600 rerolls that are of this kind and within these numbers."""
    shown = rerolled(s, 600)
    return sum(item["kind"] == kind and first <= item["id"] <= last for item in shown) / len(shown)


def paid_for(s: Any, verb: Verb, slot: int = 0) -> int:
    """Return the dollars that a decision cost."""
    before = int(s.dollars)
    assert act(s, verb, slot) == Status.PLAYING
    return before - int(s.dollars)


def open_pack(s: Any, key: str) -> list[str]:
    """Return the contents of a pack in this shop."""
    s.packs[0], s.dollars = pack_by_key[key], 100
    assert act(s, Verb.OPEN_PACK) == Status.PLAYING
    return [item_text(s.pack[i]) for i in range(s.n_pack)]


def close(value: float, expected: float) -> bool:
    return abs(value - expected) < 0.045  # about three standard deviations of 1,200 cards


def test_every_voucher_costs_10_and_leaves_the_display() -> None:
    for voucher in VOUCHERS[1:]:
        s = to_shop(facing("bl_small"))
        s.shop_vouchers[0], s.dollars = voucher.voucher, 25
        assert paid_for(s, Verb.BUY_VOUCHER) == 10
        assert s.vouchers[voucher.voucher] == 1
        assert act(s, Verb.BUY_VOUCHER) == Status.ILLEGAL


def test_a_voucher_waits_for_its_money_and_for_the_next_ante() -> None:
    s = to_shop(facing("bl_small"))
    s.dollars = 9
    assert act(s, Verb.BUY_VOUCHER) == Status.ILLEGAL
    s.dollars = 10
    assert act(s, Verb.BUY_VOUCHER) == Status.PLAYING
    to_shop(next_round(s))
    assert s.n_shop_vouchers == 0
    to_shop(next_round(s, "bl_hook"))
    assert s.n_shop_vouchers == 1


def test_a_second_tier_waits_for_the_first() -> None:
    offered = {VOUCHERS[new_run(f"TIER{n}").voucher_this_ante].key for n in range(300)}
    assert offered == set(FIRST_TIERS)


def test_a_second_tier_is_offered_once_the_first_is_redeemed() -> None:
    offered = set()
    for n in range(600):
        s = facing("bl_hook", seed=f"TIER{n}")
        for key in FIRST_TIERS:
            s.vouchers[voucher_by_key[key]] = 1
        win(s)
        offered.add(VOUCHERS[s.voucher_this_ante].key)
    assert offered == set(FIRST_TIERS.values())


def test_overstock_norm_and_overstock_plus_add_a_card_each() -> None:
    s = shop()
    assert s.n_row == 2
    redeem(s, "v_overstock_norm")
    assert s.n_row == 3
    redeem(s, "v_overstock_plus")
    assert s.n_row == 4
    assert to_shop(next_round(s)).n_row == 4


def test_overstock_norm_fills_the_place_of_a_bought_card_too() -> None:
    s = shop()
    act(s, Verb.BUY)
    assert s.n_row == 1
    redeem(s, "v_overstock_norm")
    assert s.n_row == 3


@pytest.mark.parametrize(
    ("vouchers", "normal", "jumbo", "mega", "voucher"),
    [
        ((), 4, 6, 8, 10),
        (("v_clearance_sale",), 3, 4, 6, 7),  # 3.375, 4.875, 6.375, 7.875
        (("v_clearance_sale", "v_liquidation"), 2, 3, 4, 5),  # 2.25, 3.25, 4.25, 5.25
    ],
)
def test_clearance_sale_and_liquidation_lower_prices(
    vouchers: tuple[str, ...], normal: int, jumbo: int, mega: int, voucher: int
) -> None:
    s = shop(*vouchers)
    s.shop_vouchers[0] = voucher_by_key["v_blank"]
    assert paid_for(s, Verb.BUY_VOUCHER) == voucher
    for key, price in (("p_standard_normal_1", normal), ("p_standard_jumbo_1", jumbo), ("p_standard_mega_1", mega)):
        s.packs[0] = pack_by_key[key]
        assert paid_for(s, Verb.OPEN_PACK) == price
        act(s, Verb.SKIP_PACK)


def test_clearance_sale_and_liquidation_lower_the_cards_on_show_and_what_owned_ones_bring() -> None:
    s = shop()
    own(s, "j_baron")  # $8
    give(s, "c_pluto")  # $3
    assert (s.jokers[0].cost, s.consumables[0].cost) == (8, 3)
    before = [int(s.row[i].cost) for i in range(2)]
    redeem(s, "v_clearance_sale")
    assert [int(s.row[i].cost) for i in range(2)] == [int((cost + 0.5) * 0.75) for cost in before]
    assert (s.jokers[0].cost, s.consumables[0].cost) == (6, 2)
    redeem(s, "v_liquidation")
    assert [int(s.row[i].cost) for i in range(2)] == [int((cost + 0.5) * 0.5) for cost in before]
    assert (s.jokers[0].cost, s.consumables[0].cost) == (4, 1)
    assert paid_for(s, Verb.SELL_JOKER) == -2


def test_hone_and_glow_up_bring_editions_2_and_4_times_as_often() -> None:
    editions = {}
    for vouchers in ((), ("v_hone",), ("v_hone", "v_glow_up")):
        items = [item for item in rerolled(shop(*vouchers), 1500) if item["kind"] == Kind.JOKER]
        editions[len(vouchers)] = [
            sum(item["edition"] == edition for item in items) / len(items) for edition in range(5)
        ]
    for foil, expected in ((editions[n][1] + editions[n][2] + editions[n][3], 0.04 * 2**n) for n in range(3)):
        assert 0.75 * expected < foil < 1.25 * expected
    assert editions[0][4] == editions[1][4] == editions[2][4] > 0  # the odds of Negative stay unchanged


@pytest.mark.parametrize(
    ("vouchers", "prices"),
    [
        ((), [5, 6, 7]),
        (("v_reroll_surplus",), [3, 4, 5]),
        (("v_reroll_surplus", "v_reroll_glut"), [1, 2, 3]),
    ],
)
def test_reroll_surplus_and_reroll_glut_take_2_off_each_reroll(vouchers: tuple[str, ...], prices: list[int]) -> None:
    s = shop(*vouchers)
    assert [paid_for(s, Verb.REROLL) for _ in range(3)] == prices
    to_shop(next_round(s))
    s.dollars = 100
    assert paid_for(s, Verb.REROLL) == prices[0]


def test_crystal_ball_adds_a_consumable_slot() -> None:
    s = after("v_crystal_ball")
    give(s, "c_pluto")
    assert use(s, "c_emperor") == Status.PLAYING
    assert len(consumables(s)) == 3


def test_omen_globe_makes_one_card_of_an_arcana_pack_in_five_a_spectral() -> None:
    for vouchers, low, high in (((), 0, 0), (("v_crystal_ball", "v_omen_globe"), 75, 125)):
        spectrals = 0
        for n in range(100):
            s = shop(*vouchers, seed=f"OMEN{n}")
            open_pack(s, "p_arcana_jumbo_1")
            spectrals += sum(s.pack[i].id in SPECTRALS for i in range(5))
        assert low <= spectrals <= high  # of 500


def test_telescope_shows_the_planet_of_the_most_played_hand_first() -> None:
    s = shop("v_telescope")
    s.plays[:] = 0
    s.plays[6], s.plays[10] = 3, 2  # Flush, Pair
    assert open_pack(s, "p_celestial_normal_1")[0] == "c_jupiter"
    act(s, Verb.SKIP_PACK)
    s.plays[10] = 4
    first, *others = open_pack(s, "p_celestial_mega_1")
    assert first == "c_mercury"
    assert "c_mercury" not in others


def test_telescope_prefers_the_better_of_two_hands_played_as_often() -> None:
    s = shop("v_telescope")
    s.plays[:] = 0
    s.plays[6] = s.plays[10] = 2
    assert open_pack(s, "p_celestial_normal_1")[0] == "c_jupiter"


@pytest.mark.parametrize(
    ("held", "mult"), [((), 2), (("c_mercury",), 3), (("c_mercury", "c_mercury"), 4.5), (("c_pluto", "c_hermit"), 2)]
)
def test_observatory_multiplies_for_each_planet_of_the_hand(held: tuple[str, ...], mult: float) -> None:
    s = after("v_telescope", "v_observatory")
    s.target = 1e9
    redeal(s, "S_A H_A D_5")
    give(s, *held)
    play(s, 0, 1)
    assert s.hand_total == 32 * mult


@pytest.mark.parametrize(
    ("vouchers", "hands", "discards"),
    [
        ((), 4, 4),
        (("v_grabber",), 5, 4),
        (("v_grabber", "v_nacho_tong"), 6, 4),
        (("v_wasteful",), 4, 5),
        (("v_wasteful", "v_recyclomancy"), 4, 6),
        (("v_hieroglyph",), 3, 4),
        (("v_hieroglyph", "v_petroglyph"), 3, 3),
    ],
)
def test_grabber_nacho_tong_wasteful_recyclomancy_hieroglyph_and_petroglyph_change_hands_and_discards(
    vouchers: tuple[str, ...], hands: int, discards: int
) -> None:
    s = after(*vouchers)
    assert (s.hands_left, s.discards_left) == (hands, discards)


def test_hieroglyph_and_petroglyph_go_back_an_ante_each() -> None:
    s = shop()
    s.ante = 3
    redeem(s, "v_hieroglyph")
    assert s.ante == 2
    redeem(s, "v_petroglyph")
    assert s.ante == 1
    assert next_round(s).target == 300 * 1.5


def test_hieroglyph_leads_to_an_ante_0_of_100_chips() -> None:
    s = after("v_hieroglyph")
    assert (s.ante, s.target) == (0, 100 * 1.5)


@pytest.mark.parametrize(
    ("vouchers", "rate"), [((), 4), (("v_tarot_merchant",), 9.6), (("v_tarot_merchant", "v_tarot_tycoon"), 32)]
)
def test_tarot_merchant_and_tarot_tycoon_bring_tarots(vouchers: tuple[str, ...], rate: float) -> None:
    found = share(shop(*vouchers), Kind.CONSUMABLE, 1, 22)
    assert close(found, rate / (20 + 4 + rate))


@pytest.mark.parametrize(
    ("vouchers", "rate"), [((), 4), (("v_planet_merchant",), 9.6), (("v_planet_merchant", "v_planet_tycoon"), 32)]
)
def test_planet_merchant_and_planet_tycoon_bring_planets(vouchers: tuple[str, ...], rate: float) -> None:
    found = share(shop(*vouchers), Kind.CONSUMABLE, 23, 34)
    assert close(found, rate / (20 + 4 + rate))


@pytest.mark.parametrize(
    ("vouchers", "dollars", "interest"),
    [
        ((), 24, 4),
        ((), 300, 5),
        (("v_seed_money",), 24, 4),
        (("v_seed_money",), 300, 10),
        (("v_seed_money", "v_money_tree"), 99, 19),
        (("v_seed_money", "v_money_tree"), 300, 20),
    ],
)
def test_seed_money_and_money_tree_raise_the_cap_of_interest(
    vouchers: tuple[str, ...], dollars: int, interest: int
) -> None:
    s = after(*vouchers)
    s.dollars = dollars
    win(s)
    assert s.payout == 4 + 3 + interest  # Big Blind, three hands left


def test_blank_does_nothing() -> None:
    s = shop()
    before = s.copy()
    redeem(s, "v_blank")
    s.dollars = 100
    changed = {name for name in s.dtype.names if not np.array_equal(s[name], before[name])}
    assert changed <= {"vouchers", "shop_vouchers", "n_shop_vouchers", "decisions", "voucher_this_ante"}


def test_antimatter_adds_a_joker_slot() -> None:
    s = after("v_blank", "v_antimatter")
    own(s, *["j_egg"] * 5)
    assert use(s, "c_judgement") == Status.PLAYING
    assert s.n_jokers == 6
    assert use(s, "c_judgement") == Status.ILLEGAL


def test_magic_trick_puts_plain_playing_cards_into_the_shop() -> None:
    assert share(shop(), Kind.PLAYING_CARD) == 0
    s = shop("v_magic_trick")
    assert close(share(s, Kind.PLAYING_CARD), 4 / (20 + 4 + 4 + 4))
    cards = [item for item in rerolled(s, 200) if item["kind"] == Kind.PLAYING_CARD]
    assert {(item["enhancement"], item["edition"], item["seal"], item["cost"]) for item in cards} == {(0, 0, 0, 1)}


def test_magic_trick_sells_a_card_into_the_deck() -> None:
    s = shop("v_magic_trick")
    while s.row[0].kind != Kind.PLAYING_CARD:
        act(s, Verb.REROLL)
        s.dollars, s.reroll_raise = 100, 0
    rank, suit = int(s.row[0].rank), int(s.row[0].suit)
    assert paid_for(s, Verb.BUY) == 1
    assert s.n_cards == 53
    assert sum(s.cards[i].rank == rank and s.cards[i].suit == suit for i in range(53)) == 2


def test_illusion_gives_shop_cards_enhancements_and_editions() -> None:
    shown = rerolled(shop("v_magic_trick", "v_illusion"), 3000)
    cards = [item for item in shown if item["kind"] == Kind.PLAYING_CARD]
    n = len(cards)
    assert close(n / len(shown), 4 / (20 + 4 + 4 + 4))
    assert close(sum(item["enhancement"] > 0 for item in cards) / n, 0.4)
    assert close(sum(item["edition"] > 0 for item in cards) / n, 0.2)
    assert {int(item["enhancement"]) for item in cards} == set(range(9))
    assert {int(item["edition"]) for item in cards} == {0, 1, 2, 3}
    assert all(item["seal"] == 0 for item in cards)
    extra = {0: 0, 1: 2, 2: 3, 3: 5}
    assert all(item["cost"] == 1 + extra[int(item["edition"])] for item in cards)


def test_directors_cut_draws_another_boss_once_an_ante_for_10() -> None:
    s = shop("v_directors_cut")
    act(s, Verb.NEXT_ROUND)
    boss = int(s.boss)
    assert paid_for(s, Verb.REROLL_BOSS) == 10
    assert s.boss != boss
    assert act(s, Verb.REROLL_BOSS) == Status.ILLEGAL
    to_shop(select(s, "bl_hook"))
    s.dollars = 9
    act(s, Verb.NEXT_ROUND)
    assert act(s, Verb.REROLL_BOSS) == Status.ILLEGAL
    s.dollars = 10
    assert act(s, Verb.REROLL_BOSS) == Status.PLAYING


def test_retcon_draws_another_boss_again_and_again() -> None:
    s = shop("v_directors_cut", "v_retcon")
    act(s, Verb.NEXT_ROUND)
    assert [paid_for(s, Verb.REROLL_BOSS) for _ in range(4)] == [10] * 4


def test_nobody_rerolls_the_boss_without_a_voucher() -> None:
    s = shop()
    act(s, Verb.NEXT_ROUND)
    assert s.phase == Phase.BLIND_SELECT
    assert act(s, Verb.REROLL_BOSS) == Status.ILLEGAL


@pytest.mark.parametrize(("vouchers", "size"), [((), 8), (("v_paint_brush",), 9), (("v_paint_brush", "v_palette"), 10)])
def test_paint_brush_and_palette_add_a_card_of_hand_size_each(vouchers: tuple[str, ...], size: int) -> None:
    assert after(*vouchers).n_hand == size


def test_paint_brush_counts_for_the_hand_of_a_pack_at_once() -> None:
    s = shop("v_paint_brush")
    open_pack(s, "p_arcana_normal_1")
    assert s.n_hand == 9


def test_the_numbers_of_consumables_used_here() -> None:
    assert [CONSUMABLES[number].key for number in (1, 23, 35)] == ["c_fool", "c_mercury", "c_familiar"]
