"""A small measured table with known numbers, and a real Bolt server."""

from typing import Any

import numpy as np

from ante.catalog.jokers import JOKERS
from ante.knowledge.measuring.positions import ANTES
from ante.knowledge.measuring.table import Table


def made_table(jokers: int = 150, seed: int = 1) -> Table:
    """Return a table of the first jokers with random interactions, half of which are 0."""
    rng = np.random.default_rng(seed)
    keys = np.array([row.key for row in JOKERS[1 : jokers + 1]])
    one, other = np.triu_indices(jokers, 1)
    n = len(one)
    effect = (np.round(rng.normal(0, 0.1, n), 4) * (rng.random(n) < 0.5)).astype(np.float32)
    columns: dict[str, Any] = {
        "one": keys[one],
        "other": keys[other],
        "n": np.full(n, 100, dtype=np.int32),
        "q": np.where(np.abs(effect) > 0.05, 0.001, 1.0).astype(np.float32),
        "acts": (effect != 0).astype(np.float32),
        "gain": (effect + 0.5).astype(np.float32),
        "effect": effect,
        "half": np.full(n, 0.0125, dtype=np.float32),
    }
    for name in ("bought", "bought_half", "same", "same_half", *(f"ante_{ante}" for ante in ANTES)):
        columns[name] = effect
    effects = {
        "joker": np.repeat(keys, 4),
        "kind": np.tile(np.array(["alone", "hand", "boss", "deck"]), jokers),
        "target": np.tile(np.array(["", "Flush", "bl_plant", "b_plasma"]), jokers),
        "n": np.full(4 * jokers, 100, dtype=np.int32),
        "effect": np.round(rng.normal(0, 0.1, 4 * jokers), 4).astype(np.float32),
        "half": np.full(4 * jokers, 0.0125, dtype=np.float32),
        "q": np.full(4 * jokers, 0.001, dtype=np.float32),
    }
    return Table(columns, effects, {"player": "made", "positions": [25] * 4})
