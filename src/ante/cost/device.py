"""Playing with a policy that lies on a GPU, games there and on the cores: the second half of `ante bench gpu`."""

from functools import partial

from ante.bench import Row, rate
from ante.cost.figures import make_runner
from ante.training.config import TrainConfig
from ante.training.quiet import be_quiet
from ante.training.runner import BatchRunner

SIZES = (64, 1024, 4096, 16_384)
STEPS = 64  # of every game in each repeat


def sampling_rows(sizes: tuple[int, ...] = SIZES) -> list[Row]:
    """Steps a second of an env runner whose policy (mlp) lies on the GPU, for numbers of games stepped together.

    Raises NoDevice, and NotInstalled without the extra `gpu`.
    """
    be_quiet()
    rows = []
    for n in sizes:
        for place in ("gpu", "cpu"):
            runner = make_runner(TrainConfig(games_on=place, runner_gpus=1.0), n)

            name = f"sampling, mlp on the GPU, games on the {place.upper()}"
            rows.append(rate(name, "steps/s", partial(played, runner, STEPS * n), n))
            del runner  # its memory is the next one's
    return rows


def played(runner: BatchRunner, steps: int) -> float:
    """How many steps were played; at least so many, of all games together."""
    return float(sum(map(len, runner.sample(num_timesteps=steps))))
