"""The 20 challenges: initial state, changed rules and bans. Expected numbers are from the challenge's description."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from ante.catalog.blinds import BLINDS
from ante.catalog.blinds import by_key as blind_by_key
from ante.catalog.cards import Sticker
from ante.catalog.challenges import CHALLENGES
from ante.catalog.consumables import CONSUMABLES
from ante.catalog.jokers import JOKERS, Extinction
from ante.catalog.packs import PACKS
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS
from ante.engine.actions import N_DISCRETE, Verb, is_legal, legal_mask, pack_action
from ante.engine.core.rng import Stream, roll_resample
from ante.engine.core.state import Kind, Phase, Place, Status
from ante.engine.core.tables import POOL, POOL_SIZE
from ante.engine.drivers.random_play import begin_player, random_decision
from ante.engine.drivers.survey import copy_of
from ante.engine.invariants import Broken, broken
from ante.engine.items.making import make_joker, make_spectral, make_tarot
from ante.engine.items.owned import create_joker, release
from ante.engine.items.pools import (
    boss_eligible,
    consumable_available,
    draw_boss,
    draw_joker,
    draw_tag,
    draw_voucher,
    joker_available,
    tag_available,
    voucher_available,
)
from ante.engine.items.sources import JokerSource, SpectralSource, TarotSource
from ante.engine.notation import card_text, item_text
from ante.engine.run import challenge_number, new_run, restart
from ante.engine.shop import draw_pack, make_row_card, pack_price, voucher_price
from ante.engine.step import step
from ante.errors import DeckOfChallenge, NotLockable, UnknownChallenge
from tests.support.table import act, jokers, own, redeal, use

KEYS = [row.key for row in CHALLENGES[1:]]
PLAIN = {"dollars": 4, "hands": 4, "discards": 3, "hand_size": 8, "joker_slots": 5}
BEGINS = {  # differences from a plain run, from each challenge's description
    "c_rich_1": {"dollars": 100},
    "c_luxury_1": {"hand_size": 10},
    "c_blast_off_1": {"hands": 2, "discards": 2, "joker_slots": 4},
    "c_five_card_1": {"hand_size": 5, "joker_slots": 7, "discards": 6},
    "c_golden_needle_1": {"dollars": 10, "hands": 1, "discards": 6},
    "c_cruelty_1": {"joker_slots": 3},
    "c_jokerless_1": {"joker_slots": 0},
}
OWNED = {
    "c_omelette_1": "j_egg j_egg j_egg j_egg j_egg",
    "c_city_1": "j_ride_the_bus+E j_shortcut+E",
    "c_knife_1": "j_ceremonial+E+Pinned",
    "c_mad_world_1": "j_pareidolia/negative+E j_business+E",
    "c_medusa_1": "j_marble+E",
    "c_inflation_1": "j_credit_card",
    "c_bram_poker_1": "j_vampire+E",
    "c_fragile_1": "j_oops/negative+E j_oops/negative+E",
    "c_monolith_1": "j_obelisk+E j_marble/negative+E",
    "c_blast_off_1": "j_constellation+E j_rocket+E",
    "c_five_card_1": "j_card_sharp j_joker",
    "c_golden_needle_1": "j_credit_card",
}
REDEEMED = {
    "c_rich_1": {"v_seed_money", "v_money_tree"},
    "c_bram_poker_1": {"v_magic_trick", "v_illusion"},
    "c_blast_off_1": {"v_planet_merchant", "v_planet_tycoon"},
}


def started(key: str, seed: str = "TESTSEED") -> Any:
    """Return the first round of a challenge."""
    s = new_run(seed, challenge=key)
    assert act(s, Verb.SELECT_BLIND) == Status.PLAYING
    return s


def cashed_out(s: Any, blind: str = "bl_small", hands_left: int = 2) -> int:
    """Return the dollars on the cash-out screen after beating this blind with this many hands left."""
    s.blind = int(blind_by_key[blind])
    s.blind_on_deck = min(2, s.blind - 1)
    s.target, s.hands_left = 1.0, hands_left + 1
    assert act(s, Verb.PLAY, cards=(0,)) != Status.ILLEGAL
    assert s.phase == Phase.ROUND_END
    return int(s.payout)


def in_shop(key: str, dollars: int = 100) -> Any:
    """Return the first shop of a challenge."""
    s = started(key)
    cashed_out(s)
    assert act(s, Verb.CASH_OUT) == Status.PLAYING
    s.dollars = dollars
    return s


@pytest.mark.parametrize("key", KEYS)
def test_a_challenge_begins_with_its_own_numbers_and_items(key: str) -> None:
    s = new_run("TESTSEED", challenge=key)
    expected = {**PLAIN, **BEGINS.get(key, {})}
    got = {
        "dollars": s.dollars,
        "hands": s.hands_each_round,
        "discards": s.discards_each_round,
        "hand_size": s.hand_size,
        "joker_slots": s.joker_slots,
    }
    assert got == expected
    assert jokers(s) == OWNED.get(key, "")
    assert {row.key for row in VOUCHERS[1:] if s.vouchers[row.voucher]} == REDEEMED.get(key, set())
    held = [item_text(s.consumables[i]) for i in range(s.n_consumables)]
    assert held == (["c_empress", "c_emperor"] if key == "c_bram_poker_1" else [])
    for i in range(s.n_jokers):
        assert s.used[s.jokers[i].id]


def deck(key: str) -> Counter[str]:
    s = new_run("TESTSEED", challenge=key)
    return Counter(card_text(s.cards[i]) for i in range(s.n_cards))


def test_decks_of_challenges() -> None:
    plain = deck("c_omelette_1")
    assert len(plain) == 52
    city = deck("c_city_1")
    assert sum(city.values()) == 52
    assert all(city[f"{suit}_{rank}"] == 1 for suit in "SHCD" for rank in "456789T")
    assert all(city[f"{suit}_{rank}"] == 2 for suit in "SHCD" for rank in "JQK")
    assert deck("c_mad_world_1") == Counter(f"{suit}_{rank}" for suit in "SHCD" for rank in "23456789")
    medusa = Counter({text: n for text, n in plain.items() if text[2] not in "JQK"})
    assert deck("c_medusa_1") == medusa + Counter(f"{suit}_{rank}:m_stone" for suit in "SHCD" for rank in "JQK")
    assert deck("c_double_nothing_1") == Counter(f"{text}=Red" for text in plain)
    assert deck("c_fragile_1") == Counter(f"{text}:m_glass" for text in plain)


def test_the_deck_of_15_minute_city_lies_in_text_order_before_its_shuffle() -> None:
    s = new_run("TESTSEED", challenge="c_city_1")
    texts = [card_text(s.cards[i]) for i in range(s.n_cards)]
    key = sorted(texts, key=lambda text: (text[0], text[2]))  # C D H S, then rank letters 4..9 J K Q T as text
    assert texts == key


def test_the_omelette_pays_neither_blinds_nor_hands_nor_interest() -> None:
    for blind, reward in (("bl_small", 3), ("bl_big", 4), ("bl_hook", 5)):
        s = started("c_omelette_1")
        s.dollars = 25
        assert cashed_out(s, blind) == 0
        plain = new_run("TESTSEED")
        act(plain, Verb.SELECT_BLIND)
        plain.dollars = 25
        assert cashed_out(plain, blind) == reward + 2 + 5


def test_mad_world_pays_the_blind_alone() -> None:
    s = started("c_mad_world_1")
    s.dollars = 25
    assert cashed_out(s) == 3


def test_cruelty_pays_bosses_only() -> None:
    assert cashed_out(started("c_cruelty_1"), "bl_small") == 2
    assert cashed_out(started("c_cruelty_1"), "bl_big") == 2
    assert cashed_out(started("c_cruelty_1"), "bl_hook") == 5 + 2


@pytest.mark.parametrize(("dollars", "chips"), [(100, 16), (7, 7), (0, 0), (-3, 0)])
def test_rich_get_richer_caps_the_chips_at_the_money(dollars: int, chips: int) -> None:
    s = started("c_rich_1")
    redeal(s, "S_A H_2 C_3")
    s.dollars, s.target = dollars, 1e300
    act(s, Verb.PLAY, cards=(0,))
    assert (s.score_chips, s.score_mult) == (chips, 1)  # a High Card of an Ace: 5 + 11


def test_rich_get_richer_caps_before_the_flint_halves() -> None:
    s = started("c_rich_1")
    redeal(s, "S_A H_A C_3")
    s.blind, s.dollars, s.target = int(blind_by_key["bl_flint"]), 5, 1e300
    act(s, Verb.PLAY, cards=(0, 1))
    # A Pair's 10 chips are capped to 5, halved and rounded to 3; two Aces make 25, capped to 5 again.
    assert s.score_chips == 5
    s = started("c_rich_1")
    redeal(s, "S_A H_A C_3")
    s.blind, s.dollars, s.target = int(blind_by_key["bl_flint"]), 5, 1e300
    s.cards[s.hand[0]].debuffed = s.cards[s.hand[1]].debuffed = 1
    act(s, Verb.PLAY, cards=(0, 1))
    assert s.score_chips == 3


def test_the_pinned_dagger_of_on_a_knifes_edge_stays_leftmost() -> None:
    s = new_run("TESTSEED", challenge="c_knife_1")
    own(s, "j_joker", "j_egg")
    assert not is_legal(s, pack_action(Verb.MOVE_JOKER, 0, 1, 0))
    assert not is_legal(s, pack_action(Verb.MOVE_JOKER, 2, 0, 0))
    assert act(s, Verb.MOVE_JOKER, 1, 2) == Status.PLAYING
    assert s.jokers[0].stickers & Sticker.PINNED
    assert jokers(s) == "j_ceremonial+E+Pinned j_egg j_joker"


def test_amber_acorn_leaves_the_pinned_dagger_leftmost() -> None:
    orders = set()
    for number in range(8):
        s = new_run(f"ACRN{number + 1}", challenge="c_knife_1")
        own(s, "j_joker", "j_sly", "j_zany", "j_mad")
        s.jokers[0].debuffed = 1  # an active dagger would destroy its neighbour
        s.boss, s.blind_on_deck = int(blind_by_key["bl_final_acorn"]), 2
        act(s, Verb.SELECT_BLIND)
        assert item_text(s.jokers[0]) == "j_ceremonial+E+Pinned"
        orders.add(jokers(s))
    assert len(orders) > 3


def test_a_copied_dagger_is_pinned_left_of_the_older_one() -> None:
    s = new_run("TESTSEED", challenge="c_knife_1")
    own(s, "j_invisible")
    s.jokers[1].count = 2  # ready: when sold, it copies the other joker
    assert act(s, Verb.SELL_JOKER, 1) == Status.PLAYING
    assert jokers(s) == "j_ceremonial+E+Pinned j_ceremonial+E+Pinned"
    assert s.jokers[0].created > s.jokers[1].created


def test_x_ray_vision_turns_a_quarter_of_the_drawn_cards() -> None:
    drawn = down = 0
    for number in range(120):
        s = started("c_xray_1", f"XRAY{number + 1}")
        drawn += int(s.n_hand)
        down += sum(int(s.cards[s.hand[i]].face_down) for i in range(s.n_hand))
    assert drawn == 120 * 8
    assert abs(down - drawn / 4) < 4 * (drawn * 3 / 16) ** 0.5  # four standard deviations of a binomial


def test_disabling_another_boss_turns_no_card_of_x_ray_vision() -> None:
    for blind, turned in (("bl_club", False), ("bl_mark", True)):
        s = new_run("XRAY3", challenge="c_xray_1")
        own(s, "j_luchador")
        s.boss, s.blind_on_deck = int(blind_by_key[blind]), 2
        act(s, Verb.SELECT_BLIND)
        before = sum(int(s.cards[s.hand[i]].face_down) for i in range(s.n_hand))
        assert before > 0
        act(s, Verb.SELL_JOKER, 0)
        after = sum(int(s.cards[s.hand[i]].face_down) for i in range(s.n_hand))
        assert after == (0 if turned else before)


@pytest.mark.parametrize(("dollars", "held"), [(0, 10), (4, 10), (5, 9), (14, 8), (-1, 11), (-6, 12), (60, 0)])
def test_luxury_tax_takes_a_card_for_every_five_dollars(dollars: int, held: int) -> None:
    s = new_run("TESTSEED", challenge="c_luxury_1")
    s.dollars = dollars
    status = act(s, Verb.SELECT_BLIND)
    assert s.n_hand == held
    assert status == (Status.PLAYING if held else Status.LOST)


def test_luxury_tax_follows_the_money_in_a_round() -> None:
    s = new_run("TESTSEED", challenge="c_luxury_1")
    s.dollars = 20
    act(s, Verb.SELECT_BLIND)
    assert s.n_hand == 6
    use(s, "c_hermit")  # $40: two cards above the limit stay, none is drawn
    assert (s.dollars, s.n_hand) == (40, 6)
    s.dollars = 12
    act(s, Verb.DISCARD, cards=(0,))
    assert s.n_hand == 8


def test_non_perishable_makes_every_joker_eternal_that_can_be() -> None:
    s = new_run("TESTSEED", challenge="c_non_perishable_1")
    for source, shop, pack in (
        (JokerSource.SHO, True, False),
        (JokerSource.BUF, False, True),
        (JokerSource.JUD, False, False),
    ):
        make_joker(s, source, shop, pack)
        assert item_text(s.made).endswith("+E")
    own(s, "j_joker")  # as from a tag or a copy: nothing is created, nothing becomes Eternal
    assert jokers(s) == "j_joker"


def test_double_or_nothing_debuffs_what_scored_for_good() -> None:
    s = started("c_double_nothing_1")
    redeal(s, "S_A:m_bonus=Red H_A=Red C_3=Red D_7=Red")
    s.target = 1e300
    act(s, Verb.PLAY, cards=(0, 1, 2))
    # 10 for the Pair; each Ace twice because of its seal: 2 x (11 + 30) + 2 x 11.
    assert s.score_chips == 10 + 82 + 22
    worn = {card_text(s.cards[i]) for i in range(s.n_cards) if s.cards[i].debuffed}
    assert worn == {"S_A:m_bonus=Red", "H_A=Red"}  # the 3 did not score
    assert cashed_out(s) > 0
    assert sum(int(s.cards[i].debuffed) for i in range(s.n_cards)) == 3  # these two and the card that beat the blind


def test_a_worn_card_that_is_enhanced_works_again_in_the_next_round() -> None:
    s = started("c_double_nothing_1")
    redeal(s, "S_A=Red H_A=Red C_3=Red")
    for position in (0, 1):
        s.cards[s.hand[position]].worn = s.cards[s.hand[position]].debuffed = 1
    use(s, "c_empress", 0)
    enhanced = int(s.hand[0])
    assert s.cards[enhanced].debuffed  # until the round ends
    s.target = 1.0
    act(s, Verb.PLAY, cards=(2,))
    debuffed = {card_text(s.cards[i]) for i in range(s.n_cards) if s.cards[i].debuffed}
    assert debuffed == {"H_A=Red", "C_3=Red"}


def test_a_refused_hand_wears_its_scoring_cards_too() -> None:
    s = started("c_double_nothing_1")
    redeal(s, "S_A=Red H_9=Red C_3=Red")
    s.blind, s.target = int(blind_by_key["bl_psychic"]), 1e300
    act(s, Verb.PLAY, cards=(0, 1))
    assert s.hand_refused
    assert {card_text(s.cards[i]) for i in range(s.n_cards) if s.cards[i].worn} == {"S_A=Red"}


def test_death_copies_the_wear() -> None:
    s = started("c_double_nothing_1")
    redeal(s, "S_A=Red H_9=Red")
    s.cards[s.hand[1]].worn = s.cards[s.hand[1]].debuffed = 1
    use(s, "c_death", 0, 1)
    assert s.cards[s.hand[0]].worn
    assert s.cards[s.hand[0]].debuffed


def typecast(ante: int) -> Any:
    """Return Typecast after this ante's boss, with a plain, a Negative, a self-destroying and a Perishable joker."""
    s = new_run("TESTSEED", challenge="c_typecast_1")
    own(s, "j_joker", "j_egg", "j_popcorn", "j_banner")
    s.jokers[1].edition = 4
    s.jokers[3].stickers, s.jokers[3].rounds = 2, 5
    s.ante, s.boss, s.blind_on_deck = ante, int(blind_by_key["bl_hook"]), 2
    act(s, Verb.SELECT_BLIND)
    cashed_out(s, "bl_hook")
    return s


