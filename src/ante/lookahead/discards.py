"""Candidate discards: one for each purpose, with its probability of success and the result of sampled draws."""

from ante.engine.actions import Verb, can_discard, count_bits
from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_PLAYED
from ante.env.layout import N_SUITS
from ante.lookahead.card_sets import (
    best_straight,
    least_valuable,
    positions_of_most_common_rank,
    positions_of_pairs,
    straight_positions,
)
from ante.lookahead.draws import (
    best_strength,
    flush_chance,
    kept_cards,
    rank_chance,
    sample_draws,
    straight_chance,
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
def list_discards(s, w, out):
    """List discards by their purpose. Plays must already be listed."""
    if s.discards_left <= 0:
        return
    h = w.hand
    w.first_discard = out.n
    once, twice, thrice, four, suits = kept_cards(s, h.all, h)
    w.strength_now = best_strength(once, twice, thrice, four, suits, w.strengths)
    for suit in range(N_SUITS):
        kept = h.suits[suit]
        if count_bits(kept) >= LEAST_SUITED:
            chance = flush_chance(s, kept, h.unseen_suits[suit])
            add_discard(s, w, out, kept, MAX_PLAYED, PURPOSE_FLUSH, chance)
    straight = best_straight(h)
    kept = straight_positions(h, straight)
    chance = straight_chance(s, h, kept, straight)
    add_discard(s, w, out, kept, MAX_PLAYED, PURPOSE_STRAIGHT, chance)
    kept = positions_of_pairs(h)
    if kept:
        chance = rank_chance(s, h, kept)
        add_discard(s, w, out, kept, MAX_PLAYED, PURPOSE_PAIRS, chance)
    kept = positions_of_most_common_rank(h)
    chance = rank_chance(s, h, kept)
    add_discard(s, w, out, kept, MAX_PLAYED, PURPOSE_MOST_OF_A_RANK, chance)
    for k in range(w.first_discard):
        if out.entries[k].verb == Verb.PLAY:
            add_discard(s, w, out, int(out.entries[k].cards), MAX_PLAYED, PURPOSE_BEST_PLAY, 0.0)
            break
    for most in (1, 3, 5):
        kept = h.all & ~least_valuable(s, h, 0, most)
        add_discard(s, w, out, kept, most, PURPOSE_LEAST_VALUABLE, 0.0)


@rule
def add_discard(s, w, out, kept, most, purpose, chance):
    """List the discard of up to `most` cards outside of `kept`, unless it is already listed or illegal.

    chance  probability that its purpose is achieved
    """
    cards = least_valuable(s, w.hand, kept, most)
    for k in range(w.first_discard, out.n):
        if out.entries[k].cards == cards:
            return
    if not can_discard(s, cards):
        return
    k = add_candidate(out, Verb.DISCARD, 0, cards, 0, LEGAL)
    if k < 0:
        return
    e = out.entries[k]
    sample_draws(s, w.hand.all & ~cards, count_bits(cards), w.strengths, w.needed, w.hand, w.draws)
    e.purpose = purpose
    e.estimates[DISCARD.next] = log_byte(w.draws.mean_strength)
    e.estimates[DISCARD.next_to_needed] = ratio_byte(w.draws.mean_strength - w.needed)
    e.estimates[DISCARD.success] = chance_byte(chance)
    e.estimates[DISCARD.cards] = BYTES_PER_CARD * count_bits(cards)
    e.estimates[DISCARD.next_beats] = chance_byte(w.draws.success_rate)
    e.estimates[DISCARD.gain] = ratio_byte(w.draws.mean_strength - w.strength_now)
