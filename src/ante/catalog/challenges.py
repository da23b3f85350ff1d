"""The 20 challenges: starting items, modified rules and banned items.

A challenge has its own deck, without an effect, and is played on White Stake.
"""

from dataclasses import dataclass
from enum import IntEnum

from ante.catalog.cards import ACE, JACK, KING, QUEEN, TWO, Edition, Enhancement, Seal, Sticker
from ante.catalog.constants import DISCARDS, HAND_SIZE, HANDS, JOKER_SLOTS, START_MONEY
from ante.catalog.consumables import Consumable
from ante.catalog.jokers import Joker
from ante.catalog.vouchers import Voucher


class Challenge(IntEnum):
    """Challenges in the order of the menu."""

    NONE = 0
    OMELETTE = 1
    CITY = 2
    RICH = 3
    KNIFE = 4
    XRAY = 5
    MAD_WORLD = 6
    LUXURY = 7
    NON_PERISHABLE = 8
    MEDUSA = 9
    DOUBLE_NOTHING = 10
    TYPECAST = 11
    INFLATION = 12
    BRAM_POKER = 13
    FRAGILE = 14
    MONOLITH = 15
    BLAST_OFF = 16
    FIVE_CARD = 17
    GOLDEN_NEEDLE = 18
    CRUELTY = 19
    JOKERLESS = 20


class Modifier(IntEnum):
    """Bits of `s.modifiers`: rules that a challenge modifies."""

    NO_SMALL_REWARD = 1
    NO_BIG_REWARD = 2
    NO_BOSS_REWARD = 4
    NO_HAND_MONEY = 8  # hands left pay nothing at cash-out
    NO_INTEREST = 16
    CHIPS_CAP = 32  # a hand's chips are at most the player's dollars
    FLIPPED_CARDS = 64  # a drawn card is face down with probability 1 in 4
    HAND_TAX = 128  # hand size is reduced by one for each $5
    ALL_ETERNAL = 256
    WEAR = 512  # scored cards are debuffed permanently
    TYPECAST = 1024  # at the boss of ante 4 all jokers become Eternal and all joker slots are removed
    INFLATION = 2048  # each purchase raises every price by $1
    NO_SHOP_JOKERS = 4096
    DISCARD_COST = 8192  # each discard costs $1


FLIPPED_ODDS = 4
INFLATION_DOLLARS = 1
DISCARD_DOLLARS = 1
HAND_TAX_DOLLARS = 5
TYPECAST_ANTE = 4


@dataclass(frozen=True, slots=True)
class StartJoker:
    """A joker at the start of a challenge; `stickers` are bits of Sticker."""

    joker: Joker
    stickers: int = 0
    edition: Edition = Edition.NONE


@dataclass(frozen=True, slots=True)
class ChallengeRow:
    """One challenge.

    modifiers    bits of Modifier
    ranks        ranks of the starting deck in each suit; a repeated rank gives several cards
    enhancement  enhancement of the cards of `enhanced` ranks in the starting deck
    seal         seal of every card of the starting deck
    banned       keys of items that cannot be drawn: jokers, consumables, vouchers, packs, tags, blinds
    """

    challenge: Challenge
    key: str
    name: str
    effect: str
    modifiers: int = 0
    dollars: int = START_MONEY
    hands: int = HANDS
    discards: int = DISCARDS
    hand_size: int = HAND_SIZE
    joker_slots: int = JOKER_SLOTS
    jokers: tuple[StartJoker, ...] = ()
    consumables: tuple[Consumable, ...] = ()
    vouchers: tuple[Voucher, ...] = ()
    ranks: tuple[int, ...] = tuple(range(TWO, ACE + 1))
    enhancement: Enhancement = Enhancement.NONE
    enhanced: tuple[int, ...] = ()
    seal: Seal = Seal.NONE
    banned: tuple[str, ...] = ()


ETERNAL = int(Sticker.ETERNAL)
FACES = (JACK, QUEEN, KING)
STANDARD_PACKS = (
    *(f"p_standard_normal_{i}" for i in (1, 2, 3, 4)),
    *(f"p_standard_{size}_{i}" for size in ("jumbo", "mega") for i in (1, 2)),
)
BUFFOON_PACKS = ("p_buffoon_normal_1", "p_buffoon_normal_2", "p_buffoon_jumbo_1", "p_buffoon_mega_1")
MORE_HANDS = ("v_grabber", "v_nacho_tong", "j_burglar")

