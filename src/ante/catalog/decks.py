"""The 15 decks and the 8 stakes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum


class Deck(IntEnum):
    """Decks in the order of the menu."""

    RED = 0
    BLUE = 1
    YELLOW = 2
    GREEN = 3
    BLACK = 4
    MAGIC = 5
    NEBULA = 6
    GHOST = 7
    ABANDONED = 8
    CHECKERED = 9
    ZODIAC = 10
    PAINTED = 11
    ANAGLYPH = 12
    PLASMA = 13
    ERRATIC = 14


class Stake(IntEnum):
    """Stakes; each includes all lower ones."""

    WHITE = 1
    RED = 2
    GREEN = 3
    BLACK = 4
    BLUE = 5
    PURPLE = 6
    ORANGE = 7
    GOLD = 8


@dataclass(frozen=True, slots=True)
class DeckRow:
    """One deck and how it changes a run."""

    deck: Deck
    key: str
    name: str
    effect: str
    values: Mapping[str, object] = field(default_factory=dict)
    unlock: str | None = None


@dataclass(frozen=True, slots=True)
class StakeRow:
    """One stake and what it adds."""

    stake: Stake
    key: str
    effect: str


DECKS: tuple[DeckRow, ...] = (
    DeckRow(Deck.RED, "b_red", "Red Deck", "+1 discard every round.", values={"discards": 1}),
    DeckRow(Deck.BLUE, "b_blue", "Blue Deck", "+1 hand every round.", values={"hands": 1}, unlock="discover 20 items"),
    DeckRow(
        Deck.YELLOW,
        "b_yellow",
        "Yellow Deck",
        "Start with $10 more.",
        values={"dollars": 10},
        unlock="discover 50 items",
    ),
    DeckRow(
        Deck.GREEN,
        "b_green",
        "Green Deck",
        "$2 per remaining hand and $1 per remaining discard at round end; no interest.",
        values={"extra_discard_bonus": 1, "extra_hand_bonus": 2, "no_interest": True},
        unlock="discover 75 items",
    ),
    DeckRow(
        Deck.BLACK,
        "b_black",
        "Black Deck",
        "+1 Joker slot, -1 hand.",
        values={"hands": -1, "joker_slot": 1},
        unlock="discover 100 items",
    ),
    DeckRow(
        Deck.MAGIC,
        "b_magic",
        "Magic Deck",
        "Start with Crystal Ball and 2 copies of The Fool.",
        values={"consumables": ("c_fool", "c_fool"), "voucher": "v_crystal_ball"},
        unlock="win with Red Deck",
    ),
    DeckRow(
        Deck.NEBULA,
        "b_nebula",
        "Nebula Deck",
        "Start with Telescope; -1 consumable slot.",
        values={"consumable_slot": -1, "voucher": "v_telescope"},
        unlock="win with Blue Deck",
    ),
    DeckRow(
        Deck.GHOST,
        "b_ghost",
        "Ghost Deck",
        "Spectral cards can appear in the shop (rate 2); start with Hex.",
        values={"consumables": ("c_hex",), "spectral_rate": 2},
        unlock="win with Yellow Deck",
    ),
    DeckRow(
        Deck.ABANDONED,
        "b_abandoned",
        "Abandoned Deck",
        "No face cards in the starting deck.",
        values={"remove_faces": True},
        unlock="win with Green Deck",
    ),
    DeckRow(
        Deck.CHECKERED,
        "b_checkered",
        "Checkered Deck",
        "Starting deck has 26 Spades and 26 Hearts.",
        unlock="win with Black Deck",
    ),
    DeckRow(
        Deck.ZODIAC,
        "b_zodiac",
        "Zodiac Deck",
        "Start with Tarot Merchant, Planet Merchant and Overstock.",
        values={"vouchers": ("v_tarot_merchant", "v_planet_merchant", "v_overstock_norm")},
        unlock="win on stake 2",
    ),
    DeckRow(
        Deck.PAINTED,
        "b_painted",
        "Painted Deck",
        "+2 hand size, -1 Joker slot.",
        values={"hand_size": 2, "joker_slot": -1},
        unlock="win on stake 3",
    ),
    DeckRow(
        Deck.ANAGLYPH, "b_anaglyph", "Anaglyph Deck", "After each Boss, gain a Double Tag.", unlock="win on stake 4"
    ),
    DeckRow(
        Deck.PLASMA,
        "b_plasma",
        "Plasma Deck",
        "Chips and Mult are averaged when scoring; blind requirements X2.",
        values={"ante_scaling": 2},
        unlock="win on stake 5",
    ),
    DeckRow(
        Deck.ERRATIC,
        "b_erratic",
        "Erratic Deck",
        "Every starting card has a random rank and suit.",
        values={"randomize_rank_suit": True},
        unlock="win on stake 7",
    ),
)

STAKES: tuple[StakeRow, ...] = (
    StakeRow(Stake.WHITE, "stake_white", "Base difficulty."),
    StakeRow(Stake.RED, "stake_red", "Small Blind gives no reward money."),
    StakeRow(Stake.GREEN, "stake_green", "Required score grows faster (scaling 2)."),
    StakeRow(Stake.BLACK, "stake_black", "Shop and pack Jokers may be Eternal (poll above 0.7)."),
    StakeRow(Stake.BLUE, "stake_blue", "-1 discard per round."),
    StakeRow(Stake.PURPLE, "stake_purple", "Required score grows faster still (scaling 3)."),
    StakeRow(Stake.ORANGE, "stake_orange", "Shop and pack Jokers may be Perishable (poll above 0.4, at most 0.7)."),
    StakeRow(Stake.GOLD, "stake_gold", "Shop and pack Jokers may be Rental (30%)."),
)

by_key: dict[str, Deck] = {row.key: row.deck for row in DECKS}
stake_by_key: dict[str, Stake] = {row.key: row.stake for row in STAKES}
