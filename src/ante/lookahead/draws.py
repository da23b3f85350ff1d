"""Estimates of future draws: sampled hands of unseen cards, and probabilities by counting.

A sample consists of the kept hand cards and as many unseen ones as would be drawn. Its result is the strength of its
best poker hand. Unseen cards are drawn by a separate generator from all of them in a fixed order, so the result does
not depend on the real draw pile.
"""

import numpy as np

from ante.catalog.cards import ACE, Enhancement
from ante.catalog.hands import Hand
from ante.engine.actions import count_bits
from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_CARDS, MAX_HAND, MAX_PLAYED
from ante.engine.drivers.random_play import below
from ante.env.layout import FIRST_RANK, N_RANKS, N_SUITS
from ante.lookahead.card_sets import STRAIGHT_CARDS, positions_of_rank, rank_in_straight, unseen_of_rank
from ante.lookahead.reference_hands import FIRST_REFERENCE_HAND

SAMPLES = 12
SUIT_BITS = (N_SUITS - 1).bit_length()  # SPEED: cards are decoded by shifts; Python's // and % check signs
RNG_STATE = 0x2545F491
STRAIGHT_FLUSH, FOUR, FULL_HOUSE, FLUSH, STRAIGHT, THREE, TWO_PAIR, PAIR, HIGH_CARD = (
    int(hand) - FIRST_REFERENCE_HAND
    for hand in (
        Hand.STRAIGHT_FLUSH, Hand.FOUR_OF_A_KIND, Hand.FULL_HOUSE, Hand.FLUSH, Hand.STRAIGHT, Hand.THREE_OF_A_KIND,
        Hand.TWO_PAIR, Hand.PAIR, Hand.HIGH_CARD,
    )
)  # fmt: skip

# Scratch space and results.
draws_t = np.dtype(
    [
        ("unseen", "i1", (MAX_CARDS,)),  # N_SUITS (rank - FIRST_RANK) + suit of each unseen card
        ("n_unseen", "i4"),
        ("hand", "i1", (2 * MAX_HAND,)),  # the same for the cards of a sample
        ("ranks", "i1", (ACE + 1,)),
        ("suits", "i1", (N_SUITS,)),
        ("rng", "u8", (1,)),
        ("mean_strength", "f8"),  # results of `sample_draws`
        ("success_rate", "f8"),
    ],
    align=True,
)


@rule
def list_unseen(unknown, d):
    """List the unseen cards in a fixed order and reset the generator; unknown (N_SUITS, N_RANKS) as observed."""
    d.rng[0] = RNG_STATE
    n = 0
    for rank in range(N_RANKS):
        for suit in range(N_SUITS):
            for _ in range(int(unknown[suit, rank])):
                if n < MAX_CARDS:
                    d.unseen[n] = N_SUITS * rank + suit
                    n += 1
    d.n_unseen = n


@rule
def take_kept(s, kept, d):
    """Write the face-up cards of a set that have a rank into d.hand. Returns their number."""
    n = 0
    for i in range(s.n_hand):
        c = s.cards[s.hand[i]]
        if (kept >> i) & 1 and not c.face_down and c.enhancement != Enhancement.STONE:
            d.hand[n] = N_SUITS * (int(c.rank) - FIRST_RANK) + int(c.suit)
            n += 1
    return n


@rule
def best_strength(d, n, strengths):
    """Return the strength of the best poker hand among the first n cards of d.hand; strengths (N_REFERENCE_HANDS,)."""
    for i in range(ACE + 1):
        d.ranks[i] = 0
    for suit in range(N_SUITS):
        d.suits[suit] = 0
    for i in range(n):
        d.ranks[(d.hand[i] >> SUIT_BITS) + FIRST_RANK] += 1
        d.suits[d.hand[i] & (N_SUITS - 1)] += 1
    pairs, threes, fours = 0, 0, 0
    run, longest = 1 if d.ranks[ACE] else 0, 0
    for rank in range(FIRST_RANK, ACE + 1):
        held = d.ranks[rank]
        run = run + 1 if held else 0
        longest = max(longest, run)
        pairs += 1 if held >= 2 else 0
        threes += 1 if held >= 3 else 0
        fours += 1 if held >= 4 else 0
    best = strengths[HIGH_CARD] if n else 0.0
    if pairs:
        best = max(best, strengths[PAIR])
    if pairs >= 2:
        best = max(best, strengths[TWO_PAIR])
    if threes:
        best = max(best, strengths[THREE])
    if threes and pairs >= 2:
        best = max(best, strengths[FULL_HOUSE])
    if fours:
        best = max(best, strengths[FOUR])
    if longest >= 5:
        best = max(best, strengths[STRAIGHT])
    for suit in range(N_SUITS):
        if d.suits[suit] >= 5:
            best = max(best, strengths[FLUSH])
    return best


