"""Decisions that search compares even if the player does not consider them: sales that disable a boss.

Of Luchador a player's list has the sale, at Verdant Leaf it has none. Moves of jokers, skipped blinds and other sales were
measured, and win no games (docs/explanation/search.md).
"""

import numpy as np
from numpy.typing import NDArray

from ante.catalog.blinds import Blind
from ante.catalog.jokers import Joker
from ante.engine.actions import Verb, can_sell_joker, pack_action
from ante.engine.core.state import Phase
from ante.engine.effects.bosses import active_boss
from ante.env.observe_items import jokers_hidden


def disabling_sales(s: np.record) -> NDArray[np.int64]:
    """Return the sales (k,) that disable the boss in play: of Luchador, and of any joker at Verdant Leaf."""
    boss = active_boss(s) if s.phase == Phase.PLAY and not jokers_hidden(s) else Blind.NONE
    slots = [
        slot
        for slot in range(s.n_jokers if boss else 0)
        if (boss == Blind.FINAL_LEAF or s.jokers[slot].id == Joker.LUCHADOR) and can_sell_joker(s, slot)
    ]
    return np.array([pack_action(Verb.SELL_JOKER, slot, 0, 0) for slot in slots], dtype=np.int64)
