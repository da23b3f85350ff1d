"""Jokers that look at cards held in hand."""

from ante.catalog.cards import Enhancement
from ante.catalog.jokers import Joker
from ante.engine.numbers import RANK_CHIPS
from ante.engine.rng import Stream, chance
from ante.engine.rule import Moment, on
from ante.engine.verbs import add_mult, earn, is_face, is_rank, times_mult


@on(Moment.CARD_HELD, Joker.BARON)
def baron(s, me, joker, card):
    """X1.5 mult for a held King."""
    if is_rank(s, card, 13):
        times_mult(s, 1.5)


@on(Moment.CARD_HELD, Joker.SHOOT_THE_MOON)
def shoot_the_moon(s, me, joker, card):
    """+13 mult for a held Queen."""
    if is_rank(s, card, 12):
        add_mult(s, 13.0)


@on(Moment.CARD_HELD, Joker.RAISED_FIST)
def raised_fist(s, me, joker, card):
    """Twice the chips of the lowest held card as mult; the rightmost of equals, Stone cards passed over."""
    lowest = -1
    for i in range(s.n_hand):
        other = int(s.hand[i])
        if s.cards[other].enhancement == Enhancement.STONE:
            continue
        if lowest < 0 or s.cards[other].rank <= s.cards[lowest].rank:
            lowest = other
    if lowest == card:
        add_mult(s, 2.0 * RANK_CHIPS[s.cards[card].rank])


@on(Moment.CARD_HELD, Joker.RESERVED_PARKING)
def reserved_parking(s, me, joker, card):
    """$1 for a held face card, 1 in 2."""
    if is_face(s, card) and chance(s, Stream.PARKING, 2.0):
        earn(s, 1)
