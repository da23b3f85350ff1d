"""What cards yet to be drawn may bring: hands are dealt from the unseen cards, and judged by the kinds they hold.

A sample is some hand cards and as many unseen ones as would be drawn. Its worth is the power (probes.py) of the best
kind of hand in it. Which unseen card comes is drawn by a generator of our own from all of them in a fixed order, so
nothing depends on the draw pile's real one.
"""

import numpy as np

from ante.catalog.cards import Enhancement
from ante.catalog.hands import Hand
from ante.engine.play import below
from ante.engine.rule import rule
from ante.engine.state import MAX_CARDS, MAX_HAND
from ante.env.probes import FIRST_POWER

SAMPLES = 12
START = 0x2545F491
P_STRAIGHT_FLUSH, P_FOUR, P_FULL_HOUSE, P_FLUSH, P_STRAIGHT, P_THREE, P_TWO_PAIR, P_PAIR, P_HIGH = (
    int(hand) - FIRST_POWER
    for hand in (
        Hand.STRAIGHT_FLUSH, Hand.FOUR_OF_A_KIND, Hand.FULL_HOUSE, Hand.FLUSH, Hand.STRAIGHT, Hand.THREE_OF_A_KIND,
        Hand.TWO_PAIR, Hand.PAIR, Hand.HIGH_CARD,
    )
)  # fmt: skip

# Scratch space of these functions.
draws_t = np.dtype(
    [
        ("unseen", "i1", (MAX_CARDS,)),  # 4 (rank - 2) + suit of each card that has not been seen
        ("n_unseen", "i4"),
        ("hand", "i1", (2 * MAX_HAND,)),  # the same of the cards of a sample
        ("ranks", "i1", (16,)),
        ("suits", "i1", (4,)),
        ("rng", "u8", (1,)),
        ("expected", "f8"),  # answers of `judge`
        ("enough", "f8"),
    ],
    align=True,
)


@rule
def list_unseen(unknown, d):
    """The unseen cards in a fixed order, and the generator as it always begins; unknown (4, 13) as observed."""
    d.rng[0] = START
    n = 0
    for rank in range(13):
        for suit in range(4):
            for _ in range(int(unknown[suit, rank])):
                if n < MAX_CARDS:
                    d.unseen[n] = 4 * rank + suit
                    n += 1
    d.n_unseen = n


@rule
def take_kept(s, kept, d):
    """The hand cards of a set stand in d.hand; those face down are left out. Answers how many."""
    n = 0
    for i in range(s.n_hand):
        c = s.cards[s.hand[i]]
        if (kept >> i) & 1 and not c.face_down and c.enhancement != Enhancement.STONE:
            d.hand[n] = 4 * (int(c.rank) - 2) + int(c.suit)
            n += 1
    return n


@rule
def best_power(d, n, powers):
    """The power of the best kind of hand among the first n cards of d.hand."""
    for i in range(16):
        d.ranks[i] = 0
    for suit in range(4):
        d.suits[suit] = 0
    for i in range(n):
        d.ranks[(d.hand[i] >> 2) + 2] += 1
        d.suits[d.hand[i] & 3] += 1
    pairs, threes, fours = 0, 0, 0
    run, longest = 1 if d.ranks[14] else 0, 0
    for rank in range(2, 15):
        held = d.ranks[rank]
        run = run + 1 if held else 0
        longest = max(longest, run)
        pairs += 1 if held >= 2 else 0
        threes += 1 if held >= 3 else 0
        fours += 1 if held >= 4 else 0
    best = powers[P_HIGH] if n else 0.0
    if pairs:
        best = max(best, powers[P_PAIR])
    if pairs >= 2:
        best = max(best, powers[P_TWO_PAIR])
    if threes:
        best = max(best, powers[P_THREE])
    if threes and pairs >= 2:
        best = max(best, powers[P_FULL_HOUSE])
    if fours:
        best = max(best, powers[P_FOUR])
    if longest >= 5:
        best = max(best, powers[P_STRAIGHT])
    for suit in range(4):
        if d.suits[suit] >= 5:
            best = max(best, powers[P_FLUSH])
    return best


@rule
def judge(s, kept, draws, powers, wanted, d):
    """Deal `draws` cards to the kept hand cards, SAMPLES times.

    powers  (N_POWERS,) of typical hands
    wanted  log10 of the chips that would be enough
    d       draws_t whose unseen cards are listed; overwritten: mean power, share of samples that are enough
    """
    n = take_kept(s, kept, d)
    draws = min(draws, int(d.n_unseen))
    total, enough = 0.0, 0
    for _ in range(SAMPLES):
        for k in range(draws):
            j = k + below(d.rng, int(d.n_unseen) - k)
            card = d.unseen[j]
            d.unseen[j] = d.unseen[k]
            d.unseen[k] = card
            d.hand[n + k] = card
        power = best_power(d, n + draws, powers)
        total += power
        enough += 1 if power >= wanted else 0
    d.expected = total / SAMPLES
    d.enough = enough / float(SAMPLES)
