"""Training profile: torch's profiler over a few iterations of the fast path, and Ante's own breakdown."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, record_function
from torch.profiler import profile as torch_profile

from ante.bench.stopwatch import PARTS, Stopwatch
from ante.files import whole
from ante.training.rllib.build import build
from ante.training.settings.algorithms import Overlap, RllibPpo
from ante.training.settings.config import BadConfig, TrainConfig

MARK = "ante: "  # prefix of Ante's parts in the trace


@dataclass(frozen=True)
class PartTime:
    """One part: microseconds per environment step without the profiler, and its share of the iteration."""

    part: str
    about: str
    us: float
    share: float


@dataclass(frozen=True)
class Operation:
    """One torch operation over all profiled iterations; self time in milliseconds.

    name   torch's, or "ante: " and a part for its time outside torch (compiled kernels, NumPy and Python)
    share  of the total time of all operations, CPU plus device
    """

    name: str
    calls: int
    cpu_ms: float
    device_ms: float
    share: float


@dataclass(frozen=True)
class Profile:
    """The result of `profile`; steps are those of the profiled iterations."""

    steps: int
    parts: list[PartTime]
    operations: list[Operation]


def profile(config: TrainConfig, iterations: int, trace: Path) -> Profile:
    """Train a few iterations with the stopwatch, then with torch's profiler, and write its trace to a file.

    Everything runs in this process, without runner processes and overlap.
    """
    algorithm = build(in_this_process(config))
    try:
        algorithm.train()  # warm-up and compilation
        parts = split(algorithm, iterations)
        kinds = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if torch.cuda.is_available() else [])]
        watch = Stopwatch(lambda part: record_function(MARK + part))
        with torch_profile(activities=kinds) as profiler, watch.watching():
            steps = sum(iterate(algorithm, watch) for _ in range(iterations))
        with whole(trace) as aside:
            profiler.export_chrome_trace(str(aside))
    finally:
        algorithm.stop()
    return Profile(steps, parts, operations(profiler.key_averages()))


def in_this_process(config: TrainConfig) -> TrainConfig:
    """Return the configuration with everything in one thread. Raises BadConfig if the algorithm does not support it."""
    algo, alone = config.algo, {"resources.runners": 0}
    if isinstance(algo, Overlap):
        return config.with_changes({**alone, "algo.overlap": False})
    if algo.external or algo.ahead or isinstance(algo, RllibPpo):
        raise BadConfig(f"algo.kind {algo.kind} cannot play and learn in turns in one thread: profile algo.kind ppo")
    return config.with_changes(alone)


def iterate(algorithm: Any, watch: Stopwatch) -> int:
    """Run one iteration within parts; return its steps."""
    with watch.part("rest"):
        return int(algorithm.train()["env_runners"]["num_env_steps_sampled"])


def split(algorithm: Any, iterations: int) -> list[PartTime]:
    """Return the breakdown, longest part first."""
    watch = Stopwatch()
    with watch.watching():
        steps = sum(iterate(algorithm, watch) for _ in range(iterations))
    all_seconds = sum(watch.seconds.values())
    parts = [
        PartTime(part, PARTS[part], 1e6 * seconds / steps, seconds / all_seconds)
        for part, seconds in watch.seconds.items()
    ]
    return sorted(parts, key=lambda part: -part.us)


def operations(averages: Any) -> list[Operation]:
    """Return all operations, longest first."""
    events = list(averages)
    everything = sum(event.self_cpu_time_total + event.self_device_time_total for event in events) or 1.0
    found = [
        Operation(
            event.key,
            event.count,
            event.self_cpu_time_total / 1e3,
            event.self_device_time_total / 1e3,
            (event.self_cpu_time_total + event.self_device_time_total) / everything,
        )
        for event in events
    ]
    return sorted(found, key=lambda operation: -operation.share)
