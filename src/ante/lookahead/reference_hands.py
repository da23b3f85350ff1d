"""Reference hands: the scores of typical hands with the jokers and levels of a game, and the gain by a joker."""

import numpy as np

from ante.catalog.blinds import Blind
from ante.catalog.cards import N_SUITS, Enhancement
from ante.catalog.hands import Hand
from ante.engine.core.arithmetic import log10_of
from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_CARDS, Phase, Place
from ante.engine.jokers.lineup import refresh_lineup
from ante.lookahead.determinised import BASE, ROUND, SCORED, determinise, score_in_copy, swap_jokers

DEALT = 8  # cards of a reference hand, both played and held
FIRST_DEALT = MAX_CARDS - DEALT
SUIT_COUNT = 8  # bits; more than MAX_CARDS

# A reference hand for each Hand from Straight Flush on: the number of played cards, and each card's rank and suit,
# relative to the most common suit of the deck.
FIRST_REFERENCE_HAND = int(Hand.STRAIGHT_FLUSH)
_REFERENCE_HANDS = (
    (5, ((9, 0), (8, 0), (7, 0), (6, 0), (5, 0), (13, 1), (3, 2), (2, 3))),
    (4, ((8, 0), (8, 1), (8, 2), (8, 3), (13, 1), (10, 0), (5, 2), (3, 3))),
    (5, ((12, 0), (12, 1), (12, 2), (7, 0), (7, 3), (10, 1), (4, 2), (3, 3))),
    (5, ((13, 0), (11, 0), (9, 0), (6, 0), (3, 0), (12, 1), (7, 2), (4, 3))),
    (5, ((9, 0), (8, 1), (7, 2), (6, 0), (5, 3), (13, 1), (3, 2), (2, 0))),
    (3, ((9, 0), (9, 1), (9, 3), (13, 1), (12, 2), (6, 0), (4, 2), (2, 3))),
    (4, ((11, 0), (11, 1), (6, 2), (6, 0), (13, 1), (9, 3), (4, 2), (3, 0))),
    (2, ((10, 0), (10, 1), (13, 2), (9, 3), (7, 0), (5, 1), (4, 2), (2, 3))),
    (1, ((14, 0), (12, 1), (10, 2), (9, 3), (7, 0), (5, 1), (4, 2), (2, 3))),
)
N_REFERENCE_HANDS = len(_REFERENCE_HANDS)
REFERENCE_CARDS = np.array([cards for _, cards in _REFERENCE_HANDS], dtype=np.int64)
REFERENCE_PLAYED = np.array([(1 << played) - 1 for played, _ in _REFERENCE_HANDS], dtype=np.int64)
# Reference hands that measure a joker's gain: Full House, Flush, Straight, Pair.
TESTED_HANDS = np.array(
    [int(hand) - FIRST_REFERENCE_HAND for hand in (Hand.FULL_HOUSE, Hand.FLUSH, Hand.STRAIGHT, Hand.PAIR)]
)
N_TESTED_HANDS = len(TESTED_HANDS)
LEAST_SCORE = 1.0  # minimum in chips; lower scores are replaced by it


@rule
def begin_reference_round(s, copies):
    """Make copies[ROUND] a determinised copy of the game in an ordinary round, with DEALT blank cards in hand.

    None of them belongs to the deck, so the counts of jokers do not change.
    """
    copies[ROUND] = s
    t = copies[ROUND]
    determinise(s, t)
    t.phase = Phase.PLAY
    t.blind = Blind.NONE
    t.boss_disabled = 0
    t.hands_left = 3
    t.hands_played = 1
    t.discards_left = 2
    t.n_hand = DEALT
    t.n_cards = min(FIRST_DEALT, int(t.n_cards))
    for i in range(DEALT):
        c = t.cards[FIRST_DEALT + i]
        c.enhancement = 0
        c.edition = 0
        c.seal = 0
        c.debuffed = 0
        c.bonus = 0
        c.face_down = 0
        c.forced = 0
        c.worn = 0
        c.played_this_ante = 0
        c.place = Place.HAND
        t.hand[i] = FIRST_DEALT + i


@rule
def strength_of(copies, place, which, suit):
    """Return the strength of reference hand `which` in the round of copies[place]. copies[SCORED] is changed."""
    copies[SCORED] = copies[place]
    t = copies[SCORED]
    for i in range(DEALT):
        t.cards[FIRST_DEALT + i].rank = REFERENCE_CARDS[which, i, 0]
        t.cards[FIRST_DEALT + i].suit = (REFERENCE_CARDS[which, i, 1] + suit) & 3
    return log10_of(max(LEAST_SCORE, score_in_copy(t, REFERENCE_PLAYED[which])))


@rule
def most_common_suit(s):
    """Return the most common suit of the deck, the first of equal ones."""
    counts = 0  # SUIT_COUNT bits per suit
    for i in range(s.n_cards):
        if s.cards[i].place != Place.GONE and s.cards[i].enhancement != Enhancement.STONE:
            counts += 1 << SUIT_COUNT * int(s.cards[i].suit)
    best, most = 0, -1
    for suit in range(N_SUITS):
        n = (counts >> SUIT_COUNT * suit) & ((1 << SUIT_COUNT) - 1)
        if n > most:
            best, most = suit, n
    return best


@rule
def write_strengths(s, copies, suit, strengths):
    """Write the strength of each reference hand with the jokers and levels of the game.

    copies     (N_COPIES,) state_t, changed; copies[ROUND] is the reference round of the game
    suit       the most common suit of the deck
    strengths  (N_REFERENCE_HANDS,) float64, overwritten
    """
    begin_reference_round(s, copies)
    for which in range(N_REFERENCE_HANDS):
        strengths[which] = strength_of(copies, ROUND, which, suit)


@rule
def write_gains(copies, suit, strengths, gains):
    """Write the gains of the tested hands in the round of copies[BASE]: gains (N_TESTED_HANDS,), overwritten."""
    refresh_lineup(copies[BASE])
    for k in range(N_TESTED_HANDS):
        gains[k] = strength_of(copies, BASE, TESTED_HANDS[k], suit) - strengths[TESTED_HANDS[k]]


@rule
def gains_with_joker(copies, suit, strengths, item, leaving, gains):
    """Write the gains by one more joker: gains (N_TESTED_HANDS,), overwritten.

    copies   (N_COPIES,) state_t, after `write_strengths`; copies[ROUND] is unchanged
    item     an item of the shop or a pack
    leaving  the slot of the joker that it replaces, -1 if there is room
    """
    copies[BASE] = copies[ROUND]
    t = copies[BASE]
    if leaving >= 0:
        remove_joker(t, leaving)
    t.jokers[t.n_jokers] = item
    t.n_jokers += 1
    write_gains(copies, suit, strengths, gains)


@rule
def remove_joker(t, slot):
    """Remove the joker of a slot from a copy and move up those to its right."""
    for i in range(slot, t.n_jokers - 1):
        t.jokers[i] = t.jokers[i + 1]
    t.n_jokers -= 1


@rule
def gains_without_joker(copies, suit, strengths, slot, gains):
    """Write the gains by losing the joker of a slot; copies and gains as in `gains_with_joker`."""
    copies[BASE] = copies[ROUND]
    remove_joker(copies[BASE], slot)
    write_gains(copies, suit, strengths, gains)


@rule
def gains_from_move(copies, suit, strengths, slot, gains):
    """Write the gains by swapping a joker with its right neighbour; copies and gains as in `gains_with_joker`."""
    copies[BASE] = copies[ROUND]
    swap_jokers(copies[BASE], slot, slot + 1)
    write_gains(copies, suit, strengths, gains)