def test_typecast_closes_the_slots_with_the_boss_of_ante_4() -> None:
    s = typecast(4)
    assert jokers(s) == "j_joker+E j_egg/negative+E j_popcorn j_banner+P"
    assert s.ante == 5
    assert not create_joker(s, JokerSource.JUD)
    assert not is_legal(s, pack_action(Verb.SELL_JOKER, 0, 0, 0))
    act(s, Verb.SELL_JOKER, 2)
    assert not create_joker(s, JokerSource.JUD)
    assert use(s, "c_ankh") == Status.ILLEGAL


@pytest.mark.parametrize("ante", [3, 5])
def test_typecast_does_nothing_in_other_antes(ante: int) -> None:
    s = typecast(ante)
    assert jokers(s) == "j_joker j_egg/negative j_popcorn j_banner+P"
    assert create_joker(s, JokerSource.JUD)


def test_inflation_raises_every_price_with_each_purchase() -> None:
    s = in_shop("c_inflation_1")
    prices = [int(s.row[i].cost) for i in range(s.n_row)]
    voucher, pack = voucher_price(s, int(s.shop_vouchers[0])), pack_price(s, 1)
    sold_for = int(s.jokers[0].cost)
    act(s, Verb.BUY, 0)
    assert s.dollars == 100 - prices[0]
    assert (int(s.row[0].cost), int(s.jokers[0].cost)) == (prices[1] + 1, sold_for + 1)
    assert (voucher_price(s, int(s.shop_vouchers[0])), pack_price(s, 1)) == (voucher + 1, pack + 1)
    act(s, Verb.REROLL)
    assert s.inflation == 1
    act(s, Verb.BUY_VOUCHER, 0)
    assert s.inflation == 2
    act(s, Verb.OPEN_PACK, 0)
    assert s.inflation == 3
    act(s, Verb.SKIP_PACK)
    assert pack_price(s, 1) == pack + 3


