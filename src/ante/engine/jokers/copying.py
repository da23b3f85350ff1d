"""Resolve copies: Blueprint copies its right neighbour, Brainstorm the leftmost joker."""

from ante.catalog.jokers import Joker
from ante.engine.core.rule import rule
from ante.engine.core.tables import J_COPIED
from ante.engine.effects.moments import effect_of


@rule
def working(s, slot):
    """Return the slot, or -1 if its joker is debuffed or already marked for destruction."""
    return -1 if s.jokers[slot].debuffed else slot


# Blueprint: copies the ability of the joker to its right. Brainstorm: copies that of the leftmost joker.
@effect_of(Joker.BLUEPRINT, Joker.BRAINSTORM)
def resolve(s, slot):
    """Return the slot whose joker acts for this one, or -1 if none does.

    A debuffed joker in the chain, a cycle of copies and a joker that cannot be copied all give -1.
    """
    at = slot
    for _ in range(s.n_jokers + 1):
        if at >= s.n_jokers or s.jokers[at].debuffed:
            return -1
        joker = s.jokers[at].id
        if joker == Joker.BLUEPRINT:
            at += 1
        elif joker == Joker.BRAINSTORM:
            at = 0
        elif at != slot and not J_COPIED[joker]:
            return -1
        else:
            return at
    return -1
