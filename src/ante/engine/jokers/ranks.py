"""Jokers that look at the rank of scored cards."""

from ante.catalog.cards import Enhancement
from ante.catalog.jokers import Joker
from ante.engine.create import Source, create_tarot, room_for_consumable
from ante.engine.rng import Stream, chance
from ante.engine.rule import Moment, on
from ante.engine.verbs import add_chips, add_mult, earn, has_rank, is_face, is_rank, times_mult


@on(Moment.CARD_SCORED, Joker.FIBONACCI)
def fibonacci(s, me, joker, card):
    """+8 mult for a scored Ace, 2, 3, 5 or 8."""
    rank = s.cards[card].rank
    if has_rank(s, card) and (rank == 14 or rank == 2 or rank == 3 or rank == 5 or rank == 8):
        add_mult(s, 8.0)


@on(Moment.CARD_SCORED, Joker.SCARY_FACE)
def scary_face(s, me, joker, card):
    """+30 chips for a scored face card."""
    if is_face(s, card):
        add_chips(s, 30.0)


@on(Moment.CARD_SCORED, Joker.SMILEY)
def smiley(s, me, joker, card):
    """+5 mult for a scored face card."""
    if is_face(s, card):
        add_mult(s, 5.0)


@on(Moment.CARD_SCORED, Joker.EVEN_STEVEN)
def even_steven(s, me, joker, card):
    """+4 mult for a scored 2, 4, 6, 8 or 10."""
    rank = s.cards[card].rank
    if has_rank(s, card) and rank <= 10 and rank % 2 == 0:
        add_mult(s, 4.0)


@on(Moment.CARD_SCORED, Joker.ODD_TODD)
def odd_todd(s, me, joker, card):
    """+31 chips for a scored Ace, 3, 5, 7 or 9."""
    rank = s.cards[card].rank
    if has_rank(s, card) and (rank == 14 or (rank <= 9 and rank % 2 == 1)):
        add_chips(s, 31.0)


@on(Moment.CARD_SCORED, Joker.SCHOLAR)
def scholar(s, me, joker, card):
    """+20 chips and +4 mult for a scored Ace."""
    if is_rank(s, card, 14):
        add_chips(s, 20.0)
        add_mult(s, 4.0)


@on(Moment.CARD_SCORED, Joker.WALKIE_TALKIE)
def walkie_talkie(s, me, joker, card):
    """+10 chips and +4 mult for a scored 10 or 4."""
    if is_rank(s, card, 10) or is_rank(s, card, 4):
        add_chips(s, 10.0)
        add_mult(s, 4.0)


@on(Moment.CARD_SCORED, Joker.TRIBOULET)
def triboulet(s, me, joker, card):
    """X2 mult for a scored King or Queen."""
    if is_rank(s, card, 13) or is_rank(s, card, 12):
        times_mult(s, 2.0)


@on(Moment.CARD_SCORED, Joker.PHOTOGRAPH)
def photograph(s, me, joker, card):
    """X2 mult for the first scoring face card."""
    for i in range(s.n_played):
        if s.scoring[i] and is_face(s, int(s.played[i])):
            if s.played[i] == card:
                times_mult(s, 2.0)
            return


@on(Moment.CARD_SCORED, Joker.BUSINESS)
def business(s, me, joker, card):
    """$2 for a scored face card, 1 in 2."""
    if is_face(s, card) and chance(s, Stream.BUSINESS, 2.0):
        earn(s, 2)


@on(Moment.CARD_SCORED, Joker.TICKET)
def golden_ticket(s, me, joker, card):
    """$4 for a scored Gold card."""
    if s.cards[card].enhancement == Enhancement.GOLD:
        earn(s, 4)


@on(Moment.CARD_SCORED, Joker.EIGHT_BALL)
def eight_ball(s, me, joker, card):
    """A scored 8 makes a tarot, 1 in 4, if there is room."""
    if is_rank(s, card, 8) and room_for_consumable(s) and chance(s, Stream.EIGHT_BALL, 4.0):
        create_tarot(s, int(Source.EIGHT_BALL))


@on(Moment.CARD_SCORED, Joker.HIKER)
def hiker(s, me, joker, card):
    """Each scored card keeps +5 chips for good."""
    s.cards[card].bonus += 5
