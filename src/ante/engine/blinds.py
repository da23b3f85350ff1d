"""Which blind comes next, the score that it requires and the money that it pays."""

from ante.catalog.blinds import LOWEST_BASE, Blind
from ante.engine.core.rule import rule
from ante.engine.core.tables import ANTE_BASE, BLIND_MULT, DECK_TARGET_TIMES, LAST_ANTE, STAKE_SCALING


@rule
def blind_on_deck(s):
    """The Blind the player faces next."""
    if s.blind_on_deck == 0:
        return int(Blind.SMALL)
    if s.blind_on_deck == 1:
        return int(Blind.BIG)
    return int(s.boss)


@rule
def ante_base(ante, table):
    """Return the chips that an ante requires, before the blind's multiplier.

    A table of catalog.blinds.ante_base: past ante 8 it takes powers, in which a CPU and a GPU differ by a last place.
    """
    if ante < 1:
        return LOWEST_BASE
    return ANTE_BASE[table - 1, min(ante, LAST_ANTE) - 1]


@rule
def blind_target(s, blind):
    """Chips that beat a blind in this ante of this run."""
    if s.one_chip_blinds:
        return 1.0
    return ante_base(int(s.ante), STAKE_SCALING[s.stake]) * BLIND_MULT[blind] * DECK_TARGET_TIMES[s.deck_id]
