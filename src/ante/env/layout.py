"""The layout of observations, field by field: the only definition of their shape.

An observation is a record, like a game: a batch is an array of records, and Gymnasium's Dict observation consists of
its fields. `FLAT` describes the same content as one float32 vector. `python -m ante.env.layout` prints both as tables.

Columns are named only here and accessed by name: `RUN.deck` is the index of column "deck" of field `run`,
`CARD_AT.suit` the offset of a card's suit within its part of the flat vector. These tuples of ints are built at import
from the lists of names; compiled code reads them as constants.
"""

from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from ante.catalog.blinds import Blind
from ante.catalog.cards import Edition, Enhancement, Seal, Suit
from ante.catalog.hands import Hand
from ante.catalog.jokers import Joker
from ante.catalog.packs import PackKind
from ante.catalog.tags import Tag
from ante.catalog.vouchers import Voucher
from ante.engine.actions import N_DISCRETE
from ante.engine.core.records import as_records
from ante.engine.core.state import (
    MAX_HAND,
    MAX_JOKERS,
    MAX_PACK,
    MAX_PACKS,
    MAX_ROW,
    MAX_SHOP_VOUCHERS,
    SHOWN_CONSUMABLES,
    Kind,
    Phase,
)


def offsets(kind: str, widths: Mapping[str, int]) -> Any:
    """Return the offset of each part if all parts are concatenated: a named tuple of ints, one for each name."""
    begins, size = [], 0
    for width in widths.values():
        begins.append(size)
        size += width
    kind_t: Any = namedtuple(kind, list(widths))  # type: ignore[misc]
    return kind_t(*begins)


def columns(kind: str, *names: str) -> Any:
    """Return the index of each column: a named tuple of ints, one for each name."""
    return offsets(kind, dict.fromkeys(names, 1))


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the observation.

    low, high  bounds, included
    columns    names along the last axis, empty if `about` describes it
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    low: float
    high: float
    about: str
    columns: tuple[str, ...] = ()


I2 = 32767
I1 = 127
BIG = 1e30
N_RANKS = 13  # 2..14
FIRST_RANK = 2
N_SUITS, N_ENHANCEMENTS, N_EDITIONS, N_SEALS = len(Suit), len(Enhancement), len(Edition), len(Seal)
N_HANDS, N_JOKERS, N_VOUCHERS, N_TAGS = len(Hand), len(Joker) - 1, len(Voucher) - 1, len(Tag) - 1
FIRST_BOSS = 3  # of catalog Blind: after none, Small and Big

RUN = columns(
    "RUN",
    "deck",  # 0..14, catalog Deck
    "stake",  # 1..8
    "blind",  # 0..30, catalog Blind in play, 0 outside of a round
    "boss",  # 3..30, this ante's boss
    "blind_on_deck",  # 0 Small, 1 Big, 2 Boss: the current or the next one
    "boss_disabled",
    "boss_rerolled",  # Director's Cut was used this ante
    "open_pack",  # 1 + PackKind, 0 for no open pack
    "last_consumable",  # Tarot or Planet that The Fool would copy, 0 for none
    "sort_by_suit",
    "last_hand",  # 1 + last Hand played this run, 0 for none
    "challenge",  # catalog Challenge, 0 for none
    "selected_hand",  # 1 + Hand of the selected cards, 0 for none or with a face-down card
)

# Columns, and the divisor that scales each to about [-1, 1] in the flat vector.
SCALAR_SCALES: tuple[tuple[str, float], ...] = (
    ("ante", 8.0),
    ("round", 24.0),
    ("dollars", 50.0),
    ("debt_allowed", 20.0),
    ("log_chips", 8.0),  # log10(1 + chips scored in this blind)
    ("log_target", 8.0),  # log10(1 + target of the current or next blind)
    ("progress", 1.0),  # log_chips / log_target, at most 1
    ("log_selected", 8.0),  # log10(1 + base chips x mult of the selected hand at its level)
    ("hands_left", 5.0),
    ("discards_left", 5.0),
    ("hands_each_round", 5.0),
    ("discards_each_round", 5.0),
    ("hands_played", 5.0),  # this round
    ("discards_used", 5.0),  # this round
    ("hand_size", 10.0),
    ("cards_in_hand", 10.0),
    ("cards_unknown", 52.0),  # draw pile and face-down cards
    ("cards_of_run", 52.0),  # all cards that are not destroyed
    ("stones_unknown", 8.0),  # Stone cards among the unknown ones
    ("jokers", 5.0),
    ("joker_slots", 5.0),  # including those of Negative jokers
    ("consumables", 2.0),
    ("consumable_slots", 2.0),
    ("reroll_price", 10.0),  # 0 outside the shop
    ("free_rerolls", 2.0),
    ("picks_left", 2.0),
    ("payout", 20.0),  # dollars on the cash-out screen
    ("blinds_skipped", 8.0),
    ("tarots_used", 20.0),
    ("hands_played_run", 100.0),
)
SCALAR = columns("SCALAR", *(name for name, _ in SCALAR_SCALES))

