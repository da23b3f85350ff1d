"""Tarots, Planets and Spectrals, in pool order."""

from dataclasses import dataclass
from enum import IntEnum

from ante.catalog.cards import ACE, JACK, KING, TWO, Enhancement, Seal, Suit
from ante.catalog.hands import Hand


class Set(IntEnum):
    """The three kinds of consumable."""

    TAROT = 0
    PLANET = 1
    SPECTRAL = 2


class Consumable(IntEnum):
    """Tarots 1 to 22, Planets 23 to 34, Spectrals 35 to 52; 0 for none."""

    NONE = 0
    FOOL = 1
    MAGICIAN = 2
    HIGH_PRIESTESS = 3
    EMPRESS = 4
    EMPEROR = 5
    HEIROPHANT = 6
    LOVERS = 7
    CHARIOT = 8
    JUSTICE = 9
    HERMIT = 10
    WHEEL_OF_FORTUNE = 11
    STRENGTH = 12
    HANGED_MAN = 13
    DEATH = 14
    TEMPERANCE = 15
    DEVIL = 16
    TOWER = 17
    STAR = 18
    MOON = 19
    SUN = 20
    JUDGEMENT = 21
    WORLD = 22
    MERCURY = 23
    VENUS = 24
    EARTH = 25
    MARS = 26
    JUPITER = 27
    SATURN = 28
    URANUS = 29
    NEPTUNE = 30
    PLUTO = 31
    PLANET_X = 32
    CERES = 33
    ERIS = 34
    FAMILIAR = 35
    GRIM = 36
    INCANTATION = 37
    TALISMAN = 38
    AURA = 39
    WRAITH = 40
    SIGIL = 41
    OUIJA = 42
    ECTOPLASM = 43
    IMMOLATE = 44
    ANKH = 45
    DEJA_VU = 46
    HEX = 47
    TRANCE = 48
    MEDIUM = 49
    CRYPTID = 50
    SOUL = 51
    BLACK_HOLE = 52


@dataclass(frozen=True, slots=True)
class ConsumableRow:
    """One consumable.

    max_highlighted, min_highlighted  number of hand cards that it is used on; max_highlighted is 0 if it takes none
    enhancement, suit, seal   set on the chosen cards
    ranks    ranks added to the chosen cards
    count    number of cards created
    lowest, highest   ranks of the playing cards created
    destroyed   number of hand cards destroyed
    dollars  dollars gained
    cap      maximum dollars gained
    odds     it works with probability 1 in `odds`
    levels   levels that a poker hand gains
    hand     the poker hand of a Planet
    hand_size   change of the hand size; Ectoplasm's change grows by this amount with each use
    softlocked  a Planet that the pool offers only after its hand was played
    in_pool  False for The Soul and Black Hole, which are rolled separately
    """

    consumable: Consumable
    key: str
    name: str
    set: Set
    cost: int
    effect: str
    max_highlighted: int = 0
    min_highlighted: int = 1
    enhancement: Enhancement = Enhancement.NONE
    suit: Suit | None = None
    seal: Seal = Seal.NONE
    ranks: int = 0
    count: int = 0
    lowest: int = 0
    highest: int = 0
    destroyed: int = 0
    dollars: int = 0
    cap: int = 0
    odds: int = 0
    levels: int = 0
    hand: Hand | None = None
    hand_size: int = 0
    softlocked: bool = False
    in_pool: bool = True


