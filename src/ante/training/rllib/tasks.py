"""Parallel calls of a function on a local Ray."""

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ray

from ante.training.rllib.cluster import ray_of_our_own


def parallel_calls(
    function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], workers: int
) -> Iterator[tuple[int, Any]]:
    """Call a function with each tuple of arguments, in `workers` processes; yield (index, result) as the calls end."""
    with ray_of_our_own(num_cpus=workers, address="local", logging_level=logging.ERROR):
        task = ray.remote(num_cpus=1)(function)
        waiting = list(enumerate(arguments))
        running: dict[Any, int] = {}
        while waiting or running:
            while waiting and len(running) < workers:
                index, given = waiting.pop(0)
                running[task.remote(*given)] = index
            done, _ = ray.wait(list(running), num_returns=1)
            yield running.pop(done[0]), ray.get(done[0])
