"""The next blind, its target score and its reward."""

from ante.catalog.blinds import LOWEST_BASE, Blind
from ante.engine.core.rule import rule
from ante.engine.core.tables import ANTE_BASE, BLIND_MULT, DECK_TARGET_TIMES, LAST_ANTE, STAKE_SCALING


@rule
def blind_on_deck(s):
    """Return the Blind that comes next."""
    if s.blind_on_deck == 0:
        return int(Blind.SMALL)
    if s.blind_on_deck == 1:
        return int(Blind.BIG)
    return int(s.boss)


@rule
def ante_base(ante, table):
    """Return the chips that an ante requires, before the blind's multiplier.

    From a table of catalog.blinds.ante_base: past ante 8 it uses powers, which differ between CPU and GPU.
    """
    if ante < 1:
        return LOWEST_BASE
    return ANTE_BASE[table - 1, min(ante, LAST_ANTE) - 1]


@rule
def blind_target(s, blind):
    """Return the chips that beat a blind in this ante of this run."""
    if s.one_chip_blinds:
        return 1.0
    return ante_base(int(s.ante), STAKE_SCALING[s.stake]) * BLIND_MULT[blind] * DECK_TARGET_TIMES[s.deck_id]
