"""Which blind comes next, what it asks for and what it pays."""

from ante.catalog.blinds import Blind
from ante.catalog.decks import Deck, Stake
from ante.engine.numbers import ANTE_BASE, BLIND_MULT, LAST_ANTE
from ante.engine.rule import rule


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

    A table of catalog.blinds.ante_base: past ante 8 it takes powers, in which a CPU and a GPU differ by a last place.
    """
    if ante < 1:
        return 100.0
    return ANTE_BASE[table - 1, min(ante, LAST_ANTE) - 1]


@rule
def blind_target(s, blind):
    """Chips that beat a blind in this ante of this run."""
    if s.one_chip_blinds:
        return 1.0
    plasma = 2.0 if s.deck_id == Deck.PLASMA else 1.0
    return ante_base(int(s.ante), scaling(int(s.stake))) * BLIND_MULT[blind] * plasma
