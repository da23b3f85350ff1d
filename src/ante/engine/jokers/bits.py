"""Jokers that bend a rule or a limit for as long as they are held and working."""

from ante.catalog.jokers import Joker
from ante.engine.rule import Moment, on
from ante.engine.state import Rule


# Flushes and Straights need only 4 cards.
@on(Moment.WHILE_HELD, Joker.FOUR_FINGERS, copied=False)
def four_fingers(s, me, joker, card):
    """Four cards make a Flush or a Straight."""
    s.rules |= int(Rule.FOUR_FINGERS)


@on(Moment.WHILE_HELD, Joker.SHORTCUT, copied=False)
def shortcut(s, me, joker, card):
    """Straights may leave out single ranks."""
    s.rules |= int(Rule.SHORTCUT)


@on(Moment.WHILE_HELD, Joker.SMEARED, copied=False)
def smeared(s, me, joker, card):
    """Suits of one colour count as one."""
    s.rules |= int(Rule.SMEARED)


@on(Moment.WHILE_HELD, Joker.SPLASH, copied=False)
def splash(s, me, joker, card):
    """Every played card scores."""
    s.rules |= int(Rule.SPLASH)


@on(Moment.WHILE_HELD, Joker.PAREIDOLIA, copied=False)
def pareidolia(s, me, joker, card):
    """Every card is a face card."""
    s.rules |= int(Rule.PAREIDOLIA)


@on(Moment.WHILE_HELD, Joker.RING_MASTER, copied=False)
def showman(s, me, joker, card):
    """Items may appear more than once."""
    s.rules |= int(Rule.SHOWMAN)


@on(Moment.WHILE_HELD, Joker.ASTRONOMER, copied=False)
def astronomer(s, me, joker, card):
    """Planets and Celestial packs are free."""
    s.rules |= int(Rule.ASTRONOMER)


@on(Moment.WHILE_HELD, Joker.OOPS, copied=False)
def oops(s, me, joker, card):
    """Listed probabilities double."""
    s.oops += 1


@on(Moment.WHILE_HELD, Joker.CREDIT_CARD, copied=False)
def credit_card(s, me, joker, card):
    """The money may fall to -$20."""
    s.debt_allowed += 20


@on(Moment.WHILE_HELD, Joker.CHAOS, copied=False)
def chaos(s, me, joker, card):
    """One reroll of each shop is free."""
    s.free_rerolls_held += 1


@on(Moment.WHILE_HELD, Joker.JUGGLER, copied=False)
def juggler(s, me, joker, card):
    """+1 hand size."""
    s.joker_hand_size += 1


@on(Moment.WHILE_HELD, Joker.DRUNKARD, copied=False)
def drunkard(s, me, joker, card):
    """+1 discard each round."""
    s.joker_discards += 1


@on(Moment.WHILE_HELD, Joker.TROUBADOUR, copied=False)
def troubadour(s, me, joker, card):
    """+2 hand size, -1 hand each round."""
    s.joker_hand_size += 2
    s.joker_hands -= 1


@on(Moment.WHILE_HELD, Joker.MERRY_ANDY, copied=False)
def merry_andy(s, me, joker, card):
    """+3 discards each round, -1 hand size."""
    s.joker_discards += 3
    s.joker_hand_size -= 1


@on(Moment.WHILE_HELD, Joker.STUNTMAN, copied=False)
def stuntman_hand(s, me, joker, card):
    """-2 hand size."""
    s.joker_hand_size -= 2


@on(Moment.WHILE_HELD, Joker.TURTLE_BEAN, copied=False)
def turtle_bean_hand(s, me, joker, card):
    """+5 hand size, one less each round."""
    s.joker_hand_size += s.jokers[me].count
