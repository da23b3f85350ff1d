"""The 30 blinds and the score that each ante requires."""

import math
from dataclasses import dataclass
from enum import IntEnum

from ante.catalog.cards import Suit


class Blind(IntEnum):
    """Small, Big, then the bosses; 0 for none."""

    NONE = 0
    SMALL = 1
    BIG = 2
    HOOK = 3
    OX = 4
    HOUSE = 5
    WALL = 6
    WHEEL = 7
    ARM = 8
    CLUB = 9
    FISH = 10
    PSYCHIC = 11
    GOAD = 12
    WATER = 13
    WINDOW = 14
    MANACLE = 15
    EYE = 16
    MOUTH = 17
    PLANT = 18
    SERPENT = 19
    PILLAR = 20
    NEEDLE = 21
    HEAD = 22
    TOOTH = 23
    FLINT = 24
    MARK = 25
    FINAL_ACORN = 26
    FINAL_LEAF = 27
    FINAL_VESSEL = 28
    FINAL_HEART = 29
    FINAL_BELL = 30


@dataclass(frozen=True, slots=True)
class BlindRow:
    """One blind: its target is the ante's base times `mult`; beating it pays `reward` dollars.

    kind      small, big, boss or showdown
    min_ante  first ante in which a boss is drawn, None for others
    cards     The Hook: cards discarded; The Psychic: cards of a hand; The Serpent: cards drawn
    odds      a drawn card is face down with probability 1 in `odds`
    hands, discards   number at the start of the round
    hand_size change of the hand size for the round
    levels    change of the level of the played hand
    dollars   change of money for each card played
    factor    factor on the hand's chips and mult
    shuffles  how many times the jokers are shuffled
    suit      suit of the debuffed cards
    """

    blind: Blind
    key: str
    name: str
    mult: float
    reward: int
    kind: str
    min_ante: int | None
    effect: str
    cards: int = 0
    odds: int = 0
    hands: int = 0
    discards: int = 0
    hand_size: int = 0
    levels: int = 0
    dollars: int = 0
    factor: float = 1.0
    shuffles: int = 0
    suit: Suit | None = None

    @property
    def showdown(self) -> bool:
        """Return whether it is a showdown boss, which is drawn only in every eighth ante."""
        return self.kind == "showdown"


