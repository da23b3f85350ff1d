"""Card sets worth a thought, out of hundreds: the best plays of each poker hand, and discards with an aim.

Plays are found by what their scoring cards are worth, then scored exactly in a copy (probes.py). No card that lies face
down is looked at; it is junk to the player, who may throw it.
"""

import numpy as np

from ante.catalog.cards import Edition, Enhancement, Seal
from ante.catalog.hands import Hand
from ante.engine.actions import count_bits
from ante.engine.numbers import RANK_CHIPS
from ante.engine.poker import find_hand
from ante.engine.rule import rule
from ante.engine.state import MAX_PLAYED
from ante.engine.verbs import flush_suit
from ante.env.probes import copy_to_try, score_of

MOST_SEEN = 10  # hand positions that plays are made of; the leftmost are the highest cards
KEPT = 2  # sets kept of each poker hand
N_HANDS = len(Hand)
N_FOUND = N_HANDS * KEPT

# What a discard aims at. Numbers below are Hands that a play makes, raised by one.
AIM_FLUSH, AIM_STRAIGHT, AIM_ALIKE, AIM_GROUP, AIM_BEST, AIM_LOWEST = range(N_HANDS + 1, N_HANDS + 7)
AIM_SWAP = N_HANDS + 7  # a joker is sold to make room for another
N_AIMS = N_HANDS + 8
WINDOWS = 10  # straights, from Ace low on


@rule
def card_worth(c):
    """A rough worth of one scoring card in chips, and 0.01 for its rank where it is debuffed."""
    if c.debuffed:
        return 0.01 * c.rank
    worth = 50.0 if c.enhancement == Enhancement.STONE else float(RANK_CHIPS[c.rank])
    worth += c.bonus + ENHANCED[c.enhancement] + EDITED[c.edition]
    return 2.0 * worth if c.seal == Seal.RED else worth + (5.0 if c.seal else 0.0)


ENHANCED = np.zeros(len(Enhancement))
ENHANCED[[Enhancement.BONUS, Enhancement.MULT, Enhancement.GLASS, Enhancement.LUCKY]] = 30.0, 30.0, 60.0, 25.0
ENHANCED[[Enhancement.WILD, Enhancement.STEEL, Enhancement.GOLD]] = 5.0, 40.0, 10.0
EDITED = np.zeros(len(Edition))
EDITED[[Edition.FOIL, Edition.HOLO, Edition.POLYCHROME]] = 50.0, 50.0, 60.0


@rule
def in_sight(s):
    """Hand positions that plays are made of, as bits: those within MOST_SEEN that do not lie face down."""
    bits = 0
    for i in range(min(MOST_SEEN, int(s.n_hand))):
        if not s.cards[s.hand[i]].face_down:
            bits |= 1 << i
    return bits


@rule
def forced_bits(s):
    """Hand positions that Cerulean Bell forces, as bits."""
    bits = 0
    for i in range(s.n_hand):
        if s.cards[s.hand[i]].forced:
            bits |= 1 << i
    return bits


@rule
def find_plays(s, scratch, sets, worths):
    """The KEPT worthiest sets of each poker hand among the cards in sight.

    sets    (N_FOUND,) int64, overwritten: card sets, 0 where there is none; Hand h begins at h * KEPT
    worths  (N_FOUND,) float64, scratch

    Only sets all of whose cards score are looked at; `fill_up` adds others.
    """
    for k in range(N_FOUND):
        sets[k] = 0
        worths[k] = -1.0
    seen = in_sight(s)
    forced = forced_bits(s)
    scratch[0] = s
    copy = scratch[0]
    copy_to_try(s, copy)
    cards = seen
    while cards:
        if count_bits(cards) <= MAX_PLAYED and cards & forced == forced:
            weigh_play(s, copy, cards, sets, worths)
        cards = (cards - 1) & seen


@rule
def weigh_play(s, copy, cards, sets, worths):
    """Keep one set where it is among the worthiest of its poker hand."""
    n = 0
    worth = 0.0
    for i in range(s.n_hand):
        if (cards >> i) & 1:
            copy.played[n] = s.hand[i]
            worth += card_worth(s.cards[s.hand[i]])
            n += 1
    copy.n_played = n
    find_hand(copy)
    if copy.n_scoring < n and n > 1:
        return
    first = int(copy.hand_type) * KEPT
    if worth > worths[first]:
        sets[first + 1] = sets[first]
        worths[first + 1] = worths[first]
        sets[first] = cards
        worths[first] = worth
    elif worth > worths[first + 1]:
        sets[first + 1] = cards
        worths[first + 1] = worth


