"""Where the time of an iteration goes: functions are watched in place, and every moment is counted once."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any
from unittest.mock import patch  # replaces an attribute, and puts back what was there

from ante.training import kernels

Place = tuple[Any, str, str]  # an object or module, the name of a function of it, the part it belongs to

REST = "the rest: RLlib's own bookkeeping"
PARTS = {
    "env": "games: step, observe, mask, deal anew",
    "pack": "packing observations",
    "forward": "forward pass while playing",
    "sample": "drawing masked actions",
    "GAE": "advantages",
    "copy": "copies and bookkeeping of rollouts and minibatches",
    "stage": "packed rows taken apart for the first layer",
    "gradient": "gradient steps: forward, loss, backward",
    "optimizer": "gradient steps: norm and Adam",
    "sync": "weights from learner to runner",
    "rest": REST,
}


class Stopwatch:
    """Seconds by part; a part's seconds are without those of the parts that are called within it. For one thread.

    seconds  part -> seconds since `clear`
    mark     called with a part's name while it runs, such as torch.profiler.record_function
    """

    def __init__(self, mark: Callable[[str], AbstractContextManager[Any]] = nullcontext) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._mark = mark
        self._inner = [0.0]  # seconds of parts called within each part that is running

    def clear(self) -> None:
        """Nothing has been counted."""
        self.seconds.clear()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """What runs within belongs to this part."""
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
    def watching(self, places: list[Place]) -> Iterator["Stopwatch"]:
        """Calls of these functions are counted while this lasts."""
        with ExitStack() as stack:
            for owner, name, part in places:
                stack.enter_context(patch.object(owner, name, self._watched(getattr(owner, name), part)))
            yield self

    def _watched(self, function: Callable[..., Any], part: str) -> Callable[..., Any]:
        def watched(*args: Any, **kwargs: Any) -> Any:
            with self.part(part):
                return function(*args, **kwargs)

        return watched


def places_of(algorithm: Any) -> list[Place]:
    """The parts of a FastPPO that plays and learns in this process, without overlap. What runs elsewhere is the rest."""
    runner, learner = algorithm.env_runner, algorithm.learner_group._learner
    policy, learned = runner.module, learner._policy()
    places: list[Place] = [
        (runner.games, "step", "env"),
        (runner.games, "reset", "env"),
        (policy, "pack", "pack"),
        (policy, "act", "forward"),
        (kernels, "sample_masked", "sample"),
        (kernels, "gae", "GAE"),
        (runner, "_play", "copy"),
        (learner, "_learn", "copy"),
        (learner, "_minibatch", "gradient"),
        (learner, "postprocess_gradients", "optimizer"),
        (learner, "apply_gradients", "optimizer"),
        (algorithm, "_hand_on_weights", "sync"),
    ]
    return [*places, (learned, "stage", "stage")] if hasattr(learned, "stage") else places


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What it answers, and the seconds it took."""
    begin = time.perf_counter()
    answer = work()
    return answer, time.perf_counter() - begin


def over(ones: list[float], twos: list[float]) -> list[float]:
    """Ratios turn by turn."""
    return [one / two for one, two in zip(ones, twos, strict=True)]
