"""Where the time of training goes: torch's profiler over a few iterations of the fast path, and our own split."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, record_function
from torch.profiler import profile as torch_profile

from ante.cost.stopwatch import PARTS, Stopwatch, places_of
from ante.files import whole
from ante.training.algorithm import build
from ante.training.config import TrainConfig

MARK = "ante: "  # before the names of our parts in the trace


@dataclass(frozen=True)
class PartTime:
    """One part of our split: microseconds per environment step without the profiler, and its share of the iteration."""

    part: str
    about: str
    us: float
    share: float


@dataclass(frozen=True)
class Operation:
    """One operation of torch over all profiled iterations; milliseconds of its own, without what it calls.

    name   torch's, or "ante: " and a part: what that part does outside torch, in compiled kernels, NumPy and Python
    share  of the time of all operations, CPU and device added
    """

    name: str
    calls: int
    cpu_ms: float
    device_ms: float
    share: float


@dataclass(frozen=True)
class Profile:
    """What `profile` found; steps are those of the profiled iterations."""

    steps: int
    parts: list[PartTime]
    operations: list[Operation]


def profile(config: TrainConfig, iterations: int, trace: Path) -> Profile:
    """Train a little, first by our stopwatch, then under torch's profiler, whose trace is written to a file.

    Everything happens in this process: runner processes and overlap are switched off.
    """
    algorithm = build(config.model_copy(update={"path": "fast", "runners": 0, "overlap": False}))
    try:
        algorithm.train()  # compiles, and brings the games to their stride
        parts = split(algorithm, iterations)
        kinds = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if torch.cuda.is_available() else [])]
        watch = Stopwatch(lambda part: record_function(MARK + part))
        with torch_profile(activities=kinds) as profiler, watch.watching(places_of(algorithm)):
            steps = sum(iterate(algorithm, watch) for _ in range(iterations))
        with whole(trace) as aside:
            profiler.export_chrome_trace(str(aside))
    finally:
        algorithm.stop()
    return Profile(steps, parts, operations(profiler.key_averages()))


def iterate(algorithm: Any, watch: Stopwatch) -> int:
    """One iteration, all of it in some part; answers its steps."""
    with watch.part("rest"):
        return int(algorithm.train()["env_runners"]["num_env_steps_sampled"])


def split(algorithm: Any, iterations: int) -> list[PartTime]:
    """Our parts, the longest first."""
    watch = Stopwatch()
    with watch.watching(places_of(algorithm)):
        steps = sum(iterate(algorithm, watch) for _ in range(iterations))
    all_seconds = sum(watch.seconds.values())
    parts = [
        PartTime(part, PARTS[part], 1e6 * seconds / steps, seconds / all_seconds)
        for part, seconds in watch.seconds.items()
    ]
    return sorted(parts, key=lambda part: -part.us)


def operations(averages: Any) -> list[Operation]:
    """All operations, the longest first."""
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