CARD = columns(
    "CARD",
    "present",
    "rank",  # 2..14; 0 unknown (face down) or none (Stone)
    "suit",  # 1 + Suit; 0 unknown or none
    "enhancement",
    "edition",
    "seal",
    "debuffed",
    "face_down",
    "selected",
    "forced",  # Cerulean Bell
    "bonus",  # chips added by Hiker
)
JOKER = columns(
    "JOKER",
    "id",  # catalog Joker, 0 for none; under Amber Acorn sorted by number, not by slot
    "edition",
    "eternal",
    "perishable",
    "rental",
    "rounds",  # Perishable: rounds left
    "debuffed",
    "face_down",
    "sell_value",
    "hand",  # To Do List: 1 + listed Hand
)
ITEM = columns(
    "ITEM",
    "kind",  # 0 for none, 1 joker, 2 consumable, 3 playing card
    "id",  # catalog Joker or Consumable
    "rank",
    "suit",  # 1 + Suit; 0 for none
    "enhancement",
    "edition",
    "seal",
    "eternal",
    "perishable",
    "rental",
    "hand",  # To Do List: 1 + listed Hand
    "price",
)
JOKER_VALUE = columns("JOKER_VALUE", "value", "count")
CONSUMABLE = columns("CONSUMABLE", "id", "negative", "sell_value")
VOUCHER = columns("VOUCHER", "id", "price")
BOOSTER = columns("BOOSTER", "kind_plus_1", "size", "choose", "price")
SKIP_TAG = columns("SKIP_TAG", "tag", "orbital_hand_plus_1")
TARGET = columns("TARGET", "idol_rank", "idol_suit_plus_1", "mail_rank", "ancient_suit_plus_1", "castle_suit_plus_1")

FIELDS: tuple[Field, ...] = (
    Field("phase", "i1", (len(Phase),), 0, 1, "one-hot", tuple(p.name.lower() for p in Phase)),
    Field("run", "i2", (len(RUN),), 0, 64, "the run and the blind", RUN._fields),
    Field("scalars", "f4", (len(SCALAR),), -1e9, 1e9, "quantities, not scaled", SCALAR._fields),
    Field("hand", "i2", (MAX_HAND, len(CARD)), 0, I2, "cards in hand, left to right", CARD._fields),
    Field(
        "unknown",
        "i1",
        (N_SUITS, N_RANKS),
        0,
        I1,
        "cards that the player has not seen this round, by suit and rank 2..14: the draw pile and all face-down cards",
    ),
    Field("unknown_enhancements", "i1", (N_ENHANCEMENTS,), 0, I1, "the same cards by Enhancement, 0 none"),
    Field("unknown_editions", "i1", (N_EDITIONS,), 0, I1, "the same cards by Edition, 0 none"),
    Field("unknown_seals", "i1", (N_SEALS,), 0, I1, "the same cards by Seal, 0 none"),
    Field("jokers", "i2", (MAX_JOKERS, len(JOKER)), -I2, I2, "jokers, left to right", JOKER._fields),
    Field(
        "joker_values",
        "f4",
        (MAX_JOKERS, len(JOKER_VALUE)),
        -BIG,
        BIG,
        "value that the joker has grown to",
        JOKER_VALUE._fields,
    ),
    Field(
        "consumables",
        "i2",
        (SHOWN_CONSUMABLES, len(CONSUMABLE)),
        -I2,
        I2,
        "consumables held",
        CONSUMABLE._fields,
    ),
    Field("row", "i2", (MAX_ROW, len(ITEM)), -I2, I2, "cards for sale", ITEM._fields),
    Field("pack", "i2", (MAX_PACK, len(ITEM)), -I2, I2, "cards of the open pack", ITEM._fields),
    Field("shop_vouchers", "i2", (MAX_SHOP_VOUCHERS, len(VOUCHER)), 0, I2, "vouchers for sale", VOUCHER._fields),
    Field("packs", "i2", (MAX_PACKS, len(BOOSTER)), 0, I2, "packs for sale", BOOSTER._fields),
    Field("vouchers", "i1", (N_VOUCHERS,), 0, 1, "redeemed vouchers, by Voucher - 1"),
    Field("tags", "i1", (N_TAGS,), 0, N_TAGS, "tags held, by Tag - 1"),
    Field("skip_tags", "i1", (2, len(SKIP_TAG)), 0, N_TAGS, "tags for skipping Small and Big", SKIP_TAG._fields),
    Field("levels", "i2", (N_HANDS,), 0, I2, "level of each Hand"),
    Field("plays", "i2", (N_HANDS,), 0, I2, "times each Hand was played this run"),
    Field("plays_round", "i1", (N_HANDS,), 0, I1, "times each Hand was played this round"),
    Field("barred", "i1", (N_HANDS,), 0, 1, "Hands that The Eye or The Mouth does not allow, or that The Ox penalizes"),
    Field(
        "targets",
        "i1",
        (len(TARGET),),
        0,
        14,
        "current targets of these jokers, 0 unless one is visible",
        TARGET._fields,
    ),
    Field("action_mask", "i1", (N_DISCRETE,), 0, 1, "legal discrete actions"),
)

