"""Jokers that answer discards."""

from ante.catalog.jokers import Joker
from ante.engine.jokers.lineup_marks import doom
from ante.engine.poker import find_hand
from ante.engine.rule import Moment, on
from ante.engine.verbs import destroy_card, earn, is_face, is_rank, is_suit, level_up

YORICK_CARDS = 23


@on(Moment.DISCARD_BEGINS, Joker.BURNT)
def burnt(s, me, joker, card):
    """The first discard of a round raises the level of the hand it makes; The Hook's are not the player's."""
    if s.discards_used == 0 and card > 0:
        find_hand(s)
        level_up(s, int(s.hand_type), 1)


@on(Moment.DISCARD_BEGINS, Joker.GREEN_JOKER, copied=False)
def green_shrinks(s, me, joker, card):
    """-1 mult per discard, never below 0."""
    s.jokers[me].value = max(0.0, s.jokers[me].value - 1.0)


@on(Moment.DISCARD_BEGINS, Joker.FACELESS)
def faceless(s, me, joker, card):
    """$5 for three face cards at once."""
    faces = 0
    for i in range(s.n_played):
        if is_face(s, int(s.played[i])):
            faces += 1
    if faces >= 3:
        earn(s, 5)


@on(Moment.CARD_DISCARDED, Joker.MAIL)
def mail_in_rebate(s, me, joker, card):
    """$5 for each discarded card of the round's rank."""
    if is_rank(s, card, s.mail_rank) and not s.cards[card].debuffed:
        earn(s, 5)


@on(Moment.CARD_DISCARDED, Joker.TRADING, copied=False)
def trading_card(s, me, joker, card):
    """A first discard of exactly one card: it is destroyed for $3."""
    if s.discards_used == 0 and s.n_played == 1:
        earn(s, 3)
        destroy_card(s, card)


@on(Moment.CARD_DISCARDED, Joker.CASTLE, copied=False)
def castle_grows(s, me, joker, card):
    """+3 chips for each discarded card of the round's suit."""
    if is_suit(s, card, int(s.castle_suit)):
        s.jokers[me].value += 3.0


@on(Moment.CARD_DISCARDED, Joker.RAMEN, copied=False)
def ramen_cools(s, me, joker, card):
    """-X0.01 for each discarded card, gone at X1."""
    s.jokers[me].value -= 0.01
    if s.jokers[me].value <= 1.0:
        doom(s, me)


@on(Moment.CARD_DISCARDED, Joker.HIT_THE_ROAD, copied=False)
def hit_the_road_grows(s, me, joker, card):
    """X0.5 for each discarded Jack."""
    if is_rank(s, card, 11) and not s.cards[card].debuffed:
        s.jokers[me].value += 0.5


@on(Moment.CARD_DISCARDED, Joker.YORICK, copied=False)
def yorick_counts(s, me, joker, card):
    """X1 for every 23 discarded cards."""
    s.jokers[me].count -= 1
    if s.jokers[me].count <= 0:
        s.jokers[me].count = YORICK_CARDS
        s.jokers[me].value += 1.0
