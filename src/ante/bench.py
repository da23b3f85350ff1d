"""Speed and memory of the engine, as `ante bench` measures them.

Every figure is the median of several runs in one process; `--json` prints the same rows with the keys of `Row`.
"""

import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

GAMES = 256
REPEATS = 5


@dataclass(frozen=True)
class Row:
    """One measured line.

    name    what was measured
    value   the median
    unit    of the value: decisions/s, games/s, ms, bytes
    low     the smallest of the repeats
    high    the largest of the repeats
    """

    name: str
    value: float
    unit: str
    low: float
    high: float


def rate(name: str, unit: str, work: Callable[[], float], repeats: int = REPEATS) -> Row:
    """Amount of work per second: `work` does it and answers how much it was. The first call is a warm-up."""
    work()
    rates = []
    for _ in range(repeats):
        begin = time.perf_counter()
        amount = work()
        rates.append(amount / (time.perf_counter() - begin))
    return Row(name, statistics.median(rates), unit, min(rates), max(rates))


def engine_rows(decisions: int = 2000) -> list[Row]:
    """Macro decisions per second on one core with the legal mask, on real and on one-chip blinds."""
    from ante.engine.actions import N_DISCRETE
    from ante.engine.play import begin_random_game, play_random
    from ante.engine.state import new_states, state_t

    rows = []
    mask = np.zeros(N_DISCRETE, dtype=np.uint8)
    for name, one_chip in (("engine, mask, real blinds", 0), ("engine, mask, one-chip blinds", 1)):
        states = new_states(GAMES)
        rng = np.array([1], dtype=np.uint64)
        for s in states:
            begin_random_game(s, rng, 0, 1, one_chip)

        def play(states: np.recarray = states, rng: np.ndarray = rng, one_chip: int = one_chip) -> float:
            play_random(states, decisions, rng, mask, one_chip)
            return float(len(states) * decisions)

        rows.append(rate(name, "decisions/s", play))
    copies = new_states(GAMES)
    rows.append(rate("copy a game", "copies/s", lambda: _copy_all(copies)))
    rows.append(Row("record", float(state_t.itemsize), "bytes", state_t.itemsize, state_t.itemsize))
    return rows


def _copy_all(states: np.recarray) -> float:
    for _ in range(100):
        states.copy()
    return 100.0 * len(states)


def as_json(rows: list[Row]) -> str:
    """The rows as a JSON list, keys as in `Row`."""
    return json.dumps([asdict(row) for row in rows], indent=1)
