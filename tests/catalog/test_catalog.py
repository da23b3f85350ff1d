"""The catalogue contains every fact of the recorded rules, in pool order; some facts are checked against literals."""

import dataclasses
import gzip
import json
import math
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest

from ante.catalog import blinds, cards, constants, consumables, decks, hands, jokers, packs, tags, vouchers
from ante.catalog.blinds import Blind, ante_base
from ante.catalog.cards import Enhancement, Suit
from ante.catalog.consumables import Consumable
from ante.catalog.decks import Deck, Stake
from ante.catalog.hands import Hand
from ante.catalog.jokers import JOKERS, Joker, joker_pool
from ante.catalog.packs import PackKind
from ante.catalog.tags import Tag
from ante.catalog.vouchers import Voucher

RULES: dict[str, Any] = json.loads(
    gzip.decompress((Path(__file__).parent.parent / "golden" / "balatro-rules.json.gz").read_bytes())
)


def plain(value: Any) -> Any:
    """Return the value after a round trip through JSON."""
    return json.loads(json.dumps(value))


def member_name(key: str) -> str:
    """Return the enum member of a key: `j_8_ball` gives EIGHT_BALL."""
    name = key.split("_", 1)[1].upper()
    return name.replace("8_", "EIGHT_") if name.startswith("8_") else name


# Every recorded fact by section. Each row is rebuilt in its recorded form, so that no fact is missing or additional.


def joker_facts(row: jokers.JokerRow) -> dict[str, Any]:
    facts = {
        "key": row.key,
        "name": row.name,
        "order": int(row.joker),
        "rarity": row.rarity,
        "pool_index": joker_pool(row.rarity).index(row.joker) + 1,
        "cost": row.cost,
        "blueprint_compat": row.blueprint_compat,
        "eternal_compat": row.eternal_compat,
        "perishable_compat": row.perishable_compat,
        "unlocked_at_start": row.unlocked_at_start,
        "effect": row.effect,
    }
    if row.unlock is not None:
        facts["unlock"] = row.unlock
    if row.needs_in_deck:
        facts["requires_enhancement_in_deck"] = f"m_{row.needs_in_deck.name.lower()}"
    if row.extinction == jokers.Extinction.BEFORE:
        facts["excluded_when_flag"] = "gros_michel_extinct"
    if row.extinction == jokers.Extinction.AFTER:
        facts["requires_flag"] = "gros_michel_extinct"
    return facts


# Numbers that the game never reads, which no row contains.
UNREAD: dict[str, dict[str, Any]] = {
    "c_ankh": {"amount": 2},
    "c_hex": {"amount": 2},
    "v_crystal_ball": {"amount": 3},
    "v_omen_globe": {"amount": 4},
    "v_telescope": {"amount": 3},
    "v_tarot_merchant": {"extra_disp": 2},
    "v_tarot_tycoon": {"extra_disp": 4},
    "v_planet_merchant": {"extra_disp": 2},
    "v_planet_tycoon": {"extra_disp": 4},
    "v_blank": {"amount": 5},
    "v_antimatter": {"amount": 15},
    "v_illusion": {"amount": 4},
}
# The effects of consumables on selected cards, other than giving them a modifier.
CONVERSIONS = {"c_strength": "up_rank", "c_death": "card"}
REMOVES_CARDS = {"c_hanged_man", "c_familiar", "c_grim", "c_incantation", "c_immolate"}


def consumable_values(row: consumables.ConsumableRow) -> dict[str, Any]:
    """Return the numbers of a row under the game's names."""
    values: dict[str, Any] = dict(UNREAD.get(row.key, {}))
    if row.max_highlighted and row.key != "c_aura":
        values["max_highlighted"] = row.max_highlighted
    if row.min_highlighted > 1:
        values["min_highlighted"] = row.min_highlighted
    if row.enhancement:
        values["mod_conv"] = cards.ENHANCEMENTS[row.enhancement].key
    if row.key in CONVERSIONS:
        values["mod_conv"] = CONVERSIONS[row.key]
    if row.suit is not None:
        values["suit_conv"] = cards.SUIT_NAMES[row.suit]
    if row.seal:
        values["amount"] = cards.SEALS[row.seal].key
    if row.key in REMOVES_CARDS:
        values["remove_card"] = True
    if row.destroyed > 1:
        values["destroy"] = row.destroyed
    if row.count:
        values[{"c_high_priestess": "planets", "c_emperor": "tarots"}.get(row.key, "amount")] = row.count
    if row.dollars:
        values["dollars"] = row.dollars
    if row.cap or row.odds:
        values["amount"] = row.cap or row.odds
    return values


