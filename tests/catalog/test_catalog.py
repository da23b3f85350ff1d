"""The catalogue holds every fact of the recorded rules, in pool order, and a few that are checked by hand."""

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest

from ante.catalog import blinds, cards, constants, consumables, decks, hands, jokers, packs, shop, tags, vouchers
from ante.catalog.blinds import Blind, ante_base
from ante.catalog.cards import Enhancement, Suit
from ante.catalog.consumables import Consumable
from ante.catalog.decks import Deck, Stake
from ante.catalog.hands import Hand
from ante.catalog.jokers import JOKER_POOLS, JOKERS, Joker
from ante.catalog.packs import PackKind
from ante.catalog.tags import Tag
from ante.catalog.vouchers import Voucher

RULES: dict[str, Any] = json.loads(
    gzip.decompress((Path(__file__).parent.parent / "golden" / "balatro-rules.json.gz").read_bytes())
)


def plain(value: Any) -> Any:
    """The value as JSON would give it back."""
    return json.loads(json.dumps(value))


def member_name(key: str) -> str:
    """The enum member a key names: `j_8_ball` gives EIGHT_BALL."""
    name = key.split("_", 1)[1].upper()
    return name.replace("8_", "EIGHT_") if name.startswith("8_") else name


# Every recorded fact, section by section. Each row is rebuilt as recorded, so nothing can be missing or extra.


def joker_facts(row: jokers.JokerRow) -> dict[str, Any]:
    facts = {
        "key": row.key,
        "name": row.name,
        "order": int(row.joker),
        "rarity": row.rarity,
        "pool_index": JOKER_POOLS[row.rarity].index(row.joker) + 1,
        "cost": row.cost,
        "blueprint_compat": row.blueprint_compat,
        "eternal_compat": row.eternal_compat,
        "perishable_compat": row.perishable_compat,
        "unlocked_at_start": row.unlocked_at_start,
        "values": row.values,
        "effect": row.effect,
    }
    for gate in ("unlock", "requires_enhancement_in_deck", "excluded_when_flag", "requires_flag", "pool_note"):
        if getattr(row, gate) is not None:
            facts[gate] = getattr(row, gate)
    return facts


def consumable_facts(row: consumables.ConsumableRow) -> dict[str, Any]:
    first = {
        consumables.Set.TAROT: consumables.FIRST_TAROT,
        consumables.Set.PLANET: consumables.FIRST_PLANET,
        consumables.Set.SPECTRAL: consumables.FIRST_SPECTRAL,
    }[row.set]
    facts = {
        "key": row.key,
        "name": row.name,
        "order": row.consumable - first + 1,
        "cost": row.cost,
        "effect": row.effect,
    }
    if row.set == consumables.Set.PLANET:
        assert row.hand is not None and row.in_pool and not row.values
        return facts | {"hand": hands.HANDS[row.hand].name, "softlocked": row.softlocked}
    assert row.hand is None and not row.softlocked
    facts["values"] = row.values
    if row.set == consumables.Set.SPECTRAL:
        return facts | {"in_pool": row.in_pool}
    assert row.in_pool
    return facts


def voucher_facts(row: vouchers.VoucherRow) -> dict[str, Any]:
    return {
        "key": row.key,
        "name": row.name,
        "order": int(row.voucher),
        "cost": row.cost,
        "requires": [vouchers.VOUCHERS[needed].key for needed in row.requires],
        "unlocked_at_start": row.unlocked_at_start,
        "unlock": row.unlock,
        "values": row.values,
        "effect": row.effect,
    }


def tag_facts(row: tags.TagRow) -> dict[str, Any]:
    return {
        "key": row.key,
        "name": row.name,
        "order": int(row.tag),
        "min_ante": row.min_ante,
        "requires_discovered": row.requires_discovered,
        "when": row.when,
        "effect": row.effect,
    }


def blind_facts(row: blinds.BlindRow) -> dict[str, Any]:
    return {
        "key": row.key,
        "name": row.name,
        "order": int(row.blind),
        "mult": row.mult,
        "reward": row.reward,
        "kind": row.kind,
        "min_ante": row.min_ante,
        "effect": row.effect,
    }


