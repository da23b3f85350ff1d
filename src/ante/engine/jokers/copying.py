"""Whose ability a slot has: Blueprint copies its right neighbour, Brainstorm the leftmost joker."""

from ante.catalog.jokers import Joker
from ante.engine.core.rule import rule
from ante.engine.core.tables import J_COPIED
from ante.engine.effects.moments import asked


@rule
def working(s, slot):
    """The slot itself, -1 where its joker is debuffed or already doomed."""
    return -1 if s.jokers[slot].debuffed else slot


# Blueprint: copies the ability of the joker to its right. Brainstorm: copies that of the leftmost joker.
@asked(Joker.BLUEPRINT, Joker.BRAINSTORM)
def resolve(s, slot):
    """The slot whose joker acts for this one; -1 where none does.

    A debuffed link copies nothing, nor does a ring of copiers, nor a target that cannot be copied.
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
