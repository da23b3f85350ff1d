"""Candidates that take an item: a joker, consumable or playing card for sale, in a pack, or held."""

from ante.catalog.cards import Edition, Enhancement, Sticker
from ante.catalog.constants import INTEREST_AMOUNT, INTEREST_CAP_FIELD, INTEREST_PER
from ante.catalog.consumables import FIRST_PLANET, FIRST_SPECTRAL
from ante.engine.actions import Verb
from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_JOKERS, Kind
from ante.engine.core.tables import C_HAND
from ante.engine.items.owned import room_for_joker
from ante.engine.items.prices import sell_value
from ante.env.entities.ids import CONSUMABLE_BASE, JOKER_BASE, STONE_CARD, card_id, trait_of
from ante.lookahead.records import (
    ETERNAL,
    INTEREST_LOST,
    LEGAL,
    MONEY_LEFT,
    N_JOKER_GAINS,
    PERISHABLE,
    PLANET,
    PURPOSE_SWAP,
    RENTAL,
    add_candidate,
    as_byte,
    log_byte,
    ratio_byte,
)
from ante.lookahead.reference_hands import FIRST_REFERENCE_HAND, gains_with_joker

MONEY_OFFSET = 20.0
BYTES_PER_INTEREST = 40


@rule
def list_item(s, copies, w, out, verb, slot, cards, item, flags, suit, weakest):
    """List one item with its estimates. Returns its index, or -1 if the list is full.

    cards    hand positions that a consumable is used on
    suit     the most common suit of the deck
    weakest  slot of the joker that would be sold for another, -1 for none
    """
    k = add_candidate(out, verb, slot, cards, item_id(item), flags | sticker_flags(item))
    if k < 0:
        return k
    e = out.entries[k]
    e.trait = trait_of(item.enhancement, item.edition, item.seal)
    if item.kind == Kind.JOKER and s.n_jokers < MAX_JOKERS:
        gains_with_joker(copies, suit, w.strengths, item, replaced_slot(s, item, weakest), w.gains)
        write_gains(e, w.gains)
    elif item.kind == Kind.CONSUMABLE:
        write_planet(s, e, int(item.id), w.strengths)
    return k


@rule
def item_id(item):
    """Return the item id (env/entities/ids.py) of an item."""
    if item.kind == Kind.JOKER:
        return JOKER_BASE + int(item.id)
    if item.kind == Kind.CONSUMABLE:
        return CONSUMABLE_BASE + int(item.id)
    return STONE_CARD if item.enhancement == Enhancement.STONE else card_id(item.rank, item.suit + 1)


@rule
def sticker_flags(item):
    """Return the stickers of an item, as flags."""
    flags = ETERNAL if item.stickers & Sticker.ETERNAL else 0
    flags |= PERISHABLE if item.stickers & Sticker.PERISHABLE else 0
    return flags | (RENTAL if item.stickers & Sticker.RENTAL else 0)


@rule
def replaced_slot(s, item, weakest):
    """Return the slot of the joker that must be sold for this one, or -1 if there is room."""
    return -1 if item.edition == Edition.NEGATIVE or room_for_joker(s) else weakest


@rule
def write_gains(e, gains):
    """Write the gains of a joker as the first estimates of its candidate."""
    for k in range(N_JOKER_GAINS):
        e.estimates[k] = ratio_byte(gains[k])


@rule
def write_planet(s, e, consumable, strengths):
    """Write strength, level and plays of a Planet's hand. Other consumables have no such estimates."""
    if FIRST_PLANET <= consumable < FIRST_SPECTRAL:
        hand = int(C_HAND[consumable])
        if hand >= FIRST_REFERENCE_HAND:
            e.estimates[PLANET.strength] = log_byte(strengths[hand - FIRST_REFERENCE_HAND])
        e.estimates[PLANET.level] = as_byte(10.0 * s.levels[hand])
        e.estimates[PLANET.plays] = as_byte(4.0 * s.plays[hand])


@rule
def write_price(s, e, price):
    """Write a price, the money left, and the interest lost.

    QUIRK: interest gained, by a swap that brings money, is negative and is written modulo 256: -40 as 216.
    Multiples of 40 from -200 to 200 have different bytes, so values are unique; trained policies expect them.
    """
    left = int(s.dollars) - price
    e.price = as_byte(float(price))
    e.estimates[MONEY_LEFT] = as_byte(float(left) + MONEY_OFFSET)
    lost = interest(int(s.dollars)) - interest(left)
    e.estimates[INTEREST_LOST] = (BYTES_PER_INTEREST * lost) & 255


@rule
def interest(dollars):
    """Return the interest in dollars on this much money without vouchers."""
    return INTEREST_AMOUNT * (max(0, min(INTEREST_CAP_FIELD, dollars)) // INTEREST_PER)


@rule
def list_swap(s, out, k, item, price, weakest):
    """List selling the weakest joker for the joker of candidate k, for which there is no room.

    price    of the new joker
    weakest  slot of the joker to sell, -1 for none
    """
    if k < 0 or weakest < 0 or replaced_slot(s, item, 0) < 0:
        return
    value = int(sell_value(s.jokers[weakest]))
    if price > 0 and price > int(s.dollars) + int(s.debt_allowed) + value:
        return
    swap = add_candidate(out, Verb.SELL_JOKER, weakest, 0, item_id(item), LEGAL)
    if swap < 0:
        return
    e = out.entries[swap]
    e.purpose = PURPOSE_SWAP
    e.trait = out.entries[k].trait
    write_price(s, e, price - value)
    for i in range(N_JOKER_GAINS):
        e.estimates[i] = out.entries[k].estimates[i]
