"""The 32 vouchers in pool order; the second of each pair requires the first."""

from dataclasses import dataclass
from enum import IntEnum


class Voucher(IntEnum):
    """Vouchers in pool order; 0 for none."""

    NONE = 0
    OVERSTOCK_NORM = 1
    OVERSTOCK_PLUS = 2
    CLEARANCE_SALE = 3
    LIQUIDATION = 4
    HONE = 5
    GLOW_UP = 6
    REROLL_SURPLUS = 7
    REROLL_GLUT = 8
    CRYSTAL_BALL = 9
    OMEN_GLOBE = 10
    TELESCOPE = 11
    OBSERVATORY = 12
    GRABBER = 13
    NACHO_TONG = 14
    WASTEFUL = 15
    RECYCLOMANCY = 16
    TAROT_MERCHANT = 17
    TAROT_TYCOON = 18
    PLANET_MERCHANT = 19
    PLANET_TYCOON = 20
    SEED_MONEY = 21
    MONEY_TREE = 22
    BLANK = 23
    ANTIMATTER = 24
    MAGIC_TRICK = 25
    ILLUSION = 26
    HIEROGLYPH = 27
    PETROGLYPH = 28
    DIRECTORS_CUT = 29
    RETCON = 30
    PAINT_BRUSH = 31
    PALETTE = 32


@dataclass(frozen=True, slots=True)
class VoucherRow:
    """One voucher.

    requires   vouchers that must be redeemed before the pool offers it
    shop_slots, joker_slots, consumable_slots, hands, discards, hand_size, ante   added when it is redeemed
    percent_off       discount on every price; the second tier replaces the first, here and below
    edition_times     factor on the rate of editions
    reroll_discount   discount on a reroll in dollars
    rate_times        factor on the rate of its kind of card in the shop
    playing_card_rate weight of playing cards in the shop
    spectral_above    an Arcana pack's card is a Spectral if a roll exceeds this
    x_mult            mult factor of each held Planet
    interest_cap      maximum money that earns interest
    boss_reroll       price of a boss reroll in dollars
    unlock     condition that unlocks it in a new profile, None if there is none
    """

    voucher: Voucher
    key: str
    name: str
    cost: int
    effect: str
    requires: tuple[Voucher, ...] = ()
    shop_slots: int = 0
    joker_slots: int = 0
    consumable_slots: int = 0
    hands: int = 0
    discards: int = 0
    hand_size: int = 0
    ante: int = 0
    percent_off: int = 0
    edition_times: float = 1.0
    reroll_discount: int = 0
    rate_times: float = 1.0
    playing_card_rate: float = 0.0
    spectral_above: float = 1.0
    x_mult: float = 1.0
    interest_cap: int = 0
    boss_reroll: int = 0
    unlock: str | None = None
    unlocked_at_start: bool = True