BLINDS: tuple[BlindRow, ...] = (
    BlindRow(Blind.NONE, "", "", 0.0, 0, "", None, ""),
    BlindRow(Blind.SMALL, "bl_small", "Small Blind", 1.0, 3, "small", None, "No effect."),
    BlindRow(Blind.BIG, "bl_big", "Big Blind", 1.5, 4, "big", None, "No effect."),
    BlindRow(
        Blind.HOOK,
        "bl_hook",
        "The Hook",
        2.0,
        5,
        "boss",
        1,
        "Discards 2 random cards from hand after each hand played.",
        cards=2,
    ),
    BlindRow(
        Blind.OX,
        "bl_ox",
        "The Ox",
        2.0,
        5,
        "boss",
        6,
        "Playing the run's most played hand (fixed at ante start) sets money to $0.",
    ),
    BlindRow(Blind.HOUSE, "bl_house", "The House", 2.0, 5, "boss", 2, "The first hand is drawn face down."),
    BlindRow(Blind.WALL, "bl_wall", "The Wall", 4.0, 5, "boss", 2, "Extra large requirement (X4)."),
    BlindRow(
        Blind.WHEEL,
        "bl_wheel",
        "The Wheel",
        2.0,
        5,
        "boss",
        2,
        "Each drawn card has a 1 in 7 chance to be face down.",
        odds=7,
    ),
    BlindRow(Blind.ARM, "bl_arm", "The Arm", 2.0, 5, "boss", 2, "Lowers the level of the played hand by 1.", levels=-1),
    BlindRow(Blind.CLUB, "bl_club", "The Club", 2.0, 5, "boss", 1, "Clubs are debuffed.", suit=Suit.CLUBS),
    BlindRow(Blind.FISH, "bl_fish", "The Fish", 2.0, 5, "boss", 2, "Cards drawn after each hand played are face down."),
    BlindRow(Blind.PSYCHIC, "bl_psychic", "The Psychic", 2.0, 5, "boss", 1, "Hands must have 5 cards.", cards=5),
    BlindRow(Blind.GOAD, "bl_goad", "The Goad", 2.0, 5, "boss", 1, "Spades are debuffed.", suit=Suit.SPADES),
    BlindRow(Blind.WATER, "bl_water", "The Water", 2.0, 5, "boss", 2, "Start with 0 discards.", discards=0),
    BlindRow(Blind.WINDOW, "bl_window", "The Window", 2.0, 5, "boss", 1, "Diamonds are debuffed.", suit=Suit.DIAMONDS),
    BlindRow(Blind.MANACLE, "bl_manacle", "The Manacle", 2.0, 5, "boss", 1, "-1 hand size.", hand_size=-1),
    BlindRow(Blind.EYE, "bl_eye", "The Eye", 2.0, 5, "boss", 3, "No repeat hand types this round."),
    BlindRow(Blind.MOUTH, "bl_mouth", "The Mouth", 2.0, 5, "boss", 2, "Only one hand type this round."),
    BlindRow(Blind.PLANT, "bl_plant", "The Plant", 2.0, 5, "boss", 4, "Face cards are debuffed."),
    BlindRow(
        Blind.SERPENT,
        "bl_serpent",
        "The Serpent",
        2.0,
        5,
        "boss",
        5,
        "After playing or discarding, always draw 3 cards.",
        cards=3,
    ),
    BlindRow(
        Blind.PILLAR, "bl_pillar", "The Pillar", 2.0, 5, "boss", 1, "Cards played earlier this Ante are debuffed."
    ),
    BlindRow(Blind.NEEDLE, "bl_needle", "The Needle", 1.0, 5, "boss", 2, "Only 1 hand (requirement X1).", hands=1),
    BlindRow(Blind.HEAD, "bl_head", "The Head", 2.0, 5, "boss", 1, "Hearts are debuffed.", suit=Suit.HEARTS),
    BlindRow(Blind.TOOTH, "bl_tooth", "The Tooth", 2.0, 5, "boss", 3, "Lose $1 per card played.", dollars=-1),
    BlindRow(
        Blind.FLINT, "bl_flint", "The Flint", 2.0, 5, "boss", 2, "Base Chips and Mult are halved (rounded).", factor=0.5
    ),
    BlindRow(Blind.MARK, "bl_mark", "The Mark", 2.0, 5, "boss", 2, "Face cards are drawn face down."),
    BlindRow(
        Blind.FINAL_ACORN,
        "bl_final_acorn",
        "Amber Acorn",
        2.0,
        8,
        "showdown",
        None,
        "Flips and shuffles all Jokers.",
        shuffles=3,
    ),
    BlindRow(
        Blind.FINAL_LEAF,
        "bl_final_leaf",
        "Verdant Leaf",
        2.0,
        8,
        "showdown",
        None,
        "All cards are debuffed until a Joker is sold.",
    ),
    BlindRow(
        Blind.FINAL_VESSEL, "bl_final_vessel", "Violet Vessel", 6.0, 8, "showdown", None, "Very large requirement (X6)."
    ),
    BlindRow(
        Blind.FINAL_HEART,
        "bl_final_heart",
        "Crimson Heart",
        2.0,
        8,
        "showdown",
        None,
        "One random Joker is disabled each hand.",
    ),
    BlindRow(
        Blind.FINAL_BELL,
        "bl_final_bell",
        "Cerulean Bell",
        2.0,
        8,
        "showdown",
        None,
        "Forces one random card to always be selected.",
    ),
)

by_key: dict[str, Blind] = {row.key: row.blind for row in BLINDS[1:]}

# Bosses in the order in which they are drawn: by key text.
BOSSES_SORTED: tuple[Blind, ...] = tuple(by_key[key] for key in sorted(by_key) if by_key[key] > Blind.BIG)

BOSS_MULT = 2.0  # of an ordinary boss, and of The Wall and Violet Vessel when they are disabled
SHOWDOWN_EVERY = 8  # antes from one showdown boss to the next

# Base requirement of antes 1 to 8 for the three scalings.
ANTE_BASE: dict[int, tuple[int, ...]] = {
    1: (300, 800, 2000, 5000, 11000, 20000, 35000, 50000),
    2: (300, 900, 2600, 8000, 20000, 36000, 60000, 100000),
    3: (300, 1000, 3200, 9000, 25000, 60000, 110000, 200000),
}
LOWEST_BASE = 100.0  # of antes below 1


def ante_base(ante: int, scaling: int) -> float:
    """Return the chips that an ante requires, before the multipliers of the blind and the deck.

    Past ante 8 it grows from that ante's base and is truncated to two leading digits. It is NaN, which no score
    reaches, when it exceeds the range of a double.
    """
    if ante < 1:
        return LOWEST_BASE
    bases = ANTE_BASE[scaling]
    if ante <= len(bases):
        return float(bases[ante - 1])
    c = ante - len(bases)
    try:
        whole = float(math.floor(bases[-1] * (1.6 + (0.75 * c) ** (1 + 0.2 * c)) ** c))
    except OverflowError:
        return math.nan
    unit = 10.0 ** (math.floor(math.log10(whole)) - 1)
    return whole - whole % unit
