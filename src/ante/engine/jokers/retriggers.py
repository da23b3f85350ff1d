"""Jokers that let cards act again."""

from ante.catalog.jokers import Joker
from ante.engine.rule import Moment, on
from ante.engine.verbs import has_rank, is_face, retrigger


@on(Moment.REPEAT_HELD, Joker.MIME)
def mime(s, me, joker, card):
    """Held cards act once more."""
    retrigger(s, 1)


@on(Moment.REPEAT_SCORED, Joker.DUSK)
def dusk(s, me, joker, card):
    """Every scored card once more in the last hand."""
    if s.hands_left == 0:
        retrigger(s, 1)


@on(Moment.REPEAT_SCORED, Joker.HACK)
def hack(s, me, joker, card):
    """2, 3, 4 and 5 once more."""
    if has_rank(s, card) and s.cards[card].rank <= 5:
        retrigger(s, 1)


@on(Moment.REPEAT_SCORED, Joker.SOCK_AND_BUSKIN)
def sock_and_buskin(s, me, joker, card):
    """Face cards once more."""
    if is_face(s, card):
        retrigger(s, 1)


@on(Moment.REPEAT_SCORED, Joker.HANGING_CHAD)
def hanging_chad(s, me, joker, card):
    """The first scoring card twice more."""
    for i in range(s.n_played):
        if s.scoring[i]:
            if s.played[i] == card:
                retrigger(s, 2)
            return


# Seltzer: retriggers everything for ten hands.
@on(Moment.REPEAT_SCORED, Joker.SELZER)
def seltzer(s, me, joker, card):
    """Every scored card once more."""
    retrigger(s, 1)
