"""Sets of hand cards as bits of hand positions (leftmost is bit 0): by value, suit, rank, or cards of a straight.

Face-down cards are never used. The value of a card is a rough estimate that ranks sets before any is scored.

SPEED: `read_hand` reads the cards once per list; all sets are found from what it writes.
"""

import numpy as np

from ante.catalog.cards import ACE, Edition, Enhancement, Seal
from ante.engine.actions import count_bits
from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_HAND
from ante.engine.core.tables import RANK_CHIPS
from ante.engine.effects.verbs import flush_suit
from ante.env.layout import FIRST_RANK, N_RANKS, N_SUITS

MOST_POSITIONS = 10  # hand positions considered for plays; the leftmost are the highest cards
STRAIGHTS = 10  # straights by their first rank, from 1 (the Ace) on
STRAIGHT_CARDS = 5
ENHANCEMENT_VALUE = np.zeros(len(Enhancement))
ENHANCEMENT_VALUE[[Enhancement.BONUS, Enhancement.MULT, Enhancement.GLASS, Enhancement.LUCKY]] = 30.0, 30.0, 60.0, 25.0
ENHANCEMENT_VALUE[[Enhancement.WILD, Enhancement.STEEL, Enhancement.GOLD]] = 5.0, 40.0, 10.0
EDITION_VALUE = np.zeros(len(Edition))
EDITION_VALUE[[Edition.FOIL, Edition.HOLO, Edition.POLYCHROME]] = 50.0, 50.0, 60.0

FACE_DOWN_VALUE = -1.0  # less than that of any other card
NO_CARD = -1  # of `cards`: face down or without rank

# The cards of a hand, and the unseen ones, as sets read them.
hand_facts_t = np.dtype(
    [
        ("values", "f8", (MAX_HAND,)),  # `card_value` by position, of a face-down card FACE_DOWN_VALUE
        ("by_value", "i8", (MAX_HAND,)),  # positions by value, the lowest first; of equal ones, the rightmost first
        ("cards", "i8", (MAX_HAND,)),  # N_SUITS (rank - FIRST_RANK) + suit by position, or NO_CARD
        ("ranks", "i8", (ACE + 1,)),  # positions of the cards of each rank, face up and without Stone cards
        ("suits", "i8", (N_SUITS,)),  # positions of the cards that count as each suit in a flush, face up
        ("all", "i8"),  # all positions
        ("visible", "i8"),  # positions considered for plays: face-up ones among the leftmost MOST_POSITIONS
        ("forced", "i8"),  # positions that Cerulean Bell forces
        ("stones", "i8"),  # positions of Stone cards, face up
        ("unseen_ranks", "i8", (ACE + 1,)),  # number of unseen cards of each rank
        ("unseen_suits", "i8", (N_SUITS,)),  # number of unseen cards of each suit
    ],
    align=True,
)


@rule
def card_value(c):
    """Return a rough value of one scoring card in chips; of a debuffed one 0.01 per rank, which Stone cards hide."""
    stone = c.enhancement == Enhancement.STONE
    if c.debuffed:
        return 0.0 if stone else 0.01 * c.rank
    value = 50.0 if stone else float(RANK_CHIPS[c.rank])
    value += c.bonus + ENHANCEMENT_VALUE[c.enhancement] + EDITION_VALUE[c.edition]
    return 2.0 * value if c.seal == Seal.RED else value + (5.0 if c.seal else 0.0)


@rule
def read_hand(s, unknown, h):
    """Write the facts of a hand: unknown (N_SUITS, N_RANKS) as observed, h hand_facts_t, overwritten."""
    for rank in range(ACE + 1):
        h.ranks[rank] = 0
        h.unseen_ranks[rank] = 0
    for suit in range(N_SUITS):
        h.suits[suit] = 0
        h.unseen_suits[suit] = 0
        for rank in range(N_RANKS):
            h.unseen_suits[suit] += unknown[suit, rank]
            h.unseen_ranks[rank + FIRST_RANK] += unknown[suit, rank]
    h.all = (1 << int(s.n_hand)) - 1
    h.visible, h.forced, h.stones = 0, 0, 0
    for i in range(s.n_hand):
        read_card(s, i, h)


@rule
def read_card(s, i, h):
    """Write the facts of the card at one hand position; those of the positions to its left must be written."""
    c = s.cards[s.hand[i]]
    bit = 1 << i
    h.values[i] = FACE_DOWN_VALUE if c.face_down else card_value(c)
    h.cards[i] = NO_CARD
    if c.forced:
        h.forced |= bit
    if not c.face_down:
        if i < MOST_POSITIONS:
            h.visible |= bit
        if c.enhancement == Enhancement.STONE:
            h.stones |= bit
        else:
            h.cards[i] = N_SUITS * (int(c.rank) - FIRST_RANK) + int(c.suit)
            h.ranks[c.rank] |= bit
        for suit in range(N_SUITS):
            if flush_suit(s, s.hand[i], suit):
                h.suits[suit] |= bit
    j = i
    while j > 0 and h.values[h.by_value[j - 1]] >= h.values[i]:
        h.by_value[j] = h.by_value[j - 1]
        j -= 1
    h.by_value[j] = i


@rule
def least_valuable(s, h, kept, most):
    """Return up to `most` positions outside of `kept`: face-down cards first, then those of the lowest value."""
    chosen = 0
    for k in range(s.n_hand):
        bit = 1 << h.by_value[k]
        if most > 0 and not kept & bit:
            chosen |= bit
            most -= 1
    return chosen


@rule
def most_valuable(s, h, excluded, most, plain):
    """Return up to `most` positions outside of `excluded` with the highest values; `plain`: only without edition."""
    chosen = 0
    for k in range(s.n_hand - 1, -1, -1):
        i = h.by_value[k]
        if most > 0 and not (excluded >> i) & 1 and not (plain and s.cards[s.hand[i]].edition):
            chosen |= 1 << i
            most -= 1
    return chosen


@rule
def rank_in_straight(first_rank, step):
    """Return the rank at this step of the straight that begins with `first_rank`, where 1 is the Ace."""
    rank = first_rank + step
    return ACE if rank == 1 else rank


@rule
def best_straight(h):
    """Return the straight with the most face-up ranks, by its first rank 1..10; of equal ones, with the most outs."""
    best, most = 1, -1.0
    for first_rank in range(1, STRAIGHTS + 1):
        held = 0.0
        for step in range(STRAIGHT_CARDS):
            rank = rank_in_straight(first_rank, step)
            held += 1.0 if h.ranks[rank] else 0.001 * h.unseen_ranks[rank]
        if held > most:
            best, most = first_rank, held
    return best


@rule
def straight_positions(h, first_rank):
    """Return one face-up position for each held rank of a straight."""
    bits = 0
    for step in range(STRAIGHT_CARDS):
        same = h.ranks[rank_in_straight(first_rank, step)]
        bits |= same & -same
    return bits


@rule
def positions_of_pairs(h):
    """Return face-up positions of ranks that are held twice or more."""
    bits = 0
    for rank in range(FIRST_RANK, ACE + 1):
        same = h.ranks[rank]
        if same & (same - 1):
            bits |= same
    return bits


@rule
def positions_of_most_common_rank(h):
    """Return face-up positions of the rank that is held most often, the highest of equal ones."""
    best = 0
    for rank in range(ACE, FIRST_RANK - 1, -1):
        same = h.ranks[rank]
        if count_bits(same) > count_bits(best):
            best = same
    return best
