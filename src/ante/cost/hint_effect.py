"""What hints teach: runs of the same seeds with and without them, at equal steps, on the same games of the panel."""

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from ante.training.algorithm import build
from ante.training.config import TrainConfig
from ante.training.evaluate import trial

LEVEL = 0.95


@dataclass(frozen=True)
class Point:
    """One evaluation of one run: after `steps`, with hints as `hints` says."""

    seed: int
    hints: str
    steps: int
    blinds: float
    ante: float
    win_rate: float
    trained_return: float


@dataclass(frozen=True)
class Effect:
    """Blinds beaten at these steps, mean over seeds without and with hints, and the paired difference, its 95 % interval."""

    steps: int
    seeds: int
    without: float
    with_hints: float
    more: float
    low: float
    high: float


def run(config: TrainConfig, at: Sequence[int], told: Callable[[Point], None]) -> list[Point]:
    """One run, evaluated after each of these numbers of steps."""
    algorithm, steps, points = build(config), 0, []
    try:
        result: dict[str, Any] = {}
        for goal in at:
            while steps < goal:
                result = algorithm.train()
                steps += int(result["env_runners"]["num_env_steps_sampled"])
            found, *_ = trial(config, algorithm)
            score = float(result["env_runners"].get("episode_return_mean", math.nan))
            rates = found["eval_blinds"], found["eval_ante"], found["eval_win_rate"]
            points.append(Point(config.seed, config.hints, goal, *rates, score))
            told(points[-1])
    finally:
        algorithm.stop()
    return points


def measure(
    config: TrainConfig, seeds: int, points: int, told: Callable[[Point], None] = lambda _: None
) -> tuple[list[Point], list[Effect]]:
    """Every run with and without hints, one after the other, and what the hints changed."""
    at = [config.steps * (k + 1) // points for k in range(points)]
    found: list[Point] = []
    with tempfile.TemporaryDirectory() as runs:
        for seed in range(seeds):
            for hints in ("off", config.hints):
                update = {"seed": seed, "hints": hints, "runs": runs, "name": f"{hints}-{seed}"}
                found += run(config.model_copy(update=update), at, told)
    return found, [effect(found, steps, config.hints) for steps in at]


def effect(points: Sequence[Point], steps: int, hints: str) -> Effect:
    """What hints changed at these steps, paired by seed, with Student's interval."""
    without = {point.seed: point.blinds for point in points if point.steps == steps and point.hints == "off"}
    advised = {point.seed: point.blinds for point in points if point.steps == steps and point.hints == hints}
    more = np.array([advised[seed] - without[seed] for seed in sorted(advised)])
    half = math.nan
    if len(more) > 1:
        half = float(stats.t.ppf(0.5 + LEVEL / 2, len(more) - 1) * more.std(ddof=1) / math.sqrt(len(more)))
    means = float(np.mean(list(without.values()))), float(np.mean(list(advised.values())))
    return Effect(steps, len(more), *means, float(more.mean()), float(more.mean()) - half, float(more.mean()) + half)