observation_t = np.dtype([(f.name, f.dtype, f.shape) for f in FIELDS], align=True)

# The flat vector.
FLAT_HAND = 13  # hand cards that are encoded individually; others only through the selected hand
FLAT_JOKERS = 8
FLAT_CONSUMABLES = 4
FLAT_ROW = 4
FLAT_VOUCHERS = 2
N_PACK_KINDS = len(PackKind)
# Widths of binary encoded numbers of the catalogue, lowest bit first.
ID_BITS, CONSUMABLE_BITS, VOUCHER_BITS, TAG_BITS = 8, 6, 6, 5
ENHANCEMENT_BITS, EDITION_BITS, SEAL_BITS = 4, 2, 3

# Parts of each card, joker, ... of the flat vector, with their widths.
CARD_PARTS = {
    "rank": N_RANKS,
    "suit": N_SUITS,
    "selected": 1,
    "debuffed": 1,
    "face_down": 1,
    "enhancement": ENHANCEMENT_BITS,
    "edition": EDITION_BITS,
    "seal": SEAL_BITS,
}
JOKER_PARTS = {
    "present": 1,
    "id": ID_BITS,
    "edition": N_EDITIONS - 1,
    "debuffed": 1,
    "eternal": 1,
    "rounds": 1,
    "rental": 1,
    "value": 1,
    "sell_value": 1,
}
CONSUMABLE_PARTS = {"present": 1, "id": CONSUMABLE_BITS, "negative": 1}
ITEM_PARTS = {
    "kind": len(Kind) - 1,
    "id": ID_BITS,
    "edition": N_EDITIONS - 1,
    "enhanced": 1,
    "seal": 1,
    "eternal": 1,
    "perishable": 1,
    "rental": 1,
    "price": 1,
}
BOOSTER_PARTS = {"kind": N_PACK_KINDS, "size": 1, "choose": 1, "price": 1}
TRAIT_PARTS = {"enhancements": N_ENHANCEMENTS - 1, "editions": N_EDITIONS - 2, "seals": N_SEALS - 1}
BLIND_PARTS = {"boss": len(Blind) - FIRST_BOSS, "on_deck": 3, "disabled": 1}
HAND_PARTS = {"level": 1, "plays": 1, "barred": 1}
CARD_AT, CARD_SIZE = offsets("CARD_AT", CARD_PARTS), sum(CARD_PARTS.values())
JOKER_AT, JOKER_SIZE = offsets("JOKER_AT", JOKER_PARTS), sum(JOKER_PARTS.values())
CONSUMABLE_AT, CONSUMABLE_SIZE = offsets("CONSUMABLE_AT", CONSUMABLE_PARTS), sum(CONSUMABLE_PARTS.values())
ITEM_AT, ITEM_SIZE = offsets("ITEM_AT", ITEM_PARTS), sum(ITEM_PARTS.values())
BOOSTER_AT, BOOSTER_SIZE = offsets("BOOSTER_AT", BOOSTER_PARTS), sum(BOOSTER_PARTS.values())
TRAIT_AT, BLIND_AT = offsets("TRAIT_AT", TRAIT_PARTS), offsets("BLIND_AT", BLIND_PARTS)
HAND_AT, HAND_SIZE = offsets("HAND_AT", HAND_PARTS), sum(HAND_PARTS.values())

