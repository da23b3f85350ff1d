"""Runs the trials of a sweep on Ray Tune, on a local Ray or the cluster at RAY_ADDRESS, from the start or after a stop.

A sweep's folder has sweep.yaml, trials.jsonl (every evaluation), tune/ (the checkpoints of the trials) and, at the end,
results.json, best.yaml, best/ and plots. With a store all but the best run's folder is also there, and a sweep continues
on another machine.
"""

import logging
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar

import yaml
from ray import tune

from ante.files import read_text, write_text
from ante.training.rllib.cluster import check_found, joined_address, ray_of_our_own
from ante.training.rllib.storage_path import ray_storage
from ante.training.run.warm_start import read_start
from ante.training.run_store.lineage import LINEAGE, write_lineage
from ante.training.run_store.lock import locked
from ante.training.settings.config import BadConfig
from ante.training.sweeps.results import SweepResult, Unfinished, conclude
from ante.training.sweeps.saved import (
    DIVERGED,
    RECORD,
    TUNE,
    Point,
    Record,
    SavedTrial,
    last_common,
    newest,
    saved_trials,
)
from ante.training.sweeps.schedulers import scheduler_of
from ante.training.sweeps.spec import PopulationBased, Sweep
from ante.training.sweeps.trial import bundles_of, number_of, run_trial

SPEC = "sweep.yaml"
RETRIES = 2  # of a trial that ended with an error or was lost
Reported = Callable[[Point], None]
Watch = Callable[[dict[int, list[Point]]], AbstractContextManager[Reported]]


@dataclass
class Plan:
    """What remains to be trained.

    numbers  the trials to start
    kept     the checkpoint that each trial has or continues from, by number
    before   the evaluations of each trial up to there
    """

    numbers: list[int]
    kept: dict[int, SavedTrial]
    before: dict[int, list[Point]]


def run_sweep(sweep: Sweep, watch: Watch, show_stage: Callable[[str], None]) -> SweepResult:
    """Train the trials that remain, evaluate the best one on fresh games and return the results.

    Args:
        sweep: The sweep.
        watch: Returns a context manager that shows progress, given all evaluations so far; it yields a function for new ones.
        show_stage: Takes a description of what is in progress after training.

    Raises BadConfig, BadStart, TooFewResources, Unfinished, BadCheckpoint, Unreadable, StorageError, and RunInUse if
    another process runs the sweep.
    """
    failed: dict[int, str] = {}
    with locked(sweep.folder, "sweep", "change name in its file"):
        record = Record(sweep)
        keep_spec(sweep, record)
        keep_lineage(sweep)
        record.fetch(RECORD)
        plan = planned(sweep, record)
        if plan.numbers:
            with watch(plan.before) as reported:
                failed = tune_trials(sweep, plan, record, reported)
            plan = planned(sweep, record)
        check_ended(sweep, plan, failed)
        return conclude(sweep, record, plan.kept, failed, show_stage)


def keep_spec(sweep: Sweep, record: Record) -> None:
    """Save the specification in the sweep's folder. Raises BadConfig if the folder has another one."""
    sweep.folder.mkdir(parents=True, exist_ok=True)
    record.fetch(SPEC)
    file, text = sweep.folder / SPEC, yaml.safe_dump(sweep.model_dump(mode="json"), sort_keys=False)
    if file.exists() and read_text(file) != text:
        raise BadConfig(f"{sweep.folder} contains a sweep with other settings: change name in the file")
    write_text(file, text)
    record.upload(SPEC)


def keep_lineage(sweep: Sweep) -> None:
    """Save the lineage of the policy from which trials start, if there is one. Raises BadStart, BadCheckpoint."""
    if not (sweep.folder / LINEAGE).exists() and (warm := read_start(sweep.config(sweep.starts()[0], 0))):
        write_lineage(sweep.folder, warm.lineage)


def planned(sweep: Sweep, record: Record) -> Plan:
    """Return what remains, and delete checkpoints and evaluations beyond it. Raises BadCheckpoint, Unreadable."""
    record.fetch_checkpoints()
    saved, points = saved_trials(sweep), record.points()
    if isinstance(sweep.method, PopulationBased):
        kept = last_common(saved, sweep)
        complete = kept and all(each.point.steps >= sweep.steps for each in kept.values())
        numbers = [] if complete else list(range(sweep.trials))
    else:
        kept = newest(saved)
        numbers = [number for number, of in points.items() if not has_ended(sweep, of, kept.get(number))]
    reached = {number: kept[number].point.steps if number in kept else -1 for number in numbers}
    lasting = [each for each in record.arrived() if each.steps <= reached.get(each.trial, each.steps)]
    lasting += [Point(**each.point.model_dump(exclude={"seed"})) for number, each in kept.items() if number in reached]
    record.rewrite({(each.trial, each.steps): each for each in lasting}.values())
    record.drop(saved, kept.values())
    return Plan(numbers, kept, record.points())


