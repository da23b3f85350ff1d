"""Candidate discards: one for each purpose, with its probability of success and the result of sampled draws."""

from ante.engine.actions import Verb, can_discard, count_bits
from ante.engine.core.arithmetic import log10_of
from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_PLAYED
from ante.env.layout import N_SUITS
from ante.lookahead.card_sets import (
    all_positions,
    best_straight,
    least_valuable,
    positions_of_most_common_rank,
    positions_of_pairs,
    positions_of_suit,
    straight_positions,
)
from ante.lookahead.draws import (
    best_strength,
    flush_chance,
    rank_chance,
    sample_draws,
    straight_chance,
    take_kept,
    unseen_of_suit,
)
from ante.lookahead.records import (
    BYTES_PER_CARD,
    DISCARD,
    LEGAL,
    PURPOSE_BEST_PLAY,
    PURPOSE_FLUSH,
    PURPOSE_LEAST_VALUABLE,
    PURPOSE_MOST_OF_A_RANK,
    PURPOSE_PAIRS,
    PURPOSE_STRAIGHT,
    add_candidate,
    chance_byte,
    log_byte,
    ratio_byte,
)

LEAST_SUITED = 2  # cards of a suit from which a flush is a purpose


@rule
def list_discards(s, o, w, out):
    """List discards by their purpose. Plays must already be listed."""
    if s.discards_left <= 0:
        return
    first = int(out.n)
    everything = all_positions(s)
    now = best_strength(w.draws, take_kept(s, everything, w.draws), w.strengths)
    for suit in range(N_SUITS):
        kept = positions_of_suit(s, suit)
        if count_bits(kept) >= LEAST_SUITED:
            chance = flush_chance(s, kept, unseen_of_suit(o.unknown, suit))
            add_discard(s, w, out, first, kept, MAX_PLAYED, PURPOSE_FLUSH, chance, now)
    straight = best_straight(s, o.unknown)
    kept = straight_positions(s, straight)
    chance = straight_chance(s, o.unknown, kept, straight)
    add_discard(s, w, out, first, kept, MAX_PLAYED, PURPOSE_STRAIGHT, chance, now)
    kept = positions_of_pairs(s)
    if kept:
        chance = rank_chance(s, o.unknown, kept)
        add_discard(s, w, out, first, kept, MAX_PLAYED, PURPOSE_PAIRS, chance, now)
    kept = positions_of_most_common_rank(s)
    chance = rank_chance(s, o.unknown, kept)
    add_discard(s, w, out, first, kept, MAX_PLAYED, PURPOSE_MOST_OF_A_RANK, chance, now)
    for k in range(first):
        if out.entries[k].verb == Verb.PLAY:
            add_discard(s, w, out, first, int(out.entries[k].cards), MAX_PLAYED, PURPOSE_BEST_PLAY, 0.0, now)
            break
    for most in (1, 3, 5):
        kept = everything & ~least_valuable(s, 0, most)
        add_discard(s, w, out, first, kept, most, PURPOSE_LEAST_VALUABLE, 0.0, now)


@rule
def add_discard(s, w, out, first, kept, most, purpose, chance, now):
    """List the discard of up to `most` cards outside of `kept`, unless it is already listed or illegal.

    first   index of the first discard in the list
    chance  probability that its purpose is achieved
    now     strength of the current hand
    """
    cards = least_valuable(s, kept, most)
    if not can_discard(s, cards):
        return
    for k in range(first, out.n):
        if out.entries[k].cards == cards:
            return
    k = add_candidate(out, Verb.DISCARD, 0, cards, 0, LEGAL)
    if k < 0:
        return
    e = out.entries[k]
    wanted = log10_of(max(1.0, float(s.target) - float(s.chips)))
    sample_draws(s, all_positions(s) & ~cards, count_bits(cards), w.strengths, wanted, w.draws)
    e.purpose = purpose
    e.estimates[DISCARD.next] = log_byte(w.draws.mean_strength)
    e.estimates[DISCARD.next_to_needed] = ratio_byte(w.draws.mean_strength - wanted)
    e.estimates[DISCARD.success] = chance_byte(chance)
    e.estimates[DISCARD.cards] = BYTES_PER_CARD * count_bits(cards)
    e.estimates[DISCARD.next_beats] = chance_byte(w.draws.success_rate)
    e.estimates[DISCARD.gain] = ratio_byte(w.draws.mean_strength - now)