def test_golden_needle_asks_a_dollar_for_each_discard() -> None:
    s = started("c_golden_needle_1")
    act(s, Verb.DISCARD, cards=(0, 1, 2))
    assert s.dollars == 9
    s.dollars = -20
    assert act(s, Verb.DISCARD, cards=(0,)) == Status.PLAYING
    assert s.dollars == -21


@pytest.mark.parametrize("key", ["c_bram_poker_1", "c_jokerless_1"])
def test_no_jokers_in_the_shop(key: str) -> None:
    s = new_run("TESTSEED", challenge=key)
    kinds = set()
    for _ in range(300):
        make_row_card(s)
        kinds.add(int(s.made.kind))
        release(s, int(s.made.kind), int(s.made.id))
    assert Kind.JOKER not in kinds
    assert Kind.CONSUMABLE in kinds


def test_bram_poker_still_finds_jokers_in_packs_and_by_tags() -> None:
    s = new_run("TESTSEED", challenge="c_bram_poker_1")
    assert create_joker(s, JokerSource.TOP)


def available(key: str) -> set[str]:
    """Return the keys that can appear in some ante of a challenge if nothing is owned."""
    s = new_run("TESTSEED", challenge=key)
    own_nothing(s)
    found = {row.key for row in JOKERS[1:] if joker_available(s, int(row.joker))}
    found |= {row.key for row in CONSUMABLES[1:] if consumable_available(s, int(row.consumable))}
    for ante in range(1, 9):
        s.ante = ante
        found |= {row.key for row in TAGS[1:] if tag_available(s, int(row.tag))}
        found |= {row.key for row in BLINDS[3:] if boss_eligible(s, int(row.blind))}
    for first_tier in (0, 1):
        for row in VOUCHERS[1:]:
            s.vouchers[row.voucher] = int(not row.requires and first_tier)
        found |= {row.key for row in VOUCHERS[1:] if voucher_available(s, int(row.voucher))}
    return found


