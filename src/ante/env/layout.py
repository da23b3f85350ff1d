"""What a player sees, field by field: the one home of the observation's shape.

An observation is a record, like a game: a batch is an array of them, and the Dict observation of Gymnasium is its
fields. `FLAT` describes the same content as one float32 vector for plain networks. `docs` of both are printed by
`python -m ante.env.layout`.
"""

from dataclasses import dataclass

import numpy as np
from gymnasium import spaces

from ante.catalog.packs import PackKind
from ante.engine.actions import N_DISCRETE
from ante.engine.state import (
    MAX_CONSUMABLES,
    MAX_HAND,
    MAX_JOKERS,
    MAX_PACK,
    MAX_PACKS,
    MAX_ROW,
    MAX_SHOP_VOUCHERS,
    Phase,
)


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the observation.

    low, high  bounds, included
    columns    names along the last axis, empty where `about` says what it counts
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    low: float
    high: float
    about: str
    columns: tuple[str, ...] = ()


I2 = 32767
BIG = 1e30

RUN = (
    "deck",  # 0..14, catalog Deck
    "stake",  # 1..8
    "blind",  # 0..30, catalog Blind in play, 0 outside a round
    "boss",  # 3..30, this ante's boss
    "blind_on_deck",  # 0 Small, 1 Big, 2 Boss: the one in play or next
    "boss_disabled",
    "boss_rerolled",  # Director's Cut used this ante
    "open_pack",  # 1 + PackKind, 0 none open
    "last_consumable",  # Tarot or Planet that The Fool would copy, 0 none
    "sort_by_suit",
    "last_hand",  # 1 + Hand played last this run, 0 none
    "challenge",  # catalog Challenge, 0 none
    "selected_hand",  # 1 + Hand that the selected cards make, 0 none or a face-down card among them
)

