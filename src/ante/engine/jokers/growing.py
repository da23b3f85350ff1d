"""Jokers with a memory: what they show has grown, or shrinks, with what was played."""

from ante.catalog.cards import Enhancement
from ante.catalog.hands import Hand
from ante.catalog.jokers import Joker
from ante.engine.jokers.lineup_marks import doom
from ante.engine.rule import Moment, on
from ante.engine.verbs import add_chips, add_mult, is_face, is_rank, set_enhancement, times_mult


@on(
    Moment.JOKER_SCORED,
    Joker.CEREMONIAL,
    Joker.RIDE_THE_BUS,
    Joker.GREEN_JOKER,
    Joker.RED_CARD,
    Joker.FLASH,
    Joker.POPCORN,
    Joker.TROUSERS,
)
def shown_mult(s, me, joker, card):
    """The mult it shows."""
    add_mult(s, s.jokers[me].value)


@on(Moment.JOKER_SCORED, Joker.RUNNER, Joker.ICE_CREAM, Joker.SQUARE, Joker.CASTLE, Joker.WEE)
def shown_chips(s, me, joker, card):
    """The chips it shows."""
    add_chips(s, s.jokers[me].value)


@on(
    Moment.JOKER_SCORED,
    Joker.CONSTELLATION,
    Joker.MADNESS,
    Joker.VAMPIRE,
    Joker.HOLOGRAM,
    Joker.OBELISK,
    Joker.LUCKY_CAT,
    Joker.RAMEN,
    Joker.CAMPFIRE,
    Joker.GLASS,
    Joker.HIT_THE_ROAD,
    Joker.CAINO,
    Joker.YORICK,
)
def shown_factor(s, me, joker, card):
    """The X it shows."""
    if s.jokers[me].value > 1.0:
        times_mult(s, s.jokers[me].value)


@on(Moment.HAND_BEGINS, Joker.RIDE_THE_BUS, copied=False)
def bus_rides(s, me, joker, card):
    """+1 mult per hand in a row without a scoring face card."""
    for i in range(s.n_played):
        if s.scoring[i] and is_face(s, int(s.played[i])):
            s.jokers[me].value = 0.0
            return
    s.jokers[me].value += 1.0


@on(Moment.HAND_BEGINS, Joker.GREEN_JOKER, copied=False)
def green_grows(s, me, joker, card):
    """+1 mult per hand played."""
    s.jokers[me].value += 1.0


@on(Moment.HAND_BEGINS, Joker.TROUSERS, copied=False)
def trousers_grow(s, me, joker, card):
    """+2 mult if the hand contains Two Pair."""
    if (s.contains >> int(Hand.TWO_PAIR)) & 1:
        s.jokers[me].value += 2.0


@on(Moment.HAND_BEGINS, Joker.SQUARE, copied=False)
def square_grows(s, me, joker, card):
    """+4 chips for a hand of exactly four cards."""
    if s.n_played == 4:
        s.jokers[me].value += 4.0


@on(Moment.HAND_BEGINS, Joker.RUNNER, copied=False)
def runner_grows(s, me, joker, card):
    """+15 chips if the hand contains a Straight."""
    if (s.contains >> int(Hand.STRAIGHT)) & 1:
        s.jokers[me].value += 15.0


@on(Moment.HAND_BEGINS, Joker.VAMPIRE, copied=False)
def vampire_bites(s, me, joker, card):
    """X0.1 per scoring enhanced card, which becomes plain before it scores; debuffed cards are passed over."""
    bitten = 0
    for i in range(s.n_played):
        c = s.cards[s.played[i]]
        if s.scoring[i] and c.enhancement != Enhancement.NONE and not c.debuffed:
            bitten += 1
            set_enhancement(s, int(s.played[i]), int(Enhancement.NONE))
    s.jokers[me].value += 0.1 * bitten  # at once: adding card by card would end in other last digits


@on(Moment.HAND_BEGINS, Joker.MIDAS_MASK, copied=False)
def midas_touches(s, me, joker, card):
    """Scoring face cards become Gold cards."""
    for i in range(s.n_played):
        if s.scoring[i] and is_face(s, int(s.played[i])):
            set_enhancement(s, int(s.played[i]), int(Enhancement.GOLD))


@on(Moment.HAND_BEGINS, Joker.OBELISK, copied=False)
def obelisk_grows(s, me, joker, card):
    """X0.2 per hand in a row that is not the most played one; a most played hand takes it back to X1."""
    for hand in range(12):
        if hand != s.hand_type and s.plays[hand] >= s.plays[s.hand_type]:
            s.jokers[me].value += 0.2
            return
    s.jokers[me].value = 1.0


@on(Moment.CARD_SCORED, Joker.WEE, copied=False)
def wee_grows(s, me, joker, card):
    """+8 chips per scored 2."""
    if is_rank(s, card, 2):
        s.jokers[me].value += 8.0


@on(Moment.CARD_SCORED, Joker.LUCKY_CAT, copied=False)
def lucky_cat_grows(s, me, joker, card):
    """X0.25 each time a Lucky card hits."""
    if s.cards[card].enhancement == Enhancement.LUCKY and s.lucky_hit:
        s.jokers[me].value += 0.25


@on(Moment.HAND_SCORED, Joker.ICE_CREAM, copied=False)
def ice_cream_melts(s, me, joker, card):
    """-5 chips per hand, gone at 0."""
    s.jokers[me].value -= 5.0
    if s.jokers[me].value <= 0.0:
        doom(s, me)


@on(Moment.HAND_SCORED, Joker.SELZER, copied=False)
def seltzer_empties(s, me, joker, card):
    """One of its ten hands is over."""
    s.jokers[me].count -= 1
    if s.jokers[me].count <= 0:
        doom(s, me)
