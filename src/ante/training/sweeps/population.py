"""Population-based training on Ray Tune: members train in parallel, and the worst copy the weights of the best.

A population's folder has population.yaml, tune/ (the members' checkpoints, from which a stopped population continues),
best/ (a run's folder with the best member's checkpoint), population.json and lineage.png.
"""

import json
import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
import yaml
from ray import tune
from ray.tune.schedulers import FIFOScheduler, PopulationBasedTraining

from ante.agents.evaluate import Report, evaluate, half_width
from ante.agents.seed_lists import evaluation_seeds
from ante.errors import BalatroError
from ante.files import Unreadable, parse_json, read_text, write_text
from ante.paths import inside
from ante.training.acting.player import make_player
from ante.training.policies.registry import read_policy
from ante.training.rllib.build import build
from ante.training.rllib.checkpoint import restore_algorithm, write_algorithm
from ante.training.rllib.cluster import ray_of_our_own
from ante.training.run.memory_budget import Sizes
from ante.training.run.progress import Progressed, row_of
from ante.training.run.warm_start import read_start
from ante.training.run_store.checkpoints import METADATA, read_metadata, save_checkpoint
from ante.training.run_store.lineage import LINEAGE, read_lineage, write_lineage
from ante.training.run_store.lock import locked
from ante.training.run_store.manifest import FILES, seal
from ante.training.sampling.games import rules
from ante.training.settings.config import BadConfig
from ante.training.sweeps.ancestry import Track, draw_lineage
from ante.training.sweeps.saved import MEMBER, SavedMember, resume_points, saved_members
from ante.training.sweeps.space import Space

COUNTED = ("steps", "games", "seconds", "iteration")
Advance = Callable[[int], None]


class BrokenMember(BalatroError, RuntimeError):
    """The training of a member failed repeatedly."""


@dataclass(frozen=True)
class Point:
    """A member at one comparison: environment steps, score, settings, and the member whose weights it started from."""

    steps: int
    score: float
    values: dict[str, float]
    parent: int


@dataclass(frozen=True)
class Member:
    """One member after training: its history of comparisons and its evaluation on fresh games."""

    number: int
    points: tuple[Point, ...]
    checkpoint: Path
    report: Report

    @property
    def score(self) -> float:
        """The score at the end of training, by which members are compared."""
        return self.points[-1].score

    def to_json(self) -> dict[str, Any]:
        """Return the points, and the means of the evaluation with the half-widths of their 95 % intervals."""
        names = ("mean_blinds", "mean_blinds_half_width", "mean_ante", "mean_ante_half_width")
        evaluated = {name: getattr(self.report, name) for name in names} | {"wins": asdict(self.report.wins)}
        return {"member": self.number, "points": [asdict(each) for each in self.points], **evaluated}


