"""Candidate plays: the most valuable sets of each poker hand, scored exactly, with and without padding.

Sets are found by the value of their scoring cards and then scored in a determinised copy of the game. Face-down cards
are used only as padding.
"""

from ante.catalog.cards import ACE, N_SUITS
from ante.catalog.jokers import Joker
from ante.engine.actions import Verb, can_play, count_bits
from ante.engine.core.arithmetic import log10_of
from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_PLAYED, Rule
from ante.engine.core.tables import J_CARDS
from ante.engine.effects.poker import hand_of, packed
from ante.env.layout import FIRST_RANK
from ante.lookahead.card_sets import MOST_POSITIONS, least_valuable
from ante.lookahead.determinised import BASE, SCORED, determinise, positions_in_copy, score_in_copy
from ante.lookahead.draws import SUIT_BITS, sample_draws
from ante.lookahead.records import (
    BEATS_BLIND,
    BYTES_PER_CARD,
    LEGAL,
    N_HANDS,
    PADDED,
    PLAY,
    add_candidate,
    as_byte,
    chance_byte,
    log_byte,
    ratio_byte,
)
from ante.lookahead.reference_hands import LEAST_SCORE

SETS_PER_HAND = 2  # sets per poker hand
N_SETS = N_HANDS * SETS_PER_HAND
MOST_PLAYS = 7  # sets listed
MOST_PADDED = 3  # number of these, the best ones, that are also listed with padding


@rule
def list_plays(s, copies, w, out):
    """List the best plays, and the very best also with padding. The facts of the hand must be written."""
    h = w.hand
    needed = max(1.0, float(s.target) - float(s.chips))
    w.needed = log10_of(needed)
    w.log_hands_left = log10_of(float(max(1, int(s.hands_left))))
    find_plays(s, h, w.sets, w.scores)
    copies[BASE] = s
    determinise(s, copies[BASE])
    n = min(MOST_PLAYS, score_plays(s, copies, w.sets, w.scores, w.hands))
    if n == 0:
        cards = h.forced if h.forced else least_valuable(s, h, 0, 1)
        add_play(s, w, out, cards, 0, 0.0, needed, 0)
        padding = least_valuable(s, h, cards, MAX_PLAYED - count_bits(cards))
        add_play(s, w, out, cards | padding, 0, 0.0, needed, PADDED)
        return
    for k in range(n):
        cards = w.sets[k]
        purpose = 1 + w.hands[k]
        add_play(s, w, out, cards, purpose, w.scores[k], needed, 0)
        padding = least_valuable(s, h, cards, MAX_PLAYED - count_bits(cards))
        if k < MOST_PADDED and padding:
            score = padded_score(s, copies, cards | padding, w.scores[k])
            add_play(s, w, out, cards | padding, purpose, score, needed, PADDED)


@rule
def find_plays(s, h, sets, values):
    """Find the SETS_PER_HAND most valuable sets of each poker hand among the visible positions.

    h       hand_facts_t
    sets    (N_SETS,) int64, overwritten: card sets, 0 for none; Hand h begins at h * SETS_PER_HAND
    values  (N_SETS,) float64, scratch space

    Only sets in which all cards score are considered; padding is added later.
    """
    for k in range(N_SETS):
        sets[k] = 0
        values[k] = -1.0
    cards = h.visible
    while cards:
        if count_bits(cards) <= MAX_PLAYED and cards & h.forced == h.forced and may_all_score(s, h, cards):
            keep_if_valuable(s, h, cards, sets, values)
        cards = (cards - 1) & h.visible


@rule
def may_all_score(s, h, cards):
    """Return False only if some cards of this set do not score.

    SPEED: most sets are rejected by their first card without a second one of its rank; the poker hand of the others is
    found by the rules of the game.
    """
    ranked = cards & ~h.stones
    if ranked & (ranked - 1) == 0 or s.rules & Rule.SPLASH:  # Stone cards always score, and so does a single card
        return True
    left = ranked
    while left:
        first = left & -left
        same = h.ranks[rank_at(h, first)] & ranked
        if same == first:
            break
        left &= ~same
    if left == 0:
        return True
    needed = J_CARDS[Joker.FOUR_FINGERS] if s.rules & Rule.FOUR_FINGERS else MAX_PLAYED
    if count_bits(ranked) < needed:
        return False
    if s.rules & Rule.SHORTCUT:
        return True
    for suit in range(N_SUITS):
        if count_bits(cards & h.suits[suit]) >= needed:
            return True
    return has_straight(h, ranked, needed)


