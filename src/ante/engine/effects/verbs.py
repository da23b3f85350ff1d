"""The vocabulary in which effects are written.

A verb changes one game and fires no moment itself: what a destroyed or added card sets off waits for `lineup.settle`.
"""

from ante.catalog.cards import JACK, KING, Enhancement
from ante.engine.core.rule import rule
from ante.engine.core.state import Debuff, Place, Rule


@rule
def doom(s, slot):
    """The joker in this slot no longer works and is destroyed at the next settle(); those still to act are undisturbed."""
    s.jokers[slot].debuffed = Debuff.DOOMED


@rule
def add_chips(s, chips):
    """The hand counts this many more chips."""
    s.score_chips += chips


@rule
def add_mult(s, mult):
    """The hand's mult is this much larger."""
    s.score_mult += mult


@rule
def times_mult(s, factor):
    """The hand's mult is multiplied."""
    s.score_mult *= factor


@rule
def retrigger(s, times):
    """The card in question acts this many more times. Only in the REPEAT moments."""
    s.repeats += times


@rule
def earn(s, dollars):
    """The money changes at once."""
    s.dollars += dollars


@rule
def earn_at_cash_out(s, dollars):
    """The cash-out screen lists this much more. Only in ROUND_DOLLARS."""
    s.payout += dollars


@rule
def level_up(s, hand, levels):
    """A poker hand's level changes, never below 1."""
    s.levels[hand] = max(1, int(s.levels[hand]) + levels)


@rule
def has_rank(s, card):
    """Whether a card shows a rank: Stone cards do not."""
    return s.cards[card].enhancement != Enhancement.STONE


@rule
def is_rank(s, card, rank):
    """Whether a card shows this rank."""
    return s.cards[card].rank == rank and has_rank(s, card)


@rule
def is_face(s, card):
    """Whether a card is a face card now: Jack, Queen, King, or any card with Pareidolia. Debuffed cards never are."""
    if s.cards[card].debuffed:
        return False
    if s.rules & Rule.PAREIDOLIA:
        return True
    return has_rank(s, card) and JACK <= s.cards[card].rank <= KING


@rule
def same_suit(s, one, other):
    """Whether two suits count as one: equal, or of one colour with Smeared Joker."""
    if one == other:
        return True
    # Spades 0 and Clubs 2 are black, Hearts 1 and Diamonds 3 red.
    return s.rules & Rule.SMEARED != 0 and (one & 1) == (other & 1)


@rule
def is_suit(s, card, suit):
    """Whether a card counts as a suit for effects: Wild cards as any, Stone and debuffed cards as none."""
    c = s.cards[card]
    if c.debuffed or c.enhancement == Enhancement.STONE:
        return False
    return c.enhancement == Enhancement.WILD or same_suit(s, c.suit, suit)


@rule
def flush_suit(s, card, suit):
    """Whether a card counts as a suit in a flush: a debuffed card by its printed suit, a Stone card as none."""
    c = s.cards[card]
    if c.enhancement == Enhancement.STONE:
        return False
    return (c.enhancement == Enhancement.WILD and not c.debuffed) or same_suit(s, c.suit, suit)


@rule
def set_enhancement(s, card, enhancement):
    """A card is turned into another kind, and The Pillar forgets it; a debuff stays until the round ends."""
    s.cards[card].enhancement = enhancement
    s.cards[card].played_this_ante = 0
    s.cards[card].worn = 0


@rule
def destroy_card(s, card):
    """Remove a playing card for good, from any place."""
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
    """A list of n cards closes up where this card stood."""
    kept = 0
    for i in range(n):
        if order[i] != card:
            order[kept] = order[i]
            kept += 1


@rule
def deck_size(s):
    """Return the cards of the full deck, in any place."""
    n = 0
    for i in range(s.n_cards):
        if s.cards[i].place != Place.GONE:
            n += 1
    return n


@rule
def copy_card(s, source, copy):
    """One card takes over everything that another one is, but its creation number and its place."""
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