def drawn(key: str) -> set[str]:
    """Return the keys that several hundred draws produce."""
    s = new_run("TESTSEED", challenge=key)
    own_nothing(s)
    found: set[str] = set()
    for number in range(600):
        s.ante = 1 + number % 16
        make_tarot(s, TarotSource.AR1, True)
        found.add(item_text(s.made))
        release(s, int(s.made.kind), int(s.made.id))
        make_joker(s, JokerSource.BUF, False, False)
        found.add(JOKERS[s.made.id].key)
        release(s, int(s.made.kind), int(s.made.id))
        found |= {BLINDS[draw_boss(s)].key, TAGS[draw_tag(s)].key, PACKS[draw_pack(s)].key}
        found.add(VOUCHERS[draw_voucher(s, Stream.VOUCHER)].key)
    return found


def own_nothing(s: Any) -> None:
    s.n_jokers = s.n_consumables = 0
    s.used[:] = 0
    for row in VOUCHERS[1:]:
        s.vouchers[row.voucher] = 0


BANS = {
    "c_omelette_1": "v_seed_money v_money_tree j_to_the_moon j_rocket j_golden j_satellite",
    "c_mad_world_1": "bl_plant",
    "c_non_perishable_1": "j_gros_michel j_ice_cream j_turtle_bean j_ramen j_diet_cola j_selzer j_popcorn j_mr_bones "
    "j_invisible j_luchador bl_final_leaf",
    "c_typecast_1": "bl_final_leaf",
    "c_inflation_1": "v_clearance_sale v_liquidation",
    "c_fragile_1": "c_magician c_empress c_heirophant c_chariot c_devil c_tower c_lovers c_incantation c_grim c_familiar "
    "j_marble j_vampire j_midas_mask j_certificate v_magic_trick v_illusion tag_standard p_standard_normal_1 "
    "p_standard_normal_2 p_standard_normal_3 p_standard_normal_4 p_standard_jumbo_1 p_standard_jumbo_2 "
    "p_standard_mega_1 p_standard_mega_2",
    "c_blast_off_1": "v_grabber v_nacho_tong j_burglar",
    "c_five_card_1": "j_juggler j_troubadour j_turtle_bean",
    "c_golden_needle_1": "v_grabber v_nacho_tong j_burglar",
    "c_jokerless_1": "c_judgement c_wraith c_soul v_antimatter p_buffoon_normal_1 p_buffoon_normal_2 p_buffoon_jumbo_1 "
    "p_buffoon_mega_1 tag_rare tag_uncommon tag_holo tag_polychrome tag_negative tag_foil tag_buffoon tag_top_up "
    "bl_final_acorn bl_final_heart bl_final_leaf",
}