def voucher_values(row: vouchers.VoucherRow) -> dict[str, Any]:
    """Return the number of a voucher's row as the game's amount: none for Overstock, negative for ante changes."""
    numbers = (
        *(row.consumable_slots, row.hands, row.discards, row.hand_size, row.percent_off, row.edition_times),
        *(row.reroll_discount, row.rate_times, row.playing_card_rate, row.x_mult, row.interest_cap, row.boss_reroll),
    )
    usual = (*(0,) * 5, 1, 0, 1, 0, 1, 0, 0)
    found = [abs(number) for number, plain_number in zip(numbers, usual, strict=True) if number != plain_number]
    assert len(found) <= 1, row.key
    return ({"amount": found[0]} if found else {}) | UNREAD.get(row.key, {})


def deck_values(row: decks.DeckRow) -> dict[str, Any]:
    """Return the numbers of a deck's row under the game's names."""
    names = {"joker_slots": "joker_slot", "consumable_slots": "consumable_slot", "target_times": "ante_scaling"}
    values: dict[str, Any] = {}
    for field in ("hands", "discards", "hand_size", "joker_slots", "consumable_slots", "dollars", "spectral_rate"):
        if getattr(row, field):
            values[names.get(field, field)] = getattr(row, field)
    if row.target_times != 1:
        values["ante_scaling"] = row.target_times
    if row.hand_dollars != constants.MONEY_PER_HAND:
        values["extra_hand_bonus"] = row.hand_dollars
    if row.discard_dollars:
        values["extra_discard_bonus"] = row.discard_dollars
    if not row.interest:
        values["no_interest"] = True
    if row.consumables:
        values["consumables"] = [consumables.CONSUMABLES[number].key for number in row.consumables]
    if row.vouchers:
        keys = [vouchers.VOUCHERS[number].key for number in row.vouchers]
        values |= {"voucher": keys[0]} if len(keys) == 1 else {"vouchers": keys}
    if row.deck == Deck.ABANDONED:
        values["remove_faces"] = True
    if row.deck == Deck.ERRATIC:
        values["randomize_rank_suit"] = True
    return values


def enhancement_values(row: cards.EnhancementRow) -> dict[str, Any]:
    """Return the numbers of an enhancement's row under the game's names."""
    values = {
        "bonus": row.chips,
        "mult": row.mult,
        "Xmult": row.x_mult if row.x_mult != 1 else 0,
        "amount": row.break_odds,
        "h_x_mult": row.held_x_mult if row.held_x_mult != 1 else 0,
        "h_dollars": row.held_dollars,
        "p_dollars": row.dollars,
    }
    return {name: value for name, value in values.items() if value}


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
        assert row.hand is not None and row.in_pool and not consumable_values(row)
        return facts | {"hand": hands.HANDS[row.hand].name, "softlocked": row.softlocked}
    assert row.hand is None and not row.softlocked
    facts["values"] = consumable_values(row)
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
        "values": voucher_values(row),
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
        "values": deck_values(row),
        "effect": row.effect,
        "unlock": row.unlock,
    }


def enhancement_facts(row: cards.EnhancementRow) -> dict[str, Any]:
    return {
        "key": row.key,
        "name": row.name,
        "order": row.enhancement + 1,
        "values": enhancement_values(row),
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
    "joker_pools": {str(rarity): [JOKERS[joker].key for joker in joker_pool(rarity)] for rarity in (1, 2, 3, 4)},
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

# Sentences are not compared here; tests below check their content.
PROSE = {"game_version", "about", "stakes_note", "ante_base_note", "pricing"}


@pytest.mark.parametrize("section", sorted(CATALOGUE))
def test_section_equals_the_recorded_rules(section: str) -> None:
    # The numbers of jokers are compared below, since rows use other names.
    left_out = {"values", "pool_note"} if section == "jokers" else set()
    recorded = (
        [{k: v for k, v in row.items() if k not in left_out} for row in RULES[section]] if left_out else RULES[section]
    )
    assert plain(CATALOGUE[section]) == recorded


def test_no_section_of_the_recorded_rules_is_left_out() -> None:
    assert set(CATALOGUE) | PROSE == set(RULES)


# Fields that are not in the recorded rules: ids, member names, derived numbers.


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
    pools = [joker_pool(rarity) for rarity in (1, 2, 3, 4)]
    assert [len(pool) for pool in pools] == [61, 64, 20, 5]
    assert sorted(joker for pool in pools for joker in pool) == list(range(1, 151))


# Fields that correspond to a recorded name. Its meaning depends on the joker; its number must be one of these.
GROWERS = ("growth", "loss", "start")
RECORDED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("mult", "s_mult", "t_mult"), ("mult", "start")),
    **dict.fromkeys(("chips", "t_chips"), ("chips", "start")),
    **dict.fromkeys(("Xmult", "xmult"), ("xmult", "start", "growth")),
    **dict.fromkeys(("hand_add", "discard_sub", "increase", "h_mod"), GROWERS),
    "chip_mod": ("chips", *GROWERS),
    "odds": ("odds",),
    "dollars": ("dollars", "count", "per"),
    "h_size": ("hand_size", "count"),
    "h_plays": ("hands",),
    "d_size": ("discards",),
    "d_remaining": ("at_most",),
    "discards": ("count",),
    "faces": ("at_least",),
    "size": ("at_most",),
    "max": ("at_most",),
    "min": ("at_least",),
}
RECORDED["amount"] = tuple(
    field.name for field in dataclasses.fields(jokers.JokerRow) if field.default is None and field.name != "unlock"
)
# Recorded numbers that the game does not use, or with another meaning in the row.
OTHERWISE = {
    ("j_burnt", "amount"),  # unused
    ("j_burnt", "h_size"),  # unused
    ("j_loyalty_card", "every"),  # hands between two triggers; the row has the cycle length
    ("j_stuntman", "h_size"),  # without its sign
}


