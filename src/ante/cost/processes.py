"""What several processes cost and bring: bytes from runner to learner, and sampling in two of them at once."""

from functools import partial
from typing import Any

import ray

from ante.bench import Row, row_of
from ante.cost.contenders import RUNNERS
from ante.cost.stopwatch import over, timed
from ante.training.config import TrainConfig

ROUNDS = 8  # fragments that each runner process plays in a turn


def weight(config: TrainConfig, fast: Any, stock: Any) -> list[Row]:
    """Bytes that travel from runner to learner for each step: our rollouts, and RLlib's episodes when pickled."""
    rollout = fast.env_runner.sample()[0]
    episodes = stock.env_runner.sample(num_timesteps=2048)
    pickled = len(ray.cloudpickle.dumps(episodes)) / sum(map(len, episodes))
    return [
        row_of("fast path, runner to learner, of a step", [rollout.nbytes / len(rollout)], "bytes", config.games),
        row_of("stock RLlib, runner to learner, of a step", [pickled], "bytes", config.games),
    ]


def scaling(config: TrainConfig, algorithm: Any, repeats: int) -> list[Row]:
    """Sampling alone: all runner processes at once against the first of them, in turns."""
    rates: dict[int, list[float]] = {1: [], RUNNERS: []}
    for turn in range(-1, repeats):
        for n, values in rates.items():
            steps, seconds = timed(partial(played, algorithm.env_runner_group, n))
            if turn >= 0:
                values.append(steps / seconds)
    rows = [row_of("sampling, runner processes", values, "steps/s", config.games, n) for n, values in rates.items()]
    ratios = over(rates[RUNNERS], rates[1])
    return [*rows, row_of(f"sampling, {RUNNERS} runner processes against 1", ratios, "x", config.games, RUNNERS)]


def played(group: Any, n: int) -> int:
    """The first n runner processes play, all at once; answers the steps."""
    processes = list(range(1, n + 1))
    return sum(group.foreach_env_runner(play_rounds, local_env_runner=False, remote_worker_ids=processes))


def play_rounds(runner: Any) -> int:
    """A few fragments are played in this process; answers the steps."""
    return sum(len(rollout) for _ in range(ROUNDS) for rollout in runner.sample())
