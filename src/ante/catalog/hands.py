"""The twelve poker hands, best first."""

from dataclasses import dataclass
from enum import IntEnum


class Hand(IntEnum):
    """Poker hands in definition order."""

    FLUSH_FIVE = 0
    FLUSH_HOUSE = 1
    FIVE_OF_A_KIND = 2
    STRAIGHT_FLUSH = 3
    FOUR_OF_A_KIND = 4
    FULL_HOUSE = 5
    FLUSH = 6
    STRAIGHT = 7
    THREE_OF_A_KIND = 8
    TWO_PAIR = 9
    PAIR = 10
    HIGH_CARD = 11


@dataclass(frozen=True, slots=True)
class HandRow:
    """One poker hand at level 1, and the increase per level."""

    hand: Hand
    name: str
    chips: int
    mult: int
    chips_per_level: int
    mult_per_level: int
    visible_at_start: bool


HANDS: tuple[HandRow, ...] = (
    HandRow(
        Hand.FLUSH_FIVE, "Flush Five", chips=160, mult=16, chips_per_level=50, mult_per_level=3, visible_at_start=False
    ),
    HandRow(
        Hand.FLUSH_HOUSE,
        "Flush House",
        chips=140,
        mult=14,
        chips_per_level=40,
        mult_per_level=4,
        visible_at_start=False,
    ),
    HandRow(
        Hand.FIVE_OF_A_KIND,
        "Five of a Kind",
        chips=120,
        mult=12,
        chips_per_level=35,
        mult_per_level=3,
        visible_at_start=False,
    ),
    HandRow(
        Hand.STRAIGHT_FLUSH,
        "Straight Flush",
        chips=100,
        mult=8,
        chips_per_level=40,
        mult_per_level=4,
        visible_at_start=True,
    ),
    HandRow(
        Hand.FOUR_OF_A_KIND,
        "Four of a Kind",
        chips=60,
        mult=7,
        chips_per_level=30,
        mult_per_level=3,
        visible_at_start=True,
    ),
    HandRow(
        Hand.FULL_HOUSE, "Full House", chips=40, mult=4, chips_per_level=25, mult_per_level=2, visible_at_start=True
    ),
    HandRow(Hand.FLUSH, "Flush", chips=35, mult=4, chips_per_level=15, mult_per_level=2, visible_at_start=True),
    HandRow(Hand.STRAIGHT, "Straight", chips=30, mult=4, chips_per_level=30, mult_per_level=3, visible_at_start=True),
    HandRow(
        Hand.THREE_OF_A_KIND,
        "Three of a Kind",
        chips=30,
        mult=3,
        chips_per_level=20,
        mult_per_level=2,
        visible_at_start=True,
    ),
    HandRow(Hand.TWO_PAIR, "Two Pair", chips=20, mult=2, chips_per_level=20, mult_per_level=1, visible_at_start=True),
    HandRow(Hand.PAIR, "Pair", chips=10, mult=2, chips_per_level=15, mult_per_level=1, visible_at_start=True),
    HandRow(Hand.HIGH_CARD, "High Card", chips=5, mult=1, chips_per_level=10, mult_per_level=1, visible_at_start=True),
)

by_name: dict[str, Hand] = {row.name: row.hand for row in HANDS}
by_key = by_name  # the key of a poker hand is its name
