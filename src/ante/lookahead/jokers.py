"""Candidates of the jokers held: selling one, and moving one to the slot of its right neighbour."""

from ante.catalog.cards import Edition, Sticker
from ante.catalog.jokers import Joker
from ante.engine.actions import Verb, can_move_joker
from ante.engine.core.rule import rule
from ante.engine.core.state import Phase
from ante.engine.items.prices import sell_value
from ante.env.entities.ids import JOKER_BASE, trait_of
from ante.env.observe_items import jokers_hidden
from ante.lookahead.items import sticker_flags, write_gains
from ante.lookahead.records import HELD_VALUE, LEGAL, OWNED, add_candidate, as_byte
from ante.lookahead.reference_hands import gains_from_move, gains_without_joker

LEAST_GAIN = 0.01  # sum over the tested hands; moves with a smaller gain are not listed
VALUE_OFFSET = 128.0


@rule
def list_sales(s, copies, w, out, suit):
    """List selling each joker: in the shop, in a pack, and Luchador at any time; none while jokers are hidden.

    Returns the slot of the weakest joker: of those that can be sold without losing a slot, the one whose loss weakens
    the tested hands least. -1 if there is none.
    """
    weakest, least = -1, -1e30
    if jokers_hidden(s):
        return weakest
    for slot in range(s.n_jokers):
        item = s.jokers[slot]
        if s.phase == Phase.SHOP or s.phase == Phase.PACK or item.id == Joker.LUCHADOR:
            sellable = not item.stickers & Sticker.ETERNAL
            gains_without_joker(copies, suit, w.strengths, slot, w.gains)
            flags = OWNED | sticker_flags(item) | (LEGAL if sellable else 0)
            k = add_candidate(out, Verb.SELL_JOKER, slot, 0, JOKER_BASE + int(item.id), flags)
            if k >= 0:
                e = out.entries[k]
                e.trait = trait_of(0, item.edition, 0)
                e.price = as_byte(float(sell_value(item)))
                write_gains(e, w.gains)
                e.estimates[HELD_VALUE] = as_byte(VALUE_OFFSET + float(item.value))
            total = w.gains.sum()
            if sellable and item.edition != Edition.NEGATIVE and total > least:
                weakest, least = slot, total
    return weakest


@rule
def list_moves(s, copies, w, out, suit):
    """List the swaps of a joker with its right neighbour that strengthen reference hands, before a blind."""
    if s.phase != Phase.BLIND_SELECT:
        return
    for slot in range(s.n_jokers - 1):
        gains_from_move(copies, suit, w.strengths, slot, w.gains)
        if w.gains.sum() > LEAST_GAIN and can_move_joker(s, slot, slot + 1):
            item_id = JOKER_BASE + int(s.jokers[slot].id)
            k = add_candidate(out, Verb.MOVE_JOKER, slot, 0, item_id, LEGAL | OWNED)
            if k >= 0:
                write_gains(out.entries[k], w.gains)