@pytest.mark.parametrize("facts", RULES["jokers"], ids=lambda facts: facts["key"])
def test_the_numbers_of_a_joker_are_the_recorded_ones(facts: dict[str, Any]) -> None:
    row = JOKERS[jokers.by_key[facts["key"]]]
    for name, value in facts["values"].items():
        if name == "suit":
            assert row.suit == cards.suit_by_name[value]
        elif name in ("type", "poker_hand"):
            assert row.joker == Joker.TODO_LIST or row.hand == hands.by_key[value]
        elif (row.key, name) not in OTHERWISE:
            # A number that is 0 may be missing, which has the same meaning.
            assert value in [getattr(row, field) or 0 for field in RECORDED[name]], name
    assert JOKERS[Joker.LOYALTY_CARD].every == 5 + 1 and JOKERS[Joker.STUNTMAN].hand_size == -2


@pytest.mark.parametrize("row", JOKERS[1:], ids=lambda row: row.key)
def test_a_number_that_is_not_recorded_stands_in_the_sentence(row: jokers.JokerRow) -> None:
    recorded = next(facts["values"] for facts in RULES["jokers"] if facts["key"] == row.key).values()
    wording = {"j_ceremonial": "twice", "j_raised_fist": "twice", "j_mr_bones": "25%"}
    for name in RECORDED["amount"]:
        value = getattr(row, name)
        # "a", "the first" and an initial X1 mean one.
        if value not in (None, 1, *recorded) and not isinstance(value, IntEnum) and name != "target_rarity":
            assert wording.get(row.key, f"{abs(value):g}") in row.effect, name


def test_numbers_beside_the_recorded_ones_stand_in_the_sentence() -> None:
    assert "+50" in cards.EDITIONS[cards.Edition.FOIL].effect and cards.EDITIONS[cards.Edition.FOIL].chips == 50
    assert "+10" in cards.EDITIONS[cards.Edition.HOLO].effect and cards.EDITIONS[cards.Edition.HOLO].mult == 10
    assert cards.EDITIONS[cards.Edition.POLYCHROME].x_mult == 1.5
    lucky = cards.ENHANCEMENTS[Enhancement.LUCKY]
    assert f"1 in {lucky.mult_odds} chance of +{lucky.mult} Mult" in lucky.effect
    assert f"1 in {lucky.dollars_odds} chance of ${lucky.dollars}" in lucky.effect
    assert {row.tag: row.cap for row in tags.TAGS if row.cap} == {Tag.ECONOMY: 40}
    for row in tags.TAGS:
        for number in (row.dollars, row.cap, row.hand_size, row.jokers, row.levels):
            assert not number or str(number) in row.effect, row.key
        assert (row.pack is not None) == ("Opens a free" in row.effect), row.key
        assert not row.pack or packs.PACKS[packs.by_key[row.pack]].kind.name.title() in row.effect, row.key
        assert not row.edition or row.edition.name.title()[:4] in row.effect, row.key
    for row in blinds.BLINDS:
        numbers = (row.cards, row.odds, row.hands, abs(row.hand_size), abs(row.levels), abs(row.dollars))
        assert all(str(number) in row.effect for number in numbers if number), row.key


def test_hand_cards_that_a_consumable_is_used_on() -> None:
    def bounds(consumable: Consumable) -> tuple[int, int]:
        row = consumables.CONSUMABLES[consumable]
        return row.min_highlighted, row.max_highlighted

    assert bounds(Consumable.DEATH) == (2, 2)
    assert bounds(Consumable.SUN) == (1, 3)
    assert bounds(Consumable.CRYPTID) == (1, 1)
    assert bounds(Consumable.AURA) == (1, 1)
    assert consumables.CONSUMABLES[Consumable.HERMIT].max_highlighted == 0


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
        # Computed by hand: 50000 * (1.6 + 0.75^1.2) = 115,403
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
