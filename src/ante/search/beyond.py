"""Decisions that a player's list lacks and that search compares all the same: sales that disable a boss.

Moves of jokers, skipped blinds and other sales were measured, and win no games (docs/explanation/search.md).
"""

import numpy as np
from numpy.typing import NDArray

from ante.catalog.blinds import Blind
from ante.catalog.jokers import Joker
from ante.engine.actions import Verb, can_sell_joker, pack_action
from ante.engine.core.state import Phase
from ante.env.observe_items import jokers_hidden


def disabling_sales(s: np.record) -> NDArray[np.int64]:
    """Return the sales (k,) that disable the boss in play: of Luchador, and of any joker at Verdant Leaf."""
    if s.phase != Phase.PLAY or s.blind <= Blind.BIG or s.boss_disabled or jokers_hidden(s):
        return np.zeros(0, dtype=np.int64)
    slots = [
        slot
        for slot in range(s.n_jokers)
        if (s.blind == Blind.FINAL_LEAF or s.jokers[slot].id == Joker.LUCHADOR) and can_sell_joker(s, slot)
    ]
    return np.array([pack_action(Verb.SELL_JOKER, slot, 0, 0) for slot in slots], dtype=np.int64)
