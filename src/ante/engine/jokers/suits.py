"""Jokers that depend on the suits of cards."""

from ante.catalog.cards import Enhancement, Suit
from ante.catalog.jokers import Joker
from ante.engine.core.rng import Stream, chance
from ante.engine.core.rule import rule
from ante.engine.core.state import Rule
from ante.engine.core.tables import J_CHIPS, J_DOLLARS, J_MULT, J_ODDS, J_SUIT, J_SUITS, J_XMULT
from ante.engine.effects.moments import Moment, on
from ante.engine.effects.verbs import add_chips, add_mult, earn, flush_suit, is_suit, times_mult

N_SUITS = len(Suit)
# The order in which Flower Pot assigns a suit to a card.
POT_ORDER = (int(Suit.HEARTS), int(Suit.DIAMONDS), int(Suit.SPADES), int(Suit.CLUBS))


# Smeared Joker: Hearts and Diamonds count as one suit, Spades and Clubs as one suit.
@on(Moment.WHILE_HELD, Joker.SMEARED, copied=False)
def smeared(s, me, joker, card):
    """Set the rule bit: suits of one colour count as one."""
    s.rules |= int(Rule.SMEARED)


# Greedy, Lusty, Wrathful, Gluttonous Joker and Onyx Agate: mult for each scored card of the joker's suit.
@on(
    Moment.CARD_SCORED,
    Joker.GREEDY_JOKER,
    Joker.LUSTY_JOKER,
    Joker.WRATHFUL_JOKER,
    Joker.GLUTTENOUS_JOKER,
    Joker.ONYX_AGATE,
)
def suit_mult(s, me, joker, card):
    """Add mult for a card of the suit."""
    if is_suit(s, card, J_SUIT[joker]):
        add_mult(s, J_MULT[joker])


# Arrowhead: chips for each scored Spade.
@on(Moment.CARD_SCORED, Joker.ARROWHEAD)
def suit_chips(s, me, joker, card):
    """Add chips for a card of the suit."""
    if is_suit(s, card, J_SUIT[joker]):
        add_chips(s, J_CHIPS[joker])


# Rough Gem: money for each scored Diamond.
@on(Moment.CARD_SCORED, Joker.ROUGH_GEM)
def suit_dollars(s, me, joker, card):
    """Earn dollars for a card of the suit."""
    if is_suit(s, card, J_SUIT[joker]):
        earn(s, J_DOLLARS[joker])


# Bloodstone: X mult for scored Hearts, by chance.
@on(Moment.CARD_SCORED, Joker.BLOODSTONE)
def bloodstone(s, me, joker, card):
    """Multiply mult for a card of the suit with probability 1 in `odds`."""
    if is_suit(s, card, J_SUIT[joker]) and chance(s, Stream.BLOODSTONE, J_ODDS[joker]):
        times_mult(s, J_XMULT[joker])


# Ancient Joker: X mult for each scored card of a suit that changes every round.
@on(Moment.CARD_SCORED, Joker.ANCIENT)
def ancient(s, me, joker, card):
    """Multiply mult for a card of the round's suit."""
    if is_suit(s, card, int(s.ancient_suit)):
        times_mult(s, J_XMULT[joker])


# The Idol: X mult for each scored copy of a card that changes every round.
@on(Moment.CARD_SCORED, Joker.IDOL)
def idol(s, me, joker, card):
    """Multiply mult for a card of the round's rank and suit."""
    c = s.cards[card]
    if c.rank == s.idol_rank and c.enhancement != Enhancement.STONE and is_suit(s, card, int(s.idol_suit)):
        times_mult(s, J_XMULT[joker])


# Blackboard: X mult if every card held in hand is a Spade or a Club.
@on(Moment.JOKER_SCORED, Joker.BLACKBOARD)
def blackboard(s, me, joker, card):
    """Multiply mult if every held card counts as one of the suits; debuffed cards count by their printed suit."""
    for i in range(s.n_hand):
        if not has_flush_suit(s, int(s.hand[i]), J_SUITS[joker]):
            return
    times_mult(s, J_XMULT[joker])


@rule
def has_flush_suit(s, card, suits):
    """Return whether a card counts in a flush of any of these suits, given as bits."""
    for suit in range(N_SUITS):
        if (suits >> suit) & 1 and flush_suit(s, card, suit):
            return True
    return False


# Flower Pot: X mult if the scored cards include all four suits.
@on(Moment.JOKER_SCORED, Joker.FLOWER_POT)
def flower_pot(s, me, joker, card):
    """Multiply mult if each suit has a scoring card; a Wild card counts as one suit that all other cards lack."""
    found = 0
    for wild in (False, True):
        for i in range(s.n_played):
            if s.scoring[i] and (s.cards[s.played[i]].enhancement == Enhancement.WILD) == wild:
                found |= missing_suit(s, int(s.played[i]), found)
    if found == (1 << N_SUITS) - 1:
        times_mult(s, J_XMULT[joker])


@rule
def missing_suit(s, card, found):
    """Return the bit of the first suit outside `found` that a card can represent, or 0."""
    # QUIRK: Flower Pot uses the printed suit of debuffed cards, but ignores a debuffed Wild card.
    c = s.cards[card]
    if c.enhancement == Enhancement.STONE or (c.enhancement == Enhancement.WILD and c.debuffed):
        return 0
    for suit in POT_ORDER:
        if not (found >> suit) & 1 and flush_suit(s, card, suit):
            return 1 << suit
    return 0


# Seeing Double: X mult if the scored cards include a Club and a card of another suit.
@on(Moment.JOKER_SCORED, Joker.SEEING_DOUBLE)
def seeing_double(s, me, joker, card):
    """Multiply mult for a card of the joker's suit and one of another; Wild cards count last, as one of the two."""
    own, other = False, False
    for i in range(s.n_played):
        if s.scoring[i] and s.cards[s.played[i]].enhancement != Enhancement.WILD:
            own = own or is_suit(s, int(s.played[i]), J_SUIT[joker])
            other = other or has_other_suit(s, int(s.played[i]), J_SUIT[joker])
    for i in range(s.n_played):
        # A Wild card has every suit, unless it is debuffed.
        if s.scoring[i] and s.cards[s.played[i]].enhancement == Enhancement.WILD:
            if not own and is_suit(s, int(s.played[i]), J_SUIT[joker]):
                own = True
            elif not other and has_other_suit(s, int(s.played[i]), J_SUIT[joker]):
                other = True
    if own and other:
        times_mult(s, J_XMULT[joker])


@rule
def has_other_suit(s, card, suit):
    """Return whether a card counts as any other suit."""
    for other in range(N_SUITS):
        if other != suit and is_suit(s, card, other):
            return True
    return False
