"""The 15 decks and the 8 stakes."""

from dataclasses import dataclass
from enum import IntEnum

from ante.catalog.constants import MONEY_PER_HAND
from ante.catalog.consumables import Consumable
from ante.catalog.vouchers import Voucher


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
    """One deck and its effects on a run.

    hands, discards, hand_size, joker_slots, consumable_slots, dollars   added at the start
    hand_dollars, discard_dollars   dollars for each hand and each discard left at cash-out
    interest        whether money earns interest
    consumables, vouchers   items at the start
    spectral_rate   weight of Spectrals in the shop
    target_times    factor on every blind's target
    """

    deck: Deck
    key: str
    name: str
    effect: str
    unlock: str | None = None
    hands: int = 0
    discards: int = 0
    hand_size: int = 0
    joker_slots: int = 0
    consumable_slots: int = 0
    dollars: int = 0
    hand_dollars: int = MONEY_PER_HAND
    discard_dollars: int = 0
    interest: bool = True
    consumables: tuple[Consumable, ...] = ()
    vouchers: tuple[Voucher, ...] = ()
    spectral_rate: float = 0.0
    target_times: float = 1.0


@dataclass(frozen=True, slots=True)
class StakeRow:
    """One stake and its effects.

    scaling    table of requirements, None for that of the stake below
    discards   added to the discards of each round
    """

    stake: Stake
    key: str
    effect: str
    scaling: int | None = None
    discards: int = 0


DECKS: tuple[DeckRow, ...] = (
    DeckRow(Deck.RED, "b_red", "Red Deck", "+1 discard every round.", discards=1),
    DeckRow(Deck.BLUE, "b_blue", "Blue Deck", "+1 hand every round.", hands=1, unlock="discover 20 items"),
    DeckRow(
        Deck.YELLOW,
        "b_yellow",
        "Yellow Deck",
        "Start with $10 more.",
        dollars=10,
        unlock="discover 50 items",
    ),
    DeckRow(
        Deck.GREEN,
        "b_green",
        "Green Deck",
        "$2 per remaining hand and $1 per remaining discard at round end; no interest.",
        hand_dollars=2,
        discard_dollars=1,
        interest=False,
        unlock="discover 75 items",
    ),
    DeckRow(
        Deck.BLACK,
        "b_black",
        "Black Deck",
        "+1 Joker slot, -1 hand.",
        hands=-1,
        joker_slots=1,
        unlock="discover 100 items",
    ),
    DeckRow(
        Deck.MAGIC,
        "b_magic",
        "Magic Deck",
        "Start with Crystal Ball and 2 copies of The Fool.",
        consumables=(Consumable.FOOL, Consumable.FOOL),
        vouchers=(Voucher.CRYSTAL_BALL,),
        unlock="win with Red Deck",
    ),
    DeckRow(
        Deck.NEBULA,
        "b_nebula",
        "Nebula Deck",
        "Start with Telescope; -1 consumable slot.",
        consumable_slots=-1,
        vouchers=(Voucher.TELESCOPE,),
        unlock="win with Blue Deck",
    ),
    DeckRow(
        Deck.GHOST,
        "b_ghost",
        "Ghost Deck",
        "Spectral cards can appear in the shop (rate 2); start with Hex.",
        consumables=(Consumable.HEX,),
        spectral_rate=2,
        unlock="win with Yellow Deck",
    ),
    DeckRow(
        Deck.ABANDONED,
        "b_abandoned",
        "Abandoned Deck",
        "No face cards in the starting deck.",
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
        vouchers=(Voucher.TAROT_MERCHANT, Voucher.PLANET_MERCHANT, Voucher.OVERSTOCK_NORM),
        unlock="win on stake 2",
    ),
    DeckRow(
        Deck.PAINTED,
        "b_painted",
        "Painted Deck",
        "+2 hand size, -1 Joker slot.",
        hand_size=2,
        joker_slots=-1,
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
        target_times=2,
        unlock="win on stake 5",
    ),
    DeckRow(
        Deck.ERRATIC,
        "b_erratic",
        "Erratic Deck",
        "Every starting card has a random rank and suit.",
        unlock="win on stake 7",
    ),
)

STAKES: tuple[StakeRow, ...] = (
    StakeRow(Stake.WHITE, "stake_white", "Base difficulty.", scaling=1),
    StakeRow(Stake.RED, "stake_red", "Small Blind gives no reward money."),
    StakeRow(Stake.GREEN, "stake_green", "Required score grows faster (scaling 2).", scaling=2),
    StakeRow(Stake.BLACK, "stake_black", "Shop and pack Jokers may be Eternal (poll above 0.7)."),
    StakeRow(Stake.BLUE, "stake_blue", "-1 discard per round.", discards=-1),
    StakeRow(Stake.PURPLE, "stake_purple", "Required score grows faster still (scaling 3).", scaling=3),
    StakeRow(Stake.ORANGE, "stake_orange", "Shop and pack Jokers may be Perishable (poll above 0.4, at most 0.7)."),
    StakeRow(Stake.GOLD, "stake_gold", "Shop and pack Jokers may be Rental (30%)."),
)

by_key: dict[str, Deck] = {row.key: row.deck for row in DECKS}
stake_by_key: dict[str, Stake] = {row.key: row.stake for row in STAKES}