GATED = {"j_cavendish", "c_soul"}  # drawn only by a separate roll or flag
PACK_KEYS = {row.key for row in PACKS}


@pytest.mark.parametrize("key", BANS)
def test_what_a_challenge_bans_never_comes_up(key: str) -> None:
    banned = set(BANS[key].split())
    assert available("c_cruelty_1") - available(key) == banned - GATED - PACK_KEYS
    assert not drawn(key) & banned


def test_every_pack_but_the_banned_ones_is_for_sale() -> None:
    for key in ("c_cruelty_1", "c_fragile_1", "c_jokerless_1"):
        s = new_run("TESTSEED", challenge=key)
        s.first_shop_made = 1
        seen = {PACKS[draw_pack(s)].key for _ in range(3000)}
        assert seen == PACK_KEYS - set(BANS.get(key, "").split())


def test_jokerless_rolls_neither_for_the_soul_nor_for_black_hole() -> None:
    s = new_run("TESTSEED", challenge="c_jokerless_1")
    before = int(s.n_streams)
    make_spectral(s, SpectralSource.SPE, True)
    assert s.n_streams == before + 1  # only the stream of the spectral
    s = new_run("TESTSEED", challenge="c_cruelty_1")
    before = int(s.n_streams)
    make_spectral(s, SpectralSource.SPE, True)
    assert s.n_streams == before + 2