def pack_facts(index: int, row: packs.PackRow) -> dict[str, Any]:
    return {
        "key": row.key,
        "name": row.name,
        "order": index + 1,
        "kind": row.kind.name.capitalize(),
        "cost": row.cost,
        "weight": row.weight,
        "size": row.size,
        "choose": row.choose,
    }


def deck_facts(row: decks.DeckRow) -> dict[str, Any]:
    return {
        "key": row.key,
        "name": row.name,
        "order": row.deck + 1,
        "values": row.values,
        "effect": row.effect,
        "unlock": row.unlock,
    }


def enhancement_facts(row: cards.EnhancementRow) -> dict[str, Any]:
    return {
        "key": row.key,
        "name": row.name,
        "order": row.enhancement + 1,
        "values": row.values,
        "effect": row.effect,
    }


def hand_facts(row: hands.HandRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "order": row.hand + 1,
        "chips": row.chips,
        "mult": row.mult,
        "chips_per_level": row.chips_per_level,
        "mult_per_level": row.mult_per_level,
        "visible_at_start": row.visible_at_start,
    }


CATALOGUE = {
    "jokers": [joker_facts(row) for row in JOKERS[1:]],
    "joker_pools": {str(rarity): [JOKERS[joker].key for joker in pool] for rarity, pool in JOKER_POOLS.items()},
    "tarots": [consumable_facts(row) for row in consumables.TAROTS],
    "planets": [consumable_facts(row) for row in consumables.PLANETS],
    "spectrals": [consumable_facts(row) for row in consumables.SPECTRALS],
    "vouchers": [voucher_facts(row) for row in vouchers.VOUCHERS[1:]],
    "tags": [tag_facts(row) for row in tags.TAGS[1:]],
    "blinds": [blind_facts(row) for row in blinds.BLINDS[1:]],
    "boss_keys_sorted": [blinds.BLINDS[boss].key for boss in blinds.BOSSES_SORTED],
    "boosters": [pack_facts(index, row) for index, row in enumerate(packs.PACKS)],
    "booster_total_weight": packs.TOTAL_WEIGHT,
    "decks": [deck_facts(row) for row in decks.DECKS],
    "stakes": [{"level": int(row.stake), "key": row.key, "effect": row.effect} for row in decks.STAKES],
    "enhancements": [enhancement_facts(row) for row in cards.ENHANCEMENTS[1:]],
    "editions": [{"key": row.key, "effect": row.effect, "extra_cost": row.extra_cost} for row in cards.EDITIONS[1:]],
    "seals": [{"key": row.key, "effect": row.effect} for row in cards.SEALS[1:]],
    "poker_hands": [hand_facts(row) for row in hands.HANDS],
    "ante_base": {str(scaling): bases for scaling, bases in blinds.ANTE_BASE.items()},
    "playing_cards_sorted": [cards.card_key(suit, rank) for suit, rank in cards.FRONTS],
    "constants": {name.lower(): getattr(constants, name) for name in dir(constants) if name.isupper()},
}

# Sentences, not facts of a row; what they say is tested below as behaviour.
PROSE = {"game_version", "about", "stakes_note", "ante_base_note", "pricing"}


@pytest.mark.parametrize("section", sorted(CATALOGUE))
def test_section_equals_the_recorded_rules(section: str) -> None:
    assert plain(CATALOGUE[section]) == RULES[section]


def test_no_section_of_the_recorded_rules_is_left_out() -> None:
    assert set(CATALOGUE) | PROSE == set(RULES)


# What the recorded rules do not settle: ids, names of members, derived numbers.


