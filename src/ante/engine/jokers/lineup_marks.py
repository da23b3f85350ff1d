"""How an effect takes a joker out of the line-up without disturbing the ones that still have to act."""

from ante.engine.rule import rule

DOOMED = 2  # value of item.debuffed


@rule
def doom(s, slot):
    """The joker in this slot no longer works and is destroyed at the next settle()."""
    s.jokers[slot].debuffed = DOOMED
