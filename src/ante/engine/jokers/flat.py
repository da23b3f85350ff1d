"""Jokers whose turn depends on the hand type or on the state of the round, not on a memory of their own."""

from ante.catalog.jokers import UNCOMMON, Joker
from ante.engine.arithmetic import floor_of
from ante.engine.create import negatives, sell_value
from ante.engine.jokers.suits import held_black, suits_scored
from ante.engine.numbers import J_CHIPS, J_HAND, J_MULT, J_RARITY, J_XMULT
from ante.engine.rng import Stream, roll_int
from ante.engine.rule import Moment, on
from ante.engine.verbs import add_chips, add_mult, deck_size, times_mult

MOST_ENHANCED = 16


@on(Moment.JOKER_SCORED, Joker.JOKER, Joker.GROS_MICHEL)
def plain_mult(s, me, joker, card):
    """+mult, always."""
    add_mult(s, J_MULT[joker])


@on(Moment.JOKER_SCORED, Joker.JOLLY, Joker.ZANY, Joker.MAD, Joker.CRAZY, Joker.DROLL)
def hand_mult(s, me, joker, card):
    """+mult if the played cards contain the joker's hand."""
    if (s.contains >> J_HAND[joker]) & 1:
        add_mult(s, J_MULT[joker])


@on(Moment.JOKER_SCORED, Joker.SLY, Joker.WILY, Joker.CLEVER, Joker.DEVIOUS, Joker.CRAFTY)
def hand_chips(s, me, joker, card):
    """+chips if the played cards contain the joker's hand."""
    if (s.contains >> J_HAND[joker]) & 1:
        add_chips(s, J_CHIPS[joker])


@on(Moment.JOKER_SCORED, Joker.DUO, Joker.TRIO, Joker.FAMILY, Joker.ORDER, Joker.TRIBE)
def hand_factor(s, me, joker, card):
    """X mult if the played cards contain the joker's hand."""
    if (s.contains >> J_HAND[joker]) & 1:
        times_mult(s, J_XMULT[joker])


@on(Moment.JOKER_SCORED, Joker.CAVENDISH)
def cavendish(s, me, joker, card):
    """X3 mult."""
    times_mult(s, 3.0)


@on(Moment.JOKER_SCORED, Joker.HALF)
def half(s, me, joker, card):
    """+20 mult for three cards or fewer."""
    if s.n_played <= 3:
        add_mult(s, 20.0)


@on(Moment.JOKER_SCORED, Joker.STENCIL)
def stencil(s, me, joker, card):
    """X1 mult per empty joker slot; every Joker Stencil counts as empty."""
    empty = int(s.joker_slots) + negatives(s.jokers, s.n_jokers) - int(s.n_jokers)
    for i in range(s.n_jokers):
        if s.jokers[i].id == Joker.STENCIL:
            empty += 1
    if empty > 0:
        times_mult(s, float(empty))


@on(Moment.JOKER_SCORED, Joker.BANNER)
def banner(s, me, joker, card):
    """+30 chips per discard left."""
    add_chips(s, 30.0 * s.discards_left)


@on(Moment.JOKER_SCORED, Joker.MYSTIC_SUMMIT)
def mystic_summit(s, me, joker, card):
    """+15 mult without discards."""
    if s.discards_left == 0:
        add_mult(s, 15.0)


@on(Moment.JOKER_SCORED, Joker.LOYALTY_CARD)
def loyalty_card(s, me, joker, card):
    """X4 mult on every sixth hand since it was acquired."""
    if s.jokers[me].count % 6 == 5:
        times_mult(s, 4.0)


@on(Moment.JOKER_SCORED, Joker.MISPRINT)
def misprint(s, me, joker, card):
    """+0 to +23 mult."""
    add_mult(s, float(roll_int(s, Stream.MISPRINT, 0, 23)))


@on(Moment.JOKER_SCORED, Joker.STEEL_JOKER)
def steel_joker(s, me, joker, card):
    """X0.2 more mult per Steel card of the full deck."""
    if s.tally_steel > 0:
        times_mult(s, 1.0 + 0.2 * s.tally_steel)


@on(Moment.JOKER_SCORED, Joker.STONE)
def stone_joker(s, me, joker, card):
    """+25 chips per Stone card of the full deck."""
    add_chips(s, 25.0 * s.tally_stone)