@pytest.mark.parametrize(
    ("enum", "keys", "first"),
    [
        (Joker, [row["key"] for row in RULES["jokers"]], 1),
        (Consumable, [row["key"] for kind in ("tarots", "planets", "spectrals") for row in RULES[kind]], 1),
        (Voucher, [row["key"] for row in RULES["vouchers"]], 1),
        (Tag, [row["key"] for row in RULES["tags"]], 1),
        (Blind, [row["key"] for row in RULES["blinds"]], 1),
        (Enhancement, [row["key"] for row in RULES["enhancements"]], 1),
        (Deck, [row["key"] for row in RULES["decks"]], 0),
        (Stake, [row["key"] for row in RULES["stakes"]], 1),
    ],
)
def test_members_are_named_after_keys_and_numbered_in_order(enum: Any, keys: list[str], first: int) -> None:
    members = [member for member in enum if member >= first]
    assert [member.name for member in members] == [member_name(key) for key in keys]
    assert [int(member) for member in members] == list(range(first, first + len(keys)))


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        (JOKERS, "joker"),
        (consumables.CONSUMABLES, "consumable"),
        (vouchers.VOUCHERS, "voucher"),
        (tags.TAGS, "tag"),
        (blinds.BLINDS, "blind"),
        (cards.ENHANCEMENTS, "enhancement"),
        (cards.EDITIONS, "edition"),
        (cards.SEALS, "seal"),
        (hands.HANDS, "hand"),
        (decks.DECKS, "deck"),
    ],
)
def test_a_row_stands_at_the_index_of_its_id(rows: tuple[Any, ...], name: str) -> None:
    assert [int(getattr(row, name)) for row in rows] == list(range(len(rows)))


def test_keys_are_unique_and_found_again() -> None:
    tables = {
        150: jokers.by_key,
        52: consumables.by_key,
        32: vouchers.by_key,
        24: tags.by_key,
        30: blinds.by_key,
        15: decks.by_key,
        12: hands.by_key,
        8: cards.by_key,
    }
    for count, table in tables.items():
        assert len(table) == count
    assert len(packs.by_key) == 32
    assert len(decks.stake_by_key) == 8
    assert jokers.by_key["j_8_ball"] == Joker.EIGHT_BALL
    assert consumables.by_key["c_black_hole"] == Consumable.BLACK_HOLE
    assert packs.PACKS[packs.by_key["p_spectral_mega_1"]].kind == PackKind.SPECTRAL
    assert hands.by_key["Two Pair"] == Hand.TWO_PAIR
    assert cards.edition_by_key["holo"] == cards.Edition.HOLO
    assert cards.seal_by_key["Purple"] == cards.Seal.PURPLE
    assert cards.suit_by_name["Diamonds"] == Suit.DIAMONDS


def test_joker_pools_hold_each_joker_once() -> None:
    assert {rarity: len(pool) for rarity, pool in JOKER_POOLS.items()} == {1: 61, 2: 64, 3: 20, 4: 5}
    assert sorted(joker for pool in JOKER_POOLS.values() for joker in pool) == list(range(1, 151))


def test_the_two_main_numbers_of_every_joker_exist() -> None:
    for row in JOKERS[1:]:
        numbers = {name for name, value in (*row.values.items(), *row.more.items()) if not isinstance(value, str)}
        assert not row.values.keys() & row.more.keys(), row.key
        assert row.amount_key in numbers or (row.amount_key == "amount" and not numbers), row.key
        assert row.extra_key == "" or row.extra_key in numbers, row.key


@pytest.mark.parametrize(
    ("joker", "amount", "extra"),
    [
        (Joker.JOKER, 4, 0),
        (Joker.GREEDY_JOKER, 3, 0),
        (Joker.EIGHT_BALL, 1, 4),
        (Joker.BUSINESS, 2, 2),
        (Joker.CAVENDISH, 3, 1000),
        (Joker.CONSTELLATION, 0.1, 1),
        (Joker.MADNESS, 0.5, 1),
        (Joker.ICE_CREAM, 100, 5),
        (Joker.RAMEN, 2, 0.01),
        (Joker.RUNNER, 15, 0),
        (Joker.SCHOLAR, 20, 4),
        (Joker.YORICK, 1, 23),
        (Joker.CHICOT, 0, 0),
        (Joker.NONE, 0, 0),
    ],
)
def test_main_numbers_of_a_joker(joker: Joker, amount: float, extra: float) -> None:
    assert (JOKERS[joker].amount, JOKERS[joker].extra) == (amount, extra)


def test_the_odds_of_a_joker_are_its_extra_number() -> None:
    for row in JOKERS[1:]:
        if "1 in " in row.effect:
            assert f"1 in {row.extra:g} chance" in row.effect, row.key


