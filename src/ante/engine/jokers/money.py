"""Jokers that give money, raise sell values, or depend on the player's money."""

from ante.catalog.blinds import Blind
from ante.catalog.consumables import N_PLANETS
from ante.catalog.jokers import Joker
from ante.engine.core.arithmetic import floor_of
from ante.engine.core.tables import J_AT_MOST, J_CHIPS, J_DEBT, J_DOLLARS, J_GROWTH, J_MULT, J_PER
from ante.engine.effects.moments import Moment, effect_of, on
from ante.engine.effects.verbs import add_chips, add_mult, earn_at_cash_out
from ante.engine.items.owned import create_tarot
from ante.engine.items.sources import TarotSource


# Golden Joker: money at round end.
@on(Moment.ROUND_DOLLARS, Joker.GOLDEN, copied=False)
def golden_joker(s, me, joker, card):
    """Earn dollars."""
    earn_at_cash_out(s, J_DOLLARS[joker])


# Rocket: money at round end, more after each boss beaten.
@on(Moment.ROUND_DOLLARS, Joker.ROCKET, copied=False)
def rocket_pays(s, me, joker, card):
    """Earn the current payout."""
    earn_at_cash_out(s, s.jokers[me].count)


@on(Moment.ROUND_ENDS, Joker.ROCKET, copied=False)
def rocket_rises(s, me, joker, card):
    """Increase the payout after a boss."""
    if card > Blind.BIG:
        s.jokers[me].count += int(J_GROWTH[joker])


# Satellite: money at round end for each different Planet used in the run.
@on(Moment.ROUND_DOLLARS, Joker.SATELLITE, copied=False)
def satellite(s, me, joker, card):
    """Earn dollars per Planet used."""
    for planet in range(N_PLANETS):
        if (s.planets_used >> planet) & 1:
            earn_at_cash_out(s, J_DOLLARS[joker])


# To the Moon: more interest.
@effect_of(Joker.TO_THE_MOON)
def extra_interest(s):
    """Return the extra dollars that working To the Moon jokers add to each dollar of interest."""
    dollars = 0
    for i in range(s.n_jokers):
        if s.jokers[i].id == Joker.TO_THE_MOON and not s.jokers[i].debuffed:
            dollars += J_DOLLARS[Joker.TO_THE_MOON]
    return dollars


# Egg: gains sell value at round end.
@on(Moment.ROUND_ENDS, Joker.EGG, copied=False)
def egg(s, me, joker, card):
    """Increase its sell value."""
    s.jokers[me].extra_sell += J_DOLLARS[joker]


# Gift Card: all jokers and consumables gain sell value at round end.
@on(Moment.ROUND_ENDS, Joker.GIFT, copied=False)
def gift_card(s, me, joker, card):
    """Increase the sell value of all jokers and consumables."""
    for i in range(s.n_jokers):
        s.jokers[i].extra_sell += J_DOLLARS[joker]
    for i in range(s.n_consumables):
        s.consumables[i].extra_sell += J_DOLLARS[joker]


# Bull: chips for each dollar held.
@on(Moment.JOKER_SCORED, Joker.BULL)
def bull(s, me, joker, card):
    """Add chips per dollar; none in debt."""
    add_chips(s, J_CHIPS[joker] * max(0, int(s.dollars)))


# Bootstraps: mult for every few dollars held.
@on(Moment.JOKER_SCORED, Joker.BOOTSTRAPS)
def bootstraps(s, me, joker, card):
    """Add mult for every n dollars; none in debt."""
    add_mult(s, J_MULT[joker] * floor_of(max(0, int(s.dollars)) / float(J_PER[joker])))


# Vagabond: creates a Tarot if the hand is played with little money.
@on(Moment.JOKER_SCORED, Joker.VAGABOND)
def vagabond(s, me, joker, card):
    """Create a Tarot for a hand begun with at most n dollars."""
    if s.money_in_hand <= J_AT_MOST[joker]:
        create_tarot(s, int(TarotSource.VAG))


# Credit Card: allows debt.
@on(Moment.WHILE_HELD, Joker.CREDIT_CARD, copied=False)
def credit_card(s, me, joker, card):
    """Increase the allowed debt."""
    s.debt_allowed += J_DEBT[joker]
