"""Verbs: the functions in which effects are written.

A verb changes one game and fires no moment itself; moments for destroyed or added cards fire in `lineup.settle`.
"""

from ante.catalog.cards import JACK, KING, Enhancement
from ante.engine.core.rule import rule
from ante.engine.core.state import Debuff, Place, Rule


@rule
def doom(s, slot):
    """Disable the joker in this slot and destroy it at the next settle(), so that slots do not change before."""
    s.jokers[slot].debuffed = Debuff.DOOMED


@rule
def add_chips(s, chips):
    """Add chips to the hand's score."""
    s.score_chips += chips


@rule
def add_mult(s, mult):
    """Add mult to the hand's score."""
    s.score_mult += mult


@rule
def times_mult(s, factor):
    """Multiply the hand's mult."""
    s.score_mult *= factor


@rule
def retrigger(s, times):
    """Trigger the current card this many more times. Only in the REPEAT moments."""
    s.repeats += times


@rule
def earn(s, dollars):
    """Change the player's money immediately."""
    s.dollars += dollars


@rule
def earn_at_cash_out(s, dollars):
    """Add to the dollars of the cash-out screen. Only in ROUND_DOLLARS."""
    s.payout += dollars


@rule
def level_up(s, hand, levels):
    """Change the level of a poker hand, to at least 1."""
    s.levels[hand] = max(1, int(s.levels[hand]) + levels)


@rule
def has_rank(s, card):
    """Return whether a card has a rank; Stone cards do not."""
    return s.cards[card].enhancement != Enhancement.STONE


@rule
def is_rank(s, card, rank):
    """Return whether a card has this rank."""
    return s.cards[card].rank == rank and has_rank(s, card)


@rule
def is_face(s, card):
    """Return whether a card is a face card: Jack, Queen, King, or any with Pareidolia. Debuffed cards never are."""
    if s.cards[card].debuffed:
        return False
    if s.rules & Rule.PAREIDOLIA:
        return True
    return has_rank(s, card) and JACK <= s.cards[card].rank <= KING


@rule
def same_suit(s, one, other):
    """Return whether two suits count as one: equal, or of one colour with Smeared Joker."""
    if one == other:
        return True
    # Spades 0 and Clubs 2 are black, Hearts 1 and Diamonds 3 are red.
    return s.rules & Rule.SMEARED != 0 and (one & 1) == (other & 1)


@rule
def is_suit(s, card, suit):
    """Return whether a card counts as a suit for effects: Wild cards as any, Stone and debuffed cards as none."""
    c = s.cards[card]
    if c.debuffed or c.enhancement == Enhancement.STONE:
        return False
    return c.enhancement == Enhancement.WILD or same_suit(s, c.suit, suit)


@rule
def flush_suit(s, card, suit):
    """Return whether a card counts as a suit in a flush: a debuffed card by its printed suit, a Stone card as none."""
    c = s.cards[card]
    if c.enhancement == Enhancement.STONE:
        return False
    return (c.enhancement == Enhancement.WILD and not c.debuffed) or same_suit(s, c.suit, suit)


@rule
def set_enhancement(s, card, enhancement):
    """Set a card's enhancement and reset its `played_this_ante` (The Pillar). A debuff lasts until the round ends."""
    s.cards[card].enhancement = enhancement
    s.cards[card].played_this_ante = 0
    s.cards[card].worn = 0


@rule
def destroy_card(s, card):
    """Remove a playing card from the deck, from any place."""
    c = s.cards[card]
    if c.place == Place.GONE:
        return
    if c.place == Place.HAND:
        drop_from(s.hand, s.n_hand, card)
        s.n_hand -= 1
    elif c.place == Place.DECK:
        drop_from(s.deck, s.n_deck, card)
        s.n_deck -= 1
    c.place = Place.GONE
    if is_face(s, card):
        s.pending_faces += 1
    if c.enhancement == Enhancement.GLASS:
        s.pending_glass += 1


@rule
def drop_from(order, n, card):
    """Remove a card from a list of n cards and close the gap."""
    kept = 0
    for i in range(n):
        if order[i] != card:
            order[kept] = order[i]
            kept += 1


@rule
def deck_size(s):
    """Return the number of cards of the full deck, in any place."""
    n = 0
    for i in range(s.n_cards):
        if s.cards[i].place != Place.GONE:
            n += 1
    return n


@rule
def copy_card(s, source, copy):
    """Copy all properties of a card to another one, except its creation number and its place."""
    a, b = s.cards[source], s.cards[copy]
    b.rank = a.rank
    b.suit = a.suit
    b.enhancement = a.enhancement
    b.edition = a.edition
    b.seal = a.seal
    b.debuffed = a.debuffed
    b.played_this_ante = a.played_this_ante
    b.worn = a.worn
    b.bonus = a.bonus
