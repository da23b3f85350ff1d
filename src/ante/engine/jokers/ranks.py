"""Jokers that depend on the ranks of cards."""

from ante.catalog.cards import Enhancement
from ante.catalog.jokers import Joker
from ante.engine.core.rng import Stream, chance
from ante.engine.core.rule import rule
from ante.engine.core.state import Place
from ante.engine.core.tables import (
    J_CARDS,
    J_CHIPS,
    J_DOLLARS,
    J_HAND,
    J_MULT,
    J_ODDS,
    J_RANKS,
    J_REPEATS,
    J_XMULT,
    RANK_CHIPS,
)
from ante.engine.effects.moments import Moment, on
from ante.engine.effects.verbs import (
    add_chips,
    add_mult,
    destroy_card,
    earn,
    earn_at_cash_out,
    has_rank,
    is_rank,
    retrigger,
    times_mult,
)
from ante.engine.items.owned import create_spectral, create_tarot, room_for_consumable
from ante.engine.items.sources import SpectralSource, TarotSource


@rule
def shows_rank_of(s, card, joker):
    """Return whether a card has one of the ranks of a joker."""
    return (J_RANKS[joker] >> int(s.cards[card].rank)) & 1 != 0 and has_rank(s, card)


# Fibonacci, Even Steven: mult for scored cards of some ranks.
@on(Moment.CARD_SCORED, Joker.FIBONACCI, Joker.EVEN_STEVEN)
def rank_mult(s, me, joker, card):
    """Add mult for a card of the ranks."""
    if shows_rank_of(s, card, joker):
        add_mult(s, J_MULT[joker])


# Odd Todd: chips for scored odd ranks.
@on(Moment.CARD_SCORED, Joker.ODD_TODD)
def rank_chips(s, me, joker, card):
    """Add chips for a card of the ranks."""
    if shows_rank_of(s, card, joker):
        add_chips(s, J_CHIPS[joker])


# Scholar, Walkie Talkie: chips and mult for scored Aces, or for scored tens and fours.
@on(Moment.CARD_SCORED, Joker.SCHOLAR, Joker.WALKIE_TALKIE)
def rank_chips_and_mult(s, me, joker, card):
    """Add chips and mult for a card of the ranks."""
    if shows_rank_of(s, card, joker):
        add_chips(s, J_CHIPS[joker])
        add_mult(s, J_MULT[joker])


# Triboulet: X mult for scored Kings and Queens. Baron: X mult for Kings held in hand.
@on(Moment.CARD_SCORED, Joker.TRIBOULET)
@on(Moment.CARD_HELD, Joker.BARON)
def rank_factor(s, me, joker, card):
    """Multiply mult for a card of the ranks."""
    if shows_rank_of(s, card, joker):
        times_mult(s, J_XMULT[joker])


# Shoot the Moon: mult for Queens held in hand.
@on(Moment.CARD_HELD, Joker.SHOOT_THE_MOON)
def held_rank_mult(s, me, joker, card):
    """Add mult for a held card of the ranks."""
    if shows_rank_of(s, card, joker):
        add_mult(s, J_MULT[joker])


# Raised Fist: mult for the rank of the lowest card held in hand.
@on(Moment.CARD_HELD, Joker.RAISED_FIST)
def raised_fist(s, me, joker, card):
    """Add mult for each chip of the lowest held card, the rightmost of equals; Stone cards are ignored."""
    lowest = -1
    for i in range(s.n_hand):
        other = int(s.hand[i])
        if s.cards[other].enhancement == Enhancement.STONE:
            continue
        if lowest < 0 or s.cards[other].rank <= s.cards[lowest].rank:
            lowest = other
    if lowest == card:
        add_mult(s, J_MULT[joker] * RANK_CHIPS[s.cards[card].rank])


# Hack: retriggers scored low cards.
@on(Moment.REPEAT_SCORED, Joker.HACK)
def hack(s, me, joker, card):
    """Retrigger a scored card of the ranks."""
    if shows_rank_of(s, card, joker):
        retrigger(s, J_REPEATS[joker])


# 8 Ball: a scored eight may create a Tarot.
@on(Moment.CARD_SCORED, Joker.EIGHT_BALL)
def eight_ball(s, me, joker, card):
    """Create a Tarot for a card of the ranks with probability 1 in `odds`, if there is room."""
    if shows_rank_of(s, card, joker) and room_for_consumable(s) and chance(s, Stream.EIGHT_BALL, J_ODDS[joker]):
        create_tarot(s, int(TarotSource.EIGHT_BALL))


# Superposition: creates a Tarot if the hand contains an Ace and a Straight.
@on(Moment.JOKER_SCORED, Joker.SUPERPOSITION)
def superposition(s, me, joker, card):
    """Create a Tarot for the joker's hand with a scoring card of the ranks."""
    if (s.contains >> J_HAND[joker]) & 1:
        for i in range(s.n_played):
            if s.scoring[i] and shows_rank_of(s, int(s.played[i]), joker):
                create_tarot(s, int(TarotSource.SUP))
                return


# Sixth Sense: a first hand of a single six is destroyed for a Spectral card.
@on(Moment.HAND_DESTROYS, Joker.SIXTH_SENSE, copied=False)
def sixth_sense(s, me, joker, card):
    """Destroy the only card of a first hand, if it has one of the ranks, and create a Spectral."""
    alone = s.hands_played == 0 and s.n_played == J_CARDS[joker]
    if alone and shows_rank_of(s, card, joker) and s.cards[card].place != Place.GONE:
        destroy_card(s, card)
        create_spectral(s, int(SpectralSource.SIXTH))


# Cloud 9: money at round end for each nine of the full deck.
@on(Moment.ROUND_DOLLARS, Joker.CLOUD_9, copied=False)
def cloud_9(s, me, joker, card):
    """Earn dollars per card of the ranks in the full deck."""
    for i in range(s.n_cards):
        if s.cards[i].place != Place.GONE and shows_rank_of(s, i, joker):
            earn_at_cash_out(s, J_DOLLARS[joker])


# Mail-In Rebate: money for each discarded card of a rank that changes every round.
@on(Moment.CARD_DISCARDED, Joker.MAIL)
def mail_in_rebate(s, me, joker, card):
    """Earn dollars for a discarded card of the round's rank."""
    if is_rank(s, card, s.mail_rank) and not s.cards[card].debuffed:
        earn(s, J_DOLLARS[joker])
