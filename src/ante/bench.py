"""Speed and memory of engine and environments, as `ante bench` measures them.

Every figure is the median of several runs in one process; `--json` prints the same rows with the keys of `Row`.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

GAMES = 256
REPEATS = 5
DEVICE_SIZES = (1024, 4096, 16384, 65536, 262144)
MIXING = 200  # decisions before anything is measured, so that the games stand in different phases


@dataclass(frozen=True)
class Row:
    """One measured line.

    name    what was measured
    value   the median
    unit    of the value: decisions/s, steps/s, copies/s, s, bytes
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


def environment_rows(decisions: int = 500) -> list[Row]:
    """The same play with observations written, and whole steps of the vector environment."""
    from ante.env.bench import random_play_observed
    from ante.env.games import Games

    rows = []
    for name, one_chip, flat in (
        ("engine, mask, observation record, real blinds", 0, False),
        ("engine, mask, flat observation, real blinds", 0, True),
        ("engine, mask, observation record, one-chip blinds", 1, False),
        ("engine, mask, flat observation, one-chip blinds", 1, True),
    ):

        def play(one_chip: int = one_chip, flat: bool = flat) -> float:
            return random_play_observed(GAMES, decisions, one_chip, flat)

        rows.append(rate(name, "decisions/s", play))
    games = Games(GAMES)
    games.reset()
    rng = np.random.default_rng(1)

    def step() -> float:
        for _ in range(50):
            keys = rng.random(games.masks.shape, dtype=np.float32)
            games.step(np.argmax(keys * games.masks, axis=1), games.outcome != 0)
        return 50.0 * GAMES

    rows.append(rate("vector environment, actions drawn by NumPy", "steps/s", step))
    return rows


def device_rows(sizes: tuple[int, ...] = DEVICE_SIZES, decisions: int = 100, block: int | None = None) -> list[Row]:
    """Macro decisions per second on a CUDA device, random and chosen there: with the mask alone, with observations.

    sizes      numbers of games played at once
    decisions  of every game in each repeat
    block      threads of a block, by default that of the kernels

    Raises NoDevice, and NotInstalled without the extra `gpu`. Kernels that are in no cache are compiled first.
    """
    from ante.engine.cuda import DeviceStates
    from ante.engine.cuda_compiler import BLOCK
    from ante.env.cuda import DeviceGames

    threads = block or BLOCK
    rows = []
    for n in sizes:
        rows.append(_device_row("mask", decisions, DeviceStates(n, block=threads)))
        for name, flat in (("mask, observation record", False), ("mask, observation record and vector", True)):
            games = DeviceGames(n, flat=flat, discrete=False, block=threads)
            rows.append(_device_row(name, decisions, games))
            del games  # its memory is the next one's
    return rows


def _device_row(name: str, decisions: int, games: Any) -> Row:
    """Random play of DeviceStates or DeviceGames."""
    from numba import cuda

    def play(steps: int = decisions) -> float:
        for _ in range(steps):
            games.choose()
            games.step()
        cuda.synchronize()
        return float(games.n * steps)

    play(MIXING)
    return rate(f"device, {games.n} games, {name}", "decisions/s", play)


def start_rows(cold: bool) -> list[Row]:
    """Seconds to import the environment and to have a compiled game; with `cold`, those of the first compilation too."""
    load = "import ante.env.single"
    begin = "import gymnasium, ante.env; gymnasium.make('ante/Balatro-v1').reset(seed=1)"
    rows = [clock("import of the environment, warm cache", [sys.executable, "-c", load], REPEATS)]
    rows.append(clock("import and first reset, warm cache", [sys.executable, "-c", begin], REPEATS))
    rows.append(clock("ante warmup, warm cache", [sys.executable, "-m", "ante.cli", "warmup"], 3))
    if cold:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "ante.cli", "warmup"]
            rows.append(clock("ante warmup, cold cache", command, 1, {"ANTE_CACHE_DIR": folder}))
    return rows


def clock(name: str, command: list[str], repeats: int, environment: dict[str, str] | None = None) -> Row:
    """Seconds that a command takes."""
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, **(environment or {})})
        seconds.append(time.perf_counter() - begin)
    return Row(name, statistics.median(seconds), "s", min(seconds), max(seconds))


def _copy_all(states: np.recarray) -> float:
    for _ in range(100):
        states.copy()
    return 100.0 * len(states)


def as_json(rows: list[Row]) -> str:
    """The rows as a JSON list, keys as in `Row`."""
    return json.dumps([asdict(row) for row in rows], indent=1)