# Number and divisor that brings it to about [-1, 1] in the flat view.
SCALAR_SCALES: tuple[tuple[str, float], ...] = (
    ("ante", 8.0),
    ("round", 24.0),
    ("dollars", 50.0),
    ("debt_allowed", 20.0),
    ("log_chips", 8.0),  # log10(1 + chips scored in this blind)
    ("log_target", 8.0),  # log10(1 + chips that beat the blind in play, or the next one)
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
    ("cards_of_run", 52.0),  # all that are not destroyed
    ("stones_unknown", 8.0),  # Stone cards among the unknown ones
    ("jokers", 5.0),
    ("joker_slots", 5.0),  # those of Negative jokers included
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
SCALARS = tuple(name for name, _ in SCALAR_SCALES)

HAND_COLUMNS = (
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
JOKER_COLUMNS = (
    "id",  # catalog Joker, 0 none; under Amber Acorn listed by number, not by place
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
ITEM_COLUMNS = (
    "kind",  # 0 none, 1 joker, 2 consumable, 3 playing card
    "id",  # catalog Joker or Consumable
    "rank",
    "suit",  # 1 + Suit; 0 none
    "enhancement",
    "edition",
    "seal",
    "eternal",
    "perishable",
    "rental",
    "hand",  # To Do List: 1 + listed Hand
    "price",
)

FIELDS: tuple[Field, ...] = (
    Field("phase", "i1", (len(Phase),), 0, 1, "one-hot", tuple(p.name.lower() for p in Phase)),
    Field("run", "i2", (len(RUN),), 0, 64, "numbers of the run and the blind", RUN),
    Field("scalars", "f4", (len(SCALARS),), -1e9, 1e9, "quantities, as they are", SCALARS),
    Field("hand", "i2", (MAX_HAND, len(HAND_COLUMNS)), 0, I2, "cards in hand, left to right", HAND_COLUMNS),
    Field(
        "unknown",
        "i1",
        (4, 13),
        0,
        127,
        "cards the player has not seen this round, by suit and rank 2..14: the draw pile, in no order, and all face-down cards",
    ),
    Field("unknown_enhancements", "i1", (9,), 0, 127, "the same cards by Enhancement, 0 none"),
    Field("unknown_editions", "i1", (5,), 0, 127, "the same cards by Edition, 0 none"),
    Field("unknown_seals", "i1", (5,), 0, 127, "the same cards by Seal, 0 none"),
    Field("jokers", "i2", (MAX_JOKERS, len(JOKER_COLUMNS)), -I2, I2, "jokers, left to right", JOKER_COLUMNS),
    Field("joker_values", "f4", (MAX_JOKERS, 2), -BIG, BIG, "what the joker has grown to", ("value", "count")),
    Field("consumables", "i2", (MAX_CONSUMABLES, 3), -I2, I2, "consumables held", ("id", "negative", "sell_value")),
    Field("row", "i2", (MAX_ROW, len(ITEM_COLUMNS)), -I2, I2, "cards for sale", ITEM_COLUMNS),
    Field("pack", "i2", (MAX_PACK, len(ITEM_COLUMNS)), -I2, I2, "cards of the open pack", ITEM_COLUMNS),
    Field("shop_vouchers", "i2", (MAX_SHOP_VOUCHERS, 2), 0, I2, "vouchers for sale", ("id", "price")),
    Field("packs", "i2", (MAX_PACKS, 4), 0, I2, "packs for sale", ("kind_plus_1", "size", "choose", "price")),
    Field("vouchers", "i1", (32,), 0, 1, "redeemed vouchers, by Voucher - 1"),
    Field("tags", "i1", (24,), 0, 24, "tags held, by Tag - 1"),
    Field("skip_tags", "i1", (2, 2), 0, 24, "what skipping Small and Big gives", ("tag", "orbital_hand_plus_1")),
    Field("levels", "i2", (12,), 0, I2, "level of each Hand"),
    Field("plays", "i2", (12,), 0, I2, "times each Hand was played this run"),
    Field("plays_round", "i1", (12,), 0, 127, "times each Hand was played this round"),
    Field("barred", "i1", (12,), 0, 1, "Hands that The Eye or The Mouth refuses, or The Ox fines"),
    Field(
        "targets",
        "i1",
        (5,),
        0,
        14,
        "what these jokers look at now, 0 unless one is in sight",
        ("idol_rank", "idol_suit_plus_1", "mail_rank", "ancient_suit_plus_1", "castle_suit_plus_1"),
    ),
    Field("action_mask", "i1", (N_DISCRETE,), 0, 1, "legal numbers of the discrete view"),
)

observation_t = np.dtype([(f.name, f.dtype, f.shape) for f in FIELDS], align=True)

# The flat view.
FLAT_HAND = 13  # hand cards described one by one; further ones only through the selected hand
FLAT_JOKERS = 8
FLAT_CONSUMABLES = 4
FLAT_ROW = 4
FLAT_VOUCHERS = 2
CARD_SIZE = 29
JOKER_SIZE = 19
CONSUMABLE_SIZE = 8
ITEM_SIZE = 21
N_PACK_KINDS = len(PackKind)

FLAT: tuple[tuple[str, int, str], ...] = (
    ("phase", len(Phase), "one-hot"),
    ("scalars", len(SCALARS), "divided by SCALAR_SCALES"),
    (
        "hand",
        FLAT_HAND * CARD_SIZE,
        "per card: rank one-hot 13, suit one-hot 4, selected, debuffed, face down, enhancement 4 bits, edition 2 bits, seal 3 bits",
    ),
    ("unknown", 52, "counts / 4"),
    ("unknown_traits", 15, "counts / 4: enhancements 1..8, editions 1..3, seals 1..4"),
    ("joker_ids", 150, "how many of each joker are held / 1"),
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
    ("vouchers", 32, "redeemed"),
    ("shop_vouchers", FLAT_VOUCHERS * 6, "per slot: id 6 bits"),
    ("packs", MAX_PACKS * (N_PACK_KINDS + 3), "per slot: kind one-hot, size / 5, choose / 2, price / 10"),
    ("open_pack", N_PACK_KINDS, "kind one-hot"),
    ("blind", 28 + 3 + 1, "boss of the ante one-hot, blind on deck one-hot, boss disabled"),
    ("tags", 24, "how many of each"),
    ("skip_tags", 10, "per blind: tag 5 bits"),
    ("hands", 36, "per Hand: log2 level / 4, log10 plays / 2, barred"),
    ("targets", 5, "ranks / 14, suits / 4"),
    ("selected_hand", 12, "one-hot"),
)

AT: dict[str, int] = {}
_size = 0
for _name, _width, _ in FLAT:
    AT[_name] = _size
    _size += _width
FLAT_SIZE = _size
FLAT_LIMIT = 2.0  # every number of the flat view lies within -FLAT_LIMIT and FLAT_LIMIT


def new_observations(n: int) -> np.recarray:
    """Blank observations of n games, shape (n,)."""
    return np.zeros(n, dtype=observation_t).view(np.recarray)


def dict_space() -> spaces.Dict:
    """The Gymnasium space of one Dict observation."""
    return spaces.Dict(
        {
            f.name: spaces.Box(_bound(f.low, f.dtype), _bound(f.high, f.dtype), f.shape, np.dtype(f.dtype).type)
            for f in FIELDS
        }
    )


def flat_space() -> spaces.Box:
    """The Gymnasium space of one flat observation."""
    return spaces.Box(-FLAT_LIMIT, FLAT_LIMIT, (FLAT_SIZE,), np.float32)


def masked_space() -> spaces.Dict:
    """The flat observation beside its action mask, under the names that masked RLlib modules look for."""
    return spaces.Dict({"observations": flat_space(), "action_mask": spaces.Box(0, 1, (N_DISCRETE,), np.int8)})


def _bound(value: float, dtype: str) -> float:
    return float(value) if dtype == "f4" else int(value)


def as_text() -> str:
    """Both views as a table: name, type, shape, range, meaning."""
    lines = ["observation (dict)"]
    for f in FIELDS:
        lines.append(f"  {f.name:21s} {np.dtype(f.dtype).name:8s} {f.shape!s:9s} {f.low:g}..{f.high:g}  {f.about}")
        if f.columns:
            lines.append("  " + " " * 21 + " columns: " + " ".join(f.columns))
    lines.append(f"observation (flat), float32 ({FLAT_SIZE},), within {-FLAT_LIMIT:g}..{FLAT_LIMIT:g}")
    lines += [f"  {AT[name]:5d} {name:16s} {width:4d}  {about}" for name, width, about in FLAT]
    return "\n".join(lines)


if __name__ == "__main__":
    print(as_text())
