"""The moments at which jokers, bosses and consumables act, and the decorators that register their functions."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.engine.core.rule import rule


class Moment(IntEnum):
    """When a joker acts. Each moment is one function of `jokers/dispatch.py`.

    The comments give the meaning of an effect's last argument, `card`, in parentheses.
    """

    WHILE_HELD = 0  # line-up refreshed: set rule bits, hand size, discards (slot of the joker)
    BLIND_CHOSEN = 1  # a blind is selected, before the deck is shuffled (blind)
    FIRST_HAND_DRAWN = 2  # the first hand of a round is drawn (0)
    HAND_BEGINS = 3  # a hand is played, its type is known, nothing has scored (0)
    CARD_SCORED = 4  # one trigger of a scoring card (card index)
    REPEAT_SCORED = 5  # how many times a scoring card triggers again: call retrigger() (card index)
    CARD_HELD = 6  # one trigger of a card held in hand while scoring (card index)
    REPEAT_HELD = 7  # how many times a held card triggers again, during scoring and at round end (card index)
    JOKER_SCORED = 8  # the joker's own turn (0)
    OTHER_JOKER_SCORED = 9  # after another joker's own turn (slot of that joker)
    HAND_SCORED = 10  # the score is final; update counters (0)
    HAND_DESTROYS = 11  # after scoring, for each scoring card: call destroy_card() to destroy it (card index)
    DISCARD_BEGINS = 12  # before cards are discarded (number of cards, 0 for those of The Hook)
    CARD_DISCARDED = 13  # one card is discarded (card index)
    CARDS_ADDED = 14  # playing cards were added to the deck (number of cards)
    FACE_DESTROYED = 15  # face cards were destroyed (number of cards)
    GLASS_DESTROYED = 16  # Glass cards were destroyed (number of cards)
    ROUND_ENDS = 17  # the blind is beaten, before the cash-out (blind)
    ROUND_DOLLARS = 18  # the joker's dollars at cash-out: call earn_at_cash_out() (0)
    SHOP_REROLLED = 19  # (0)
    SHOP_LEFT = 20  # (0)
    PACK_OPENED = 21  # (0)
    PACK_SKIPPED = 22  # (0)
    CARD_SOLD = 23  # a joker or consumable is sold, this joker still owned (slot)
    SELF_SOLD = 24  # this joker is being sold (its slot)
    CONSUMABLE_USED = 25  # (Consumable number)
    BOSS_TRIGGERED = 26  # the boss's ability took effect when a hand was played (0)
    BLIND_SKIPPED = 27  # (0)
    DECK_COUNTED = 28  # before a hand scores: count cards whose changes during the hand do not count (0)


class BossMoment(Enum):
    """When an active boss acts. Each moment is one function of `effects/boss_dispatch.py`.

    The comments give the meaning of an effect's last argument, `card`, in parentheses. Effects of a moment in RESULTS
    return a value.
    """

    SELECTED = 0  # the round begins, before any joker acts (0)
    DEBUFFS_CARD = 1  # whether it debuffs a card (card index)
    TURNS_CARD = 2  # whether a card is drawn face down (card index)
    CARDS_TO_DRAW = 3  # how many cards are drawn now, -1 to fill the hand (0)
    HAND_DRAWN = 4  # cards were drawn to fill the hand (1 after a played hand, else 0)
    CARDS_PLAYED = 5  # the played cards have left the hand; returns how many cards it discards, listed in s.order (0)
    HAND_ALLOWED = 6  # whether the hand in s.hand_type scores (0)
    HAND_BEGINS = 7  # an allowed hand, nothing has scored (0)
    HAND_VALUED = 8  # the hand's own chips and mult are set, no card has scored (0)
    HAND_PLAYED = 9  # after a played hand, before the next draw (0)
    JOKER_SOLD = 10  # whether it is disabled because a joker was sold (0)
    GIVES_BACK = 11  # the boss is disabled: revert its effects (0)


class ConsumableMoment(Enum):
    """When a consumable acts. Each moment is one function of `effects/consumable_dispatch.py`."""

    ALLOWED = 0  # whether it can be used now; the number of cards is already checked
    USED = 1  # it is used


# Return values for items without an effect. Effects of other moments return nothing.
RESULTS: dict[Enum, object] = {
    BossMoment.DEBUFFS_CARD: False,
    BossMoment.TURNS_CARD: False,
    BossMoment.CARDS_TO_DRAW: -1,
    BossMoment.CARDS_PLAYED: 0,
    BossMoment.HAND_ALLOWED: True,
    BossMoment.JOKER_SOLD: False,
    ConsumableMoment.ALLOWED: True,
}


@dataclass(frozen=True)
class Effect:
    """One registration: `function` acts for `item` at `moment`; `copied` states whether Blueprint copies it.

    item    Joker, Blind, Consumable or Tag
    moment  None for a function that a rule calls by name
    """

    moment: Enum | None
    item: IntEnum
    module: str
    function: str
    copied: bool


EFFECTS: list[Effect] = []


def moments_of(items: type[IntEnum]) -> NDArray[np.int64]:
    """Return the moments at which each of the items acts, as bits 1 << moment, of all effects registered so far."""
    bits = np.zeros(len(items), dtype=np.int64)
    for effect in EFFECTS:
        if isinstance(effect.item, items) and effect.moment is not None:
            bits[effect.item] |= 1 << effect.moment.value
    return bits


def on(moment: Enum, *items: IntEnum, copied: bool = True) -> Callable[[Callable[..., Any]], Any]:
    """Register an effect of `items` at `moment`, and compile it. A function may have several registrations.

    The number of the acting item is the index of its tables: `J_...`, `BLIND_...`, `C_...`. The signature depends on
    the moment:

    Moment            f(s, me, joker, card): `me` is the slot whose counters (`s.jokers[me].value`, `.count`) are used;
                      Blueprint and Brainstorm pass their target's slot and Joker number
    BossMoment        f(s, boss, card)
    ConsumableMoment  f(s, consumable, cards, freed): `cards` are the chosen hand positions as bits, `freed` is the
                      number of consumable slots that using it frees

    copied  False if Blueprint must not repeat the effect (growth, destruction, passive effects)
    """
    return _registration(moment, items, copied)


def effect_of(*items: IntEnum) -> Callable[[Callable[..., Any]], Any]:
    """Register and compile a function of `items` that a rule calls by name."""
    return _registration(None, items, False)


def _registration(moment: Enum | None, items: tuple[IntEnum, ...], copied: bool) -> Callable[[Callable[..., Any]], Any]:
    def register(function: Callable[..., Any]) -> Any:
        for item in items:
            EFFECTS.append(Effect(moment, item, function.__module__, function.__name__, copied))
        return function if hasattr(function, "py_func") else rule(function)

    return register
