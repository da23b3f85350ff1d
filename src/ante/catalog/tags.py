"""The 24 tags in pool order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum


class Tag(IntEnum):
    """Tags in pool order; 0 is none."""

    NONE = 0
    UNCOMMON = 1
    RARE = 2
    NEGATIVE = 3
    FOIL = 4
    HOLO = 5
    POLYCHROME = 6
    INVESTMENT = 7
    VOUCHER = 8
    BOSS = 9
    STANDARD = 10
    CHARM = 11
    METEOR = 12
    BUFFOON = 13
    HANDY = 14
    GARBAGE = 15
    ETHEREAL = 16
    COUPON = 17
    DOUBLE = 18
    JUGGLE = 19
    D_SIX = 20
    TOP_UP = 21
    SKIP = 22
    ORBITAL = 23
    ECONOMY = 24


@dataclass(frozen=True, slots=True)
class TagRow:
    """One tag.

    min_ante  first ante in which it is offered
    when      the moment of the run at which it acts
    requires_discovered   key of the item that the profile must have seen before the tag is offered
    values    the numbers of its sentence
    """

    tag: Tag
    key: str
    name: str
    min_ante: int
    when: str
    effect: str
    requires_discovered: str | None = None
    values: Mapping[str, int] = field(default_factory=dict)


TAGS: tuple[TagRow, ...] = (
    TagRow(Tag.NONE, "", "", 0, "", ""),
    TagRow(
        Tag.UNCOMMON, "tag_uncommon", "Uncommon Tag", 1, "shop card creation", "Next shop has a free Uncommon Joker."
    ),
    TagRow(
        Tag.RARE,
        "tag_rare",
        "Rare Tag",
        1,
        "shop card creation",
        "Next shop has a free Rare Joker.",
        requires_discovered="j_blueprint",
    ),
    TagRow(
        Tag.NEGATIVE,
        "tag_negative",
        "Negative Tag",
        2,
        "shop card modification",
        "Next editionless shop Joker is free and Negative.",
        requires_discovered="e_negative",
    ),
    TagRow(
        Tag.FOIL,
        "tag_foil",
        "Foil Tag",
        1,
        "shop card modification",
        "Next editionless shop Joker is free and Foil.",
        requires_discovered="e_foil",
    ),
    TagRow(
        Tag.HOLO,
        "tag_holo",
        "Holographic Tag",
        1,
        "shop card modification",
        "Next editionless shop Joker is free and Holographic.",
        requires_discovered="e_holo",
    ),
    TagRow(
        Tag.POLYCHROME,
        "tag_polychrome",
        "Polychrome Tag",
        1,
        "shop card modification",
        "Next editionless shop Joker is free and Polychrome.",
        requires_discovered="e_polychrome",
    ),
    TagRow(
        Tag.INVESTMENT,
        "tag_investment",
        "Investment Tag",
        1,
        "round evaluation",
        "$25 after the next Boss is beaten.",
        values={"dollars": 25},
    ),
    TagRow(
        Tag.VOUCHER,
        "tag_voucher",
        "Voucher Tag",
        1,
        "shop start (vouchers)",
        "Adds a voucher to the next shop.",
        values={"vouchers": 1},
    ),
    TagRow(Tag.BOSS, "tag_boss", "Boss Tag", 1, "blind select", "Rerolls the Boss Blind."),
    TagRow(Tag.STANDARD, "tag_standard", "Standard Tag", 2, "blind select", "Opens a free Mega Standard pack at once."),
    TagRow(Tag.CHARM, "tag_charm", "Charm Tag", 1, "blind select", "Opens a free Mega Arcana pack at once."),
    TagRow(Tag.METEOR, "tag_meteor", "Meteor Tag", 2, "blind select", "Opens a free Mega Celestial pack at once."),
    TagRow(Tag.BUFFOON, "tag_buffoon", "Buffoon Tag", 2, "blind select", "Opens a free Mega Buffoon pack at once."),
    TagRow(Tag.HANDY, "tag_handy", "Handy Tag", 2, "immediate", "$1 per hand played this run.", values={"dollars": 1}),
    TagRow(
        Tag.GARBAGE,
        "tag_garbage",
        "Garbage Tag",
        2,
        "immediate",
        "$1 per unused discard this run.",
        values={"dollars": 1},
    ),
    TagRow(
        Tag.ETHEREAL, "tag_ethereal", "Ethereal Tag", 2, "blind select", "Opens a free normal Spectral pack at once."
    ),
    TagRow(
        Tag.COUPON,
        "tag_coupon",
        "Coupon Tag",
        1,
        "shop end of creation",
        "Initial cards and packs of the next shop are free.",
    ),
    TagRow(Tag.DOUBLE, "tag_double", "Double Tag", 1, "tag gained", "Duplicates the next tag gained (not Double)."),
    TagRow(
        Tag.JUGGLE,
        "tag_juggle",
        "Juggle Tag",
        1,
        "round start",
        "+3 hand size in the next round.",
        values={"h_size": 3},
    ),
    TagRow(
        Tag.D_SIX,
        "tag_d_six",
        "D6 Tag",
        1,
        "shop start",
        "Rerolls start at $0 in the next shop.",
        values={"reroll_cost": 0},
    ),
    TagRow(
        Tag.TOP_UP,
        "tag_top_up",
        "Top-up Tag",
        2,
        "immediate",
        "Creates up to 2 Common Jokers (needs room).",
        values={"jokers": 2},
    ),
    TagRow(
        Tag.SKIP,
        "tag_skip",
        "Speed Tag",
        1,
        "immediate",
        "$5 per blind skipped this run (including this one).",
        values={"dollars": 5},
    ),
    TagRow(
        Tag.ORBITAL,
        "tag_orbital",
        "Orbital Tag",
        2,
        "immediate",
        "Upgrades the listed poker hand by 3 levels.",
        values={"levels": 3},
    ),
    TagRow(
        Tag.ECONOMY,
        "tag_economy",
        "Economy Tag",
        1,
        "immediate",
        "Doubles money, gaining at most $40.",
        values={"max_dollars": 40},
    ),
)

by_key: dict[str, Tag] = {row.key: row.tag for row in TAGS[1:]}
