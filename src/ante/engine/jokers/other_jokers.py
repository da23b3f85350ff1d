"""Jokers that depend on other jokers, create or destroy them."""

from ante.catalog.jokers import Joker
from ante.engine.core.rng import Stream
from ante.engine.core.state import Rule
from ante.engine.core.tables import (
    J_AT_LEAST,
    J_CREATES,
    J_MULT,
    J_RARITY,
    J_TARGET_RARITY,
    J_XMULT,
)
from ante.engine.effects.moments import Moment, on
from ante.engine.effects.verbs import add_mult, times_mult
from ante.engine.items.owned import copy_joker, create_joker, negatives, pick_joker, room_for_joker
from ante.engine.items.prices import sell_value
from ante.engine.items.sources import JokerSource


# Showman: jokers, Tarots, Planets and Spectrals may appear more than once.
@on(Moment.WHILE_HELD, Joker.RING_MASTER, copied=False)
def showman(s, me, joker, card):
    """Set the rule bit."""
    s.rules |= int(Rule.SHOWMAN)


# Joker Stencil: X mult for each empty joker slot; every Joker Stencil counts as an empty slot.
@on(Moment.JOKER_SCORED, Joker.STENCIL)
def stencil(s, me, joker, card):
    """Multiply mult per empty slot."""
    empty = int(s.joker_slots) + negatives(s.jokers, s.n_jokers) - int(s.n_jokers)
    for i in range(s.n_jokers):
        if s.jokers[i].id == Joker.STENCIL:
            empty += 1
    if empty > 0:
        times_mult(s, J_XMULT[joker] * empty)


# Abstract Joker: mult for each joker owned.
@on(Moment.JOKER_SCORED, Joker.ABSTRACT)
def abstract(s, me, joker, card):
    """Add mult per joker."""
    add_mult(s, J_MULT[joker] * s.n_jokers)


# Baseball Card: each Uncommon joker gives X mult.
@on(Moment.OTHER_JOKER_SCORED, Joker.BASEBALL)
def baseball(s, me, joker, card):
    """Multiply mult after each joker of the rarity, including debuffed ones."""
    if J_RARITY[s.jokers[card].id] == J_TARGET_RARITY[joker]:
        times_mult(s, J_XMULT[joker])


# Swashbuckler: mult for the sell value of all other jokers.
@on(Moment.JOKER_SCORED, Joker.SWASHBUCKLER)
def swashbuckler(s, me, joker, card):
    """Add mult per dollar of sell value; for a copy, the copied joker is the one left out."""
    total = 0
    for i in range(s.n_jokers):
        if i != me:
            total += sell_value(s.jokers[i])
    add_mult(s, J_MULT[joker] * total)


# Riff-raff: creates Common jokers when a blind is selected.
@on(Moment.BLIND_CHOSEN, Joker.RIFF_RAFF)
def riff_raff(s, me, joker, card):
    """Create Common jokers while there is room."""
    for _ in range(J_CREATES[joker]):
        if room_for_joker(s):
            create_joker(s, int(JokerSource.RIF))


# Invisible Joker: sold after some rounds, it duplicates a random other joker.
@on(Moment.ROUND_ENDS, Joker.INVISIBLE, copied=False)
def invisible_waits(s, me, joker, card):
    """Count a round."""
    s.jokers[me].count += 1


@on(Moment.SELF_SOLD, Joker.INVISIBLE, copied=False)
def invisible_joker(s, me, joker, card):
    """After enough rounds, add a copy of a random other joker, without Negative."""
    if s.jokers[me].count < J_AT_LEAST[joker]:
        return
    slot = pick_joker(s, Stream.INVISIBLE, ((1 << int(s.n_jokers)) - 1) ^ (1 << me))
    if slot >= 0:
        copied = s.jokers[slot].id
        copy_joker(s, slot, True)
        if copied == Joker.INVISIBLE and s.jokers[s.n_jokers - 1].created == s.created:
            s.jokers[s.n_jokers - 1].count = 0
