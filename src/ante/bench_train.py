"""Speed of training, as `ante bench train` measures it: the fast path, stock RLlib and a hand-written loop, in turns.

All have the same games, network, batch, minibatch and epochs, one thread for torch, and one iteration each in turn,
so that a slow moment of the machine meets all of them. Needs the extra `train`.
"""

import math
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch

from ante.bench import Row, row_of
from ante.training import kernels
from ante.training.algorithm import build
from ante.training.config import TrainConfig
from ante.training.precision import precision
from ante.training.single_file import SingleFilePPO

REPEATS = 5
GAMES = 256
SETTINGS = {"4 epochs, minibatch 1,024": (4, 1024), "1 epoch, minibatch 4,096": (1, 4096)}


def train_rows(repeats: int = REPEATS, games: int = GAMES, hidden: tuple[int, ...] = (256, 256)) -> list[Row]:
    """Steps a second of whole iterations, their ratios, and where the fast path's time goes."""
    torch.set_num_threads(1)
    rows: list[Row] = []
    for about, (epochs, minibatch) in SETTINGS.items():
        config = TrainConfig(games=games, epochs=epochs, minibatch=minibatch, hidden=hidden)
        rows += contest(about, config, repeats)
    if find_spec("sb3_contrib") is None:
        rows.append(Row("SB3 MaskablePPO: not measured, sb3_contrib is not installed", 0.0, "steps/s", 0.0, 0.0, games))
    return rows


def contest(about: str, config: TrainConfig, repeats: int) -> list[Row]:
    """All contenders under one setting, one iteration each in turn."""
    made = {
        "stock RLlib": build(config.model_copy(update={"path": "stock"})),
        "fast path": build(config),
        "fast path, float32": build(config.model_copy(update={"bf16": "off"})),
        "fast path, overlap": build(config.model_copy(update={"overlap": True})),
    }
    contenders: dict[str, Callable[[], int]] = {name: iteration(algorithm) for name, algorithm in made.items()}
    contenders["one loop by hand"] = SingleFilePPO(config).iterate
    for iterate in contenders.values():  # compiles, and brings the games to their stride
        iterate()
    rates: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, iterate in contenders.items():
            begin = time.perf_counter()
            steps = iterate()
            rates[name].append(steps / (time.perf_counter() - begin))
    rows = [row_of(f"{name}, {about}", values, "steps/s", config.games) for name, values in rates.items()]
    for name in ("fast path", "fast path, overlap", "one loop by hand"):
        ratios = [one / two for one, two in zip(rates[name], rates["stock RLlib"], strict=True)]
        rows.append(row_of(f"{name} against stock RLlib, {about}", ratios, "x", config.games))
    rows += split(about, config, made["fast path"], repeats)
    for algorithm in made.values():
        algorithm.stop()
    return rows


def iteration(algorithm: Any) -> Callable[[], int]:
    """One `train()`; it answers the steps it took."""
    return lambda: int(algorithm.train()["env_runners"]["num_env_steps_sampled"])


def split(about: str, config: TrainConfig, algorithm: Any, repeats: int) -> list[Row]:
    """Microseconds of each part of the fast path, per environment step; and the limit that its network alone sets."""
    runner, learner = algorithm.env_runner, algorithm.learner_group._learner
    policy, games, n = runner.module, runner.games, runner.games.n
    rows, rng = runner._rows_now(), torch.Generator().manual_seed(0)
    logits = np.random.default_rng(0).normal(size=(n, games.masks.shape[1])).astype(np.float32)
    legal = np.packbits(games.masks, axis=1, bitorder="little")
    chosen, chances = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.float32)
    shape = (-(-config.batch // n), n)
    zeros, ended = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.bool_)
    rollout = runner.sample()[0]
    with precision(config.bf16, "cpu"):
        parts = {
            "forward and sampling": (lambda: policy.act(rows, rng), n),
            "packing": (lambda: policy.pack(games, rows), n),
            "sampling alone": (lambda: kernels.sample_masked(logits, legal, zeros[0], chosen, chances), n),
            "advantages": (lambda: kernels.gae(zeros, zeros, zeros, ended, 0.99, 0.95, zeros, zeros), shape[0] * n),
            "gradient steps, all epochs": (lambda: learn_again(learner, rollout, config), len(rollout)),
            "playing a fragment, all in all": (lambda: runner.sample(), len(rollout)),
        }
        times = {name: clocked(work, steps, repeats) for name, (work, steps) in parts.items()}
    times["games: step, observe, mask"] = clocked(lambda: play_on(games), n, repeats)
    whole = [a + b for a, b in zip(times["forward and sampling"], times["gradient steps, all epochs"], strict=True)]
    made = [row_of(f"fast path: {name}, {about}", values, "us", config.games) for name, values in times.items()]
    limit = [1e6 / value for value in whole]
    return [*made, row_of(f"network and optimizer alone, {about}", limit, "steps/s", config.games)]


def learn_again(learner: Any, rollout: Any, config: TrainConfig) -> None:
    """All gradient steps on a rollout that is at hand."""
    learner._learn(rollout, len(rollout), config.epochs, config.minibatch)


def play_on(games: Any) -> None:
    """The first legal action in every game; games that end begin anew."""
    games.step(games.masks.argmax(axis=1))
    games.reset(np.flatnonzero(games.outcome))


def clocked(work: Callable[[], Any], steps: int, repeats: int) -> list[float]:
    """Microseconds per step, one number a repeat of at least a batch; the first call is a warm-up."""
    work()
    times, calls = [], math.ceil(8192 / steps)
    for _ in range(repeats):
        begin = time.perf_counter()
        for _ in range(calls):
            work()
        times.append(1e6 * (time.perf_counter() - begin) / (calls * steps))
    return times
