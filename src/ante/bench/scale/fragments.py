"""Traffic and driver time of many env runners and learners on one machine, for `ante bench fragments`.

The env runners are stubs that send one recorded fragment (`stub_runner`), the learners real processes with a tiny
network, the driver's training step the real one. It is repeated with fewer runners: as in a smaller run, and after the
loss of some of 64. Bytes are counted in the learners. Driver time is processor time of the driver's process, which
other processes on the machine do not change.
"""

import logging
import pickle
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import ray
import torch
from ray.rllib.core import DEFAULT_MODULE_ID

from ante.bench.engine_speed import Row, row_of
from ante.bench.scale.stub_runner import StubRunner
from ante.training.compat import add_runners
from ante.training.learning.ppo import PPOLearner
from ante.training.rllib.build import fast_config
from ante.training.rllib.cluster import ray_of_our_own
from ante.training.rllib.run_settings import ENV
from ante.training.rllib.stock import make_env
from ante.training.sampling.fragment import Rollout
from ante.training.sampling.training_data import Fragments
from ante.training.settings.config import make_config

LEARNERS, RUNNERS = 4, (8, 16, 32, 64)
LOST = (1, 2, 10)  # runners, in all
GAMES, STEPS = 64, 64  # of each runner and fragment
SETTINGS = {
    "policy.kind": "mlp",
    "policy.hidden": (8,),
    "algo.epochs": 1,
    "resources.games_per_runner": GAMES,
    "algo.batch": GAMES * STEPS,
    "algo.minibatch": GAMES * STEPS // 4,
}
FETCHED = "fetched_"  # metrics of the learners: bytes of the fragments that they read, by rank


class CountingLearner(PPOLearner):
    """A learner that logs the bytes of the fragments that it fetches, each whole."""

    def _learn_from(self, fragments: Fragments, before: int, epochs: int, minibatch: int | None) -> int:
        played = [ray.get(share.fragment) for share in fragments.shares]
        rank = torch.distributed.get_rank()
        size = float(sum(each.nbytes for each in played))
        self.metrics.log_value((DEFAULT_MODULE_ID, f"{FETCHED}{rank}"), size, window=1)
        return super()._learn_from(fragments, before, epochs, minibatch)


def fragment_rows(
    repeats: int, runners: Sequence[int] = RUNNERS, learners: int = LEARNERS, lost: Sequence[int] = LOST
) -> list[Row]:
    """Return bytes per learner and driver time per update, by number of runners and after losses."""
    rows: list[Row] = []
    with ray_of_our_own(num_cpus=learners + 2, logging_level=logging.ERROR), simulated(learners) as simulation:
        for count in runners:
            simulation.grow(count)
            rows += simulation.measured(f"{count} runners", repeats)
        whole = max(simulation.fetched)
        for count in lost:
            name = f"{runners[-1]} runners, {count} lost"
            simulation.lose(runners[-1] - count)
            rows += simulation.measured(name, repeats)
            rows.append(row_of(f"{name}: bytes per learner against none lost", [max(simulation.fetched) / whole], "x"))
    return rows


@contextmanager
def simulated(learners: int) -> "Iterator[Simulation]":
    """Provide a simulation and end its processes afterwards."""
    simulation = Simulation(learners)
    try:
        yield simulation
    finally:
        simulation.algorithm.learner_group.shutdown()


class Simulation:
    """An algorithm whose env runners are stubs.

    fetched  bytes that each learner fetched in the last update
    """

    def __init__(self, learners: int) -> None:
        from ray.tune.registry import register_env

        register_env(ENV, make_env)
        config = make_config({**SETTINGS})
        own = fast_config(config).learners(num_learners=learners, learner_class=CountingLearner)
        self.algorithm: Any = own.training(train_batch_size_per_learner=config.algo.batch // learners).build_algo()
        runner = self.algorithm.env_runner_group.local_env_runner
        sampled = runner.fragment(by_reference=False)
        self.columns = {each.name: getattr(sampled.fragment, each.name) for each in fields(Rollout)}
        self.rest = pickle.dumps(tuple(sampled[1:]))
        self.bytes = sampled.fragment.nbytes
        self.algorithm.config = self.algorithm.config.copy(copy_frozen=False)
        self.actors: list[Any] = []
        self.fetched: list[float] = []

    def grow(self, count: int) -> None:
        """Add stubs up to a number of runners."""
        made = ray.remote(num_cpus=0)(StubRunner)
        new = [made.remote(self.columns, self.rest) for _ in range(count - len(self.actors))]
        add_runners(self.algorithm.env_runner_group, new)
        self.actors += new
        self.algorithm.config.num_env_runners = count

    def lose(self, left: int) -> None:
        """Kill stubs down to a number of runners, and make the update in which they are missed."""
        while len(self.actors) > left:
            ray.kill(self.actors.pop())
        self.update()

    def update(self) -> tuple[float, float]:
        """Make one update and return the driver's processor time and the wall time, in seconds."""
        cpu, wall = time.process_time(), time.perf_counter()
        self.algorithm.training_step()
        learned = self.algorithm.metrics.reduce()
        spent = time.process_time() - cpu, time.perf_counter() - wall
        found = learned["learners"][DEFAULT_MODULE_ID]
        self.fetched = [float(found[name].peek()) for name in sorted(found) if name.startswith(FETCHED)]
        return spent

    def measured(self, name: str, repeats: int) -> list[Row]:
        """Return the rows of some updates, after one that is not counted."""
        self.update()
        spent, most = [], []
        for _ in range(repeats):
            spent.append(self.update())
            most.append(max(self.fetched))
        cpu, wall = ([1000 * seconds for seconds in each] for each in zip(*spent, strict=True))
        return [
            row_of(f"{name}: most bytes fetched by a learner", most, "bytes"),
            row_of(f"{name}: driver, processor time", cpu, "ms"),
            row_of(f"{name}: update, wall time", wall, "ms"),
        ]
