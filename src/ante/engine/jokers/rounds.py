"""Jokers with constant effects, with effects of the state of the round, and with changes of its limits."""

from ante.catalog.jokers import Joker
from ante.engine.core.rng import Stream, chance, roll_int
from ante.engine.core.state import Phase
from ante.engine.core.tables import (
    J_AT_LEAST,
    J_AT_MOST,
    J_CHIPS,
    J_DISCARDS,
    J_DOLLARS,
    J_DOUBLINGS,
    J_HAND_SIZE,
    J_HANDS,
    J_MULT,
    J_ODDS,
    J_REPEATS,
    J_REROLLS,
    J_SHARE,
    J_XMULT,
)
from ante.engine.effects.active_boss import disable_boss
from ante.engine.effects.moments import Moment, effect_of, on
from ante.engine.effects.verbs import add_chips, add_mult, doom, earn, earn_at_cash_out, retrigger, times_mult


# Joker: mult. Gros Michel: mult, and may go extinct at round end.
@on(Moment.JOKER_SCORED, Joker.JOKER, Joker.GROS_MICHEL)
def plain_mult(s, me, joker, card):
    """Add mult."""
    add_mult(s, J_MULT[joker])


@on(Moment.ROUND_ENDS, Joker.GROS_MICHEL, copied=False)
def gros_michel_dies(s, me, joker, card):
    """Destroy the joker with probability 1 in `odds`; Cavendish can then appear."""
    if chance(s, Stream.GROS_MICHEL, J_ODDS[joker]):
        s.gros_michel_extinct = 1
        doom(s, me)


# Cavendish: X mult, and may be destroyed at round end.
@on(Moment.JOKER_SCORED, Joker.CAVENDISH)
def cavendish(s, me, joker, card):
    """Multiply mult."""
    times_mult(s, J_XMULT[joker])


@on(Moment.ROUND_ENDS, Joker.CAVENDISH, copied=False)
def cavendish_dies(s, me, joker, card):
    """Destroy the joker with probability 1 in `odds`."""
    if chance(s, Stream.CAVENDISH, J_ODDS[joker]):
        doom(s, me)


# Misprint: a random number of mult.
@on(Moment.JOKER_SCORED, Joker.MISPRINT)
def misprint(s, me, joker, card):
    """Add a random mult between the limits."""
    add_mult(s, float(roll_int(s, Stream.MISPRINT, J_AT_LEAST[joker], J_AT_MOST[joker])))


# Banner: chips for each discard left.
@on(Moment.JOKER_SCORED, Joker.BANNER)
def banner(s, me, joker, card):
    """Add chips per discard left."""
    add_chips(s, J_CHIPS[joker] * s.discards_left)


# Mystic Summit: mult without discards left.
@on(Moment.JOKER_SCORED, Joker.MYSTIC_SUMMIT)
def mystic_summit(s, me, joker, card):
    """Add mult with at most n discards left."""
    if s.discards_left <= J_AT_MOST[joker]:
        add_mult(s, J_MULT[joker])


# Acrobat: X mult on the last hand of the round.
@on(Moment.JOKER_SCORED, Joker.ACROBAT)
def acrobat(s, me, joker, card):
    """Multiply mult with no hand left."""
    if s.hands_left == 0:
        times_mult(s, J_XMULT[joker])


# Dusk: retriggers all scored cards in the last hand of the round.
@on(Moment.REPEAT_SCORED, Joker.DUSK)
def dusk(s, me, joker, card):
    """Retrigger a scored card with no hand left."""
    if s.hands_left == 0:
        retrigger(s, J_REPEATS[joker])


# Delayed Gratification: money for each discard left at round end, if none was used.
@on(Moment.ROUND_DOLLARS, Joker.DELAYED_GRAT, copied=False)
def delayed_gratification(s, me, joker, card):
    """Earn dollars per discard left."""
    if s.discards_used == 0 and s.discards_left > 0:
        earn_at_cash_out(s, J_DOLLARS[joker] * s.discards_left)


# Juggler: more hand size. Drunkard: more discards. Troubadour: more hand size, fewer hands. Merry Andy: more discards,
# less hand size.
@on(Moment.WHILE_HELD, Joker.JUGGLER, Joker.DRUNKARD, Joker.TROUBADOUR, Joker.MERRY_ANDY, copied=False)
def limits(s, me, joker, card):
    """Change hand size, hands and discards by the numbers of the row."""
    s.joker_hand_size += J_HAND_SIZE[joker]
    s.joker_hands += J_HANDS[joker]
    s.joker_discards += J_DISCARDS[joker]


# Stuntman: chips, and less hand size.
@on(Moment.JOKER_SCORED, Joker.STUNTMAN)
def stuntman(s, me, joker, card):
    """Add chips."""
    add_chips(s, J_CHIPS[joker])


@on(Moment.WHILE_HELD, Joker.STUNTMAN, copied=False)
def stuntman_hand_size(s, me, joker, card):
    """Reduce the hand size."""
    s.joker_hand_size += J_HAND_SIZE[joker]


# Burglar: more hands and no discards when a blind is selected.
@on(Moment.BLIND_CHOSEN, Joker.BURGLAR)
def burglar(s, me, joker, card):
    """Add hands and remove all discards."""
    s.hands_left += J_HANDS[joker]
    s.discards_left = 0


# Chaos the Clown: a free reroll in each shop.
@on(Moment.WHILE_HELD, Joker.CHAOS, copied=False)
def chaos(s, me, joker, card):
    """Add free rerolls."""
    s.free_rerolls_held += J_REROLLS[joker]


# Oops! All 6s: doubles all listed probabilities.
@on(Moment.WHILE_HELD, Joker.OOPS, copied=False)
def oops(s, me, joker, card):
    """Count its doublings of listed probabilities."""
    s.oops += J_DOUBLINGS[joker]


# Throwback: X mult grows with each blind skipped in the run.
@on(Moment.JOKER_SCORED, Joker.THROWBACK)
def throwback(s, me, joker, card):
    """Multiply mult by 1 plus an amount per skipped blind."""
    times_mult(s, 1.0 + J_XMULT[joker] * s.blinds_skipped)


# Matador: money if the played hand triggers the ability of the boss.
@on(Moment.BOSS_TRIGGERED, Joker.MATADOR)
def matador(s, me, joker, card):
    """Earn dollars."""
    earn(s, J_DOLLARS[joker])


# Luchador: sold, it disables the boss.
@on(Moment.SELF_SOLD, Joker.LUCHADOR)
def luchador(s, me, joker, card):
    """Disable the boss."""
    disable_boss(s)


# Chicot: disables the ability of every boss.
@on(Moment.BLIND_CHOSEN, Joker.CHICOT, copied=False)
def chicot(s, me, joker, card):
    """Disable the boss."""
    disable_boss(s)


@on(Moment.WHILE_HELD, Joker.CHICOT, copied=False)
def chicot_arrives(s, me, joker, card):
    """Disable the current boss when Chicot is added."""
    if s.phase == Phase.PLAY:
        disable_boss(s)


# Mr. Bones: prevents defeat if part of the required chips was scored, and is destroyed.
@effect_of(Joker.MR_BONES)
def saves_from_defeat(s):
    """Return whether Mr. Bones prevents defeat; if so, destroy the leftmost working one."""
    if s.chips < J_SHARE[Joker.MR_BONES] * s.target:
        return False
    for i in range(s.n_jokers):
        if s.jokers[i].id == Joker.MR_BONES and not s.jokers[i].debuffed:
            doom(s, i)
            return True
    return False
