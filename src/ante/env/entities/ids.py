"""Item ids: one number for each visible item, and one for its modifiers.

An id is a base plus a number of the catalogue: `JOKER_BASE + Joker.EGG`. 0 means empty.
"""

from ante.catalog.cards import Suit
from ante.catalog.consumables import Consumable
from ante.catalog.packs import PackKind
from ante.engine.core.rule import rule
from ante.env.layout import FIRST_RANK, N_EDITIONS, N_ENHANCEMENTS, N_JOKERS, N_RANKS, N_SEALS, N_VOUCHERS

FACE_DOWN_CARD, STONE_CARD = 1, 2
CARD_BASE = 3  # + N_RANKS * suit + rank - FIRST_RANK
JOKER_BASE = CARD_BASE + N_RANKS * len(Suit) - 1  # + Joker, which counts from 1
CONSUMABLE_BASE = JOKER_BASE + N_JOKERS  # + Consumable, which counts from 1
VOUCHER_BASE = CONSUMABLE_BASE + len(Consumable) - 1  # + Voucher, which counts from 1
BOOSTER_BASE = VOUCHER_BASE + N_VOUCHERS + 1  # + PackKind, which counts from 0
N_ITEM_IDS = BOOSTER_BASE + len(PackKind)
N_TRAITS = N_ENHANCEMENTS * N_EDITIONS * N_SEALS


@rule
def card_id(rank, suit_plus_1):
    """Return the item id of a face-up playing card; rank 0 means a Stone card, whose rank is hidden."""
    if rank == 0:
        return STONE_CARD
    return CARD_BASE + N_RANKS * (int(suit_plus_1) - 1) + int(rank) - FIRST_RANK


@rule
def trait_of(enhancement, edition, seal):
    """Return enhancement, edition and seal as one number below N_TRAITS."""
    return (int(enhancement) * N_EDITIONS + int(edition)) * N_SEALS + int(seal)
