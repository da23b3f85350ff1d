"""What things cost in the shop, and what they sell for.

The numbers of a run stand in constants.py; they can be had from here too.
"""

import math

from ante.catalog.constants import (
    CONSUMABLE_SLOTS,
    DISCARDS,
    ETERNAL_POLL,
    HAND_SIZE,
    HANDS,
    INTEREST_AMOUNT,
    INTEREST_CAP_FIELD,
    INTEREST_PER,
    JOKER_SLOTS,
    MONEY_PER_HAND,
    PERISHABLE_POLL,
    PERISHABLE_ROUNDS,
    PLAYING_CARD_COST,
    RARITY_THRESHOLDS,
    RENTAL_BUY_PRICE,
    RENTAL_COST_PER_ROUND,
    RENTAL_POLL,
    REROLL_BASE,
    REROLL_STEP,
    SHOP_PACKS,
    SHOP_RATES,
    SHOP_SLOTS,
    START_MONEY,
    WIN_ANTE,
)

__all__ = [
    "CONSUMABLE_SLOTS",
    "DISCARDS",
    "ETERNAL_POLL",
    "HANDS",
    "HAND_SIZE",
    "INTEREST_AMOUNT",
    "INTEREST_CAP_FIELD",
    "INTEREST_PER",
    "JOKER_SLOTS",
    "MONEY_PER_HAND",
    "PERISHABLE_POLL",
    "PERISHABLE_ROUNDS",
    "PLAYING_CARD_COST",
    "RARITY_THRESHOLDS",
    "RENTAL_BUY_PRICE",
    "RENTAL_COST_PER_ROUND",
    "RENTAL_POLL",
    "REROLL_BASE",
    "REROLL_STEP",
    "SHOP_PACKS",
    "SHOP_RATES",
    "SHOP_SLOTS",
    "START_MONEY",
    "WIN_ANTE",
    "price",
    "sell_value",
]


def price(base: int, edition_extra: int = 0, inflation: int = 0, discount: int = 0) -> int:
    """Dollars asked for an item, at least 1, with `discount` percent off.

    Not for what has a price of its own: a rental costs RENTAL_BUY_PRICE; couponed items cost 0, and so do
    Planets and Celestial packs beside Astronomer.
    """
    return max(1, math.floor((base + inflation + edition_extra + 0.5) * (100 - discount) / 100))


def sell_value(cost: int, accrued: int = 0) -> int:
    """Dollars paid for an item that costs `cost` and has gained `accrued` (Egg, Gift Card)."""
    return max(1, cost // 2) + accrued