@rule
def rank_at(h, bit):
    """Return the rank of the card at a hand position, given as a bit."""
    return FIRST_RANK + (h.cards[count_bits(bit - 1)] >> SUIT_BITS)


@rule
def has_straight(h, ranked, needed):
    """Return whether these cards, none of them a Stone card, contain `needed` ranks in a row."""
    ranks = 0
    while ranked:
        rank = rank_at(h, ranked & -ranked)
        ranks |= 1 << rank
        ranks |= 2 if rank == ACE else 0
        ranked &= ranked - 1
    for _ in range(needed - 1):
        ranks &= ranks >> 1
    return ranks != 0


@rule
def keep_if_valuable(s, h, cards, sets, values):
    """Store one set if all of its cards score and it is among the most valuable of its poker hand."""
    n, held, stones = 0, 0, 0
    value = 0.0
    for i in range(MOST_POSITIONS):
        if (cards >> i) & 1:
            held = packed(held, s.hand[i], n)
            stones |= ((h.stones >> i) & 1) << n
            value += h.values[i]
            n += 1
    hand, _, scoring = hand_of(s, held, n)
    if n > 1 and not s.rules & Rule.SPLASH and scoring | stones != (1 << n) - 1:
        return
    first = hand * SETS_PER_HAND
    if value > values[first]:
        sets[first + 1] = sets[first]
        values[first + 1] = values[first]
        sets[first] = cards
        values[first] = value
    elif value > values[first + 1]:
        sets[first + 1] = cards
        values[first + 1] = value


@rule
def score_plays(s, copies, sets, scores, hands):
    """Score the result of `find_plays` and sort it, best first. Returns the number of sets.

    copies  copies[BASE] is the determinised game; copies[SCORED] is changed
    sets    (N_SETS,) int64, reordered, entries without a set last
    scores  (N_SETS,) float64, overwritten: chips
    hands   (N_SETS,) int64, overwritten: the poker hand of each set
    """
    n = 0
    for k in range(N_SETS):
        cards = sets[k]
        if cards:
            score = score_visible(s, copies, cards)
            hand = int(copies[SCORED].hand_type)
            j = n
            while j > 0 and scores[j - 1] < score:
                scores[j] = scores[j - 1]
                sets[j] = sets[j - 1]
                hands[j] = hands[j - 1]
                j -= 1
            scores[j] = score
            sets[j] = cards
            hands[j] = hand
            n += 1
    for k in range(n, N_SETS):
        sets[k] = 0
    return n


@rule
def padded_score(s, copies, cards, plain):
    """Return the score of a play with padding, or the score without it if some of the cards are face down."""
    for i in range(s.n_hand):
        if (cards >> i) & 1 and s.cards[s.hand[i]].face_down:
            return plain
    return score_visible(s, copies, cards)


@rule
def score_visible(s, copies, cards):
    """Return the chips that these hand positions, none of them face down, would score; copies as in `score_plays`."""
    copies[SCORED] = copies[BASE]
    return score_in_copy(copies[SCORED], positions_in_copy(s, cards))


@rule
def add_play(s, w, out, cards, purpose, score, needed, flags):
    """List one play with its score and estimates of the next hand, unless it is already listed or illegal."""
    for k in range(out.n):
        if out.entries[k].cards == cards and out.entries[k].verb == Verb.PLAY:
            return
    if not can_play(s, cards):
        return
    flags |= LEGAL | (BEATS_BLIND if score >= needed else 0)
    k = add_candidate(out, Verb.PLAY, 0, cards, 0, flags)
    if k < 0:
        return
    e = out.entries[k]
    e.purpose = purpose
    size = log10_of(max(LEAST_SCORE, score))
    ratio = size - w.needed
    e.estimates[PLAY.score] = log_byte(size)
    e.estimates[PLAY.score_to_needed] = ratio_byte(ratio)
    e.estimates[PLAY.all_hands_to_needed] = ratio_byte(ratio + w.log_hands_left)
    e.estimates[PLAY.cards] = as_byte(float(BYTES_PER_CARD * count_bits(cards)))
    if score < needed and s.hands_left > 1:
        wanted = log10_of(needed - score)
        sample_draws(s, w.hand.all & ~cards, count_bits(cards), w.strengths, wanted, w.hand, w.draws)
        e.estimates[PLAY.next_beats] = chance_byte(w.draws.success_rate)
        e.estimates[PLAY.next_to_needed] = ratio_byte(w.draws.mean_strength - wanted)
