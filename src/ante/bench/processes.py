"""Multiple processes: bytes sent from runner to learner, and scaling of sampling with two runners."""

from functools import partial
from typing import Any

import ray

from ante.bench.contenders import RUNNERS
from ante.bench.engine_speed import Row, row_of
from ante.bench.stopwatch import over, timed
from ante.training.settings.config import TrainConfig

ROUNDS = 8  # fragments per runner process and turn


def weight(config: TrainConfig, fast: Any, stock: Any) -> list[Row]:
    """Return bytes sent from runner to learner per step: Ante's rollouts, and RLlib's pickled episodes."""
    rollout = fast.env_runner.sample()[0]
    episodes = stock.env_runner.sample(num_timesteps=2048)
    pickled = len(ray.cloudpickle.dumps(episodes)) / sum(map(len, episodes))
    return [
        row_of(
            "fast path, runner to learner, of a step",
            [rollout.nbytes / len(rollout)],
            "bytes",
            config.resources.games_per_runner,
        ),
        row_of("stock RLlib, runner to learner, of a step", [pickled], "bytes", config.resources.games_per_runner),
    ]


def scaling(config: TrainConfig, algorithm: Any, repeats: int) -> list[Row]:
    """Measure sampling with all runner processes against the first one, interleaved."""
    rates: dict[int, list[float]] = {1: [], RUNNERS: []}
    for turn in range(-1, repeats):
        for n, values in rates.items():
            steps, seconds = timed(partial(played, algorithm.env_runner_group, n))
            if turn >= 0:
                values.append(steps / seconds)
    rows = [
        row_of("sampling, runner processes", values, "steps/s", config.resources.games_per_runner, n)
        for n, values in rates.items()
    ]
    ratios = over(rates[RUNNERS], rates[1])
    return [
        *rows,
        row_of(
            f"sampling, {RUNNERS} runner processes against 1", ratios, "x", config.resources.games_per_runner, RUNNERS
        ),
    ]


def played(group: Any, n: int) -> int:
    """Sample in the first n runner processes in parallel; return the number of steps."""
    processes = list(range(1, n + 1))
    return sum(group.foreach_env_runner(play_rounds, local_env_runner=False, remote_worker_ids=processes))


def play_rounds(runner: Any) -> int:
    """Sample a few fragments in this process; return the number of steps."""
    return sum(len(rollout) for _ in range(ROUNDS) for rollout in runner.sample())
