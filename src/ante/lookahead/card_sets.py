"""Sets of hand cards as bits of hand positions (leftmost is bit 0): by value, suit, rank, or cards of a straight.

Face-down cards are never used. The value of a card is a rough estimate that ranks sets before any is scored.
"""

import numpy as np

from ante.catalog.cards import ACE, Edition, Enhancement, Seal
from ante.engine.actions import count_bits
from ante.engine.core.rule import rule
from ante.engine.core.tables import RANK_CHIPS
from ante.engine.effects.verbs import flush_suit
from ante.env.layout import FIRST_RANK, N_SUITS

MOST_POSITIONS = 10  # hand positions considered for plays; the leftmost are the highest cards
STRAIGHTS = 10  # straights by their first rank, from 1 (the Ace) on
STRAIGHT_CARDS = 5
ENHANCEMENT_VALUE = np.zeros(len(Enhancement))
ENHANCEMENT_VALUE[[Enhancement.BONUS, Enhancement.MULT, Enhancement.GLASS, Enhancement.LUCKY]] = 30.0, 30.0, 60.0, 25.0
ENHANCEMENT_VALUE[[Enhancement.WILD, Enhancement.STEEL, Enhancement.GOLD]] = 5.0, 40.0, 10.0
EDITION_VALUE = np.zeros(len(Edition))
EDITION_VALUE[[Edition.FOIL, Edition.HOLO, Edition.POLYCHROME]] = 50.0, 50.0, 60.0


@rule
def card_value(c):
    """Return a rough value of one scoring card in chips; of a debuffed one 0.01 per rank."""
    if c.debuffed:
        return 0.01 * c.rank
    value = 50.0 if c.enhancement == Enhancement.STONE else float(RANK_CHIPS[c.rank])
    value += c.bonus + ENHANCEMENT_VALUE[c.enhancement] + EDITION_VALUE[c.edition]
    return 2.0 * value if c.seal == Seal.RED else value + (5.0 if c.seal else 0.0)


@rule
def visible_positions(s):
    """Return the hand positions considered for plays: face-up ones among the leftmost MOST_POSITIONS."""
    bits = 0
    for i in range(min(MOST_POSITIONS, int(s.n_hand))):
        if not s.cards[s.hand[i]].face_down:
            bits |= 1 << i
    return bits


@rule
def forced_positions(s):
    """Return the hand positions that Cerulean Bell forces."""
    bits = 0
    for i in range(s.n_hand):
        if s.cards[s.hand[i]].forced:
            bits |= 1 << i
    return bits


@rule
def all_positions(s):
    """Return all hand positions."""
    return (1 << int(s.n_hand)) - 1


@rule
def least_valuable(s, kept, most):
    """Return up to `most` positions outside of `kept`: face-down cards first, then those of the lowest value."""
    chosen = 0
    for _ in range(most):
        worst, least = -1, 1e30
        for i in range(s.n_hand):
            if not ((kept | chosen) >> i) & 1:
                c = s.cards[s.hand[i]]
                value = -1.0 if c.face_down else card_value(c)
                if value <= least:
                    worst, least = i, value
        if worst < 0:
            break
        chosen |= 1 << worst
    return chosen


@rule
def most_valuable(s, excluded, most, plain):
    """Return up to `most` positions outside of `excluded` with the highest values; `plain`: only without edition."""
    chosen = 0
    for _ in range(most):
        best, top = -1, -1.0
        for i in range(s.n_hand):
            c = s.cards[s.hand[i]]
            if not ((excluded | chosen) >> i) & 1 and not (plain and c.edition):
                value = card_value(c)
                if value > top:
                    best, top = i, value
        if best >= 0:
            chosen |= 1 << best
    return chosen


@rule
def positions_of_suit(s, suit):
    """Return face-up positions whose cards count as this suit in a flush."""
    bits = 0
    for i in range(s.n_hand):
        if not s.cards[s.hand[i]].face_down and flush_suit(s, s.hand[i], suit):
            bits |= 1 << i
    return bits


@rule
def positions_of_rank(s, rank):
    """Return face-up positions whose cards have this rank."""
    bits = 0
    for i in range(s.n_hand):
        c = s.cards[s.hand[i]]
        if not c.face_down and c.rank == rank and c.enhancement != Enhancement.STONE:
            bits |= 1 << i
    return bits


@rule
def rank_in_straight(first_rank, step):
    """Return the rank at this step of the straight that begins with `first_rank`, where 1 is the Ace."""
    rank = first_rank + step
    return ACE if rank == 1 else rank


@rule
def unseen_of_rank(unknown, rank):
    """Return the number of unseen cards of this rank; unknown (N_SUITS, N_RANKS)."""
    n = 0
    for suit in range(N_SUITS):
        n += int(unknown[suit, rank - FIRST_RANK])
    return n


@rule
def best_straight(s, unknown):
    """Return the straight with the most face-up ranks, by its first rank 1..10; of equal ones, with the most outs."""
    best, most = 1, -1.0
    for first_rank in range(1, STRAIGHTS + 1):
        held = 0.0
        for step in range(STRAIGHT_CARDS):
            rank = rank_in_straight(first_rank, step)
            held += 1.0 if positions_of_rank(s, rank) else 0.001 * unseen_of_rank(unknown, rank)
        if held > most:
            best, most = first_rank, held
    return best


@rule
def straight_positions(s, first_rank):
    """Return one face-up position for each held rank of a straight."""
    bits = 0
    for step in range(STRAIGHT_CARDS):
        same = positions_of_rank(s, rank_in_straight(first_rank, step))
        bits |= same & -same
    return bits


@rule
def positions_of_pairs(s):
    """Return face-up positions of ranks that are held twice or more."""
    bits = 0
    for rank in range(FIRST_RANK, ACE + 1):
        same = positions_of_rank(s, rank)
        if same & (same - 1):
            bits |= same
    return bits


@rule
def positions_of_most_common_rank(s):
    """Return face-up positions of the rank that is held most often, the highest of equal ones."""
    best = 0
    for rank in range(ACE, FIRST_RANK - 1, -1):
        same = positions_of_rank(s, rank)
        if count_bits(same) > count_bits(best):
            best = same
    return best