def test_numbers_beside_the_recorded_ones_stand_in_the_sentence() -> None:
    assert "+50" in cards.EDITIONS[cards.Edition.FOIL].effect and cards.EDITIONS[cards.Edition.FOIL].chips == 50
    assert "+10" in cards.EDITIONS[cards.Edition.HOLO].effect and cards.EDITIONS[cards.Edition.HOLO].mult == 10
    assert cards.EDITIONS[cards.Edition.POLYCHROME].x_mult == 1.5
    assert cards.ENHANCEMENTS[Enhancement.LUCKY].more == {"mult_odds": 5, "dollars_odds": 15}
    for row in tags.TAGS:
        for name, number in row.values.items():
            assert str(number) in row.effect or name == "vouchers", row.key


def test_hand_cards_that_a_consumable_is_used_on() -> None:
    def bounds(consumable: Consumable) -> tuple[int, int]:
        row = consumables.CONSUMABLES[consumable]
        return row.min_highlighted, row.max_highlighted

    assert bounds(Consumable.DEATH) == (2, 2)
    assert bounds(Consumable.SUN) == (1, 3)
    assert bounds(Consumable.CRYPTID) == (1, 1)
    assert bounds(Consumable.HERMIT) == (0, 0)


def test_every_planet_raises_a_hand_of_its_own() -> None:
    assert sorted(row.hand for row in consumables.PLANETS if row.hand is not None) == list(Hand)


def test_pack_weights_add_up() -> None:
    assert math.isclose(sum(row.weight for row in packs.PACKS), packs.TOTAL_WEIGHT)


def test_bosses_are_the_28_besides_small_and_big() -> None:
    assert sorted(blinds.BOSSES_SORTED) == list(range(Blind.HOOK, Blind.FINAL_BELL + 1))
    assert [row.blind for row in blinds.BLINDS if row.showdown] == [
        Blind.FINAL_ACORN,
        Blind.FINAL_LEAF,
        Blind.FINAL_VESSEL,
        Blind.FINAL_HEART,
        Blind.FINAL_BELL,
    ]


def test_cards_have_keys_chips_and_an_order() -> None:
    assert cards.card_key(Suit.SPADES, cards.ACE) == "S_A"
    assert cards.FRONTS[0] == (Suit.CLUBS, 2)
    assert cards.FRONTS[-1] == (Suit.SPADES, 10)
    assert [cards.RANK_CHIPS[rank] for rank in (2, 10, cards.JACK, cards.KING, cards.ACE)] == [2, 10, 10, 10, 11]


@pytest.mark.parametrize(
    ("ante", "scaling", "base"),
    [
        (-3, 1, 100),
        (0, 3, 100),
        (1, 1, 300),
        (8, 1, 50_000),
        (8, 3, 200_000),
        # By hand: 50000 * (1.6 + 0.75^1.2) = 115,403
        (9, 1, 110_000),
        # 100000 and 200000 times the same 2.308
        (9, 2, 230_000),
        (9, 3, 460_000),
        # 50000 * (1.6 + 1.5^1.4)^2 = 50000 * 3.3641^2 = 565,862
        (10, 1, 560_000),
    ],
)
def test_chips_an_ante_asks_for(ante: int, scaling: int, base: float) -> None:
    assert ante_base(ante, scaling) == base


def test_an_ante_beyond_doubles_asks_for_what_no_score_reaches() -> None:
    assert math.isfinite(ante_base(38, 1))
    assert math.isnan(ante_base(39, 1))


@pytest.mark.parametrize(
    ("base", "extra", "inflation", "discount", "dollars"),
    [(5, 0, 0, 0, 5), (5, 5, 0, 25, 7), (1, 0, 0, 50, 1), (10, 0, 0, 50, 5), (4, 0, 3, 0, 7)],
)
def test_price_of_an_item(base: int, extra: int, inflation: int, discount: int, dollars: int) -> None:
    assert shop.price(base, extra, inflation, discount) == dollars


def test_sell_value_is_half_the_price_and_never_nothing() -> None:
    assert [shop.sell_value(cost) for cost in (0, 1, 2, 5, 8)] == [1, 1, 1, 2, 4]
    assert shop.sell_value(5, accrued=3) == 5