CHALLENGES: tuple[ChallengeRow, ...] = (
    ChallengeRow(Challenge.NONE, "", "", ""),
    ChallengeRow(
        Challenge.OMELETTE,
        "c_omelette_1",
        "The Omelette",
        "No blind pays, no hand left pays, no interest. Begin with five Eggs.",
        Modifier.NO_SMALL_REWARD
        | Modifier.NO_BIG_REWARD
        | Modifier.NO_BOSS_REWARD
        | Modifier.NO_HAND_MONEY
        | Modifier.NO_INTEREST,
        jokers=(StartJoker(Joker.EGG),) * 5,
        banned=("v_seed_money", "v_money_tree", "j_to_the_moon", "j_rocket", "j_golden", "j_satellite"),
    ),
    ChallengeRow(
        Challenge.CITY,
        "c_city_1",
        "15 Minute City",
        "Begin with an eternal Ride the Bus and an eternal Shortcut; no Ace, 2 or 3, every face card twice.",
        jokers=(StartJoker(Joker.RIDE_THE_BUS, ETERNAL), StartJoker(Joker.SHORTCUT, ETERNAL)),
        ranks=(*range(4, KING + 1), *FACES),
    ),
    ChallengeRow(
        Challenge.RICH,
        "c_rich_1",
        "Rich get Richer",
        "A hand's chips are at most the dollars you hold. Begin with $100, Seed Money and Money Tree.",
        Modifier.CHIPS_CAP,
        dollars=100,
        vouchers=(Voucher.SEED_MONEY, Voucher.MONEY_TREE),
    ),
    ChallengeRow(
        Challenge.KNIFE,
        "c_knife_1",
        "On a Knife's Edge",
        "Begin with an eternal Ceremonial Dagger that always stands leftmost.",
        jokers=(StartJoker(Joker.CEREMONIAL, ETERNAL | Sticker.PINNED),),
    ),
    ChallengeRow(
        Challenge.XRAY,
        "c_xray_1",
        "X-ray Vision",
        "One card of four is drawn face down.",
        Modifier.FLIPPED_CARDS,
    ),
    ChallengeRow(
        Challenge.MAD_WORLD,
        "c_mad_world_1",
        "Mad World",
        "No hand left pays, no interest. Ranks 2 to 9 only. Begin with an eternal, negative Pareidolia and an eternal"
        " Business Card.",
        Modifier.NO_HAND_MONEY | Modifier.NO_INTEREST,
        jokers=(StartJoker(Joker.PAREIDOLIA, ETERNAL, Edition.NEGATIVE), StartJoker(Joker.BUSINESS, ETERNAL)),
        ranks=tuple(range(TWO, 10)),
        banned=("bl_plant",),
    ),
    ChallengeRow(
        Challenge.LUXURY,
        "c_luxury_1",
        "Luxury Tax",
        "Hand size 10, and one less for every $5 you hold.",
        Modifier.HAND_TAX,
        hand_size=10,
    ),
    ChallengeRow(
        Challenge.NON_PERISHABLE,
        "c_non_perishable_1",
        "Non-Perishable",
        "Every joker is eternal.",
        Modifier.ALL_ETERNAL,
        banned=(
            *("j_gros_michel", "j_ice_cream", "j_cavendish", "j_turtle_bean", "j_ramen", "j_diet_cola", "j_selzer"),
            *("j_popcorn", "j_mr_bones", "j_invisible", "j_luchador", "bl_final_leaf"),
        ),
    ),
    ChallengeRow(
        Challenge.MEDUSA,
        "c_medusa_1",
        "Medusa",
        "Every face card of the deck is a Stone card. Begin with an eternal Marble Joker.",
        jokers=(StartJoker(Joker.MARBLE, ETERNAL),),
        enhancement=Enhancement.STONE,
        enhanced=FACES,
    ),
    ChallengeRow(
        Challenge.DOUBLE_NOTHING,
        "c_double_nothing_1",
        "Double or Nothing",
        "Cards that have scored are debuffed for good. Every card of the deck has a Red Seal.",
        Modifier.WEAR,
        seal=Seal.RED,
    ),
    ChallengeRow(
        Challenge.TYPECAST,
        "c_typecast_1",
        "Typecast",
        "When the boss of ante 4 is beaten, all jokers become eternal and no joker slot is left.",
        Modifier.TYPECAST,
        banned=("bl_final_leaf",),
    ),
    ChallengeRow(
        Challenge.INFLATION,
        "c_inflation_1",
        "Inflation",
        "Every purchase raises all prices by $1 for good. Begin with a Credit Card.",
        Modifier.INFLATION,
        jokers=(StartJoker(Joker.CREDIT_CARD),),
        banned=("v_clearance_sale", "v_liquidation"),
    ),
    ChallengeRow(
        Challenge.BRAM_POKER,
        "c_bram_poker_1",
        "Bram Poker",
        "No jokers in the shop. Begin with an eternal Vampire, The Empress, The Emperor, Magic Trick and Illusion.",
        Modifier.NO_SHOP_JOKERS,
        jokers=(StartJoker(Joker.VAMPIRE, ETERNAL),),
        consumables=(Consumable.EMPRESS, Consumable.EMPEROR),
        vouchers=(Voucher.MAGIC_TRICK, Voucher.ILLUSION),
    ),
    ChallengeRow(
        Challenge.FRAGILE,
        "c_fragile_1",
        "Fragile",
        "Every card of the deck is a Glass card. Begin with two eternal, negative Oops! All 6s.",
        jokers=(StartJoker(Joker.OOPS, ETERNAL, Edition.NEGATIVE),) * 2,
        enhancement=Enhancement.GLASS,
        enhanced=tuple(range(TWO, ACE + 1)),
        banned=(
            *("c_magician", "c_empress", "c_heirophant", "c_chariot", "c_devil", "c_tower", "c_lovers"),
            *("c_incantation", "c_grim", "c_familiar"),
            *STANDARD_PACKS,
            *("j_marble", "j_vampire", "j_midas_mask", "j_certificate", "v_magic_trick", "v_illusion", "tag_standard"),
        ),
    ),
    ChallengeRow(
        Challenge.MONOLITH,
        "c_monolith_1",
        "Monolith",
        "Begin with an eternal Obelisk and an eternal, negative Marble Joker.",
        jokers=(StartJoker(Joker.OBELISK, ETERNAL), StartJoker(Joker.MARBLE, ETERNAL, Edition.NEGATIVE)),
    ),
    ChallengeRow(
        Challenge.BLAST_OFF,
        "c_blast_off_1",
        "Blast Off",
        "2 hands, 2 discards, 4 joker slots. Begin with an eternal Constellation, an eternal Rocket, Planet Merchant"
        " and Planet Tycoon.",
        hands=2,
        discards=2,
        joker_slots=4,
        jokers=(StartJoker(Joker.CONSTELLATION, ETERNAL), StartJoker(Joker.ROCKET, ETERNAL)),
        vouchers=(Voucher.PLANET_MERCHANT, Voucher.PLANET_TYCOON),
        banned=MORE_HANDS,
    ),
    ChallengeRow(
        Challenge.FIVE_CARD,
        "c_five_card_1",
        "Five-Card Draw",
        "Hand size 5, 6 discards, 7 joker slots. Begin with Card Sharp and Joker.",
        discards=6,
        hand_size=5,
        joker_slots=7,
        jokers=(StartJoker(Joker.CARD_SHARP), StartJoker(Joker.JOKER)),
        banned=("j_juggler", "j_troubadour", "j_turtle_bean"),
    ),
    ChallengeRow(
        Challenge.GOLDEN_NEEDLE,
        "c_golden_needle_1",
        "Golden Needle",
        "1 hand, 6 discards, each discard costs $1. Begin with $10 and a Credit Card.",
        Modifier.DISCARD_COST,
        dollars=10,
        hands=1,
        discards=6,
        jokers=(StartJoker(Joker.CREDIT_CARD),),
        banned=MORE_HANDS,
    ),
    ChallengeRow(
        Challenge.CRUELTY,
        "c_cruelty_1",
        "Cruelty",
        "Small and Big Blinds pay nothing; 3 joker slots.",
        Modifier.NO_SMALL_REWARD | Modifier.NO_BIG_REWARD,
        joker_slots=3,
    ),
    ChallengeRow(
        Challenge.JOKERLESS,
        "c_jokerless_1",
        "Jokerless",
        "No joker slots, and no jokers in the shop.",
        Modifier.NO_SHOP_JOKERS,
        joker_slots=0,
        banned=(
            *("c_judgement", "c_wraith", "c_soul", "v_antimatter"),
            *BUFFOON_PACKS,
            *("tag_rare", "tag_uncommon", "tag_holo", "tag_polychrome", "tag_negative", "tag_foil", "tag_buffoon"),
            *("tag_top_up", "bl_final_acorn", "bl_final_heart", "bl_final_leaf"),
        ),
    ),
)

by_key: dict[str, Challenge] = {row.key: row.challenge for row in CHALLENGES[1:]}