FLAT: tuple[tuple[str, int, str], ...] = (
    ("phase", len(Phase), "one-hot"),
    ("scalars", len(SCALAR), "divided by SCALAR_SCALES"),
    (
        "hand",
        FLAT_HAND * CARD_SIZE,
        "per card: rank one-hot 13, suit one-hot 4, selected, debuffed, face down, enhancement 4 bits, edition 2 bits, seal 3 bits",
    ),
    ("unknown", N_SUITS * N_RANKS, "counts / 4"),
    ("unknown_traits", sum(TRAIT_PARTS.values()), "counts / 4: enhancements 1..8, editions 1..3, seals 1..4"),
    ("joker_ids", N_JOKERS, "number held of each joker"),
    (
        "jokers",
        FLAT_JOKERS * JOKER_SIZE,
        "per slot: present, id 8 bits, edition one-hot 4, debuffed, eternal, perishable rounds / 5, rental, log value, sell value / 10",
    ),
    ("consumables", FLAT_CONSUMABLES * CONSUMABLE_SIZE, "per slot: present, id 6 bits, negative"),
    (
        "items",
        (FLAT_ROW + MAX_PACK) * ITEM_SIZE,
        "row then pack, per slot: kind one-hot 3, id 8 bits (joker, consumable, or 1 + 13 suit + rank - 2), edition one-hot 4, enhanced, seal, eternal, perishable, rental, price / 10",
    ),
    ("vouchers", N_VOUCHERS, "redeemed"),
    ("shop_vouchers", FLAT_VOUCHERS * VOUCHER_BITS, "per slot: id 6 bits"),
    ("packs", MAX_PACKS * BOOSTER_SIZE, "per slot: kind one-hot, size / 5, choose / 2, price / 10"),
    ("open_pack", N_PACK_KINDS, "kind one-hot"),
    ("blind", sum(BLIND_PARTS.values()), "boss of the ante one-hot, blind on deck one-hot, boss disabled"),
    ("tags", N_TAGS, "number of each"),
    ("skip_tags", 2 * TAG_BITS, "per blind: tag 5 bits"),
    ("hands", N_HANDS * HAND_SIZE, "per Hand: log2 level / 4, log10 plays / 2, barred"),
    ("targets", len(TARGET), "ranks / 14, suits / 4"),
    ("selected_hand", N_HANDS, "one-hot"),
)

AT = offsets("AT", {name: width for name, width, _ in FLAT})  # offset of each part of FLAT
FLAT_SIZE = sum(width for _, width, _ in FLAT)
FLAT_LIMIT = 2.0  # all numbers of the flat vector are within -FLAT_LIMIT and FLAT_LIMIT


def new_observations(n: int) -> np.recarray:
    """Blank observations of n games, shape (n,)."""
    return as_records(np.zeros(n, dtype=observation_t))


def dict_space() -> spaces.Dict:
    """Return the Gymnasium space of one Dict observation."""
    return spaces.Dict(
        {
            f.name: spaces.Box(_bound(f.low, f.dtype), _bound(f.high, f.dtype), f.shape, np.dtype(f.dtype).type)
            for f in FIELDS
        }
    )


def flat_space() -> spaces.Box:
    """Return the Gymnasium space of one flat observation."""
    return spaces.Box(-FLAT_LIMIT, FLAT_LIMIT, (FLAT_SIZE,), np.float32)


def masked_space() -> spaces.Dict:
    """Return the space of the flat observation and its action mask, with the names of masked RLlib modules."""
    return spaces.Dict({"observations": flat_space(), "action_mask": spaces.Box(0, 1, (N_DISCRETE,), np.int8)})


def _bound(value: float, dtype: str) -> float:
    return float(value) if dtype == "f4" else int(value)


def as_text() -> str:
    """Return both observations as tables: name, type, shape, range, content."""
    lines = ["observation (dict)"]
    for f in FIELDS:
        lines.append(f"  {f.name:21s} {np.dtype(f.dtype).name:8s} {f.shape!s:9s} {f.low:g}..{f.high:g}  {f.about}")
        if f.columns:
            lines.append("  " + " " * 21 + " columns: " + " ".join(f.columns))
    lines.append(f"observation (flat), float32 ({FLAT_SIZE},), within {-FLAT_LIMIT:g}..{FLAT_LIMIT:g}")
    lines += [f"  {at:5d} {name:16s} {width:4d}  {about}" for at, (name, width, about) in zip(AT, FLAT, strict=True)]
    return "\n".join(lines)


if __name__ == "__main__":
    print(as_text())