def test_the_first_shop_of_jokerless_has_no_buffoon_pack() -> None:
    s = in_shop("c_jokerless_1")
    assert all(not PACKS[pack].key.startswith("p_buffoon") for pack in s.packs)


def test_a_challenge_is_found_by_number_key_or_name() -> None:
    assert [challenge_number(name) for name in (14, "c_fragile_1", "fragile", "Fragile", None)] == [14, 14, 14, 14, 0]
    with pytest.raises(UnknownChallenge, match="did you mean c_fragile_1"):
        new_run("TESTSEED", challenge="c_fragil_1")
    with pytest.raises(DeckOfChallenge, match="leave out deck and stake"):
        new_run("TESTSEED", "b_blue", challenge="c_fragile_1")
    with pytest.raises(DeckOfChallenge):
        new_run("TESTSEED", stake=2, challenge="c_fragile_1")


def test_medusa_has_stone_cards_for_faces_and_marble_joker_adds_one_more_each_round() -> None:
    s = started("c_medusa_1")
    assert sum(card_text(s.cards[i]).endswith(":m_stone") for i in range(s.n_cards)) == 12 + 1
    redeal(s, "S_K:m_stone H_2")
    s.target = 1e300
    act(s, Verb.PLAY, cards=(0,))
    assert (s.score_chips, s.score_mult) == (5 + 50, 1)


