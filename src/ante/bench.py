"""Speed and memory of engine and environments, as `ante bench` measures them.

Every figure is the median of several runs in one process; `--json` prints the same rows with the keys of `Row`. What a
decision is and how the figures compare: docs/performance.md.
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

REPEATS = 5
BATCHES = (1, 16, 256, 4096, 65536)
OBSERVED_BATCHES = (1, 256, 4096)
ALONE = 2000  # decisions that one game plays before the next one's turn where games are played one after the other
GROUP = 4096  # positions of one kind that the profile steps
SAMPLES = 40  # times that it looks at its batch
DEVICE_SIZES = (1024, 4096, 16384, 65536, 262144)
MIXING = 200  # decisions before anything is measured, so that the games stand in different phases


@dataclass(frozen=True)
class Row:
    """One measured line.

    name     what was measured
    value    the median
    unit     of the value: decisions/s, steps/s, copies/s, s, ms, bytes, ns, x
    low      the smallest of the repeats
    high     the largest of the repeats
    games    games in the batch, 0 where that means nothing
    threads  threads at work
    """

    name: str
    value: float
    unit: str
    low: float
    high: float
    games: int = 0
    threads: int = 1


def spread(values: list[float]) -> tuple[float, float, float]:
    """Median, lowest and highest."""
    return statistics.median(values), min(values), max(values)


def row_of(name: str, values: list[float], unit: str, games: int = 0, threads: int = 1) -> Row:
    """The line of what was measured several times."""
    median, low, high = spread(values)
    return Row(name, median, unit, low, high, games, threads)


def rate(
    name: str, unit: str, work: Callable[[], float], games: int = 0, threads: int = 1, repeats: int = REPEATS
) -> Row:
    """Amount of work per second: `work` does it and answers how much it was. The first call is a warm-up."""
    work()
    rates = []
    for _ in range(repeats):
        begin = time.perf_counter()
        amount = work()
        rates.append(amount / (time.perf_counter() - begin))
    return row_of(name, rates, unit, games, threads)


def random_games(games: int, one_chip: int) -> tuple[np.recarray, Any]:
    """A batch of fresh random games, and the generator of their player."""
    from ante.engine.play import begin_random_game
    from ante.engine.state import new_states

    states, rng = new_states(games), np.array([1], dtype=np.uint64)
    for s in states:
        begin_random_game(s, rng, 0, 1, 0, one_chip)
    return states, rng


def engine_rows(decisions: int = 500_000) -> list[Row]:
    """Macro decisions a second with the legal mask: one game after the other, batches in step, two threads; copies."""
    rows = []
    for blinds, one_chip in (("real blinds", 0), ("one-chip blinds", 1)):
        rows.append(mask_row(f"decision and mask, {blinds}, game after game", 256, decisions, ALONE, one_chip))
        for games in BATCHES:
            rows.append(mask_row(f"decision and mask, {blinds}, games in step", games, decisions, 1, one_chip))
    rows += thread_rows(decisions)
    return rows + copy_rows()


def mask_row(name: str, games: int, decisions: int, turn: int, one_chip: int) -> Row:
    """Decisions a second of a batch on one core."""
    from ante.engine.actions import N_DISCRETE
    from ante.engine.play import play_random

    states, rng = random_games(games, one_chip)
    mask = np.zeros(N_DISCRETE, dtype=np.uint8)
    each = max(1, decisions // games)

    def play() -> float:
        play_random(states, each, min(turn, each), rng, mask, one_chip)
        return float(games * each)

    return rate(name, "decisions/s", play, games)


def thread_rows(decisions: int) -> list[Row]:
    """The same load on one thread and on two at once, which share nothing; the last row is their ratio."""
    from ante.engine.actions import N_DISCRETE
    from ante.engine.play import play_random

    batches = [(*random_games(256, 0), np.zeros(N_DISCRETE, dtype=np.uint8)) for _ in range(2)]
    each = decisions // 256

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
    for _ in range(REPEATS):  # in turns, so that a slow moment of the machine meets both
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
    """Games a second cloned and restored, saved as bytes and loaded; bytes of a record."""
    from ante.engine.state import copy_states, load_state, restore_states, save_state, state_t

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
    """The same play with observations written, and whole steps of the vector environment."""
    rows = []
    for blinds, one_chip in (("real blinds", 0), ("one-chip blinds", 1)):
        for what, flat in (("observation record", False), ("observation record and flat vector", True)):
            name = f"decision, mask, {what}, {blinds}"
            rows.append(observed_row(f"{name}, game after game", 256, decisions, ALONE, one_chip, flat))
            for games in OBSERVED_BATCHES:
                rows.append(observed_row(f"{name}, games in step", games, decisions, 1, one_chip, flat))
    return [*rows, vector_row()]


def vector_row(games: int = 256) -> Row:
    """Steps a second of the vector environment's batch on one core, actions drawn by NumPy."""
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
    """Decisions a second of a batch on one core, observation included."""
    from ante.env.bench import ObservedBatch

    batch = ObservedBatch(games, one_chip, flat)
    each = max(1, decisions // games)

    def play() -> float:
        batch.play(each, min(turn, each))
        return float(games * each)

    return rate(name, "decisions/s", play, games)


@dataclass(frozen=True)
class Part:
    """Where the time of random play goes: one kind of work.

    name       a verb's step, or mask, observation, new run
    decisions  share of all decisions that are of this kind, 0 for what is no decision
    ns         nanoseconds of one, median of the repeats; lowest and highest beside it
    time       share of the time of all steps, 0 for what is no decision
    """

    name: str
    decisions: float
    ns: float
    low: float
    high: float
    time: float


def profile_parts(one_chip: int) -> list[Part]:
    """Nanoseconds of a step by its verb, of the mask, the observation and a new run, in random play.

    Positions are gathered first, up to GROUP of each verb, and then stepped verb by verb, games side by side in memory.
    """
    from ante.engine.actions import N_DISCRETE
    from ante.engine.play import mask_all, step_all
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
    """Positions of random play: a batch as it stands, and by verb up to GROUP positions with decisions, and counts."""
    from ante.engine.actions import N_DISCRETE, Verb
    from ante.engine.play import choose_random, play_random

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
            np.concatenate([s for s, _ in some])[:GROUP].view(np.recarray),
            np.concatenate([a for _, a in some])[:GROUP],
        )
        for verb, some in found.items()
    }
    return states, groups, counts


def copies(states: np.recarray) -> Callable[[], np.recarray]:
    """Fresh copies of a batch, one for each repeat."""
    from ante.engine.state import copy_states

    return lambda: copy_states(states)


def clock_ns(work: Callable[..., Any], fresh: Callable[[], np.recarray], *rest: Any) -> list[float]:
    """Nanoseconds that `work` takes for each game of a fresh batch, one number a repeat; the first call is a warm-up."""
    work(fresh(), *rest)
    times = []
    for _ in range(REPEATS):
        states = fresh()
        begin = time.perf_counter_ns()
        work(states, *rest)
        times.append((time.perf_counter_ns() - begin) / len(states))
    return times


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
    return rate(f"device: {name}", "decisions/s", play, games.n)


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
    return row_of(name, seconds, "s")


def as_json(rows: list[Row], profiles: dict[str, list[Part]], machine: dict[str, Any]) -> str:
    """Machine, rows and profiles as one JSON object, keys as in `Row` and `Part`."""
    parts = {name: [asdict(part) for part in profile] for name, profile in profiles.items()}
    return json.dumps({"machine": machine, "rows": [asdict(row) for row in rows], "profiles": parts}, indent=1)
