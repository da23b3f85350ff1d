"""Estimates of future draws: sampled hands of unseen cards, and probabilities by counting.

A sample consists of the kept hand cards and as many unseen ones as would be drawn. Its result is the strength of its
best poker hand. Unseen cards are drawn by a separate generator from all of them in a fixed order, so the result does
not depend on the real draw pile.
"""

import numpy as np

from ante.catalog.cards import ACE
from ante.catalog.hands import Hand
from ante.engine.actions import count_bits
from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_CARDS, MAX_PLAYED
from ante.engine.drivers.random_play import HIGH_31, LEFT_13, LEFT_17, RIGHT_7
from ante.env.layout import FIRST_RANK, N_RANKS, N_SUITS
from ante.lookahead.card_sets import NO_CARD, STRAIGHT_CARDS, rank_in_straight
from ante.lookahead.reference_hands import FIRST_REFERENCE_HAND

SAMPLES = 12
SUIT_BITS = (N_SUITS - 1).bit_length()  # SPEED: cards are decoded by shifts; Python's // and % check signs
RNG_STATE = np.uint64(0x2545F491)
STRAIGHT_FLUSH, FOUR, FULL_HOUSE, FLUSH, STRAIGHT, THREE, TWO_PAIR, PAIR, HIGH_CARD = (
    int(hand) - FIRST_REFERENCE_HAND
    for hand in (
        Hand.STRAIGHT_FLUSH, Hand.FOUR_OF_A_KIND, Hand.FULL_HOUSE, Hand.FLUSH, Hand.STRAIGHT, Hand.THREE_OF_A_KIND,
        Hand.TWO_PAIR, Hand.PAIR, Hand.HIGH_CARD,
    )
)  # fmt: skip

# A set of cards, for the best poker hand in it, is five numbers: the ranks that it has at least once, twice, three and
# four times, as bits from FIRST_RANK on, and SUIT_COUNT bits per suit with the number of its cards.
SUIT_COUNT = 12
ALL_RANKS = (1 << N_RANKS) - 1
FLUSHES = sum((1 << SUIT_COUNT - 1) << SUIT_COUNT * suit for suit in range(N_SUITS))
TO_FLUSHES = sum(((1 << SUIT_COUNT - 1) - MAX_PLAYED) << SUIT_COUNT * suit for suit in range(N_SUITS))
PART_OF = 1.0 / np.maximum(1, np.arange(MAX_CARDS + 1))  # SPEED: a product and a correction instead of a division

# Scratch space and results.
draws_t = np.dtype(
    [
        ("unseen", "i1", (MAX_CARDS,)),  # N_SUITS (rank - FIRST_RANK) + suit of each unseen card
        ("n_unseen", "i4"),
        ("rng", "u8"),
        ("mean_strength", "f8"),  # results of `sample_draws`
        ("success_rate", "f8"),
    ],
    align=True,
)


@rule
def list_unseen(unknown, d):
    """List the unseen cards in a fixed order and reset the generator; unknown (N_SUITS, N_RANKS) as observed."""
    d.rng = RNG_STATE
    n = 0
    for rank in range(N_RANKS):
        for suit in range(N_SUITS):
            for _ in range(int(unknown[suit, rank])):
                if n < MAX_CARDS:
                    d.unseen[n] = N_SUITS * rank + suit
                    n += 1
    d.n_unseen = n


@rule
def with_card(once, twice, thrice, four, suits, card):
    """Return a set of cards with one more: N_SUITS (rank - FIRST_RANK) + suit."""
    rank = 1 << (card >> SUIT_BITS)
    four |= thrice & rank
    thrice |= twice & rank
    twice |= once & rank
    return once | rank, twice, thrice, four, suits + (1 << SUIT_COUNT * (card & (N_SUITS - 1)))


@rule
def kept_cards(s, kept, h):
    """Return the set of the face-up cards that have a rank among these hand positions."""
    once, twice, thrice, four, suits = 0, 0, 0, 0, 0
    for i in range(s.n_hand):
        if (kept >> i) & 1 and h.cards[i] != NO_CARD:
            once, twice, thrice, four, suits = with_card(once, twice, thrice, four, suits, h.cards[i])
    return once, twice, thrice, four, suits


