"""Jokers that depend on face cards."""

from ante.catalog.cards import Enhancement
from ante.catalog.jokers import Joker
from ante.engine.core.rng import Stream, chance
from ante.engine.core.state import Rule
from ante.engine.core.tables import J_AT_LEAST, J_CHIPS, J_DOLLARS, J_MULT, J_ODDS, J_REPEATS, J_XMULT
from ante.engine.effects.moments import Moment, on
from ante.engine.effects.verbs import add_chips, add_mult, earn, is_face, retrigger, set_enhancement, times_mult


# Pareidolia: all cards count as face cards.
@on(Moment.WHILE_HELD, Joker.PAREIDOLIA, copied=False)
def pareidolia(s, me, joker, card):
    """Set the rule bit."""
    s.rules |= int(Rule.PAREIDOLIA)


# Scary Face: chips for scored face cards.
@on(Moment.CARD_SCORED, Joker.SCARY_FACE)
def scary_face(s, me, joker, card):
    """Add chips for a scored face card."""
    if is_face(s, card):
        add_chips(s, J_CHIPS[joker])


# Smiley Face: mult for scored face cards.
@on(Moment.CARD_SCORED, Joker.SMILEY)
def smiley(s, me, joker, card):
    """Add mult for a scored face card."""
    if is_face(s, card):
        add_mult(s, J_MULT[joker])


# Photograph: the first scored face card gives X mult.
@on(Moment.CARD_SCORED, Joker.PHOTOGRAPH)
def photograph(s, me, joker, card):
    """Multiply mult for the first scoring face card."""
    for i in range(s.n_played):
        if s.scoring[i] and is_face(s, int(s.played[i])):
            if s.played[i] == card:
                times_mult(s, J_XMULT[joker])
            return


# Business Card: scored face cards may give money. Reserved Parking: so may those held in hand.
@on(Moment.CARD_SCORED, Joker.BUSINESS)
def business(s, me, joker, card):
    """Earn dollars for a scored face card with probability 1 in `odds`."""
    if is_face(s, card) and chance(s, Stream.BUSINESS, J_ODDS[joker]):
        earn(s, J_DOLLARS[joker])


@on(Moment.CARD_HELD, Joker.RESERVED_PARKING)
def reserved_parking(s, me, joker, card):
    """Earn dollars for a held face card with probability 1 in `odds`."""
    if is_face(s, card) and chance(s, Stream.PARKING, J_ODDS[joker]):
        earn(s, J_DOLLARS[joker])


# Sock and Buskin: retriggers scored face cards.
@on(Moment.REPEAT_SCORED, Joker.SOCK_AND_BUSKIN)
def sock_and_buskin(s, me, joker, card):
    """Retrigger a scored face card."""
    if is_face(s, card):
        retrigger(s, J_REPEATS[joker])


# Faceless Joker: money if several face cards are discarded at once.
@on(Moment.DISCARD_BEGINS, Joker.FACELESS)
def faceless(s, me, joker, card):
    """Earn dollars for a discard with enough face cards."""
    faces = 0
    for i in range(s.n_played):
        if is_face(s, int(s.played[i])):
            faces += 1
    if faces >= J_AT_LEAST[joker]:
        earn(s, J_DOLLARS[joker])


# Midas Mask: scored face cards become Gold cards.
@on(Moment.HAND_BEGINS, Joker.MIDAS_MASK, copied=False)
def midas_mask(s, me, joker, card):
    """Turn scoring face cards into Gold cards."""
    for i in range(s.n_played):
        if s.scoring[i] and is_face(s, int(s.played[i])):
            set_enhancement(s, int(s.played[i]), int(Enhancement.GOLD))