def learn(trial: dict[str, Any], space: Space) -> None:
    """Train one member in a Tune process: report at each comparison, continue from the given checkpoint.

    The member of a stopped population first reports its last comparison again, which may replace it by another member.
    """
    torch.set_num_threads(1)
    number, start = number_of(tune.get_context().get_trial_id()), trial["start"]
    config = space.member(start["values"], start["seed"])
    checkpoint = tune.get_checkpoint()
    if not checkpoint and start.get("folder"):
        again = {**start["report"], "values": start["values"]}
        checkpoint = tune.Checkpoint.from_directory(start["folder"])
        tune.report(again, checkpoint=checkpoint)
    algorithm: Any = build(config)
    if not checkpoint and (warm := read_start(config)):
        algorithm.start_from(warm.weights)
    done, parent = Progressed(sizes=Sizes(config.algo.minibatch, config.resources.games_per_runner)), number
    if checkpoint:
        with checkpoint.as_directory() as place:
            before = read_metadata(Path(place) / MEMBER)
            own = before["member"] == number  # a copy of another member plays games of its own
            restore_algorithm(algorithm, Path(place) / MEMBER, games=own)
        parent = before["member"]
        done = replace(done, **{name: before[name] for name in COUNTED})
    while done.steps < config.steps:
        until = min(config.steps, (done.steps // space.every + 1) * space.every)
        while done.steps < until:
            begin = time.perf_counter()
            result = algorithm.train()
            row = row_of(result, done, time.perf_counter() - begin)
        score = float(row[space.metric])
        report = {"steps": done.steps, "score": -math.inf if math.isnan(score) else score, "parent": parent}
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / MEMBER
            folder.mkdir()
            write_algorithm(algorithm, config, folder)
            counted = {name: getattr(done, name) for name in COUNTED}
            seal(folder, METADATA, {"member": number, **counted, **start_of(start), **report})
            tune.report({**report, "values": start["values"]}, checkpoint=tune.Checkpoint.from_directory(place))
        parent = number
    algorithm.stop()


def start_of(start: dict[str, Any]) -> dict[str, Any]:
    """Return a member's settings and seed."""
    return {name: start[name] for name in ("values", "seed")}


def number_of(trial: str) -> int:
    """Return a member's number from the name of its Tune trial, such as `1f3a9_00002`."""
    return int(trial.rpartition("_")[2])


def scheduler_of(space: Space, exploits: bool, reached: int) -> Any:
    """Return Tune's scheduler with bounded exploration, or one that never exploits.

    reached  steps at which all members compare first: 0, or those of the comparison that they continue from
    """
    if not exploits:
        return FIFOScheduler()
    rng = np.random.default_rng((space.seed, 1, reached))

    def explore(trial: dict[str, Any]) -> dict[str, Any]:
        values = space.explored(trial["start"]["values"], rng)
        return {**trial, "start": {"values": values, "seed": int(rng.integers(2**31))}}

    return PopulationBasedTraining(
        time_attr="steps",
        metric="score",
        mode="max",
        perturbation_interval=space.every,
        burn_in_period=reached,
        quantile_fraction=space.quantile,
        custom_explore_fn=explore,
        synch=True,
        log_config=False,
    )


def starts_of(space: Space, points: list[SavedMember] | None) -> list[dict[str, Any]]:
    """Return the start of each member: its initial settings, equal in population and control, or its checkpoint."""
    if points is None:
        return [{"values": values, "seed": space.seed * 1000 + k} for k, values in enumerate(space.starts())]
    return [
        {
            "values": each.values,
            "seed": each.seed,
            "folder": str(each.folder),
            "report": {"steps": each.steps, "score": each.score, "parent": each.parent},
        }
        for each in points
    ]


def bundles_of(space: Space) -> tune.PlacementGroupFactory:
    """Return the resources of a member: its own process, its env runners and its learners."""
    resources = space.member(space.starts()[0], 0).resources
    bundles = [
        {"CPU": 1.0},
        *({"CPU": resources.runner_cpus, "GPU": resources.runner_gpus} for _ in range(resources.runners)),
    ]
    bundles += [{"CPU": 1.0, "GPU": resources.learner_gpus} for _ in range(resources.learners)]
    return tune.PlacementGroupFactory([{k: v for k, v in each.items() if v} for each in bundles])


def fit(space: Space, name: str, exploits: bool, advance: Advance) -> list[Path]:
    """Train all members, from the start or from their checkpoints, and return the last checkpoint of each.

    Raises BrokenMember, BadCheckpoint.
    """
    place = space.folder.absolute() / "tune"
    saved = saved_members(place / name, space)
    points = resume_points(saved, space, exploits)
    drop(saved, points)
    for each in points or ():
        record(points_file(space, name), each.number, vars(each))
    if points is None or min(each.steps for each in points) < space.steps:
        tune_members(space, name, exploits, points, advance)
        points = resume_points(saved_members(place / name, space), space, False)
    else:
        advance(sum(each.steps for each in points))
    if points is None or min(each.steps for each in points) < space.steps:
        raise BrokenMember(f"a member of {space.folder} has no checkpoint at its end: run the same command again")
    return [each.folder for each in points]


def tune_members(space: Space, name: str, exploits: bool, points: list[SavedMember] | None, advance: Advance) -> None:
    """Train all members on Tune up to their last step. Raises BrokenMember."""
    os.environ.setdefault("RAY_CHDIR_TO_TRIAL_DIR", "0")  # otherwise members cannot find relative paths in settings
    PopulationProgress.advance, PopulationProgress.file = staticmethod(advance), points_file(space, name)
    reached = min(each.steps for each in points) if points else 0
    tuner = tune.Tuner(
        tune.with_resources(tune.with_parameters(learn, space=space), bundles_of(space)),
        param_space={"start": tune.grid_search(starts_of(space, points))},
        tune_config=tune.TuneConfig(scheduler=scheduler_of(space, exploits, reached)),
        run_config=tune.RunConfig(
            name=name,
            storage_path=str(space.folder.absolute() / "tune"),
            callbacks=[PopulationProgress()],
            verbose=0,
            failure_config=tune.FailureConfig(max_failures=2),
            checkpoint_config=tune.CheckpointConfig(num_to_keep=4),
        ),
    )
    results = tuner.fit()
    if results.errors:
        raise BrokenMember(f"a member of {space.folder} failed: {str(results.errors[0]).splitlines()[-1]}")


def drop(saved: list[SavedMember], points: list[SavedMember] | None) -> None:
    """Delete the checkpoints that no member continues from, so that none of another course is taken later."""
    for each in saved:
        if each not in (points or ()):
            shutil.rmtree(each.folder)


def points_file(space: Space, name: str) -> Path:
    """The file with every comparison of every member, one JSON object per line, in order of arrival."""
    return space.folder / f"{name}-points.jsonl"


class PopulationProgress(tune.Callback):  # type: ignore[misc]
    """Updates the progress bar and records every comparison of all members.

    Tune's own record of a member loses entries not yet copied to its storage when the member exploits another. Tune
    pickles callbacks, so bar and file are class attributes, for one fit at a time.
    """

    advance: ClassVar[Advance]
    file: ClassVar[Path]

    def __init__(self) -> None:
        self.seen: dict[str, int] = {}

    def on_trial_result(self, iteration: int, trials: Any, trial: Any, result: dict[str, Any], **_: Any) -> None:
        """See tune.Callback."""
        PopulationProgress.advance(result["steps"] - self.seen.get(trial.trial_id, 0))
        self.seen[trial.trial_id] = result["steps"]
        record(PopulationProgress.file, number_of(trial.trial_id), result)


def record(file: Path, number: int, point: Mapping[str, Any]) -> None:
    """Append a member's comparison to the file of all comparisons."""
    kept = {name: point[name] for name in ("steps", "score", "values", "parent")}
    with file.open("a") as stream:
        stream.write(json.dumps({"member": number, **kept}) + "\n")


def points_of(file: Path, number: int) -> tuple[Point, ...]:
    """Return a member's comparisons in order; entries repeated after a resume replace earlier ones. Raises Unreadable."""
    lines = [parse_json(line, file) for line in read_text(file).splitlines(keepends=True) if line.endswith("\n")]
    try:
        last = {
            int(line["steps"]): Point(
                int(line["steps"]), float(line["score"]), dict(line["values"]), int(line["parent"])
            )
            for line in lines
            if line["member"] == number
        }
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise Unreadable(
            f"cannot read {file}: a line is not a comparison ({type(error).__name__}: {error}): remove it"
        ) from None
    return tuple(point for _, point in sorted(last.items()))


def member_of(space: Space, number: int, points: tuple[Point, ...], checkpoint: Path) -> Member:
    """Return a member from its comparisons and its last checkpoint, evaluated on evaluation seeds."""
    read_metadata(checkpoint / MEMBER)
    policy = read_policy(checkpoint / MEMBER)
    config = space.member(points[-1].values, 0)
    player = make_player(policy, f"member {number}", reorder=config.games.reorder)
    seeds, horizon = evaluation_seeds(space.eval_games), config.games.max_decisions
    return Member(number, points, checkpoint, evaluate(player, seeds, **rules(config), max_decisions=horizon))


def keep_space(space: Space) -> None:
    """Save the population's settings in its folder. Raises BadConfig if the folder has different settings."""
    file, text = space.folder / "population.yaml", yaml.safe_dump(space.model_dump(mode="json"), sort_keys=False)
    if file.exists() and read_text(file) != text:
        raise BadConfig(f"{space.folder} contains a population with other settings: change name in the file")
    space.folder.mkdir(parents=True, exist_ok=True)
    write_text(file, text)


def keep_lineage(space: Space) -> None:
    """Save the lineage of the policy from which the members start, if there is one. Raises BadStart, BadCheckpoint."""
    if not (space.folder / LINEAGE).exists() and (warm := read_start(space.member(space.starts()[0], 0))):
        write_lineage(space.folder, warm.lineage)


def train_population(space: Space, control: bool, bar: Callable[[int, str], Any]) -> "PopulationResult":
    """Train the population and, with `control`, its initial settings without exploitation.

    bar  returns a context manager that yields a progress callback: (total steps, text). A stopped population resumes.
    Raises BadConfig, BadStart, BrokenMember, BadCheckpoint, Unreadable, and RunInUse if another process trains it.
    """
    total, found = space.population * space.steps, dict[str, list[Member]]()
    with locked(space.folder, "population", "change name in its file"), ray_of_our_own():
        keep_space(space)
        keep_lineage(space)
        for name in ("population", "control") if control else ("population",):
            with bar(total, name) as advance:
                checkpoints = fit(space, name, name == "population", advance)
            with bar(len(checkpoints), f"evaluating {name}") as advance:
                found[name] = []
                for number, checkpoint in enumerate(checkpoints):
                    points = points_of(points_file(space, name), number)
                    found[name].append(member_of(space, number, points, checkpoint))
                    advance(1)
    outcome = PopulationResult(space, tuple(found["population"]), tuple(found.get("control", ())))
    outcome.write()
    return outcome


@dataclass(frozen=True)
class PopulationResult:
    """The trained members, and those of the control if requested."""

    space: Space
    members: tuple[Member, ...]
    control: tuple[Member, ...]

    @property
    def best(self) -> Member:
        """The member with the best score in training; the evaluation is not used for selection."""
        return max(self.members, key=lambda member: member.score)

    @property
    def median(self) -> Member:
        """The control's median member by evaluation, the better of the middle two."""
        return sorted(self.control, key=lambda member: member.report.mean_blinds)[len(self.control) // 2]

    def gain(self) -> tuple[float, float]:
        """Return by how many blinds the best exceeds the control's median, and the half-width of the 95 % interval."""
        pairs = zip(self.best.report.records, self.median.report.records, strict=True)
        more = np.array([float(one.blinds - other.blinds) for one, other in pairs])
        return float(more.mean()), half_width(more)

    def verdict(self) -> str:
        """Return a one-sentence comparison with the control."""
        best = f"member {self.best.number} beats {self.best.report.mean_blinds:.2f} blinds per game"
        if not self.control:
            return f"{best}; no control was trained: --control also trains the initial settings without exploitation"
        more, half = self.gain()
        words = "more than" if more > half else "fewer than" if more < -half else "not significantly different from"
        return f"{best}, {words} the median of the control: {more:+.2f} ± {half:.2f}"

    def write(self) -> None:
        """Write population.json, lineage.png and the best member's run to the folder."""
        space, best = self.space, self.best
        data: dict[str, Any] = {"best": best.number, "verdict": self.verdict()}
        for name, members in (("members", self.members), ("control", self.control)):
            data[name] = [member.to_json() for member in members]
        write_text(space.folder / "population.json", json.dumps(data, indent=1))
        tracks = [Track(m.number, [(p.steps, p.score, p.parent, p.values) for p in m.points]) for m in self.members]
        draw_lineage(tracks, space.metric, space.folder / "lineage.png")
        config = space.member(best.points[-1].values, space.seed, "best")
        shutil.rmtree(config.folder, ignore_errors=True)
        config.folder.mkdir(parents=True)
        write_text(config.folder / "config.yaml", config.to_yaml())
        if lineage := read_lineage(space.folder):
            write_lineage(config.folder, lineage)
        counted = read_metadata(best.checkpoint / MEMBER)
        metadata = {"timesteps": counted["steps"], "games": counted["games"], "seconds": counted["seconds"]}

        def copy(folder: Path) -> None:
            for name in counted[FILES]:
                shutil.copyfile(inside(best.checkpoint / MEMBER, name), folder / name)

        save_checkpoint(
            config.folder / "checkpoints",
            counted["steps"],
            copy,
            {**metadata, "iteration": counted["iteration"], "reward": best.score, "best_reward": best.score},
            best=True,
        )
