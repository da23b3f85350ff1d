"""The 24 tags in pool order."""

from dataclasses import dataclass
from enum import IntEnum

from ante.catalog.cards import Edition


class Tag(IntEnum):
    """Tags in pool order; 0 for none."""

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
    requires_discovered   key of the item that the profile must have discovered before the tag is offered
    edition   edition of the shop joker
    pack      key of the pack that it opens
    dollars   dollars paid, in total or for each hand, discard or blind
    cap       maximum dollars paid
    hand_size, jokers, levels   amount added
    reroll_cost   price of the first reroll in the next shop
    """

    tag: Tag
    key: str
    name: str
    min_ante: int
    when: str
    effect: str
    requires_discovered: str | None = None
    edition: Edition = Edition.NONE
    pack: str | None = None
    dollars: int = 0
    cap: int = 0
    hand_size: int = 0
    jokers: int = 0
    levels: int = 0
    reroll_cost: int = 0


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
        edition=Edition.NEGATIVE,
    ),
    TagRow(
        Tag.FOIL,
        "tag_foil",
        "Foil Tag",
        1,
        "shop card modification",
        "Next editionless shop Joker is free and Foil.",
        requires_discovered="e_foil",
        edition=Edition.FOIL,
    ),
    TagRow(
        Tag.HOLO,
        "tag_holo",
        "Holographic Tag",
        1,
        "shop card modification",
        "Next editionless shop Joker is free and Holographic.",
        requires_discovered="e_holo",
        edition=Edition.HOLO,
    ),
    TagRow(
        Tag.POLYCHROME,
        "tag_polychrome",
        "Polychrome Tag",
        1,
        "shop card modification",
        "Next editionless shop Joker is free and Polychrome.",
        requires_discovered="e_polychrome",
        edition=Edition.POLYCHROME,
    ),
    TagRow(
        Tag.INVESTMENT,
        "tag_investment",
        "Investment Tag",
        1,
        "round evaluation",
        "$25 after the next Boss is beaten.",
        dollars=25,
    ),
    TagRow(
        Tag.VOUCHER,
        "tag_voucher",
        "Voucher Tag",
        1,
        "shop start (vouchers)",
        "Adds a voucher to the next shop.",
    ),
    TagRow(Tag.BOSS, "tag_boss", "Boss Tag", 1, "blind select", "Rerolls the Boss Blind."),
    TagRow(
        Tag.STANDARD,
        "tag_standard",
        "Standard Tag",
        2,
        "blind select",
        "Opens a free Mega Standard pack at once.",
        pack="p_standard_mega_1",
    ),
    TagRow(
        Tag.CHARM,
        "tag_charm",
        "Charm Tag",
        1,
        "blind select",
        "Opens a free Mega Arcana pack at once.",
        pack="p_arcana_mega_1",
    ),
    TagRow(
        Tag.METEOR,
        "tag_meteor",
        "Meteor Tag",
        2,
        "blind select",
        "Opens a free Mega Celestial pack at once.",
        pack="p_celestial_mega_1",
    ),
    TagRow(
        Tag.BUFFOON,
        "tag_buffoon",
        "Buffoon Tag",
        2,
        "blind select",
        "Opens a free Mega Buffoon pack at once.",
        pack="p_buffoon_mega_1",
    ),
    TagRow(Tag.HANDY, "tag_handy", "Handy Tag", 2, "immediate", "$1 per hand played this run.", dollars=1),
    TagRow(Tag.GARBAGE, "tag_garbage", "Garbage Tag", 2, "immediate", "$1 per unused discard this run.", dollars=1),
    TagRow(
        Tag.ETHEREAL,
        "tag_ethereal",
        "Ethereal Tag",
        2,
        "blind select",
        "Opens a free normal Spectral pack at once.",
        pack="p_spectral_normal_1",
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
    TagRow(Tag.JUGGLE, "tag_juggle", "Juggle Tag", 1, "round start", "+3 hand size in the next round.", hand_size=3),
    TagRow(Tag.D_SIX, "tag_d_six", "D6 Tag", 1, "shop start", "Rerolls start at $0 in the next shop.", reroll_cost=0),
    TagRow(
        Tag.TOP_UP, "tag_top_up", "Top-up Tag", 2, "immediate", "Creates up to 2 Common Jokers (needs room).", jokers=2
    ),
    TagRow(
        Tag.SKIP,
        "tag_skip",
        "Speed Tag",
        1,
        "immediate",
        "$5 per blind skipped this run (including this one).",
        dollars=5,
    ),
    TagRow(
        Tag.ORBITAL,
        "tag_orbital",
        "Orbital Tag",
        2,
        "immediate",
        "Upgrades the listed poker hand by 3 levels.",
        levels=3,
    ),
    TagRow(Tag.ECONOMY, "tag_economy", "Economy Tag", 1, "immediate", "Doubles money, gaining at most $40.", cap=40),
)

by_key: dict[str, Tag] = {row.key: row.tag for row in TAGS[1:]}
