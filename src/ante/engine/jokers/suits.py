"""Jokers that look at suits, and the questions about suits that several jokers ask."""

from ante.catalog.cards import Enhancement, Suit
from ante.catalog.jokers import Joker
from ante.engine.numbers import J_SUIT
from ante.engine.rng import Stream, chance
from ante.engine.rule import Moment, on, rule
from ante.engine.verbs import add_chips, add_mult, earn, flush_suit, is_suit, times_mult


@rule
def held_black(s):
    """Whether every card held in hand is a Spade or a Club; debuffed cards count by their printed suit."""
    for i in range(s.n_hand):
        card = int(s.hand[i])
        if not flush_suit(s, card, int(Suit.SPADES)) and not flush_suit(s, card, int(Suit.CLUBS)):
            return False
    return True


@rule
def suits_scored(s, club_and_other):
    """How many suits the scoring cards cover; each Wild card stands for one missing suit, after all others.

    club_and_other  True counts to 2 only: one for a Club, one for a card of another suit
    """
    found = 0
    for wild in range(2):
        for i in range(s.n_played):
            if s.scoring[i] and (s.cards[s.played[i]].enhancement == Enhancement.WILD) == (wild == 1):
                found |= new_suit(s, int(s.played[i]), found, club_and_other)
    if club_and_other:
        return (1 if found & 4 else 0) + (1 if found & 11 else 0)
    return (found & 1) + ((found >> 1) & 1) + ((found >> 2) & 1) + ((found >> 3) & 1)


@rule
def new_suit(s, card, found, club_and_other):
    """The bit of the first missing suit that a card can stand for, 0 where none is."""
    if club_and_other:
        club = is_suit(s, card, int(Suit.CLUBS))
        other = is_suit(s, card, 0) or is_suit(s, card, 1) or is_suit(s, card, 3)
        if s.cards[card].enhancement == Enhancement.WILD:
            if club and not found & 4:
                return 4
            return 1 if other and not found & 11 else 0
        return (4 if club else 0) | (1 if other else 0)
    # QUIRK: Flower Pot sees the printed suit of debuffed cards, but not a debuffed Wild card at all.
    c = s.cards[card]
    if c.enhancement == Enhancement.STONE or (c.enhancement == Enhancement.WILD and c.debuffed):
        return 0
    for suit in (1, 3, 0, 2):
        if not (found >> suit) & 1 and flush_suit(s, card, suit):
            return 1 << suit
    return 0


@on(Moment.CARD_SCORED, Joker.GREEDY_JOKER, Joker.LUSTY_JOKER, Joker.WRATHFUL_JOKER, Joker.GLUTTENOUS_JOKER)
def suit_mult(s, me, joker, card):
    """+3 mult for each scored card of the joker's suit."""
    if is_suit(s, card, J_SUIT[joker]):
        add_mult(s, 3.0)


@on(Moment.CARD_SCORED, Joker.ARROWHEAD)
def arrowhead(s, me, joker, card):
    """+50 chips for each scored Spade."""
    if is_suit(s, card, int(Suit.SPADES)):
        add_chips(s, 50.0)


@on(Moment.CARD_SCORED, Joker.ONYX_AGATE)
def onyx_agate(s, me, joker, card):
    """+7 mult for each scored Club."""
    if is_suit(s, card, int(Suit.CLUBS)):
        add_mult(s, 7.0)


@on(Moment.CARD_SCORED, Joker.ROUGH_GEM)
def rough_gem(s, me, joker, card):
    """$1 for each scored Diamond."""
    if is_suit(s, card, int(Suit.DIAMONDS)):
        earn(s, 1)


@on(Moment.CARD_SCORED, Joker.BLOODSTONE)
def bloodstone(s, me, joker, card):
    """X1.5 mult for a scored Heart, 1 in 2."""
    if is_suit(s, card, int(Suit.HEARTS)) and chance(s, Stream.BLOODSTONE, 2.0):
        times_mult(s, 1.5)


@on(Moment.CARD_SCORED, Joker.ANCIENT)
def ancient(s, me, joker, card):
    """X1.5 mult for each scored card of the round's suit."""
    if is_suit(s, card, int(s.ancient_suit)):
        times_mult(s, 1.5)


@on(Moment.CARD_SCORED, Joker.IDOL)
def idol(s, me, joker, card):
    """X2 mult for each scored copy of the round's card."""
    c = s.cards[card]
    if c.rank == s.idol_rank and c.enhancement != Enhancement.STONE and is_suit(s, card, int(s.idol_suit)):
        times_mult(s, 2.0)
