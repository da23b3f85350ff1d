"""Playing cards: suits, ranks, enhancements, editions, seals and stickers.

Ranks are the numbers 2 to 14; Jack 11, Queen 12, King 13, Ace 14.
"""

from dataclasses import dataclass
from enum import IntEnum


class Suit(IntEnum):
    """Suits in the order in which the game tries them."""

    SPADES = 0
    HEARTS = 1
    CLUBS = 2
    DIAMONDS = 3


class Enhancement(IntEnum):
    """Enhancements of a playing card, in pool order."""

    NONE = 0
    BONUS = 1
    MULT = 2
    WILD = 3
    GLASS = 4
    STEEL = 5
    STONE = 6
    GOLD = 7
    LUCKY = 8


class Edition(IntEnum):
    """Edition of a joker, a consumable or a playing card."""

    NONE = 0
    FOIL = 1
    HOLO = 2
    POLYCHROME = 3
    NEGATIVE = 4


class Seal(IntEnum):
    """Seal of a playing card."""

    NONE = 0
    GOLD = 1
    RED = 2
    BLUE = 3
    PURPLE = 4


class Sticker(IntEnum):
    """Bits of the stickers on a joker."""

    ETERNAL = 1
    PERISHABLE = 2
    RENTAL = 4
    PINNED = 16  # stays leftmost (On a Knife's Edge); the engine uses 8


TWO, JACK, QUEEN, KING, ACE = 2, 11, 12, 13, 14
N_RANKS = ACE - TWO + 1
N_SUITS = len(Suit)
RANK_LETTERS = "??23456789TJQKA"
SUIT_LETTERS = "SHCD"
SUIT_NAMES = ("Spades", "Hearts", "Clubs", "Diamonds")
RANK_CHIPS = (0, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 11)


def card_key(suit: int, rank: int) -> str:
    """Return the card's text key, `S_A` for the Ace of Spades."""
    return f"{SUIT_LETTERS[suit]}_{RANK_LETTERS[rank]}"


# The 52 (suit, rank) fronts sorted by text key: C_2 ... C_9, C_A, C_J, C_K, C_Q, C_T, D_2 ...
FRONTS: tuple[tuple[Suit, int], ...] = tuple(
    (suit, rank)
    for _, suit, rank in sorted((card_key(suit, rank), suit, rank) for suit in Suit for rank in range(TWO, ACE + 1))
)


@dataclass(frozen=True, slots=True)
class EnhancementRow:
    """One enhancement.

    chips, mult, x_mult   amounts added to the score and factor on mult, for each trigger
    held_x_mult, held_dollars   the same for a card held in hand, during scoring and at the end of the round
    dollars      dollars paid
    mult_odds, dollars_odds   mult and dollars apply with probability 1 in this number
    break_odds   the card breaks with probability 1 in this number
    """

    enhancement: Enhancement
    key: str
    name: str
    effect: str
    chips: int = 0
    mult: int = 0
    x_mult: float = 1.0
    held_x_mult: float = 1.0
    held_dollars: int = 0
    dollars: int = 0
    mult_odds: int = 1
    dollars_odds: int = 1
    break_odds: int = 0


@dataclass(frozen=True, slots=True)
class EditionRow:
    """One edition.

    extra_cost            added to the price
    chips, mult, x_mult   amounts added to the score and factor on mult
    slots    slots added
    share    fraction of rolls that give this edition or a rarer one, before effects that make editions more frequent
    illusion_above   Illusion gives the rarest edition whose bound its roll exceeds
    """

    edition: Edition
    key: str
    extra_cost: int
    effect: str
    chips: int = 0
    mult: int = 0
    x_mult: float = 1.0
    slots: int = 0
    share: float = 0.0
    illusion_above: float = 0.0


@dataclass(frozen=True, slots=True)
class SealRow:
    """One seal.

    dollars      dollars paid when its card triggers
    retriggers   additional triggers of its card
    above        a random seal is the one with the highest bound that its roll exceeds
    """

    seal: Seal
    key: str
    effect: str
    dollars: int = 0
    retriggers: int = 0
    above: float = 0.0


ENHANCEMENTS: tuple[EnhancementRow, ...] = (
    EnhancementRow(Enhancement.NONE, "", "", ""),
    EnhancementRow(Enhancement.BONUS, "m_bonus", "Bonus", "+30 Chips when scored.", chips=30),
    EnhancementRow(Enhancement.MULT, "m_mult", "Mult", "+4 Mult when scored.", mult=4),
    EnhancementRow(Enhancement.WILD, "m_wild", "Wild Card", "Counts as every suit."),
    EnhancementRow(
        Enhancement.GLASS,
        "m_glass",
        "Glass Card",
        "X2 Mult when scored; 1 in 4 chance to break after scoring.",
        x_mult=2,
        break_odds=4,
    ),
    EnhancementRow(Enhancement.STEEL, "m_steel", "Steel Card", "X1.5 Mult while held in hand.", held_x_mult=1.5),
    EnhancementRow(Enhancement.STONE, "m_stone", "Stone Card", "+50 Chips, no rank or suit, always scores.", chips=50),
    EnhancementRow(Enhancement.GOLD, "m_gold", "Gold Card", "$3 if held in hand at round end.", held_dollars=3),
    EnhancementRow(
        Enhancement.LUCKY,
        "m_lucky",
        "Lucky Card",
        "1 in 5 chance of +20 Mult and 1 in 15 chance of $20 when scored.",
        mult=20,
        mult_odds=5,
        dollars=20,
        dollars_odds=15,
    ),
)

EDITIONS: tuple[EditionRow, ...] = (
    EditionRow(Edition.NONE, "", 0, ""),
    EditionRow(Edition.FOIL, "foil", 2, "+50 Chips", chips=50, share=0.04),
    EditionRow(Edition.HOLO, "holo", 3, "+10 Mult", mult=10, share=0.02, illusion_above=0.5),
    EditionRow(Edition.POLYCHROME, "polychrome", 5, "X1.5 Mult", x_mult=1.5, share=0.006, illusion_above=0.85),
    EditionRow(
        Edition.NEGATIVE,
        "negative",
        5,
        "+1 Joker slot (Joker) or +1 consumable slot (consumable)",
        slots=1,
        share=0.003,
    ),
)

SEALS: tuple[SealRow, ...] = (
    SealRow(Seal.NONE, "", ""),
    SealRow(Seal.GOLD, "Gold", "$3 when scored", dollars=3, above=0.25),
    SealRow(Seal.RED, "Red", "retriggers the card once", retriggers=1, above=0.75),
    SealRow(Seal.BLUE, "Blue", "creates the Planet of the final hand if held at round end (needs room)", above=0.5),
    SealRow(Seal.PURPLE, "Purple", "creates a Tarot when discarded (needs room)"),
)

by_key: dict[str, Enhancement] = {row.key: row.enhancement for row in ENHANCEMENTS[1:]}
edition_by_key: dict[str, Edition] = {row.key: row.edition for row in EDITIONS[1:]}
seal_by_key: dict[str, Seal] = {row.key: row.seal for row in SEALS[1:]}
suit_by_name: dict[str, Suit] = {name: Suit(number) for number, name in enumerate(SUIT_NAMES)}