def has_ended(sweep: Sweep, points: list[Point], saved: SavedTrial | None) -> bool:
    """Return whether a trial has ended; one at the last step also requires its checkpoint."""
    if not points or not points[-1].ended:
        return False
    last = points[-1]
    return last.steps < sweep.steps or last.score == DIVERGED or (saved is not None and saved.point.steps == last.steps)


def start_of(sweep: Sweep, number: int, plan: Plan) -> dict[str, Any]:
    """Return what a trial starts from: its initial settings or its checkpoint, which a population compares again first."""
    if number not in plan.kept:
        return {"values": sweep.starts()[number], "seed": sweep.seed * 1000 + number}
    saved = plan.kept[number]
    point, folder = saved.point, saved.folder.relative_to(sweep.folder).as_posix()
    start = {"values": point.values, "seed": point.seed, "folder": folder}
    if isinstance(sweep.method, PopulationBased):
        start["report"] = point.model_dump(include={"steps", "score", "parent"})
    return start


def tune_trials(sweep: Sweep, plan: Plan, record: Record, reported: Reported) -> dict[int, str]:
    """Train the planned trials on Tune; return the last line of the error of each trial that failed.

    Raises TooFewResources.
    """
    os.environ.setdefault("RAY_CHDIR_TO_TRIAL_DIR", "0")  # otherwise trials cannot find relative paths in settings
    os.environ.setdefault("RAY_AIR_NEW_OUTPUT", "0")  # otherwise Tune prints a header to standard output
    starts = [start_of(sweep, number, plan) for number in plan.numbers]
    requests = [bundles_of(sweep.config(start["values"], 0)) for start in starts]
    most = Counter[str]()
    for each in requests:
        most |= sum((Counter(bundle) for bundle in each), Counter[str]())

    def on_point(position: int, result: dict[str, Any]) -> None:
        point = point_of(sweep, plan.numbers[position], result)
        record.add(point)
        reported(point)

    own = {} if joined_address() else {"num_cpus": max(os.cpu_count() or 1, math.ceil(most["CPU"]))}
    with ray_of_our_own(logging_level=logging.ERROR, **own):
        if not joined_address():
            check_found(most, "a trial")
        SweepProgress.on_point = staticmethod(on_point)
        trainable = tune.with_parameters(run_trial, sweep=sweep, numbers=plan.numbers, storage=record.storage)
        tuner = tune.Tuner(
            tune.with_resources(
                trainable,
                lambda trial: tune.PlacementGroupFactory(bundles_of(sweep.config(trial["start"]["values"], 0))),
            ),
            param_space={"start": tune.grid_search(starts)},
            tune_config=tune.TuneConfig(
                scheduler=scheduler_of(sweep, plan.numbers, plan.before),
                max_concurrent_trials=sweep.parallel or None,
                reuse_actors=True,  # SPEED: a process takes ten seconds to import PyTorch and RLlib
            ),
            run_config=tune.RunConfig(
                name=TUNE,
                **ray_storage(record.storage),
                callbacks=[SweepProgress()],
                verbose=0,
                failure_config=tune.FailureConfig(max_failures=RETRIES),
                checkpoint_config=tune.CheckpointConfig(
                    num_to_keep=4 if isinstance(sweep.method, PopulationBased) else 2
                ),
            ),
        )
        results = tuner.fit()
    errors = {plan.numbers[k]: each.error for k, each in enumerate(results) if each.error}
    return {number: str(error).strip().splitlines()[-1] for number, error in errors.items()}


def point_of(sweep: Sweep, number: int, result: dict[str, Any]) -> Point:
    """Return an evaluation from a result of Tune."""
    ended = bool(result.get("done")) or result["steps"] >= sweep.steps or result["score"] == DIVERGED
    facts = {name: result[name] for name in ("steps", "score", "values", "parent")}
    return Point(trial=number, ended=ended, **facts)


def check_ended(sweep: Sweep, plan: Plan, failed: dict[int, str]) -> None:
    """Raise Unfinished if trials remain that did not fail, or if all failed."""
    left = [number for number in plan.numbers if number not in failed]
    if left or len(failed) == sweep.trials:
        why = f": {next(iter(failed.values()))}" if failed else ""
        raise Unfinished(
            f"{len(plan.numbers)} of {sweep.trials} trials of {sweep.folder} have not ended{why}; run the same command "
            "again to continue"
        )


class SweepProgress(tune.Callback):  # type: ignore[misc]
    """Passes on every evaluation of all trials.

    Tune's own record of a trial loses entries not yet copied to its storage when the trial copies another. Tune pickles
    callbacks, so the function is a class attribute, for one fit at a time.
    """

    on_point: ClassVar[Callable[[int, dict[str, Any]], None]]

    def on_trial_result(
        self, iteration: int, trials: Iterable[Any], trial: Any, result: dict[str, Any], **_: Any
    ) -> None:
        """See tune.Callback."""
        SweepProgress.on_point(number_of(trial.trial_id), result)
