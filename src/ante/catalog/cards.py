"""Playing cards: suits, ranks, enhancements, editions, seals and stickers.

Ranks are the numbers 2 to 14; Jack 11, Queen 12, King 13, Ace 14.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum


class Suit(IntEnum):
    """Suits in the order in which the game tries them."""

    SPADES = 0
    HEARTS = 1
    CLUBS = 2
    DIAMONDS = 3


class Enhancement(IntEnum):
    """What a playing card has been turned into, in pool order."""

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
    PINNED = 16  # stays leftmost (On a Knife's Edge); 8 is the engine's own


JACK, QUEEN, KING, ACE = 11, 12, 13, 14
RANK_LETTERS = "??23456789TJQKA"
SUIT_LETTERS = "SHCD"
SUIT_NAMES = ("Spades", "Hearts", "Clubs", "Diamonds")
RANK_CHIPS = (0, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 11)


def card_key(suit: int, rank: int) -> str:
    """The card's text key, `S_A` for the Ace of Spades."""
    return f"{SUIT_LETTERS[suit]}_{RANK_LETTERS[rank]}"


# The 52 (suit, rank) fronts sorted by text key: C_2 ... C_9, C_A, C_J, C_K, C_Q, C_T, D_2 ...
FRONTS: tuple[tuple[Suit, int], ...] = tuple(
    (suit, rank)
    for _, suit, rank in sorted((card_key(suit, rank), suit, rank) for suit in Suit for rank in range(2, 15))
)


@dataclass(frozen=True, slots=True)
class EnhancementRow:
    """One enhancement.

    values   its numbers under the game's own short names; Glass: `amount` is the odds of breaking
    more     numbers that only its sentence gives
    """

    enhancement: Enhancement
    key: str
    name: str
    values: Mapping[str, float]
    effect: str
    more: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EditionRow:
    """One edition: what it adds to a price and to a score; `slots` counts Negative's one more slot."""

    edition: Edition
    key: str
    extra_cost: int
    effect: str
    chips: int = 0
    mult: int = 0
    x_mult: float = 1.0
    slots: int = 0


@dataclass(frozen=True, slots=True)
class SealRow:
    """One seal: its key, its effect in a sentence, and the numbers of that sentence."""

    seal: Seal
    key: str
    effect: str
    values: Mapping[str, int] = field(default_factory=dict)


ENHANCEMENTS: tuple[EnhancementRow, ...] = (
    EnhancementRow(Enhancement.NONE, "", "", {}, ""),
    EnhancementRow(Enhancement.BONUS, "m_bonus", "Bonus", {"bonus": 30}, "+30 Chips when scored."),
    EnhancementRow(Enhancement.MULT, "m_mult", "Mult", {"mult": 4}, "+4 Mult when scored."),
    EnhancementRow(Enhancement.WILD, "m_wild", "Wild Card", {}, "Counts as every suit."),
    EnhancementRow(
        Enhancement.GLASS,
        "m_glass",
        "Glass Card",
        {"Xmult": 2, "amount": 4},
        "X2 Mult when scored; 1 in 4 chance to break after scoring.",
    ),
    EnhancementRow(Enhancement.STEEL, "m_steel", "Steel Card", {"h_x_mult": 1.5}, "X1.5 Mult while held in hand."),
    EnhancementRow(
        Enhancement.STONE, "m_stone", "Stone Card", {"bonus": 50}, "+50 Chips, no rank or suit, always scores."
    ),
    EnhancementRow(Enhancement.GOLD, "m_gold", "Gold Card", {"h_dollars": 3}, "$3 if held in hand at round end."),
    EnhancementRow(
        Enhancement.LUCKY,
        "m_lucky",
        "Lucky Card",
        {"mult": 20, "p_dollars": 20},
        "1 in 5 chance of +20 Mult and 1 in 15 chance of $20 when scored.",
        more={"mult_odds": 5, "dollars_odds": 15},
    ),
)

EDITIONS: tuple[EditionRow, ...] = (
    EditionRow(Edition.NONE, "", 0, ""),
    EditionRow(Edition.FOIL, "foil", 2, "+50 Chips", chips=50),
    EditionRow(Edition.HOLO, "holo", 3, "+10 Mult", mult=10),
    EditionRow(Edition.POLYCHROME, "polychrome", 5, "X1.5 Mult", x_mult=1.5),
    EditionRow(Edition.NEGATIVE, "negative", 5, "+1 Joker slot (Joker) or +1 consumable slot (consumable)", slots=1),
)

SEALS: tuple[SealRow, ...] = (
    SealRow(Seal.NONE, "", ""),
    SealRow(Seal.GOLD, "Gold", "$3 when scored", values={"dollars": 3}),
    SealRow(Seal.RED, "Red", "retriggers the card once", values={"retriggers": 1}),
    SealRow(Seal.BLUE, "Blue", "creates the Planet of the final hand if held at round end (needs room)"),
    SealRow(Seal.PURPLE, "Purple", "creates a Tarot when discarded (needs room)"),
)

by_key: dict[str, Enhancement] = {row.key: row.enhancement for row in ENHANCEMENTS[1:]}
edition_by_key: dict[str, Edition] = {row.key: row.edition for row in EDITIONS[1:]}
seal_by_key: dict[str, Seal] = {row.key: row.seal for row in SEALS[1:]}
suit_by_name: dict[str, Suit] = {name: Suit(number) for number, name in enumerate(SUIT_NAMES)}