@rule
def sample_draws(s, kept, draws, strengths, wanted, d):
    """Draw `draws` unseen cards to the kept hand cards, SAMPLES times.

    strengths  (N_REFERENCE_HANDS,)
    wanted     log10 of the chips that count as a success
    d          draws_t whose unseen cards are listed; mean_strength and success_rate are overwritten
    """
    n = take_kept(s, kept, d)
    draws = min(draws, int(d.n_unseen))
    total, hits = 0.0, 0
    for _ in range(SAMPLES):
        for k in range(draws):
            j = k + below(d.rng, int(d.n_unseen) - k)
            card = d.unseen[j]
            d.unseen[j] = d.unseen[k]
            d.unseen[k] = card
            d.hand[n + k] = card
        strength = best_strength(d, n + draws, strengths)
        total += strength
        hits += 1 if strength >= wanted else 0
    d.mean_strength = total / SAMPLES
    d.success_rate = hits / float(SAMPLES)


@rule
def unseen_of_suit(unknown, suit):
    """Return the number of unseen cards of this suit; unknown (N_SUITS, N_RANKS)."""
    n = 0
    for rank in range(N_RANKS):
        n += int(unknown[suit, rank])
    return n


@rule
def chance_of(outs, pile, draws, needed):
    """Return the probability that `draws` cards from a pile contain at least `needed` of its `outs`."""
    if needed <= 0:
        return 1.0
    missed = 0.0
    for hits in range(needed):
        missed += chance_exactly(outs, pile, draws, hits)
    return max(0.0, 1.0 - missed)


@rule
def chance_exactly(outs, pile, draws, hits):
    """Return the hypergeometric probability of exactly this number of hits."""
    chance = 1.0
    for i in range(draws):
        left = pile - i
        if left <= 0:
            return 1.0 if hits == 0 else 0.0
        if i < hits:
            chance *= max(0, outs - i) * float(draws - i) / float((i + 1) * left)
        else:
            chance *= max(0, pile - outs - (i - hits)) / float(left)
    return chance


@rule
def flush_chance(s, kept, outs):
    """Return the probability that discarding all other cards completes five cards of a suit with these outs."""
    drawn = min(MAX_PLAYED, int(s.n_hand) - count_bits(kept))
    return chance_of(outs, int(s.n_deck), drawn, MAX_PLAYED - count_bits(kept))


@rule
def straight_chance(s, unknown, kept, first_rank):
    """Return the approximate probability that a straight is completed, with missing ranks treated as independent."""
    drawn = min(MAX_PLAYED, int(s.n_hand) - count_bits(kept))
    chance = 1.0
    for step in range(STRAIGHT_CARDS):
        rank = rank_in_straight(first_rank, step)
        if not positions_of_rank(s, rank):
            chance *= chance_of(unseen_of_rank(unknown, rank), int(s.n_deck), drawn, 1)
    return chance


@rule
def rank_chance(s, unknown, kept):
    """Return the probability that discarding all other cards draws one more card of the kept ranks."""
    outs = 0
    for rank in range(FIRST_RANK, ACE + 1):
        if positions_of_rank(s, rank) & kept:
            outs += unseen_of_rank(unknown, rank)
    drawn = min(MAX_PLAYED, int(s.n_hand) - count_bits(kept))
    return chance_of(outs, int(s.n_deck), drawn, 1)
