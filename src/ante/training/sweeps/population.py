"""Population-based training on Ray Tune: members train in parallel, and the worst copy the weights of the best.

A population's folder has population.yaml, tune/ (Tune's state, used to resume), best/ (a run's folder with the best
member's checkpoint), population.json and lineage.png.
"""

import json
import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable
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
from ante.files import write_text
from ante.paths import inside
from ante.training.policies.registry import make_player, read_policy
from ante.training.rllib.build import build
from ante.training.rllib.checkpoint import restore_algorithm, write_algorithm
from ante.training.rllib.cluster import ray_of_our_own
from ante.training.run.memory_budget import Sizes
from ante.training.run.progress import Progressed, row_of
from ante.training.run_store.checkpoints import METADATA, read_metadata, save_checkpoint
from ante.training.run_store.manifest import FILES, seal
from ante.training.sampling.games import rules
from ante.training.settings.config import BadConfig
from ante.training.sweeps.space import Space
from ante.watch.lineage import Track, draw_lineage

MEMBER = "member"  # subfolder in Tune's checkpoints
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
    """Train one member in a Tune process: report at each comparison, continue from the given checkpoint."""
    torch.set_num_threads(1)
    number = number_of(tune.get_context().get_trial_id())
    values, seed = trial["start"]["values"], trial["start"]["seed"]
    config = space.member(values, seed)
    algorithm = build(config)
    done, parent = Progressed(sizes=Sizes(config.algo.minibatch, config.resources.games_per_runner)), number
    if checkpoint := tune.get_checkpoint():
        with checkpoint.as_directory() as place:
            before = read_metadata(Path(place) / MEMBER)
            restore_algorithm(algorithm, Path(place) / MEMBER)
        parent = before["member"]
        done = replace(done, **{name: before[name] for name in COUNTED})
    while done.steps < config.steps:
        until = min(config.steps, (done.steps // space.every + 1) * space.every)
        while done.steps < until:
            begin = time.perf_counter()
            result = algorithm.train()
            row = row_of(result, done, time.perf_counter() - begin)
        score = row[space.metric]
        report = {"steps": done.steps, "score": -math.inf if math.isnan(score) else score, "parent": parent}
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / MEMBER
            folder.mkdir()
            write_algorithm(algorithm, config, folder)
            seal(folder, METADATA, {"member": number, **{name: getattr(done, name) for name in COUNTED}})
            tune.report({**report, "values": values}, checkpoint=tune.Checkpoint.from_directory(place))
        parent = number
    algorithm.stop()


def number_of(trial: str) -> int:
    """Return a member's number from the name of its Tune trial, such as `1f3a9_00002`."""
    return int(trial.rpartition("_")[2])


def scheduler_of(space: Space, exploits: bool) -> Any:
    """Return Tune's scheduler with bounded exploration, or one that never exploits."""
    if not exploits:
        return FIFOScheduler()
    rng = np.random.default_rng((space.seed, 1))

    def explore(trial: dict[str, Any]) -> dict[str, Any]:
        values = space.explored(trial["start"]["values"], rng)
        return {**trial, "start": {"values": values, "seed": int(rng.integers(2**31))}}

    return PopulationBasedTraining(
        time_attr="steps",
        metric="score",
        mode="max",
        perturbation_interval=space.every,
        quantile_fraction=space.quantile,
        custom_explore_fn=explore,
        synch=True,
        log_config=False,
    )


def starts_of(space: Space) -> list[dict[str, Any]]:
    """Return the initial settings of the members, the same for the population and its control."""
    return [{"values": values, "seed": space.seed * 1000 + k} for k, values in enumerate(space.starts())]


def fit(space: Space, name: str, exploits: bool, advance: Advance) -> list[Any]:
    """Train all members, from the start or resumed, and return Tune's results. Raises BrokenMember."""
    os.environ.setdefault("RAY_CHDIR_TO_TRIAL_DIR", "0")  # otherwise members cannot find relative paths in settings
    config = space.member(space.starts()[0], 0)
    resources = config.resources
    bundles = [
        {"CPU": 1.0},
        *({"CPU": resources.runner_cpus, "GPU": resources.runner_gpus} for _ in range(resources.runners)),
    ]
    bundles += [{"CPU": 1.0, "GPU": resources.learner_gpus} for _ in range(resources.learners)]
    resources = tune.PlacementGroupFactory([{k: v for k, v in each.items() if v} for each in bundles])
    trainable = tune.with_resources(tune.with_parameters(learn, space=space), resources)
    PopulationProgress.advance, PopulationProgress.file = staticmethod(advance), points_file(space, name)
    place, start = space.folder.absolute() / "tune", {"start": tune.grid_search(starts_of(space))}
    if tune.Tuner.can_restore(str(place / name)):
        tuner = tune.Tuner.restore(str(place / name), trainable, param_space=start, restart_errored=True)
    else:
        tuner = tune.Tuner(
            trainable,
            param_space=start,
            tune_config=tune.TuneConfig(scheduler=scheduler_of(space, exploits)),
            run_config=tune.RunConfig(
                name=name,
                storage_path=str(place),
                callbacks=[PopulationProgress()],
                verbose=0,
                failure_config=tune.FailureConfig(max_failures=2),
                checkpoint_config=tune.CheckpointConfig(num_to_keep=4),
            ),
        )
    results = tuner.fit()
    if results.errors:
        raise BrokenMember(f"a member of {space.folder} failed: {str(results.errors[0]).splitlines()[-1]}")
    # The folder's name identifies the trial; after a restore `metrics` may belong to a copied checkpoint.
    return sorted(results, key=lambda result: number_of("_".join(Path(result.path).name.split("_")[1:3])))


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
        point = {name: result[name] for name in ("steps", "score", "values", "parent")}
        with PopulationProgress.file.open("a") as stream:
            stream.write(json.dumps({"member": number_of(trial.trial_id), **point}) + "\n")


def points_of(file: Path, number: int) -> tuple[Point, ...]:
    """Return a member's comparisons in order; entries repeated after a resume replace earlier ones."""
    lines = [json.loads(line) for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")]
    last = {line["steps"]: line for line in lines if line["member"] == number}
    return tuple(
        Point(int(each["steps"]), float(each["score"]), each["values"], int(each["parent"]))
        for _, each in sorted(last.items())
    )


def member_of(space: Space, number: int, points: tuple[Point, ...], result: Any) -> Member:
    """Return a member from its comparisons and Tune's result, evaluated on seeds that chose nothing."""
    checkpoint = Path(result.checkpoint.path)
    read_metadata(checkpoint / MEMBER)
    policy = read_policy(checkpoint / MEMBER)
    config = space.member(points[-1].values, 0)
    player = make_player(policy, f"member {number}", reorder=config.games.reorder)
    seeds, horizon = evaluation_seeds(space.eval_games), config.games.max_decisions
    return Member(number, points, checkpoint, evaluate(player, seeds, **rules(config), max_decisions=horizon))


def keep_space(space: Space) -> None:
    """Save the population's settings in its folder. Raises BadConfig if the folder has different settings."""
    file, text = space.folder / "population.yaml", yaml.safe_dump(space.model_dump(mode="json"), sort_keys=False)
    if file.exists() and file.read_text() != text:
        raise BadConfig(f"{space.folder} contains a population with other settings: change name in the file")
    space.folder.mkdir(parents=True, exist_ok=True)
    write_text(file, text)


def train_population(space: Space, control: bool, bar: Callable[[int, str], Any]) -> "PopulationResult":
    """Train the population and, with `control`, its initial settings without exploitation.

    bar  returns a context manager that yields a progress callback: (total steps, text). A stopped population resumes.
    Raises BadConfig, BrokenMember.
    """
    keep_space(space)
    total, found = space.population * space.steps, dict[str, list[Member]]()
    with ray_of_our_own():
        for name in ("population", "control") if control else ("population",):
            with bar(total, name) as advance:
                results = fit(space, name, name == "population", advance)
            with bar(len(results), f"evaluating {name}") as advance:
                found[name] = []
                for number, result in enumerate(results):
                    points = points_of(points_file(space, name), number)
                    found[name].append(member_of(space, number, points, result))
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
