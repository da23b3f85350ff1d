"""Training speed and resources of this machine: the training parts of `ante doctor` and `ante bench gpu`."""

import time
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field

from ante.bench.engine_speed import Row, rate, vector_row
from ante.training.compat import be_quiet
from ante.training.numerics.precision import precision
from ante.training.policies.protocol import on_host
from ante.training.rllib.build import fast_config
from ante.training.sampling.runner import BatchRunner
from ante.training.settings.config import TrainConfig, make_config

BATCHES = (1, 64, 256, 1024)
STEPS = 8192  # steps for measuring the sampling rate
SECONDS = 1.0  # time for measuring the latencies of one batch, with at most CALLS calls
CALLS = 1000
WARM_CALLS = 5
GPU_GAMES = (64, 1024, 4096, 16_384)
GPU_STEPS = 64  # per game and repeat


@dataclass(frozen=True)
class Figure:
    """One measured figure.

    better  whether more or less is better; empty if the figure is not judged
    """

    name: str
    value: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    unit: str
    better: Literal["more", "less", ""] = ""


def figures(config: TrainConfig) -> tuple[str, list[Figure]]:
    """Return the policy's name, steps per second of environment and sampling, and latencies of the policy.

    Uses one thread, as in a runner process. Only the median of the latencies is judged, because the other percentiles
    depend on the load of the machine.
    """
    be_quiet()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        env = vector_row()
        found = [Figure(f"environment, {env.games} games", env.value, "steps/s", "more")]
        runner = make_runner(config, config.resources.games_per_runner)
        found.append(
            Figure(f"sampling, {config.resources.games_per_runner} games", sampling_rate(runner), "steps/s", "more")
        )
        for batch in BATCHES:
            found += latencies(make_runner(config, batch), batch)
    finally:
        torch.set_num_threads(threads)
    weights = sum(parameter.numel() for parameter in runner.module.parameters())
    return f"{type(runner.module).__name__}, {weights:,} weights, {runner._device}", found


def make_runner(config: TrainConfig, games: int) -> BatchRunner:
    """Return a fast-path runner in this process with running games; Ray is not started."""
    made = fast_config(
        config.with_changes(
            {
                "algo.batch": max(config.algo.batch, games),
                "resources.games_per_runner": games,
                "resources.runners": 0,
            }
        )
    )
    runner: BatchRunner = made.env_runner_cls(config=made)
    runner.sample(num_timesteps=4 * games)
    return runner


def sampling_rate(runner: BatchRunner) -> float:
    """Return steps per second of sampling with the policy."""
    begin = time.perf_counter()
    steps = sum(map(len, runner.sample(num_timesteps=STEPS)))
    return steps / (time.perf_counter() - begin)


def gpu_rows() -> list[Row]:
    """Return steps per second of an env runner with its policy (mlp) on a GPU, by place and number of games.

    Raises NoDevice, and NotInstalled without the extra `gpu`.
    """
    be_quiet()
    rows = []
    for n in GPU_GAMES:
        for place in ("gpu", "cpu"):
            runner = make_runner(make_config({"resources.games_on": place, "resources.runner_gpus": 1.0}), n)
            name = f"sampling, mlp on the GPU, games on the {place.upper()}"
            rows.append(rate(name, "steps/s", partial(sampled, runner, GPU_STEPS * n), n))
            del runner  # frees its memory
    return rows


def sampled(runner: BatchRunner, steps: int) -> float:
    """Sample at least this many steps over all games, and return their number."""
    return float(sum(map(len, runner.sample(num_timesteps=steps))))


def latencies(runner: BatchRunner, batch: int) -> list[Figure]:
    """Return milliseconds of one `act` on sampled rows: median, 95th and 99th percentile."""
    rows, rng = runner._rows_now(), torch.Generator(runner._device).manual_seed(0)
    times: list[float] = []
    with precision(runner.config.bf16, runner._device):
        for _ in range(WARM_CALLS):
            runner.module.act(rows, rng)
        end = time.perf_counter() + SECONDS
        while len(times) < CALLS and (not times or time.perf_counter() < end):
            begin = time.perf_counter()
            for output in runner.module.act(rows, rng)[:3]:
                on_host(output)  # synchronises with the device
            times.append(1e3 * (time.perf_counter() - begin))
    return [
        Figure(f"inference, batch {batch:,}, p{percent}", value, "ms", "less" if percent == 50 else "")
        for percent, value in zip((50, 95, 99), percentiles(np.array(times)), strict=True)
    ]


def percentiles(times: NDArray[np.float64]) -> list[float]:
    """Return median, 95th and 99th percentile."""
    return [float(value) for value in np.percentile(times, (50, 95, 99))]


def resource_rows(config: TrainConfig) -> list[dict[str, Any]]:
    """Return rows {what, value} about the resources of a run of this configuration, and the GPUs."""
    limit = config.resources.memory_gb
    rows = [
        {"what": "memory of a run", "value": f"{limit:g} GiB at most" if limit else "no limit"},
        {"what": "object store of a run", "value": f"{config.resources.object_store_gb:g} GiB"},
    ]
    return [*rows, *device_rows()]


def device_rows() -> list[dict[str, Any]]:
    """Return rows {what, value} about the GPUs visible to torch."""
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
    """Return the utilisation of a GPU in per cent."""
    try:
        return f"{torch.cuda.utilization(device)} %"
    except ModuleNotFoundError:
        return "unknown: pip install nvidia-ml-py"
    except Exception as error:  # NVML's own errors, such as "Not Supported" on a MIG device
        return f"unknown: {error}"