VOUCHERS: tuple[VoucherRow, ...] = (
    VoucherRow(Voucher.NONE, "", "", 0, ""),
    VoucherRow(Voucher.OVERSTOCK_NORM, "v_overstock_norm", "Overstock", 10, "+1 card slot in the shop.", shop_slots=1),
    VoucherRow(
        Voucher.OVERSTOCK_PLUS,
        "v_overstock_plus",
        "Overstock Plus",
        10,
        "+1 card slot in the shop.",
        shop_slots=1,
        requires=(Voucher.OVERSTOCK_NORM,),
        unlock="spend $2500 in shops (career)",
        unlocked_at_start=False,
    ),
    VoucherRow(
        Voucher.CLEARANCE_SALE, "v_clearance_sale", "Clearance Sale", 10, "Shop prices 25% off.", percent_off=25
    ),
    VoucherRow(
        Voucher.LIQUIDATION,
        "v_liquidation",
        "Liquidation",
        10,
        "Shop prices 50% off.",
        requires=(Voucher.CLEARANCE_SALE,),
        percent_off=50,
        unlock="redeem 10 vouchers in one run",
        unlocked_at_start=False,
    ),
    VoucherRow(
        Voucher.HONE,
        "v_hone",
        "Hone",
        10,
        "Foil, Holographic and Polychrome appear 2x as often (rate 2).",
        edition_times=2,
    ),
    VoucherRow(
        Voucher.GLOW_UP,
        "v_glow_up",
        "Glow Up",
        10,
        "Foil, Holographic and Polychrome appear 4x as often (rate 4).",
        requires=(Voucher.HONE,),
        edition_times=4,
        unlock="own 5 Jokers with editions",
        unlocked_at_start=False,
    ),
    VoucherRow(
        Voucher.REROLL_SURPLUS, "v_reroll_surplus", "Reroll Surplus", 10, "Rerolls cost $2 less.", reroll_discount=2
    ),
    VoucherRow(
        Voucher.REROLL_GLUT,
        "v_reroll_glut",
        "Reroll Glut",
        10,
        "Rerolls cost another $2 less.",
        requires=(Voucher.REROLL_SURPLUS,),
        reroll_discount=2,
        unlock="reroll 100 times (career)",
        unlocked_at_start=False,
    ),
    VoucherRow(Voucher.CRYSTAL_BALL, "v_crystal_ball", "Crystal Ball", 10, "+1 consumable slot.", consumable_slots=1),
    VoucherRow(
        Voucher.OMEN_GLOBE,
        "v_omen_globe",
        "Omen Globe",
        10,
        "Arcana pack cards have a 20% chance to be Spectral.",
        requires=(Voucher.CRYSTAL_BALL,),
        spectral_above=0.8,
        unlock="use 25 Tarots from Arcana packs (career)",
        unlocked_at_start=False,
    ),
    VoucherRow(
        Voucher.TELESCOPE,
        "v_telescope",
        "Telescope",
        10,
        "The first card of a Celestial pack is the Planet of the most played hand.",
    ),
    VoucherRow(
        Voucher.OBSERVATORY,
        "v_observatory",
        "Observatory",
        10,
        "Each Planet held gives X1.5 Mult for its hand.",
        requires=(Voucher.TELESCOPE,),
        x_mult=1.5,
        unlock="use 25 Planets from Celestial packs (career)",
        unlocked_at_start=False,
    ),
    VoucherRow(Voucher.GRABBER, "v_grabber", "Grabber", 10, "+1 hand per round.", hands=1),
    VoucherRow(
        Voucher.NACHO_TONG,
        "v_nacho_tong",
        "Nacho Tong",
        10,
        "+1 hand per round.",
        requires=(Voucher.GRABBER,),
        hands=1,
        unlock="play 2500 cards (career)",
        unlocked_at_start=False,
    ),
    VoucherRow(Voucher.WASTEFUL, "v_wasteful", "Wasteful", 10, "+1 discard per round.", discards=1),
    VoucherRow(
        Voucher.RECYCLOMANCY,
        "v_recyclomancy",
        "Recyclomancy",
        10,
        "+1 discard per round.",
        requires=(Voucher.WASTEFUL,),
        discards=1,
        unlock="discard 2500 cards (career)",
        unlocked_at_start=False,
    ),
    VoucherRow(
        Voucher.TAROT_MERCHANT,
        "v_tarot_merchant",
        "Tarot Merchant",
        10,
        "Shop Tarot rate becomes 9.6.",
        rate_times=2.4,
    ),
    VoucherRow(
        Voucher.TAROT_TYCOON,
        "v_tarot_tycoon",
        "Tarot Tycoon",
        10,
        "Shop Tarot rate becomes 32.",
        requires=(Voucher.TAROT_MERCHANT,),
        rate_times=8,
        unlock="buy 50 Tarots in shops (career)",
        unlocked_at_start=False,
    ),
    VoucherRow(
        Voucher.PLANET_MERCHANT,
        "v_planet_merchant",
        "Planet Merchant",
        10,
        "Shop Planet rate becomes 9.6.",
        rate_times=2.4,
    ),
    VoucherRow(
        Voucher.PLANET_TYCOON,
        "v_planet_tycoon",
        "Planet Tycoon",
        10,
        "Shop Planet rate becomes 32.",
        requires=(Voucher.PLANET_MERCHANT,),
        rate_times=8,
        unlock="buy 50 Planets in shops (career)",
        unlocked_at_start=False,
    ),
    VoucherRow(
        Voucher.SEED_MONEY,
        "v_seed_money",
        "Seed Money",
        10,
        "Interest cap rises to $10 per round (cap field 50).",
        interest_cap=50,
    ),
    VoucherRow(
        Voucher.MONEY_TREE,
        "v_money_tree",
        "Money Tree",
        10,
        "Interest cap rises to $20 per round (cap field 100).",
        requires=(Voucher.SEED_MONEY,),
        interest_cap=100,
        unlock="maximum interest 10 rounds in a row",
        unlocked_at_start=False,
    ),
    VoucherRow(Voucher.BLANK, "v_blank", "Blank", 10, "Does nothing."),
    VoucherRow(
        Voucher.ANTIMATTER,
        "v_antimatter",
        "Antimatter",
        10,
        "+1 Joker slot.",
        requires=(Voucher.BLANK,),
        joker_slots=1,
        unlock="redeem Blank 10 times",
        unlocked_at_start=False,
    ),
    VoucherRow(
        Voucher.MAGIC_TRICK,
        "v_magic_trick",
        "Magic Trick",
        10,
        "Playing cards can appear in the shop (rate 4).",
        playing_card_rate=4,
    ),
    VoucherRow(
        Voucher.ILLUSION,
        "v_illusion",
        "Illusion",
        10,
        "Shop playing cards may have an enhancement and an edition.",
        requires=(Voucher.MAGIC_TRICK,),
        unlock="buy 20 playing cards in shops (career)",
        unlocked_at_start=False,
    ),
    VoucherRow(Voucher.HIEROGLYPH, "v_hieroglyph", "Hieroglyph", 10, "-1 Ante, -1 hand per round.", ante=-1, hands=-1),
    VoucherRow(
        Voucher.PETROGLYPH,
        "v_petroglyph",
        "Petroglyph",
        10,
        "-1 Ante, -1 discard per round.",
        requires=(Voucher.HIEROGLYPH,),
        ante=-1,
        discards=-1,
        unlock="reach Ante 12",
        unlocked_at_start=False,
    ),
    VoucherRow(
        Voucher.DIRECTORS_CUT,
        "v_directors_cut",
        "Director's Cut",
        10,
        "Reroll the Boss once per Ante for $10.",
        boss_reroll=10,
    ),
    VoucherRow(
        Voucher.RETCON,
        "v_retcon",
        "Retcon",
        10,
        "Reroll the Boss any number of times for $10 each.",
        requires=(Voucher.DIRECTORS_CUT,),
        boss_reroll=10,
        unlock="discover 25 blinds",
        unlocked_at_start=False,
    ),
    VoucherRow(Voucher.PAINT_BRUSH, "v_paint_brush", "Paint Brush", 10, "+1 hand size.", hand_size=1),
    VoucherRow(
        Voucher.PALETTE,
        "v_palette",
        "Palette",
        10,
        "+1 hand size.",
        requires=(Voucher.PAINT_BRUSH,),
        hand_size=1,
        unlock="reduce hand size to 5",
        unlocked_at_start=False,
    ),
)

by_key: dict[str, Voucher] = {row.key: row.voucher for row in VOUCHERS[1:]}
