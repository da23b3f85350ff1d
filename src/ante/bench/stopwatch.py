"""Breakdown of an iteration's time into the spans of the training path, without double counting."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from ante.training.spans import listening

PARTS = {  # names in `spans`, and the remainder
    "env": "games: step, observe, mask, reset",
    "pack": "packing observations",
    "forward": "forward pass of sampling",
    "sample": "drawing masked actions",
    "GAE": "advantages",
    "copy": "copies and bookkeeping of rollouts and minibatches",
    "stage": "unpacking of rows for the first layer",
    "gradient": "gradient steps: forward, loss, backward",
    "optimizer": "gradient steps: norm and Adam",
    "sync": "weights from learner to runner",
    "rest": "the rest: RLlib's bookkeeping",
}


class Stopwatch:
    """Seconds by part, excluding nested parts, for one thread.

    seconds  part -> seconds since `clear`
    mark     context manager called with a part's name, such as torch.profiler.record_function
    """

    def __init__(self, mark: Callable[[str], AbstractContextManager[Any]] = nullcontext) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._mark = mark
        self._inner = [0.0]  # seconds of nested parts within each running part

    def clear(self) -> None:
        """Reset all times."""
        self.seconds.clear()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Attribute the time of this context to a part."""
        begin = time.perf_counter()
        self._inner.append(0.0)
        try:
            with self._mark(name):
                yield
        finally:
            whole = time.perf_counter() - begin
            self.seconds[name] += whole - self._inner.pop()
            self._inner[-1] += whole

    @contextmanager
    def watching(self) -> Iterator["Stopwatch"]:
        """Time the spans of this thread within this context."""
        with listening(self.part):
            yield self


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of `work` and its seconds."""
    begin = time.perf_counter()
    result = work()
    return result, time.perf_counter() - begin


def over(ones: list[float], twos: list[float]) -> list[float]:
    """Return the ratios turn by turn."""
    return [one / two for one, two in zip(ones, twos, strict=True)]
