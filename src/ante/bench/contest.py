"""Training throughput for `ante bench train`: the fast path and other implementations, interleaved in one run.

All contenders use the same games, network, batch, minibatch and epochs, and one torch thread per process. They run one
iteration each in turn, so load on the machine affects all of them; ratios are computed per turn. Requires the extra
`train`, and `sb3` for MaskablePPO.
"""

from collections.abc import Callable
from typing import Any

import torch

from ante.bench.contenders import (
    BF16,
    FLOAT,
    OVERLAP,
    OVERLAP_TWO,
    SB3,
    SINGLE,
    STOCK,
    STOCK_BF16,
    STOCK_TWO,
    Contender,
    contenders,
)
from ante.bench.engine_speed import Row, row_of
from ante.bench.limit import limits
from ante.bench.processes import scaling, weight
from ante.bench.stopwatch import PARTS, Stopwatch, over, timed
from ante.training.settings.config import TrainConfig, make_config

REPEATS = 5
GAMES = 256
SETTINGS = {"4 epochs, minibatch 1,024": (4, 1024), "1 epoch, minibatch 4,096": (1, 4096)}
AGAINST = (
    (FLOAT, STOCK),
    (BF16, STOCK),
    (BF16, STOCK_BF16),
    (OVERLAP, STOCK),
    (OVERLAP_TWO, STOCK),
    (OVERLAP_TWO, STOCK_TWO),
    (FLOAT, SB3),
    (BF16, SB3),
    (FLOAT, SINGLE),
    (BF16, SINGLE),
)


def train_rows(
    repeats: int = REPEATS, games: int = GAMES, hidden: tuple[int, ...] = (256, 256), without: tuple[str, ...] = ()
) -> list[Row]:
    """Return all rows of `ante bench train`: rates, ratios, shares of the limit, parts, bytes, processes.

    without  names of contenders to skip, except the float32 fast path and stock RLlib
    """
    torch.set_num_threads(1)
    rows: list[Row] = []
    for about, (epochs, minibatch) in SETTINGS.items():
        config = make_config(
            {
                "resources.games_per_runner": games,
                "algo.epochs": epochs,
                "algo.minibatch": minibatch,
                "policy.hidden": hidden,
            }
        )
        rows += contest(about, config, repeats, without)
    return rows


def contest(about: str, config: TrainConfig, repeats: int, without: tuple[str, ...] = ()) -> list[Row]:
    """Measure all contenders and the network alone under one setting, one iteration each in turn."""
    made = contenders(config, without)
    fastest = BF16 if BF16 in made else FLOAT
    try:
        rates, games, alone = turns(config, made, repeats)
        rows = [
            row_of(f"{name}, {about}", values, "steps/s", config.resources.games_per_runner)
            for name, values in rates.items()
        ]
        for name in (STOCK, fastest, OVERLAP_TWO):
            if name in made:
                rows.append(
                    row_of(
                        f"games that end, {name}, {about}", games[name], "games/hour", config.resources.games_per_runner
                    )
                )
        rows += [
            row_of(f"{name}, {about}", values, "steps/s", config.resources.games_per_runner)
            for name, values in alone.items()
        ]
        for one, two in AGAINST:
            if one in made and two in made:
                rows.append(
                    row_of(
                        f"{one} against {two}, {about}",
                        over(rates[one], rates[two]),
                        "x",
                        config.resources.games_per_runner,
                    )
                )
        for name, values in alone.items():
            ours = BF16 if name.endswith("bf16") else FLOAT
            shares = over(rates[ours], values)
            rows.append(row_of(f"{ours}: share of the {name}, {about}", shares, "x", config.resources.games_per_runner))
        rows += split(about, config, made[fastest].algorithm, repeats)
        if about == next(iter(SETTINGS)):  # identical for all settings
            rows += weight(config, made[FLOAT].algorithm, made[STOCK].algorithm)
            rows += scaling(config, made[OVERLAP_TWO].algorithm, repeats) if OVERLAP_TWO in made else []
    finally:
        for contender in made.values():
            contender.stop()
    return rows


Rates = dict[str, list[float]]


def turns(config: TrainConfig, made: dict[str, Contender], repeats: int) -> tuple[Rates, Rates, Rates]:
    """Return steps/s and games/hour of each contender per turn, and steps/s of the network alone."""
    rollout = made[FLOAT].algorithm.env_runner.sample()[0]
    networks: dict[str, Callable[[], int]] = {}
    for bf16 in (False, True) if BF16 in made else (False,):
        networks |= limits(config, rollout.rows, bf16)
    rates: Rates = {name: [] for name in made}
    games: Rates = {name: [] for name in made}
    alone: Rates = {name: [] for name in networks}
    for turn in range(-1, repeats):  # the first turn is a warm-up
        for name, contender in made.items():
            (steps, ended), seconds = timed(contender.iterate)
            if turn >= 0:
                rates[name].append(steps / seconds)
                games[name].append(3600 * ended / seconds)
        for name, work in networks.items():
            steps, seconds = timed(work)
            if turn >= 0:
                alone[name].append(steps / seconds)
    return rates, games, alone


def split(about: str, config: TrainConfig, algorithm: Any, repeats: int) -> list[Row]:
    """Return the microseconds per environment step of each part of the fast path's iteration."""
    watch = Stopwatch()
    times: Rates = {part: [] for part in PARTS}
    with watch.watching():
        for _ in range(repeats):
            watch.clear()
            with watch.part("rest"):
                steps = algorithm.train()["env_runners"]["num_env_steps_sampled"]
            for part, values in times.items():
                values.append(1e6 * watch.seconds[part] / steps)
    return [
        row_of(f"part: {PARTS[part]}, {about}", values, "us", config.resources.games_per_runner)
        for part, values in times.items()
    ]
