"""Jokers that depend on the poker hand and on the number of cards played or discarded."""

from ante.catalog.jokers import Joker
from ante.engine.core.rng import Stream, chance
from ante.engine.core.state import Rule
from ante.engine.core.tables import (
    J_AT_MOST,
    J_CARDS,
    J_CHIPS,
    J_DOLLARS,
    J_HAND,
    J_LEVELS,
    J_MULT,
    J_ODDS,
    J_XMULT,
)
from ante.engine.effects.moments import Moment, on
from ante.engine.effects.poker import find_hand
from ante.engine.effects.verbs import add_chips, add_mult, copy_card, destroy_card, earn, level_up, times_mult
from ante.engine.items.card_array import add_card, put_in_hand
from ante.engine.items.making import pick_visible_hand
from ante.engine.items.owned import create_spectral
from ante.engine.items.sources import SpectralSource


# Four Fingers: Flushes and Straights need fewer cards.
@on(Moment.WHILE_HELD, Joker.FOUR_FINGERS, copied=False)
def four_fingers(s, me, joker, card):
    """Set the rule bit: four cards make a Flush or a Straight."""
    s.rules |= int(Rule.FOUR_FINGERS)


# Shortcut: Straights may have gaps of one rank.
@on(Moment.WHILE_HELD, Joker.SHORTCUT, copied=False)
def shortcut(s, me, joker, card):
    """Set the rule bit: Straights may have gaps of one rank."""
    s.rules |= int(Rule.SHORTCUT)


# Splash: every played card scores.
@on(Moment.WHILE_HELD, Joker.SPLASH, copied=False)
def splash(s, me, joker, card):
    """Set the rule bit: every played card scores."""
    s.rules |= int(Rule.SPLASH)


# Jolly, Zany, Mad, Crazy and Droll Joker: mult if the played cards contain the joker's hand.
@on(Moment.JOKER_SCORED, Joker.JOLLY, Joker.ZANY, Joker.MAD, Joker.CRAZY, Joker.DROLL)
def hand_mult(s, me, joker, card):
    """Add mult if the played cards contain the joker's hand."""
    if (s.contains >> J_HAND[joker]) & 1:
        add_mult(s, J_MULT[joker])


# Sly, Wily, Clever, Devious and Crafty Joker: chips if the played cards contain the joker's hand.
@on(Moment.JOKER_SCORED, Joker.SLY, Joker.WILY, Joker.CLEVER, Joker.DEVIOUS, Joker.CRAFTY)
def hand_chips(s, me, joker, card):
    """Add chips if the played cards contain the joker's hand."""
    if (s.contains >> J_HAND[joker]) & 1:
        add_chips(s, J_CHIPS[joker])


# The Duo, Trio, Family, Order and Tribe: X mult if the played cards contain the joker's hand.
@on(Moment.JOKER_SCORED, Joker.DUO, Joker.TRIO, Joker.FAMILY, Joker.ORDER, Joker.TRIBE)
def hand_factor(s, me, joker, card):
    """Multiply mult if the played cards contain the joker's hand."""
    if (s.contains >> J_HAND[joker]) & 1:
        times_mult(s, J_XMULT[joker])


# Seance: a Straight Flush creates a Spectral card.
@on(Moment.JOKER_SCORED, Joker.SEANCE)
def seance(s, me, joker, card):
    """Create a Spectral if the played cards contain the joker's hand."""
    if (s.contains >> J_HAND[joker]) & 1:
        create_spectral(s, int(SpectralSource.SEA))


# Supernova: mult for every time this poker hand has been played in the run.
@on(Moment.JOKER_SCORED, Joker.SUPERNOVA)
def supernova(s, me, joker, card):
    """Add mult for each time the hand was played, including this one."""
    add_mult(s, J_MULT[joker] * s.plays[s.hand_type])


# Card Sharp: X mult if this poker hand was already played in this round.
@on(Moment.JOKER_SCORED, Joker.CARD_SHARP)
def card_sharp(s, me, joker, card):
    """Multiply mult for a hand of the round that is not the first of its type."""
    if s.plays_round[s.hand_type] > 1:
        times_mult(s, J_XMULT[joker])


# Space Joker: may raise the level of the played hand.
@on(Moment.HAND_BEGINS, Joker.SPACE)
def space(s, me, joker, card):
    """Raise the level of the played hand with probability 1 in `odds`."""
    if chance(s, Stream.SPACE, J_ODDS[joker]):
        level_up(s, int(s.hand_type), J_LEVELS[joker])


# Burnt Joker: raises the level of the first discarded hand of each round.
@on(Moment.DISCARD_BEGINS, Joker.BURNT)
def burnt(s, me, joker, card):
    """Raise the level of the first discarded hand; discards of The Hook do not count."""
    if s.discards_used == 0 and card > 0:
        find_hand(s)
        level_up(s, int(s.hand_type), J_LEVELS[joker])


# To Do List: money for the listed poker hand, which changes every round.
@on(Moment.HAND_BEGINS, Joker.TODO_LIST)
def todo_list(s, me, joker, card):
    """Earn dollars for the listed hand."""
    if s.hand_type == s.jokers[me].hand:
        earn(s, J_DOLLARS[joker])


@on(Moment.ROUND_ENDS, Joker.TODO_LIST, copied=False)
def todo_list_turns(s, me, joker, card):
    """List another hand."""
    s.jokers[me].hand = pick_visible_hand(s, int(Stream.TO_DO), int(s.jokers[me].hand))


# Half Joker: mult for a hand of few cards.
@on(Moment.JOKER_SCORED, Joker.HALF)
def half(s, me, joker, card):
    """Add mult for at most n played cards."""
    if s.n_played <= J_AT_MOST[joker]:
        add_mult(s, J_MULT[joker])


# DNA: a first hand of a single card adds a copy of it to the deck and the hand.
@on(Moment.HAND_BEGINS, Joker.DNA)
def dna(s, me, joker, card):
    """Copy the only card of a first hand."""
    if s.hands_played == 0 and s.n_played == J_CARDS[joker]:
        c = s.cards[s.played[0]]
        copy = add_card(s, int(c.rank), int(c.suit), 0, 0, 0)
        if copy >= 0:
            copy_card(s, int(s.played[0]), copy)
            put_in_hand(s, copy)


# Trading Card: a first discard of a single card destroys it and gives money.
@on(Moment.CARD_DISCARDED, Joker.TRADING, copied=False)
def trading_card(s, me, joker, card):
    """Destroy the only card of a first discard and earn dollars."""
    if s.discards_used == 0 and s.n_played == J_CARDS[joker]:
        earn(s, J_DOLLARS[joker])
        destroy_card(s, card)