@rule
def best_strength(once, twice, thrice, four, suits, strengths):
    """Return the strength of the best poker hand in a set of cards; strengths (N_REFERENCE_HANDS,)."""
    best = strengths[HIGH_CARD] if once else 0.0
    if twice:
        best = max(best, strengths[PAIR])
        several = twice & (twice - 1)
        if several:
            best = max(best, strengths[TWO_PAIR])
        if thrice:
            best = max(best, strengths[THREE])
            if several:
                best = max(best, strengths[FULL_HOUSE])
            if four:
                best = max(best, strengths[FOUR])
    from_ace = (once << 1 & ALL_RANKS << 1) | once >> N_RANKS - 1  # the Ace is also below the Two
    runs = from_ace & from_ace >> 1
    runs &= runs >> 2
    if runs & from_ace >> 4:
        best = max(best, strengths[STRAIGHT])
    if suits + TO_FLUSHES & FLUSHES:
        best = max(best, strengths[FLUSH])
    return best


@rule
def sample_draws(s, kept, draws, strengths, wanted, h, d):
    """Draw `draws` unseen cards to the kept hand cards, SAMPLES times.

    strengths  (N_REFERENCE_HANDS,)
    wanted     log10 of the chips that count as a success
    h          hand_facts_t
    d          draws_t whose unseen cards are listed; mean_strength and success_rate are overwritten
    """
    once, twice, thrice, four, suits = kept_cards(s, kept, h)
    unseen = int(d.n_unseen)
    draws = min(draws, unseen)
    total, hits = 0.0, 0
    random = d.rng
    for _ in range(SAMPLES):
        now, now_2, now_3, now_4, now_suits = once, twice, thrice, four, suits
        for k in range(draws):
            random = shuffled_bits(random)
            j = k + remainder(np.int64(random >> HIGH_31), unseen - k)
            card = d.unseen[j]
            d.unseen[j] = d.unseen[k]
            d.unseen[k] = card
            now, now_2, now_3, now_4, now_suits = with_card(now, now_2, now_3, now_4, now_suits, int(card))
        strength = best_strength(now, now_2, now_3, now_4, now_suits, strengths)
        total += strength
        hits += 1 if strength >= wanted else 0
    d.rng = random
    d.mean_strength = total / SAMPLES
    d.success_rate = hits / float(SAMPLES)


@rule
def shuffled_bits(x):
    """Return the next state of the generator, uint64; its highest 31 bits are random (`random_play.below`)."""
    x = x ^ (x << LEFT_13)
    x = x ^ (x >> RIGHT_7)
    return x ^ (x << LEFT_17)


@rule
def remainder(x, n):
    """Return x modulo n, for 0 <= x < 2**31 and 1 <= n <= MAX_CARDS. The rounded product is never too large."""
    rest = x - n * int(x * PART_OF[n])
    return rest - n if rest >= n else rest


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
def straight_chance(s, h, kept, first_rank):
    """Return the approximate probability that a straight is completed, with missing ranks treated as independent."""
    drawn = min(MAX_PLAYED, int(s.n_hand) - count_bits(kept))
    chance = 1.0
    for step in range(STRAIGHT_CARDS):
        rank = rank_in_straight(first_rank, step)
        if not h.ranks[rank]:
            chance *= chance_of(h.unseen_ranks[rank], int(s.n_deck), drawn, 1)
    return chance


@rule
def rank_chance(s, h, kept):
    """Return the probability that discarding all other cards draws one more card of the kept ranks."""
    outs = 0
    for rank in range(FIRST_RANK, ACE + 1):
        if h.ranks[rank] & kept:
            outs += h.unseen_ranks[rank]
    drawn = min(MAX_PLAYED, int(s.n_hand) - count_bits(kept))
    return chance_of(outs, int(s.n_deck), drawn, 1)
