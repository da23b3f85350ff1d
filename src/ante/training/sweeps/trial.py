"""One trial of a sweep in a process of Ray Tune: trains, evaluates itself on validation games and saves checkpoints."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from ray import tune

from ante.training.rllib.build import build
from ante.training.rllib.checkpoint import restore_algorithm, write_algorithm
from ante.training.rllib.cluster import bundles
from ante.training.rllib.storage_path import ray_storage
from ante.training.run.evaluate import trial as short_evaluation
from ante.training.run.health import Health, NoFragments
from ante.training.run.memory_budget import Sizes
from ante.training.run.progress import Progressed, row_of
from ante.training.run.warm_start import read_start
from ante.training.run_store.checkpoints import METADATA, read_metadata
from ante.training.run_store.manifest import seal
from ante.training.run_store.weights import NotFinite
from ante.training.settings.config import TrainConfig
from ante.training.sweeps.saved import DIVERGED, TRIAL
from ante.training.sweeps.spec import Sweep

COUNTED = ("steps", "games", "seconds", "iteration")


def number_of(trial: str) -> int:
    """Return the position of a Tune trial among those started together, from its name such as `1f3a9_00002`."""
    return int(trial.rpartition("_")[2])


def run_trial(trial: dict[str, Any], sweep: Sweep, numbers: Sequence[int], storage: str) -> None:
    """Train one trial in a Tune process: evaluate and report at each interval, continue from the given checkpoint.

    Args:
        trial: `start`: the settings, the seed and, to continue, the checkpoint and what to report of it first.
        sweep: The sweep.
        numbers: The number of each trial that was started, by its position.
        storage: Folder or URL under which the checkpoint's path is.
    """
    torch.set_num_threads(1)
    number, start = numbers[number_of(tune.get_context().get_trial_id())], trial["start"]
    config = sweep.config(start["values"], start["seed"])
    checkpoint = tune.get_checkpoint()
    if not checkpoint and start.get("folder"):
        checkpoint = stored(storage, start["folder"])
        if "report" in start:
            tune.report({**start["report"], "values": start["values"]}, checkpoint=checkpoint)
    with built(config) as algorithm:
        done, parent = continued(algorithm, config, number, checkpoint)
        health = Health()
        while done.steps < sweep.steps:
            train_until(algorithm, done, min(sweep.steps, (done.steps // sweep.every + 1) * sweep.every), health)
            facts = {"trial": number, "parent": parent, "values": start["values"], "seed": start["seed"]}
            with tempfile.TemporaryDirectory() as place:
                score = None if health.diverged else save(algorithm, sweep, config, done, facts, Path(place) / TRIAL)
                report = {"steps": done.steps, "score": DIVERGED if score is None else score, "parent": parent}
                saved = None if score is None else tune.Checkpoint.from_directory(place)
                tune.report({**report, "values": start["values"]}, checkpoint=saved)
            if saved is None:
                return
            parent = number


@contextmanager
def built(config: TrainConfig) -> Iterator[Any]:
    """Provide the algorithm of a trial and stop it afterwards."""
    algorithm = build(config)
    try:
        yield algorithm
    finally:
        algorithm.stop()


def stored(storage: str, path: str) -> Any:
    """Return the Tune checkpoint at a path under the storage of a sweep."""
    where = ray_storage(storage)
    return tune.Checkpoint(f"{where['storage_path']}/{path}", where.get("storage_filesystem"))


def continued(algorithm: Any, config: TrainConfig, number: int, checkpoint: Any) -> tuple[Progressed, int]:
    """Restore a checkpoint, if there is one. Return the progress, and the trial whose weights these are."""
    done = Progressed(sizes=Sizes(config.algo.minibatch, config.resources.games_per_runner))
    if not checkpoint:
        if warm := read_start(config):
            algorithm.start_from(warm.weights)
        return done, number
    with checkpoint.as_directory() as place:
        before = read_metadata(Path(place) / TRIAL)
        own = before["trial"] == number  # a copy of another trial plays games of its own
        restore_algorithm(algorithm, Path(place) / TRIAL, games=own)
    return replace(done, **{name: before[name] for name in COUNTED}), before["trial"]


def train_until(algorithm: Any, done: Progressed, steps: int, health: Health) -> None:
    """Train up to a number of steps, and count wasted iterations. Raises NoFragments."""
    while done.steps < steps:
        begin = time.perf_counter()
        health.add(row_of(algorithm.train(), done, time.perf_counter() - begin))
        if health.starved:
            raise NoFragments(health.empty, "run the sweep again")


def save(
    algorithm: Any, sweep: Sweep, config: TrainConfig, done: Progressed, facts: dict[str, Any], folder: Path
) -> float | None:
    """Save a sealed checkpoint and return the metric on the validation games; None if the weights are not finite."""
    folder.mkdir()
    try:
        write_algorithm(algorithm, config, folder)
    except NotFinite:
        return None
    score = float(short_evaluation(config, algorithm)[0][f"eval_{sweep.metric}"])
    seal(folder, METADATA, {**facts, "score": score, **{name: getattr(done, name) for name in COUNTED}})
    return score


def bundles_of(config: TrainConfig) -> list[dict[str, float]]:
    """Return the resources of a trial: its own process, which samples or learns if no other does, then all others."""
    machine = config.resources
    gpus = (0 if machine.runners else machine.runner_gpus) + (0 if machine.learners else machine.learner_gpus)
    own = {"CPU": 1.0, "GPU": gpus, machine.learner_resource: 0.0 if machine.learners else 1.0}
    return [{name: amount for name, amount in own.items() if name and amount}, *bundles(config)]
