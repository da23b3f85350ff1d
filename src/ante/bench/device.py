"""Sampling with a policy on a GPU, with games on GPU or CPU: the second half of `ante bench gpu`."""

from functools import partial

from ante.bench.engine_speed import Row, rate
from ante.bench.figures import make_runner
from ante.training.compat import be_quiet
from ante.training.sampling.runner import BatchRunner
from ante.training.settings.config import make_config

SIZES = (64, 1024, 4096, 16_384)
STEPS = 64  # per game and repeat


def sampling_rows(sizes: tuple[int, ...] = SIZES) -> list[Row]:
    """Return steps per second of an env runner with its policy (mlp) on the GPU, by number of games.

    Raises NoDevice, and NotInstalled without the extra `gpu`.
    """
    be_quiet()
    rows = []
    for n in sizes:
        for place in ("gpu", "cpu"):
            runner = make_runner(make_config({"resources.games_on": place, "resources.runner_gpus": 1.0}), n)

            name = f"sampling, mlp on the GPU, games on the {place.upper()}"
            rows.append(rate(name, "steps/s", partial(played, runner, STEPS * n), n))
            del runner  # frees its memory
    return rows


def played(runner: BatchRunner, steps: int) -> float:
    """Sample at least this many steps over all games, and return their number."""
    return float(sum(map(len, runner.sample(num_timesteps=steps))))