CONSUMABLES: tuple[ConsumableRow, ...] = (
    ConsumableRow(Consumable.NONE, "", "", Set.TAROT, 0, ""),
    ConsumableRow(
        Consumable.FOOL,
        "c_fool",
        "The Fool",
        Set.TAROT,
        3,
        "Creates the last Tarot or Planet used this run (not The Fool).",
    ),
    ConsumableRow(
        Consumable.MAGICIAN,
        "c_magician",
        "The Magician",
        Set.TAROT,
        3,
        "Turns up to 2 selected cards into Lucky cards.",
        max_highlighted=2,
        enhancement=Enhancement.LUCKY,
    ),
    ConsumableRow(
        Consumable.HIGH_PRIESTESS,
        "c_high_priestess",
        "The High Priestess",
        Set.TAROT,
        3,
        "Creates up to 2 Planets (needs room).",
        count=2,
    ),
    ConsumableRow(
        Consumable.EMPRESS,
        "c_empress",
        "The Empress",
        Set.TAROT,
        3,
        "Turns up to 2 selected cards into Mult cards.",
        max_highlighted=2,
        enhancement=Enhancement.MULT,
    ),
    ConsumableRow(
        Consumable.EMPEROR,
        "c_emperor",
        "The Emperor",
        Set.TAROT,
        3,
        "Creates up to 2 Tarots (needs room).",
        count=2,
    ),
    ConsumableRow(
        Consumable.HEIROPHANT,
        "c_heirophant",
        "The Hierophant",
        Set.TAROT,
        3,
        "Turns up to 2 selected cards into Bonus cards.",
        max_highlighted=2,
        enhancement=Enhancement.BONUS,
    ),
    ConsumableRow(
        Consumable.LOVERS,
        "c_lovers",
        "The Lovers",
        Set.TAROT,
        3,
        "Turns 1 selected card into a Wild card.",
        max_highlighted=1,
        enhancement=Enhancement.WILD,
    ),
    ConsumableRow(
        Consumable.CHARIOT,
        "c_chariot",
        "The Chariot",
        Set.TAROT,
        3,
        "Turns 1 selected card into a Steel card.",
        max_highlighted=1,
        enhancement=Enhancement.STEEL,
    ),
    ConsumableRow(
        Consumable.JUSTICE,
        "c_justice",
        "Justice",
        Set.TAROT,
        3,
        "Turns 1 selected card into a Glass card.",
        max_highlighted=1,
        enhancement=Enhancement.GLASS,
    ),
    ConsumableRow(
        Consumable.HERMIT,
        "c_hermit",
        "The Hermit",
        Set.TAROT,
        3,
        "Doubles money, gaining at most $20.",
        cap=20,
    ),
    ConsumableRow(
        Consumable.WHEEL_OF_FORTUNE,
        "c_wheel_of_fortune",
        "The Wheel of Fortune",
        Set.TAROT,
        3,
        "1 in 4 chance to give a random editionless Joker Foil, Holographic or Polychrome.",
        odds=4,
    ),
    ConsumableRow(
        Consumable.STRENGTH,
        "c_strength",
        "Strength",
        Set.TAROT,
        3,
        "Raises the rank of up to 2 selected cards by 1 (Ace wraps to 2).",
        max_highlighted=2,
        ranks=1,
    ),
    ConsumableRow(
        Consumable.HANGED_MAN,
        "c_hanged_man",
        "The Hanged Man",
        Set.TAROT,
        3,
        "Destroys up to 2 selected cards.",
        max_highlighted=2,
    ),
    ConsumableRow(
        Consumable.DEATH,
        "c_death",
        "Death",
        Set.TAROT,
        3,
        "With 2 selected cards, the left one becomes a copy of the right one.",
        max_highlighted=2,
        min_highlighted=2,
    ),
    ConsumableRow(
        Consumable.TEMPERANCE,
        "c_temperance",
        "Temperance",
        Set.TAROT,
        3,
        "Gives the total sell value of owned Jokers, at most $50.",
        cap=50,
    ),
    ConsumableRow(
        Consumable.DEVIL,
        "c_devil",
        "The Devil",
        Set.TAROT,
        3,
        "Turns 1 selected card into a Gold card.",
        max_highlighted=1,
        enhancement=Enhancement.GOLD,
    ),
    ConsumableRow(
        Consumable.TOWER,
        "c_tower",
        "The Tower",
        Set.TAROT,
        3,
        "Turns 1 selected card into a Stone card.",
        max_highlighted=1,
        enhancement=Enhancement.STONE,
    ),
    ConsumableRow(
        Consumable.STAR,
        "c_star",
        "The Star",
        Set.TAROT,
        3,
        "Turns up to 3 selected cards into Diamonds.",
        max_highlighted=3,
        suit=Suit.DIAMONDS,
    ),
    ConsumableRow(
        Consumable.MOON,
        "c_moon",
        "The Moon",
        Set.TAROT,
        3,
        "Turns up to 3 selected cards into Clubs.",
        max_highlighted=3,
        suit=Suit.CLUBS,
    ),
    ConsumableRow(
        Consumable.SUN,
        "c_sun",
        "The Sun",
        Set.TAROT,
        3,
        "Turns up to 3 selected cards into Hearts.",
        max_highlighted=3,
        suit=Suit.HEARTS,
    ),
    ConsumableRow(
        Consumable.JUDGEMENT, "c_judgement", "Judgement", Set.TAROT, 3, "Creates a random Joker (needs room)."
    ),
    ConsumableRow(
        Consumable.WORLD,
        "c_world",
        "The World",
        Set.TAROT,
        3,
        "Turns up to 3 selected cards into Spades.",
        max_highlighted=3,
        suit=Suit.SPADES,
    ),
    ConsumableRow(
        Consumable.MERCURY,
        "c_mercury",
        "Mercury",
        Set.PLANET,
        3,
        "Raises the level of Pair by 1.",
        levels=1,
        hand=Hand.PAIR,
    ),
    ConsumableRow(
        Consumable.VENUS,
        "c_venus",
        "Venus",
        Set.PLANET,
        3,
        "Raises the level of Three of a Kind by 1.",
        levels=1,
        hand=Hand.THREE_OF_A_KIND,
    ),
    ConsumableRow(
        Consumable.EARTH,
        "c_earth",
        "Earth",
        Set.PLANET,
        3,
        "Raises the level of Full House by 1.",
        levels=1,
        hand=Hand.FULL_HOUSE,
    ),
    ConsumableRow(
        Consumable.MARS,
        "c_mars",
        "Mars",
        Set.PLANET,
        3,
        "Raises the level of Four of a Kind by 1.",
        levels=1,
        hand=Hand.FOUR_OF_A_KIND,
    ),
    ConsumableRow(
        Consumable.JUPITER,
        "c_jupiter",
        "Jupiter",
        Set.PLANET,
        3,
        "Raises the level of Flush by 1.",
        levels=1,
        hand=Hand.FLUSH,
    ),
    ConsumableRow(
        Consumable.SATURN,
        "c_saturn",
        "Saturn",
        Set.PLANET,
        3,
        "Raises the level of Straight by 1.",
        levels=1,
        hand=Hand.STRAIGHT,
    ),
    ConsumableRow(
        Consumable.URANUS,
        "c_uranus",
        "Uranus",
        Set.PLANET,
        3,
        "Raises the level of Two Pair by 1.",
        levels=1,
        hand=Hand.TWO_PAIR,
    ),
    ConsumableRow(
        Consumable.NEPTUNE,
        "c_neptune",
        "Neptune",
        Set.PLANET,
        3,
        "Raises the level of Straight Flush by 1.",
        levels=1,
        hand=Hand.STRAIGHT_FLUSH,
    ),
    ConsumableRow(
        Consumable.PLUTO,
        "c_pluto",
        "Pluto",
        Set.PLANET,
        3,
        "Raises the level of High Card by 1.",
        levels=1,
        hand=Hand.HIGH_CARD,
    ),
    ConsumableRow(
        Consumable.PLANET_X,
        "c_planet_x",
        "Planet X",
        Set.PLANET,
        3,
        "Raises the level of Five of a Kind by 1.",
        levels=1,
        hand=Hand.FIVE_OF_A_KIND,
        softlocked=True,
    ),
    ConsumableRow(
        Consumable.CERES,
        "c_ceres",
        "Ceres",
        Set.PLANET,
        3,
        "Raises the level of Flush House by 1.",
        levels=1,
        hand=Hand.FLUSH_HOUSE,
        softlocked=True,
    ),
    ConsumableRow(
        Consumable.ERIS,
        "c_eris",
        "Eris",
        Set.PLANET,
        3,
        "Raises the level of Flush Five by 1.",
        levels=1,
        hand=Hand.FLUSH_FIVE,
        softlocked=True,
    ),
    ConsumableRow(
        Consumable.FAMILIAR,
        "c_familiar",
        "Familiar",
        Set.SPECTRAL,
        4,
        "Destroys 1 random card in hand, adds 3 random enhanced face cards to the hand.",
        count=3,
        destroyed=1,
        lowest=JACK,
        highest=KING,
    ),
    ConsumableRow(
        Consumable.GRIM,
        "c_grim",
        "Grim",
        Set.SPECTRAL,
        4,
        "Destroys 1 random card in hand, adds 2 random enhanced Aces to the hand.",
        count=2,
        destroyed=1,
        lowest=ACE,
        highest=ACE,
    ),
    ConsumableRow(
        Consumable.INCANTATION,
        "c_incantation",
        "Incantation",
        Set.SPECTRAL,
        4,
        "Destroys 1 random card in hand, adds 4 random enhanced number cards to the hand.",
        count=4,
        destroyed=1,
        lowest=TWO,
        highest=10,
    ),
    ConsumableRow(
        Consumable.TALISMAN,
        "c_talisman",
        "Talisman",
        Set.SPECTRAL,
        4,
        "Adds a Gold Seal to 1 selected card.",
        seal=Seal.GOLD,
        max_highlighted=1,
    ),
    ConsumableRow(
        Consumable.AURA,
        "c_aura",
        "Aura",
        Set.SPECTRAL,
        4,
        "Gives 1 selected card Foil, Holographic or Polychrome.",
        max_highlighted=1,
    ),
    ConsumableRow(
        Consumable.WRAITH,
        "c_wraith",
        "Wraith",
        Set.SPECTRAL,
        4,
        "Creates a random Rare Joker and sets money to $0 (needs room).",
    ),
    ConsumableRow(
        Consumable.SIGIL, "c_sigil", "Sigil", Set.SPECTRAL, 4, "Turns every card in hand into one random suit."
    ),
    ConsumableRow(
        Consumable.OUIJA,
        "c_ouija",
        "Ouija",
        Set.SPECTRAL,
        4,
        "Turns every card in hand into one random rank; -1 hand size.",
        hand_size=-1,
    ),
    ConsumableRow(
        Consumable.ECTOPLASM,
        "c_ectoplasm",
        "Ectoplasm",
        Set.SPECTRAL,
        4,
        "Adds Negative to a random editionless Joker; reduces hand size (by 1, growing by 1 per use).",
        hand_size=-1,
    ),
    ConsumableRow(
        Consumable.IMMOLATE,
        "c_immolate",
        "Immolate",
        Set.SPECTRAL,
        4,
        "Destroys 5 random cards in hand and gives $20.",
        destroyed=5,
        dollars=20,
    ),
    ConsumableRow(
        Consumable.ANKH,
        "c_ankh",
        "Ankh",
        Set.SPECTRAL,
        4,
        "Copies a random Joker and destroys all others (Eternals stay; Negative is removed from the copy).",
    ),
    ConsumableRow(
        Consumable.DEJA_VU,
        "c_deja_vu",
        "Deja Vu",
        Set.SPECTRAL,
        4,
        "Adds a Red Seal to 1 selected card.",
        seal=Seal.RED,
        max_highlighted=1,
    ),
    ConsumableRow(
        Consumable.HEX,
        "c_hex",
        "Hex",
        Set.SPECTRAL,
        4,
        "Adds Polychrome to a random editionless Joker and destroys all other Jokers (not Eternals).",
    ),
    ConsumableRow(
        Consumable.TRANCE,
        "c_trance",
        "Trance",
        Set.SPECTRAL,
        4,
        "Adds a Blue Seal to 1 selected card.",
        seal=Seal.BLUE,
        max_highlighted=1,
    ),
    ConsumableRow(
        Consumable.MEDIUM,
        "c_medium",
        "Medium",
        Set.SPECTRAL,
        4,
        "Adds a Purple Seal to 1 selected card.",
        seal=Seal.PURPLE,
        max_highlighted=1,
    ),
    ConsumableRow(
        Consumable.CRYPTID,
        "c_cryptid",
        "Cryptid",
        Set.SPECTRAL,
        4,
        "Creates 2 copies of 1 selected card in hand.",
        count=2,
        max_highlighted=1,
    ),
    ConsumableRow(
        Consumable.SOUL, "c_soul", "The Soul", Set.SPECTRAL, 4, "Creates a Legendary Joker (needs room).", in_pool=False
    ),
    ConsumableRow(
        Consumable.BLACK_HOLE,
        "c_black_hole",
        "Black Hole",
        Set.SPECTRAL,
        4,
        "Upgrades every poker hand by 1 level.",
        levels=1,
        in_pool=False,
    ),
)


TAROTS = tuple(row for row in CONSUMABLES[1:] if row.set == Set.TAROT)
PLANETS = tuple(row for row in CONSUMABLES if row.set == Set.PLANET)
SPECTRALS = tuple(row for row in CONSUMABLES if row.set == Set.SPECTRAL)
N_TAROTS, N_PLANETS, N_SPECTRALS = len(TAROTS), len(PLANETS), len(SPECTRALS)
FIRST_TAROT, FIRST_PLANET, FIRST_SPECTRAL = (int(rows[0].consumable) for rows in (TAROTS, PLANETS, SPECTRALS))

by_key: dict[str, Consumable] = {row.key: row.consumable for row in CONSUMABLES[1:]}