def test_fragile_breaks_every_glass_card_that_scores() -> None:
    s = started("c_fragile_1")
    redeal(s, "S_A:m_glass H_A:m_glass C_3:m_glass")
    s.target = 1e300
    act(s, Verb.PLAY, cards=(0, 1, 2))
    assert s.score_mult == 2 * 2 * 2  # a Pair's 2, twice doubled
    gone = {card_text(s.cards[i]) for i in range(s.n_cards) if s.cards[i].place == Place.GONE}
    assert {"S_A:m_glass", "H_A:m_glass"} <= gone  # 1 in 4, doubled twice
    assert "C_3:m_glass" not in gone


def test_monolith_leaves_room_beside_the_negative_marble_joker() -> None:
    s = new_run("TESTSEED", challenge="c_monolith_1")
    assert [create_joker(s, JokerSource.JUD) for _ in range(5)] == [True, True, True, True, False]


def test_blast_off_finds_planets_in_most_places_of_the_shop() -> None:
    s = new_run("TESTSEED", challenge="c_blast_off_1")
    planets = 0
    for _ in range(2000):
        make_row_card(s)
        planets += s.made.kind == Kind.CONSUMABLE and 23 <= s.made.id <= 34
        release(s, int(s.made.kind), int(s.made.id))
    share = 32 / (20 + 4 + 32)  # Planet Tycoon's weight relative to jokers and tarots
    assert abs(planets - 2000 * share) < 4 * (2000 * share * (1 - share)) ** 0.5


def test_five_card_draw_deals_five_cards_and_holds_seven_jokers() -> None:
    s = started("c_five_card_1")
    assert (s.n_hand, s.discards_left) == (5, 6)
    assert [create_joker(s, JokerSource.JUD) for _ in range(6)] == [True] * 5 + [False]


def test_what_the_profile_has_locked_keeps_its_place_and_is_drawn_again() -> None:
    """Nothing changes until the locked joker is drawn; then the draw continues with its `_resample2` stream."""
    free, locked = new_run("LOCKED12"), new_run("LOCKED12", locked=["j_blueprint"])
    rares = int(POOL_SIZE[3])
    for _ in range(2000):
        u = roll_resample(copy_of(locked), Stream.JOKER3_JUD, 2)
        names = [JOKERS[draw_joker(s, int(Stream.JOKER3_JUD), 3)].key for s in (free, locked)]
        if names[0] == "j_blueprint":
            assert names[1] == JOKERS[POOL[3, int(u * rares)]].key
            return
        assert names[0] == names[1]
    raise AssertionError("Blueprint was never drawn")


def test_a_fresh_profile_has_none_of_what_is_still_to_be_unlocked() -> None:
    s = new_run("TESTSEED", locked="fresh")
    own_nothing(s)
    seen = set()
    for _ in range(3000):
        make_joker(s, JokerSource.SHO, True, False)
        seen.add(JOKERS[s.made.id].joker)
        release(s, Kind.JOKER, int(s.made.id))
    gated = {row.joker for row in JOKERS[1:] if row.needs_in_deck or row.extinction == Extinction.AFTER}
    expected = {row.joker for row in JOKERS[1:] if row.unlocked_at_start and row.rarity <= 3} - gated
    assert seen == expected


def test_only_what_a_profile_can_lack_can_be_locked() -> None:
    with pytest.raises(NotLockable, match="cannot be locked"):
        new_run("TESTSEED", locked=["j_joker"])
    with pytest.raises(NotLockable, match="did you mean j_blueprint"):
        new_run("TESTSEED", locked="j_bluprint")


def test_a_restarted_game_keeps_its_profile() -> None:
    s = new_run("TESTSEED", locked="fresh")
    locked = bytes(s.locked)
    restart(s, 0, 1, 0)
    assert bytes(s.locked) == locked
    assert s.restricted
    assert any(locked)


@pytest.mark.parametrize("key", KEYS)
def test_every_challenge_can_be_played_at_random_to_its_end(key: str) -> None:
    s = new_run("RANDOM12", challenge=key)
    s.one_chip_blinds = 1
    rng, mask = np.zeros(1, np.uint64), np.zeros(N_DISCRETE, np.uint8)
    begin_player(rng, 3)
    for _ in range(2000):
        legal_mask(s, mask)
        status = step(s, random_decision(s, mask, rng))
        assert status != Status.ILLEGAL
        assert Broken(broken(s)) == Broken.NOTHING
        if status == Status.LOST:
            return
    assert s.ante > 1
