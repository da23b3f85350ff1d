"""Candidate plays: the most valuable sets of each poker hand, scored exactly, with and without padding.

Sets are found by the value of their scoring cards and then scored in a determinised copy of the game. Face-down cards
are used only as padding.
"""

from ante.engine.actions import Verb, can_play, count_bits
from ante.engine.core.arithmetic import log10_of
from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_PLAYED
from ante.engine.effects.poker import find_hand
from ante.lookahead.card_sets import (
    MOST_POSITIONS,
    all_positions,
    card_value,
    forced_positions,
    least_valuable,
    visible_positions,
)
from ante.lookahead.determinised import determinise, score_of
from ante.lookahead.draws import sample_draws
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
    """List the best plays, and the very best also with padding."""
    needed = max(1.0, float(s.target) - float(s.chips))
    find_plays(s, copies, w.card_values, w.sets, w.scores)
    n = min(MOST_PLAYS, score_plays(s, copies, w.sets, w.scores, w.hands))
    if n == 0:
        forced = forced_positions(s)
        cards = forced if forced else least_valuable(s, 0, 1)
        add_play(s, w, out, cards, 0, 0.0, needed, 0)
        padding = least_valuable(s, cards, MAX_PLAYED - count_bits(cards))
        add_play(s, w, out, cards | padding, 0, 0.0, needed, PADDED)
        return
    for k in range(n):
        cards = w.sets[k]
        purpose = 1 + w.hands[k]
        add_play(s, w, out, cards, purpose, w.scores[k], needed, 0)
        padding = least_valuable(s, cards, MAX_PLAYED - count_bits(cards))
        if k < MOST_PADDED and padding:
            score = padded_score(s, copies, cards | padding, w.scores[k])
            add_play(s, w, out, cards | padding, purpose, score, needed, PADDED)


@rule
def find_plays(s, copies, card_values, sets, values):
    """Find the SETS_PER_HAND most valuable sets of each poker hand among the visible positions.

    card_values  (MOST_POSITIONS,) float64, scratch space
    sets         (N_SETS,) int64, overwritten: card sets, 0 for none; Hand h begins at h * SETS_PER_HAND
    values       (N_SETS,) float64, scratch space

    Only sets in which all cards score are considered; padding is added later.
    """
    for k in range(N_SETS):
        sets[k] = 0
        values[k] = -1.0
    visible = visible_positions(s)
    forced = forced_positions(s)
    for i in range(min(MOST_POSITIONS, int(s.n_hand))):
        card_values[i] = card_value(s.cards[s.hand[i]])
    copies[0] = s
    copy = copies[0]
    determinise(s, copy)
    cards = visible
    while cards:
        if count_bits(cards) <= MAX_PLAYED and cards & forced == forced:
            keep_if_valuable(s, copy, cards, card_values, sets, values)
        cards = (cards - 1) & visible


@rule
def keep_if_valuable(s, copy, cards, card_values, sets, values):
    """Store one set if it is among the most valuable of its poker hand."""
    n = 0
    value = 0.0
    for i in range(MOST_POSITIONS):
        if (cards >> i) & 1:
            copy.played[n] = s.hand[i]
            value += card_values[i]
            n += 1
    copy.n_played = n
    find_hand(copy)
    if copy.n_scoring < n and n > 1:
        return
    first = int(copy.hand_type) * SETS_PER_HAND
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

    sets    (N_SETS,) int64, reordered, entries without a set last
    scores  (N_SETS,) float64, overwritten: chips
    hands   (N_SETS,) int64, overwritten: the poker hand of each set
    """
    n = 0
    for k in range(N_SETS):
        cards = sets[k]
        if cards:
            score = score_of(s, copies, cards)
            hand = int(copies[0].hand_type)
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
    return score_of(s, copies, cards)


@rule
def add_play(s, w, out, cards, purpose, score, needed, flags):
    """List one play with its score and estimates of the next hand, unless it is already listed or illegal."""
    if not can_play(s, cards):
        return
    for k in range(out.n):
        if out.entries[k].cards == cards and out.entries[k].verb == Verb.PLAY:
            return
    flags |= LEGAL | (BEATS_BLIND if score >= needed else 0)
    k = add_candidate(out, Verb.PLAY, 0, cards, 0, flags)
    if k < 0:
        return
    e = out.entries[k]
    e.purpose = purpose
    size = log10_of(max(LEAST_SCORE, score))
    ratio = size - log10_of(needed)
    e.estimates[PLAY.score] = log_byte(size)
    e.estimates[PLAY.score_to_needed] = ratio_byte(ratio)
    e.estimates[PLAY.all_hands_to_needed] = ratio_byte(ratio + log10_of(float(max(1, int(s.hands_left)))))
    e.estimates[PLAY.cards] = as_byte(float(BYTES_PER_CARD * count_bits(cards)))
    if score < needed and s.hands_left > 1:
        wanted = log10_of(needed - score)
        sample_draws(s, all_positions(s) & ~cards, count_bits(cards), w.strengths, wanted, w.draws)
        e.estimates[PLAY.next_beats] = chance_byte(w.draws.success_rate)
        e.estimates[PLAY.next_to_needed] = ratio_byte(w.draws.mean_strength - wanted)
