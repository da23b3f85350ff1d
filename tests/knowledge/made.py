"""Small measured tables with known numbers."""

from typing import Any

import numpy as np

from ante.catalog.jokers import JOKERS
from ante.knowledge.measuring.positions import ANTES
from ante.knowledge.measuring.table import Table
from ante.knowledge.winning.table import Strategy, Winning, WinPair


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


def made_winning() -> Winning:
    """Return two strategies, one of which is validated, and a pair measured by play."""
    shares: dict[str, Any] = {
        "n": 40,
        "wins": 32,
        "support": 0.1,
        "rate": 0.8,
        "low": 0.65,
        "high": 0.9,
        "lift": 1.6,
        "more": 0.2,
        "q": 0.01,
    }
    tested: dict[str, Any] = {
        "tested": 100,
        "base": 0.5,
        "control": 0.6,
        "granted": 0.8,
        "low_effect": 0.1,
        "high_effect": 0.3,
    }
    tested |= {"part": "Joker", "alone": 0.7, "joint": 0.1, "low_joint": 0.05, "high_joint": 0.15}
    one = Strategy(
        "j_joker+j_mad+main:Two Pair",
        "Joker + Mad Joker + mostly Two Pair",
        **shares,
        **tested,
        effect=0.2,
        q_effect=0.01,
        example="2K9H9HN",
    )
    other = Strategy(
        "j_zany+levels:Flush",
        "Zany Joker + levels of Flush",
        **shares,
        **tested,
        effect=0.05,
        q_effect=0.4,
        example="TESTSEED",
    )
    pair = WinPair("j_joker", "j_zany", 100, 0.5, 0.6, 0.55, 0.75, 0.1, 0.02, 0.18, 0.02)
    return Winning(
        (one, other), (pair,), {"player": "made", "ante": 6, "sets": 3, "mined": {"reached": 90, "rate": 0.5}}
    )