@rule
def score_plays(s, scratch, sets, scores):
    """Score what `find_plays` found and sort it, best first. Answers how many there are.

    sets    (N_FOUND,) int64, re-ordered, those without a set last
    scores  (N_FOUND,) float64, overwritten: chips
    """
    n = 0
    for k in range(N_FOUND):
        cards = sets[k]
        if cards:
            score = score_of(s, scratch, cards)
            j = n
            while j > 0 and scores[j - 1] < score:
                scores[j] = scores[j - 1]
                sets[j] = sets[j - 1]
                j -= 1
            scores[j] = score
            sets[j] = cards
            n += 1
    for k in range(n, N_FOUND):
        sets[k] = 0
    return n


@rule
def junk_of(s, kept, most):
    """Up to `most` positions outside of `kept`, as bits: cards that lie face down first, then the least worth."""
    thrown = 0
    for _ in range(most):
        worst, least = -1, 1e30
        for i in range(s.n_hand):
            if not ((kept | thrown) >> i) & 1:
                c = s.cards[s.hand[i]]
                worth = -1.0 if c.face_down else card_worth(c)
                if worth <= least:
                    worst, least = i, worth
        if worst < 0:
            break
        thrown |= 1 << worst
    return thrown


@rule
def suited(s, suit):
    """Positions in sight that count as this suit in a flush, as bits."""
    bits = 0
    for i in range(s.n_hand):
        if not s.cards[s.hand[i]].face_down and flush_suit(s, s.hand[i], suit):
            bits |= 1 << i
    return bits


@rule
def ranked(s, rank):
    """Positions in sight that show this rank, as bits."""
    bits = 0
    for i in range(s.n_hand):
        c = s.cards[s.hand[i]]
        if not c.face_down and c.rank == rank and c.enhancement != Enhancement.STONE:
            bits |= 1 << i
    return bits


@rule
def rank_in_window(window, step):
    """The rank at this step of a straight; window 1 begins with the Ace."""
    rank = window + step
    return 14 if rank == 1 else rank


@rule
def best_window(s, unknown):
    """The straight that most cards in sight belong to, by its first rank 1..10; of equals the one with more outs."""
    best, most = 1, -1.0
    for window in range(1, WINDOWS + 1):
        held = 0.0
        for step in range(5):
            rank = rank_in_window(window, step)
            held += 1.0 if ranked(s, rank) else 0.001 * rank_left(unknown, rank)
        if held > most:
            best, most = window, held
    return best


@rule
def window_cards(s, window):
    """One position for each rank of a straight that is in sight, as bits."""
    bits = 0
    for step in range(5):
        same = ranked(s, rank_in_window(window, step))
        bits |= same & -same
    return bits


@rule
def alike_bits(s):
    """Positions in sight whose rank is there twice or more, as bits."""
    bits = 0
    for rank in range(2, 15):
        same = ranked(s, rank)
        if same & (same - 1):
            bits |= same
    return bits


@rule
def group_bits(s):
    """Positions of the rank that is there most often, the highest of equals, as bits."""
    best = 0
    for rank in range(14, 1, -1):
        same = ranked(s, rank)
        if count_bits(same) > count_bits(best):
            best = same
    return best


@rule
def rank_left(unknown, rank):
    """Cards of this rank that the player has not seen; unknown (4, 13)."""
    n = 0
    for suit in range(4):
        n += int(unknown[suit, rank - 2])
    return n


@rule
def suit_left(unknown, suit):
    """Cards of this suit that the player has not seen; unknown (4, 13)."""
    n = 0
    for rank in range(13):
        n += int(unknown[suit, rank])
    return n


@rule
def chance_of(outs, pile, draws, needed):
    """The chance that `draws` cards out of a pile hold at least `needed` of its `outs`."""
    if needed <= 0:
        return 1.0
    missed = 0.0
    for hits in range(needed):
        missed += chance_exactly(outs, pile, draws, hits)
    return max(0.0, 1.0 - missed)


@rule
def chance_exactly(outs, pile, draws, hits):
    """The hypergeometric chance of exactly this many hits."""
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
