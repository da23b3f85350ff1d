"""Speed of training, as `ante bench train` measures it: our fast path and its rivals, in turns, in one run.

All have the same games, network, batch, minibatch and epochs, one thread for torch in each process, and one iteration
each in turn, so that a slow moment of the machine meets all of them; ratios are made turn by turn. Needs the extra
`train`, and `sb3` for MaskablePPO.
"""

from collections.abc import Callable
from typing import Any

import torch

from ante.bench import Row, row_of
from ante.cost.contenders import (
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
from ante.cost.limit import limits
from ante.cost.processes import scaling, weight
from ante.cost.stopwatch import PARTS, Stopwatch, over, places_of, timed
from ante.training.config import TrainConfig
from ante.training.precision import has_bf16

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
    """All rows of `ante bench train`: rates, ratios, shares of the limit, parts, bytes, processes.

    without  names of contenders that are left out; not the fast path in float32 and not stock RLlib
    """
    torch.set_num_threads(1)
    rows: list[Row] = []
    for about, (epochs, minibatch) in SETTINGS.items():
        config = TrainConfig(games=games, epochs=epochs, minibatch=minibatch, hidden=hidden)
        rows += contest(about, config, repeats, without)
    return rows


def contest(about: str, config: TrainConfig, repeats: int, without: tuple[str, ...] = ()) -> list[Row]:
    """All contenders under one setting, and the work of their network alone, one iteration each in turn."""
    made = contenders(config, without)
    fastest = BF16 if BF16 in made else FLOAT
    try:
        rates, games, alone = turns(config, made, repeats)
        rows = [row_of(f"{name}, {about}", values, "steps/s", config.games) for name, values in rates.items()]
        for name in (STOCK, fastest, OVERLAP_TWO):
            if name in made:
                rows.append(row_of(f"games that end, {name}, {about}", games[name], "games/hour", config.games))
        rows += [row_of(f"{name}, {about}", values, "steps/s", config.games) for name, values in alone.items()]
        for one, two in AGAINST:
            if one in made and two in made:
                rows.append(row_of(f"{one} against {two}, {about}", over(rates[one], rates[two]), "x", config.games))
        for name, values in alone.items():
            ours = BF16 if name.endswith("bf16") else FLOAT
            shares = over(rates[ours], values)
            rows.append(row_of(f"{ours}: share of the {name}, {about}", shares, "x", config.games))
        rows += split(about, config, made[fastest].algorithm, repeats)
        if about == next(iter(SETTINGS)):  # the same under every setting
            rows += weight(config, made[FLOAT].algorithm, made[STOCK].algorithm)
            rows += scaling(config, made[OVERLAP_TWO].algorithm, repeats) if OVERLAP_TWO in made else []
    finally:
        for contender in made.values():
            contender.stop()
    return rows


Rates = dict[str, list[float]]


def turns(config: TrainConfig, made: dict[str, Contender], repeats: int) -> tuple[Rates, Rates, Rates]:
    """Steps a second and games an hour of each contender in each turn, and steps a second of the network alone."""
    rollout = made[FLOAT].algorithm.env_runner.sample()[0]
    networks: dict[str, Callable[[], int]] = {}
    for bf16 in (False, True) if has_bf16("cpu") else (False,):
        networks |= limits(config, rollout.rows, bf16)
    rates: Rates = {name: [] for name in made}
    games: Rates = {name: [] for name in made}
    alone: Rates = {name: [] for name in networks}
    for turn in range(-1, repeats):  # the first one compiles, and brings the games to their stride
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
    """Microseconds of each part of the fast path's iteration, per environment step; together they are the whole."""
    watch = Stopwatch()
    times: Rates = {part: [] for part in PARTS}
    with watch.watching(places_of(algorithm)):
        for _ in range(repeats):
            watch.clear()
            with watch.part("rest"):
                steps = algorithm.train()["env_runners"]["num_env_steps_sampled"]
            for part, values in times.items():
                values.append(1e6 * watch.seconds[part] / steps)
    return [row_of(f"part: {PARTS[part]}, {about}", values, "us", config.games) for part, values in times.items()]