@on(Moment.JOKER_SCORED, Joker.ABSTRACT)
def abstract(s, me, joker, card):
    """+3 mult per joker owned."""
    add_mult(s, 3.0 * s.n_jokers)


@on(Moment.JOKER_SCORED, Joker.SUPERNOVA)
def supernova(s, me, joker, card):
    """Mult for every time this hand has been played in the run, this time included."""
    add_mult(s, float(s.plays[s.hand_type]))


@on(Moment.JOKER_SCORED, Joker.BLACKBOARD)
def blackboard(s, me, joker, card):
    """X3 mult if every held card is black."""
    if held_black(s):
        times_mult(s, 3.0)


@on(Moment.JOKER_SCORED, Joker.BLUE_JOKER)
def blue_joker(s, me, joker, card):
    """+2 chips per card in the draw pile."""
    add_chips(s, 2.0 * s.n_deck)


@on(Moment.JOKER_SCORED, Joker.CARD_SHARP)
def card_sharp(s, me, joker, card):
    """X3 mult if the hand was played before in this round."""
    if s.plays_round[s.hand_type] > 1:
        times_mult(s, 3.0)


@on(Moment.JOKER_SCORED, Joker.EROSION)
def erosion(s, me, joker, card):
    """+4 mult per card that the deck has lost."""
    lost = int(s.starting_deck_size) - deck_size(s)
    if lost > 0:
        add_mult(s, 4.0 * lost)


@on(Moment.JOKER_SCORED, Joker.FORTUNE_TELLER)
def fortune_teller(s, me, joker, card):
    """+1 mult per tarot used in the run."""
    add_mult(s, float(s.tarots_used))


@on(Moment.OTHER_JOKER_SCORED, Joker.BASEBALL)
def baseball(s, me, joker, card):
    """X1.5 mult after each Uncommon joker, debuffed ones too."""
    if J_RARITY[s.jokers[card].id] == UNCOMMON:
        times_mult(s, 1.5)


@on(Moment.JOKER_SCORED, Joker.BULL)
def bull(s, me, joker, card):
    """+2 chips per dollar."""
    add_chips(s, 2.0 * max(0, int(s.dollars)))


@on(Moment.JOKER_SCORED, Joker.BOOTSTRAPS)
def bootstraps(s, me, joker, card):
    """+2 mult per $5."""
    add_mult(s, 2.0 * floor_of(max(0, int(s.dollars)) / 5.0))


@on(Moment.JOKER_SCORED, Joker.ACROBAT)
def acrobat(s, me, joker, card):
    """X3 mult on the last hand of the round."""
    if s.hands_left == 0:
        times_mult(s, 3.0)


@on(Moment.JOKER_SCORED, Joker.SWASHBUCKLER)
def swashbuckler(s, me, joker, card):
    """Mult for the sell value of all other jokers; a copy counts as this one."""
    total = 0
    for i in range(s.n_jokers):
        if i != me:
            total += sell_value(s.jokers[i])
    add_mult(s, float(total))


@on(Moment.JOKER_SCORED, Joker.THROWBACK)
def throwback(s, me, joker, card):
    """X0.25 more mult per blind skipped."""
    times_mult(s, 1.0 + 0.25 * s.blinds_skipped)


@on(Moment.JOKER_SCORED, Joker.FLOWER_POT)
def flower_pot(s, me, joker, card):
    """X3 mult if the scoring cards cover all four suits."""
    if suits_scored(s, False) == 4:
        times_mult(s, 3.0)


@on(Moment.JOKER_SCORED, Joker.SEEING_DOUBLE)
def seeing_double(s, me, joker, card):
    """X2 mult if the scoring cards hold a Club and a card of another suit."""
    if suits_scored(s, True) == 2:
        times_mult(s, 2.0)


@on(Moment.JOKER_SCORED, Joker.STUNTMAN)
def stuntman(s, me, joker, card):
    """+250 chips."""
    add_chips(s, 250.0)


@on(Moment.JOKER_SCORED, Joker.DRIVERS_LICENSE)
def drivers_license(s, me, joker, card):
    """X3 mult with 16 enhanced cards in the full deck."""
    if s.tally_enhanced >= MOST_ENHANCED:
        times_mult(s, 3.0)
