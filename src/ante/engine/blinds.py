"""Which blind comes next, what it asks for and what it pays."""

import math

from ante.catalog.blinds import Blind
from ante.catalog.decks import Deck, Stake
from ante.engine.arithmetic import floor_of
from ante.engine.numbers import ANTE_BASE, BLIND_MULT
from ante.engine.rule import rule

LAST_LISTED_ANTE = 8


@rule
def blind_on_deck(s):
    """The Blind the player faces next."""
    if s.blind_on_deck == 0:
        return int(Blind.SMALL)
    if s.blind_on_deck == 1:
        return int(Blind.BIG)
    return int(s.boss)


@rule
def scaling(stake):
    """Which of the three requirement tables a stake uses: 1, 2 from Green on, 3 from Purple on."""
    if stake >= Stake.PURPLE:
        return 3
    return 2 if stake >= Stake.GREEN else 1


@rule
def ante_base(ante, table):
    """Chips an ante asks for before the blind's multiplier.

    Listed up to ante 8, then floor(B (1.6 + (0.75 c)^(1 + 0.2 c))^c) with c antes past 8, cut to two digits.
    """
    if ante < 1:
        return 100.0
    if ante <= LAST_LISTED_ANTE:
        return float(ANTE_BASE[table - 1, ante - 1])
    c = float(ante - LAST_LISTED_ANTE)
    whole = floor_of(ANTE_BASE[table - 1, LAST_LISTED_ANTE - 1] * (1.6 + (0.75 * c) ** (1.0 + 0.2 * c)) ** c)
    unit = 10.0 ** (floor_of(math.log10(whole)) - 1.0)
    return whole - whole % unit


@rule
def blind_target(s, blind):
    """Chips that beat a blind in this ante of this run."""
    if s.one_chip_blinds:
        return 1.0
    plasma = 2.0 if s.deck_id == Deck.PLASMA else 1.0
    return ante_base(int(s.ante), scaling(int(s.stake))) * BLIND_MULT[blind] * plasma
