"""Speed and memory of engine and environments, for `ante bench`.

Values are medians of several runs in one process; `--json` prints the same rows with the keys of `Row`. See
docs/explanation/performance.md for definitions and comparisons.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ante.engine.core.records import as_records
from ante.engine.core.rule import rule
from ante.engine.core.state import Status, new_states
from ante.engine.drivers.random_play import begin_random_game, random_decision
from ante.engine.step import step
from ante.env.flat import flatten
from ante.env.games import observe_games
from ante.env.layout import FLAT_SIZE, new_observations
from ante.env.observe import REORDER_ALL, observe
from ante.errors import BalatroError

REPEATS = 5
BATCHES = (1, 16, 256, 4096, 65536)
OBSERVED_BATCHES = (1, 256, 4096)
ALONE = 2000  # decisions per game before switching to the next one, in sequential play
GROUP = 4096  # positions per kind in the profile
SAMPLES = 40  # repeats of the profile
DEVICE_SIZES = (1024, 4096, 16384, 65536, 262144)
MIXING = 200  # warm-up decisions, after which the games are in different phases


@dataclass(frozen=True)
class Row:
    """One measurement.

    name     description of what was measured
    value    median of the repeats
    unit     unit of the value: decisions/s, steps/s, copies/s, s, ms, bytes, ns or x
    low      minimum of the repeats
    high     maximum of the repeats
    games    games in the batch, 0 if not applicable
    threads  number of threads
    """

    name: str
    value: float
    unit: str
    low: float
    high: float
    games: int = 0
    threads: int = 1


def spread(values: list[float]) -> tuple[float, float, float]:
    """Return median, minimum and maximum."""
    return statistics.median(values), min(values), max(values)


def row_of(name: str, values: list[float], unit: str, games: int = 0, threads: int = 1) -> Row:
    """Return the row of repeated measurements."""
    median, low, high = spread(values)
    return Row(name, median, unit, low, high, games, threads)


def rate(
    name: str, unit: str, work: Callable[[], float], games: int = 0, threads: int = 1, repeats: int = REPEATS
) -> Row:
    """Return work per second: `work` performs it and returns its amount. The first call is a warm-up."""
    work()
    rates = []
    for _ in range(repeats):
        begin = time.perf_counter()
        amount = work()
        rates.append(amount / (time.perf_counter() - begin))
    return row_of(name, rates, unit, games, threads)


def random_games(games: int, one_chip: int) -> tuple[np.recarray, Any]:
    """Return a batch of new random games, and the generator of their player."""
    from ante.engine.core.state import new_states
    from ante.engine.drivers.random_play import begin_random_game

    states, rng = new_states(games), np.array([1], dtype=np.uint64)
    for s in states:
        begin_random_game(s, rng, 0, 1, 0, one_chip)
    return states, rng


def engine_rows(decisions: int = 500_000) -> list[Row]:
    """Return macro decisions per second with the legal mask: sequential, batched, two threads; and copies."""
    rows = []
    for blinds, one_chip in (("real blinds", 0), ("one-chip blinds", 1)):
        rows.append(mask_row(f"decision and mask, {blinds}, game after game", 256, decisions, ALONE, one_chip))
        for games in BATCHES:
            rows.append(mask_row(f"decision and mask, {blinds}, games in step", games, decisions, 1, one_chip))
    rows += thread_rows(decisions)
    return rows + copy_rows()


def mask_row(name: str, games: int, decisions: int, turn: int, one_chip: int) -> Row:
    """Return decisions per second of a batch on one core."""
    from ante.engine.actions import N_DISCRETE
    from ante.engine.drivers.random_play import play_random

    states, rng = random_games(games, one_chip)
    mask = np.zeros(N_DISCRETE, dtype=np.uint8)
    each = max(1, decisions // games)

    def play() -> float:
        play_random(states, each, min(turn, each), rng, mask, one_chip)
        return float(games * each)

    return rate(name, "decisions/s", play, games)


def thread_rows(decisions: int) -> list[Row]:
    """Measure the same load on one thread and on two independent ones; the last row is the ratio."""
    from ante.engine.actions import N_DISCRETE
    from ante.engine.drivers.random_play import play_random

    batches = [(*random_games(256, 0), np.zeros(N_DISCRETE, dtype=np.uint8)) for _ in range(2)]
    each = max(1, decisions // 256)

    def play(batch: tuple[Any, ...]) -> None:
        states, rng, mask = batch
        play_random(states, each, ALONE, rng, mask, 0)

    def both() -> float:
        threads = [threading.Thread(target=play, args=(batch,)) for batch in batches]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return 2.0 * 256 * each

    def one() -> float:
        play(batches[0])
        return 256.0 * each

    name = "decision and mask, real blinds, game after game"
    pairs = [(rate(name, "decisions/s", one, 256, repeats=1), rate(name, "decisions/s", both, 512, 2, repeats=1))]
    for _ in range(REPEATS):  # interleaved, so that load on the machine affects both
        pairs.append(
            (rate(name, "decisions/s", one, 256, repeats=1), rate(name, "decisions/s", both, 512, 2, repeats=1))
        )
    ratios = [two.value / single.value for single, two in pairs]
    rates = [two.value for _, two in pairs]
    return [
        row_of(name, rates, "decisions/s", 512, 2),
        row_of("two threads against one", ratios, "x", 512, 2),
    ]


def copy_rows() -> list[Row]:
    """Return games per second cloned, restored, saved as bytes and loaded; bytes of a record."""
    from ante.engine.core.state import copy_states, load_state, restore_states, save_state, state_t

    states, _ = random_games(256, 0)
    kept, saved = copy_states(states), [save_state(s) for s in states]

    def clone() -> float:
        for _ in range(1000):
            copy_states(states)
        return 1000.0 * len(states)

    def restore() -> float:
        for _ in range(1000):
            restore_states(states, kept)
        return 1000.0 * len(states)

    def save() -> float:
        for s in states:
            save_state(s)
        return float(len(states))

    def load() -> float:
        for data in saved:
            load_state(data)
        return float(len(saved))

    size = float(state_t.itemsize)
    return [
        rate("clone a game", "copies/s", clone, 256),
        rate("restore a game from a clone", "copies/s", restore, 256),
        rate("save a game as bytes", "copies/s", save, 256),
        rate("load a game from bytes", "copies/s", load, 256),
        Row("record of a game", size, "bytes", size, size),
    ]


def environment_rows(decisions: int = 250_000) -> list[Row]:
    """Return the same measurements with observations, and steps of the vector environment."""
    rows = []
    for blinds, one_chip in (("real blinds", 0), ("one-chip blinds", 1)):
        for what, flat in (("observation record", False), ("observation record and flat vector", True)):
            name = f"decision, mask, {what}, {blinds}"
            rows.append(observed_row(f"{name}, game after game", 256, decisions, ALONE, one_chip, flat))
            for games in OBSERVED_BATCHES:
                rows.append(observed_row(f"{name}, games in step", games, decisions, 1, one_chip, flat))
    return [*rows, vector_row()]


def vector_row(games: int = 256) -> Row:
    """Return steps per second of the vector environment on one core with actions sampled by NumPy."""
    from ante.env.games import Games

    batch = Games(games)
    batch.reset()
    rng = np.random.default_rng(1)

    def step() -> float:
        for _ in range(50):
            keys = rng.random(batch.masks.shape, dtype=np.float32)
            batch.step(np.argmax(keys * batch.masks, axis=1), batch.outcome != 0)
        return 50.0 * games

    return rate("step of the vector environment, actions drawn by NumPy", "steps/s", step, games)


def observed_row(name: str, games: int, decisions: int, turn: int, one_chip: int, flat: bool) -> Row:
    """Return decisions per second of a batch on one core, including observations."""
    batch = ObservedBatch(games, one_chip, flat)
    each = max(1, decisions // games)

    def play() -> float:
        batch.play(each, min(turn, each))
        return float(games * each)

    return rate(name, "decisions/s", play, games)


@dataclass(frozen=True)
class Part:
    """One kind of work in random play.

    name       a verb's step, or mask, observation, new run
    decisions  share of all decisions of this kind, 0 for other work
    ns         nanoseconds per call, median of the repeats, with minimum and maximum
    time       share of the time of all steps, 0 for other work
    """

    name: str
    decisions: float
    ns: float
    low: float
    high: float
    time: float


def profile_parts(one_chip: int) -> list[Part]:
    """Return nanoseconds of a step by verb, of the mask, the observation and a new run, in random play.

    Positions are collected first, up to GROUP per verb, and then stepped verb by verb as contiguous batches.
    """
    from ante.engine.actions import N_DISCRETE
    from ante.engine.drivers.random_play import mask_all, step_all
    from ante.env.games import deal, observe_games
    from ante.env.layout import FLAT_SIZE, new_observations
    from ante.env.observe import REORDER_ALL

    states, groups, counts = gather_positions(one_chip)
    n = len(states)
    everyone = np.arange(n)
    masks, statuses = np.zeros((n, N_DISCRETE), dtype=np.uint8), np.zeros(n, dtype=np.int64)
    observations, flat = new_observations(n), np.zeros((n, FLAT_SIZE), dtype=np.float32)
    none, zeros, ones = np.zeros((0, 0), dtype=np.float32), np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    times = {verb: clock_ns(step_all, copies(some), actions, statuses) for verb, (some, actions) in groups.items()}
    whole = sum(counts[verb] * statistics.median(times[verb]) for verb in times)
    parts = []
    for verb, ns in sorted(times.items(), key=lambda item: -counts[item[0]] * statistics.median(item[1])):
        share = counts[verb] * statistics.median(ns) / whole
        parts.append(Part(f"step: {verb}", counts[verb] / sum(counts.values()), *spread(ns), share))
    others = {
        "mask": clock_ns(mask_all, copies(states), masks),
        "observation record, mask included": clock_ns(
            observe_games, copies(states), everyone, REORDER_ALL, observations, none
        ),
        "observation record and flat vector": clock_ns(
            observe_games, copies(states), everyone, REORDER_ALL, observations, flat
        ),
        "new run": clock_ns(deal, copies(states), everyone, zeros, ones, zeros, zeros.copy()),
    }
    return parts + [Part(name, 0.0, *spread(ns), 0.0) for name, ns in others.items()]


def gather_positions(one_chip: int) -> tuple[np.recarray, dict[str, tuple[np.recarray, Any]], dict[str, int]]:
    """Return a batch in random play, and by verb up to GROUP positions with decisions, and counts."""
    from ante.engine.actions import N_DISCRETE, Verb
    from ante.engine.drivers.random_play import choose_random, play_random

    states, rng = random_games(GROUP, one_chip)
    mask, actions = np.zeros(N_DISCRETE, dtype=np.uint8), np.zeros(GROUP, dtype=np.int64)
    found: dict[str, list[tuple[Any, Any]]] = {}
    counts: dict[str, int] = {}
    for _ in range(SAMPLES):
        play_random(states, 37, 1, rng, mask, one_chip)
        choose_random(states, rng, mask, actions)
        for number in np.unique(actions & 63):
            chosen = np.flatnonzero((actions & 63) == number)
            verb = Verb(int(number)).name.lower().replace("_", " ")
            counts[verb] = counts.get(verb, 0) + len(chosen)
            if sum(len(a) for _, a in found.get(verb, [])) < GROUP:
                found.setdefault(verb, []).append((states[chosen].copy(), actions[chosen].copy()))
    groups = {
        verb: (
            as_records(np.concatenate([s for s, _ in some])[:GROUP]),
            np.concatenate([a for _, a in some])[:GROUP],
        )
        for verb, some in found.items()
    }
    return states, groups, counts


def copies(states: np.recarray) -> Callable[[], np.recarray]:
    """Return a function that yields a fresh copy of a batch for each repeat."""
    from ante.engine.core.state import copy_states

    return lambda: copy_states(states)


def clock_ns(work: Callable[..., Any], fresh: Callable[[], np.recarray], *rest: Any) -> list[float]:
    """Return nanoseconds of `work` per game of a fresh batch, one number per repeat; the first call is a warm-up."""
    work(fresh(), *rest)
    times = []
    for _ in range(REPEATS):
        states = fresh()
        begin = time.perf_counter_ns()
        work(states, *rest)
        times.append((time.perf_counter_ns() - begin) / len(states))
    return times


def device_rows(sizes: tuple[int, ...] = DEVICE_SIZES, decisions: int = 100, block: int | None = None) -> list[Row]:
    """Return macro decisions per second in random play on a CUDA device: with the mask alone, with observations.

    sizes      numbers of games in a batch
    decisions  per game and repeat
    block      threads per block, by default that of the kernels

    Raises NoDevice, and NotInstalled without the extra `gpu`. Uncached kernels are compiled first.
    """
    from ante.engine.core.cuda_compiler import BLOCK
    from ante.engine.drivers.cuda import DeviceStates
    from ante.env.cuda import DeviceGames

    threads = block or BLOCK
    rows = []
    for n in sizes:
        rows.append(_device_row("mask", decisions, DeviceStates(n, block=threads)))
        for name, flat in (("mask, observation record", False), ("mask, observation record and vector", True)):
            games = DeviceGames(n, flat=flat, discrete=False, block=threads)
            rows.append(_device_row(name, decisions, games))
            del games  # frees its memory
    return rows


def _device_row(name: str, decisions: int, games: Any) -> Row:
    """Measure random play of DeviceStates or DeviceGames."""
    from numba import cuda

    def play(steps: int = decisions) -> float:
        for _ in range(steps):
            games.choose()
            games.step()
        cuda.synchronize()
        return float(games.n * steps)

    play(MIXING)
    return rate(f"device: {name}", "decisions/s", play, games.n)


def start_rows(cold: bool) -> list[Row]:
    """Return seconds to import the environment and to reset a game; with `cold` also those of the first compilation."""
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
    """Return the seconds a command takes. Raises BalatroError if it fails."""
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})})
        if done.returncode:
            cause = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
            raise BalatroError(f"{name}: {' '.join(command)} exited with code {done.returncode}: {cause}")
        seconds.append(time.perf_counter() - begin)
    return row_of(name, seconds, "s")


def as_json(rows: list[Row], profiles: dict[str, list[Part]], machine: dict[str, Any]) -> str:
    """Return machine, rows and profiles as one JSON object, with the keys of `Row` and `Part`."""
    parts = {name: [asdict(part) for part in profile] for name, profile in profiles.items()}
    return json.dumps({"machine": machine, "rows": [asdict(row) for row in rows], "profiles": parts}, indent=1)


@rule
def play_observed(states, decisions, turn, rng, observations, flat, one_chip):
    """Play `decisions` random legal decisions in every game, writing mask and observation after each.

    turn  decisions per game before switching to the next one
    rng   (1,) uint64, scratch
    flat  (n, FLAT_SIZE) float32, or (0, 0) for no flat observation

    Return the number of finished games.
    """
    ended = 0
    played = 0
    while played < decisions:
        now = min(turn, decisions - played)
        for i in range(len(states)):
            s, o = states[i], observations[i]
            for _ in range(now):
                status = step(s, random_decision(s, o.action_mask, rng))
                if status == Status.LOST:
                    begin_random_game(s, rng, int(s.deck_id), int(s.stake), int(s.challenge), one_chip)
                    ended += 1
                observe(s, o, REORDER_ALL)
                if len(flat) > 0:
                    flatten(o, flat[i])
        played += now
    return ended


class ObservedBatch:
    """A batch of random games with their observations."""

    def __init__(self, games: int, one_chip: int, flat: bool) -> None:
        self.states = new_states(games)
        self.observations = new_observations(games)
        self.flat = np.zeros((games, FLAT_SIZE) if flat else (0, 0), dtype=np.float32)
        self.rng = np.array([1], dtype=np.uint64)
        self.one_chip = one_chip
        for s in self.states:
            begin_random_game(s, self.rng, 0, 1, 0, one_chip)
        observe_games(self.states, np.arange(games), REORDER_ALL, self.observations, self.flat)

    def play(self, decisions: int, turn: int) -> None:
        """Play this many decisions in every game."""
        play_observed(self.states, decisions, turn, self.rng, self.observations, self.flat, self.one_chip)
