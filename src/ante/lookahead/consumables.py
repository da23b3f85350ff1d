"""Candidates of the consumables held, and the hand cards that suit a consumable best."""

import numpy as np

from ante.catalog.cards import Suit
from ante.catalog.consumables import Consumable
from ante.engine.actions import Verb, can_use_held, has_hand
from ante.engine.core.rule import rule
from ante.engine.core.state import Phase
from ante.engine.core.tables import C_MAX_CARDS
from ante.engine.items.prices import sell_value
from ante.env.entities.ids import CONSUMABLE_BASE
from ante.lookahead.card_sets import (
    least_valuable,
    most_valuable,
)
from ante.lookahead.items import list_item
from ante.lookahead.records import LEGAL, OWNED, add_candidate, as_byte

MOST_CONSUMABLES = 8  # listed, from the left

# The cards that a consumable is used on: the most valuable, the least valuable, those of another suit, or a low card
# and a better one to its right.
MOST_VALUABLE, LEAST_VALUABLE, OTHER_SUIT, LOW_AND_BETTER = range(4)
CARDS_FOR = np.zeros(len(Consumable), dtype=np.int64)
CARDS_FOR[[Consumable.HANGED_MAN, Consumable.TOWER]] = LEAST_VALUABLE
CARDS_FOR[[Consumable.STAR, Consumable.MOON, Consumable.SUN, Consumable.WORLD]] = OTHER_SUIT
CARDS_FOR[Consumable.DEATH] = LOW_AND_BETTER
SUIT_GIVEN = np.zeros(len(Consumable), dtype=np.int64)
SUIT_GIVEN[[Consumable.STAR, Consumable.MOON]] = Suit.DIAMONDS, Suit.CLUBS
SUIT_GIVEN[[Consumable.SUN, Consumable.WORLD]] = Suit.HEARTS, Suit.SPADES


@rule
def list_consumables(s, copies, w, out, suit):
    """List the consumables held: for use, and in the shop for sale."""
    for slot in range(min(MOST_CONSUMABLES, int(s.n_consumables))):
        item = s.consumables[slot]
        cards = cards_for(s, w.hand, int(item.id))
        flags = OWNED | (LEGAL if can_use_held(s, slot, cards) else 0)
        list_item(s, copies, w, out, Verb.USE, slot, cards, item, flags, suit, -1)
        if s.phase == Phase.SHOP:
            item_id = CONSUMABLE_BASE + int(item.id)
            k = add_candidate(out, Verb.SELL_CONSUMABLE, slot, 0, item_id, LEGAL | OWNED)
            if k >= 0:
                out.entries[k].price = as_byte(float(sell_value(item)))


@rule
def cards_for(s, h, consumable):
    """Return the hand positions that suit a consumable best; 0 if it takes none or none exist. h: hand_facts_t."""
    most = int(C_MAX_CARDS[consumable])
    if consumable == Consumable.AURA:
        most = 1
    if most == 0 or not has_hand(s):
        return 0
    how = CARDS_FOR[consumable]
    excluded = h.all & ~h.visible
    if how == LEAST_VALUABLE:
        return least_valuable(s, h, excluded, most)
    if how == LOW_AND_BETTER:
        return low_and_better(s, h)
    if how == OTHER_SUIT:
        excluded |= h.suits[SUIT_GIVEN[consumable]]
    return most_valuable(s, h, excluded, most, consumable == Consumable.AURA)


@rule
def low_and_better(s, h):
    """Return a low card and a better one to its right, for Death: the left one becomes a copy of the right one."""
    best, most = 0, 0.0
    for i in range(s.n_hand):
        for j in range(i + 1, s.n_hand):
            if (h.visible >> i) & 1 and (h.visible >> j) & 1:
                gain = h.values[j] - h.values[i]
                if gain > most or best == 0:
                    best, most = (1 << i) | (1 << j), gain
    return best
