"""Jokers that count, add or change playing cards, and those that retrigger cards."""

from ante.catalog.cards import FRONTS, Enhancement
from ante.catalog.jokers import Joker
from ante.engine.core.rng import Stream, pick, roll
from ante.engine.core.state import Place
from ante.engine.core.tables import (
    FRONT_RANK,
    FRONT_SUIT,
    J_AT_LEAST,
    J_CHIPS,
    J_CREATES,
    J_DOLLARS,
    J_MULT,
    J_REPEATS,
    J_XMULT,
)
from ante.engine.effects.moments import Moment, on
from ante.engine.effects.verbs import add_chips, add_mult, deck_size, earn, retrigger, times_mult
from ante.engine.items.card_array import add_card, put_in_deck, put_in_hand
from ante.engine.items.packs import seal_of

N_FRONTS = len(FRONTS)


@on(Moment.DECK_COUNTED, Joker.STEEL_JOKER, Joker.STONE, Joker.DRIVERS_LICENSE, copied=False)
def count_deck(s, me, joker, card):
    """Count the full deck before the hand; these three do not count changes during the hand."""
    s.tally_steel, s.tally_stone, s.tally_enhanced = 0, 0, 0
    for i in range(s.n_cards):
        c = s.cards[i]
        if c.place != Place.GONE:
            s.tally_steel += c.enhancement == Enhancement.STEEL
            s.tally_stone += c.enhancement == Enhancement.STONE
            s.tally_enhanced += c.enhancement != Enhancement.NONE


# Steel Joker: X mult grows with each Steel card of the full deck.
@on(Moment.JOKER_SCORED, Joker.STEEL_JOKER)
def steel_joker(s, me, joker, card):
    """Multiply mult by 1 plus an amount per Steel card."""
    if s.tally_steel > 0:
        times_mult(s, 1.0 + J_XMULT[joker] * s.tally_steel)


# Stone Joker: chips for each Stone card of the full deck.
@on(Moment.JOKER_SCORED, Joker.STONE)
def stone_joker(s, me, joker, card):
    """Add chips per Stone card."""
    add_chips(s, J_CHIPS[joker] * s.tally_stone)


# Driver's License: X mult with enough enhanced cards in the full deck.
@on(Moment.JOKER_SCORED, Joker.DRIVERS_LICENSE)
def drivers_license(s, me, joker, card):
    """Multiply mult if there are enough enhanced cards."""
    if s.tally_enhanced >= J_AT_LEAST[joker]:
        times_mult(s, J_XMULT[joker])


# Erosion: mult for each card that the deck has lost.
@on(Moment.JOKER_SCORED, Joker.EROSION)
def erosion(s, me, joker, card):
    """Add mult per card below the starting deck size."""
    lost = int(s.starting_deck_size) - deck_size(s)
    if lost > 0:
        add_mult(s, J_MULT[joker] * lost)


# Blue Joker: chips for each card left in the draw pile.
@on(Moment.JOKER_SCORED, Joker.BLUE_JOKER)
def blue_joker(s, me, joker, card):
    """Add chips per card in the draw pile."""
    add_chips(s, J_CHIPS[joker] * s.n_deck)


# Marble Joker: adds a Stone card to the deck when a blind is selected.
@on(Moment.BLIND_CHOSEN, Joker.MARBLE)
def marble(s, me, joker, card):
    """Add Stone cards to the deck."""
    for _ in range(J_CREATES[joker]):
        front = pick(s, Stream.MARB_FR, N_FRONTS)
        index = add_card(s, FRONT_RANK[front], FRONT_SUIT[front], int(Enhancement.STONE), 0, 0)
        if index >= 0:
            put_in_deck(s, index)


# Certificate: adds a random playing card with a random seal to the first hand of a round.
@on(Moment.FIRST_HAND_DRAWN, Joker.CERTIFICATE)
def certificate(s, me, joker, card):
    """Add a card with a seal to the hand."""
    front = pick(s, Stream.CERT_FR, N_FRONTS)
    index = add_card(s, FRONT_RANK[front], FRONT_SUIT[front], 0, 0, seal_of(roll(s, Stream.CERTSL)))
    if index >= 0:
        put_in_hand(s, index)


# Hiker: every scored card gains chips for good.
@on(Moment.CARD_SCORED, Joker.HIKER)
def hiker(s, me, joker, card):
    """Increase the card's bonus chips."""
    s.cards[card].bonus += int(J_CHIPS[joker])


# Golden Ticket: scored Gold cards give money.
@on(Moment.CARD_SCORED, Joker.TICKET)
def golden_ticket(s, me, joker, card):
    """Earn dollars for a scored Gold card."""
    if s.cards[card].enhancement == Enhancement.GOLD:
        earn(s, J_DOLLARS[joker])


# Mime: retriggers the abilities of cards held in hand.
@on(Moment.REPEAT_HELD, Joker.MIME)
def mime(s, me, joker, card):
    """Retrigger a held card."""
    retrigger(s, J_REPEATS[joker])


# Hanging Chad: retriggers the first scored card.
@on(Moment.REPEAT_SCORED, Joker.HANGING_CHAD)
def hanging_chad(s, me, joker, card):
    """Retrigger the first scoring card."""
    for i in range(s.n_played):
        if s.scoring[i]:
            if s.played[i] == card:
                retrigger(s, J_REPEATS[joker])
            return
