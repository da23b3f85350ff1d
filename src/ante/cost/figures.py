"""How fast this machine is at the work of training, and what it has for it: the training part of `ante doctor`."""

import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from ante.bench import vector_row
from ante.training.algorithm import fast_config
from ante.training.config import TrainConfig
from ante.training.precision import precision
from ante.training.quiet import be_quiet
from ante.training.rollout import on_host
from ante.training.runner import BatchRunner

BATCHES = (1, 64, 256, 1024)
STEPS = 8192  # played for the rate of sampling
SECONDS = 1.0  # spent on the latencies of one batch, at most CALLS calls
CALLS = 1000
WARM_CALLS = 5


@dataclass(frozen=True)
class Figure:
    """One measured figure.

    better  whether more or less of it is better; an empty word where it is told and not judged
    """

    name: str
    value: float
    unit: str
    better: Literal["more", "less", ""] = ""


def figures(config: TrainConfig) -> tuple[str, list[Figure]]:
    """The policy of this configuration in words; steps a second of environment and sampling, latencies of the policy.

    One thread, as in a runner process. Of the latencies only the median is judged: the others tell what else the
    machine does.
    """
    be_quiet()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        env = vector_row()
        found = [Figure(f"environment, {env.games} games", env.value, "steps/s", "more")]
        runner = make_runner(config, config.games)
        found.append(Figure(f"sampling, {config.games} games", sampling_rate(runner), "steps/s", "more"))
        for batch in BATCHES:
            found += latencies(make_runner(config, batch), batch)
    finally:
        torch.set_num_threads(threads)
    weights = sum(parameter.numel() for parameter in runner.module.parameters())
    return f"{type(runner.module).__name__}, {weights:,} weights, {runner._device}", found


def make_runner(config: TrainConfig, games: int) -> BatchRunner:
    """A runner of the fast path in this process, its games in play; no Ray is started."""
    made = fast_config(config.model_copy(update={"games": games, "runners": 0}))
    runner: BatchRunner = made.env_runner_cls(config=made)
    runner.sample(num_timesteps=4 * games)
    return runner


def sampling_rate(runner: BatchRunner) -> float:
    """Steps a second of playing with the policy."""
    begin = time.perf_counter()
    steps = sum(map(len, runner.sample(num_timesteps=STEPS)))
    return steps / (time.perf_counter() - begin)


def latencies(runner: BatchRunner, batch: int) -> list[Figure]:
    """Milliseconds of one `act` on rows that were played: median, 95th and 99th of a hundred."""
    rows, rng = runner._rows_now(), torch.Generator(runner._device).manual_seed(0)
    times: list[float] = []
    with precision(runner.config.bf16, runner._device):
        for _ in range(WARM_CALLS):
            runner.module.act(rows, rng)
        end = time.perf_counter() + SECONDS
        while len(times) < CALLS and (not times or time.perf_counter() < end):
            begin = time.perf_counter()
            for answer in runner.module.act(rows, rng):
                on_host(answer)  # waits for a device
            times.append(1e3 * (time.perf_counter() - begin))
    return [
        Figure(f"inference, batch {batch:,}, p{percent}", value, "ms", "less" if percent == 50 else "")
        for percent, value in zip((50, 95, 99), percentiles(np.array(times)), strict=True)
    ]


def percentiles(times: NDArray[np.float64]) -> list[float]:
    """Median, 95th and 99th of a hundred."""
    return [float(value) for value in np.percentile(times, (50, 95, 99))]


def resource_rows(config: TrainConfig) -> list[dict[str, Any]]:
    """Rows {what, value} about what a run of this configuration takes, and the GPUs."""
    rows = [
        {"what": "memory of a run", "value": f"{config.memory_gb:g} GiB at most" if config.memory_gb else "no limit"},
        {"what": "object store of a run", "value": f"{config.object_store_gb:g} GiB"},
    ]
    return [*rows, *device_rows()]


def device_rows() -> list[dict[str, Any]]:
    """Rows {what, value} about the GPUs that torch sees."""
    if not torch.cuda.is_available():
        return [{"what": "GPU", "value": "none that torch can use"}]
    rows = []
    for i in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(i)
        rows.append({"what": f"GPU {i}", "value": torch.cuda.get_device_name(i)})
        rows.append({"what": f"GPU {i} memory", "value": f"{free / 2**30:.1f} of {total / 2**30:.1f} GiB free"})
        rows.append({"what": f"GPU {i} utilisation", "value": utilisation(i)})
    return rows


def utilisation(device: int) -> str:
    """How busy a GPU is, in per cent."""
    try:
        return f"{torch.cuda.utilization(device)} %"
    except ModuleNotFoundError:
        return "unknown: pip install nvidia-ml-py"
