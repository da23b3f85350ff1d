"""Population-based training on Ray Tune: members learn side by side, the worst go on from weights of the best.

A population's folder holds population.yaml, tune/ (Tune's own, from which it goes on after a stop), best/ (a run's folder with
the best member's checkpoint), population.json and lineage.png.
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
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.tune.schedulers import FIFOScheduler, PopulationBasedTraining

from ante.agents.evaluate import Report, evaluate, half_width, panel
from ante.errors import BalatroError
from ante.files import write_text
from ante.training.algorithm import build, ray_of_our_own
from ante.training.budget import Sizes
from ante.training.checkpoints import save_checkpoint
from ante.training.config import BadConfig
from ante.training.games import rules
from ante.training.policies import MODULE_IN_CHECKPOINT, make_player
from ante.training.progress import Progressed, row_of
from ante.training.space import Space
from ante.watch.lineage import Track, draw_lineage

PROGRESS = "progress.json"
Advance = Callable[[int], None]


class BrokenMember(BalatroError, RuntimeError):
    """A member whose training ended with an error, again and again."""


@dataclass(frozen=True)
class Point:
    """A member at one comparison: environment steps, score, settings, and whose weights it began this stretch with."""

    steps: int
    score: float
    values: dict[str, float]
    parent: int


@dataclass(frozen=True)
class Member:
    """One member at its end: what it was at each comparison, and its games on the seed panel."""

    number: int
    points: tuple[Point, ...]
    checkpoint: Path
    report: Report

    @property
    def score(self) -> float:
        """What members are compared by, at the end of training."""
        return self.points[-1].score

    def to_json(self) -> dict[str, Any]:
        """Points, and means of the evaluation with the halves of their 95 % intervals."""
        names = ("mean_blinds", "mean_blinds_half_width", "mean_ante", "mean_ante_half_width")
        evaluated = {name: getattr(self.report, name) for name in names} | {"wins": asdict(self.report.wins)}
        return {"member": self.number, "points": [asdict(each) for each in self.points], **evaluated}


def learn(told: dict[str, Any], space: Space) -> None:
    """One member, in a process of Tune's: trains, reports at each comparison, goes on from the checkpoint it is given."""
    torch.set_num_threads(1)
    number = number_of(tune.get_context().get_trial_id())
    values, seed = told["start"]["values"], told["start"]["seed"]
    config = space.member(values, seed)
    algorithm = build(config)
    done, parent = Progressed(sizes=Sizes(config.minibatch, config.games)), number
    if checkpoint := tune.get_checkpoint():
        with checkpoint.as_directory() as folder:
            algorithm.restore_from_path(str(Path(folder).resolve() / "algorithm"))
            before = json.loads((Path(folder) / PROGRESS).read_text())
        parent = before.pop("member")
        done = replace(done, **before)
    while done.steps < config.steps:
        until = min(config.steps, (done.steps // space.every + 1) * space.every)
        while done.steps < until:
            begin = time.perf_counter()
            result = algorithm.train()
            row = row_of(result, done, time.perf_counter() - begin)
        score = row[space.metric]
        report = {"steps": done.steps, "score": -math.inf if math.isnan(score) else score, "parent": parent}
        with tempfile.TemporaryDirectory() as place:
            algorithm.save_to_path(str(Path(place).resolve() / "algorithm"))
            counted = {name: getattr(done, name) for name in ("steps", "games", "seconds", "iteration")}
            (Path(place) / PROGRESS).write_text(json.dumps({"member": number, **counted}))
            tune.report({**report, "values": values}, checkpoint=tune.Checkpoint.from_directory(place))
        parent = number
    algorithm.stop()


def number_of(trial: str) -> int:
    """A member's number, from Tune's name of its trial, such as `1f3a9_00002`."""
    return int(trial.rpartition("_")[2])


def scheduler_of(space: Space, exploits: bool) -> Any:
    """Who compares members: Tune's own scheduler with our bounds, or nobody."""
    if not exploits:
        return FIFOScheduler()
    rng = np.random.default_rng((space.seed, 1))

    def explore(told: dict[str, Any]) -> dict[str, Any]:
        values = space.explored(told["start"]["values"], rng)
        return {**told, "start": {"values": values, "seed": int(rng.integers(2**31))}}

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
    """What Tune makes the members of; those of the population and those of its control are the same."""
    return [{"values": values, "seed": space.seed * 1000 + k} for k, values in enumerate(space.starts())]


def fit(space: Space, name: str, exploits: bool, advance: Advance) -> list[Any]:
    """Tune's results of all members, trained from the beginning or from where they were stopped. Raises BrokenMember."""
    os.environ.setdefault("RAY_CHDIR_TO_TRIAL_DIR", "0")  # else files that settings name are not found by members
    config = space.member(space.starts()[0], 0)
    bundles = [{"CPU": 1.0}, *({"CPU": config.runner_cpus, "GPU": config.runner_gpus} for _ in range(config.runners))]
    bundles += [{"CPU": 1.0, "GPU": config.learner_gpus} for _ in range(config.learners)]
    resources = tune.PlacementGroupFactory([{k: v for k, v in each.items() if v} for each in bundles])
    trainable = tune.with_resources(tune.with_parameters(learn, space=space), resources)
    Told.advance, Told.file = staticmethod(advance), points_file(space, name)
    place, told = space.folder.absolute() / "tune", {"start": tune.grid_search(starts_of(space))}
    if tune.Tuner.can_restore(str(place / name)):
        tuner = tune.Tuner.restore(str(place / name), trainable, param_space=told, restart_errored=True)
    else:
        tuner = tune.Tuner(
            trainable,
            param_space=told,
            tune_config=tune.TuneConfig(scheduler=scheduler_of(space, exploits)),
            run_config=tune.RunConfig(
                name=name,
                storage_path=str(place),
                callbacks=[Told()],
                verbose=0,
                failure_config=tune.FailureConfig(max_failures=2),
                checkpoint_config=tune.CheckpointConfig(num_to_keep=4),
            ),
        )
    results = tuner.fit()
    if results.errors:
        raise BrokenMember(f"a member of {space.folder} broke down: {str(results.errors[0]).splitlines()[-1]}")
    # The folder's name is the trial's own; after a restore `metrics` may be those that came with another's checkpoint.
    return sorted(results, key=lambda result: number_of("_".join(Path(result.path).name.split("_")[1:3])))


def points_file(space: Space, name: str) -> Path:
    """Every comparison that every member came to, an object a line, in the order in which they were told."""
    return space.folder / f"{name}-points.jsonl"


class Told(tune.Callback):  # type: ignore[misc]
    """Tells a progress bar of steps that were learned, and writes down how all members stood.

    Tune's own record of a member loses what has not been copied to its storage when the member takes over. Tune pickles
    callbacks, so bar and file stand in the class, for one fit.
    """

    advance: ClassVar[Advance]
    file: ClassVar[Path]

    def __init__(self) -> None:
        self.seen: dict[str, int] = {}

    def on_trial_result(self, iteration: int, trials: Any, trial: Any, result: dict[str, Any], **_: Any) -> None:
        """Tune's hook."""
        Told.advance(result["steps"] - self.seen.get(trial.trial_id, 0))
        self.seen[trial.trial_id] = result["steps"]
        point = {name: result[name] for name in ("steps", "score", "values", "parent")}
        with Told.file.open("a") as stream:
            stream.write(json.dumps({"member": number_of(trial.trial_id), **point}) + "\n")


def points_of(file: Path, number: int) -> tuple[Point, ...]:
    """How a member stood at its comparisons, first to last; what was told again after a stop counts as told last."""
    lines = [json.loads(line) for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")]
    last = {line["steps"]: line for line in lines if line["member"] == number}
    return tuple(
        Point(int(each["steps"]), float(each["score"]), each["values"], int(each["parent"]))
        for _, each in sorted(last.items())
    )


def member_of(space: Space, number: int, points: tuple[Point, ...], result: Any) -> Member:
    """A member from its comparisons and Tune's result, with an evaluation on the panel."""
    checkpoint = Path(result.checkpoint.path)
    policy = TorchRLModule.from_checkpoint(str(checkpoint / MODULE_IN_CHECKPOINT))
    config = space.member(points[-1].values, 0)
    player = make_player(policy, f"member {number}", reorder=config.reorder)
    return Member(number, points, checkpoint, evaluate(player, panel()[: space.eval_games], **rules(config)))


def keep_space(space: Space) -> None:
    """The population's settings stand in its folder. Raises BadConfig where other ones do already."""
    file, text = space.folder / "population.yaml", yaml.safe_dump(space.model_dump(mode="json"), sort_keys=False)
    if file.exists() and file.read_text() != text:
        raise BadConfig(f"{space.folder} holds a population with other settings: choose another name in the file")
    space.folder.mkdir(parents=True, exist_ok=True)
    write_text(file, text)


def train_population(space: Space, control: bool, bar: Callable[[int, str], Any]) -> "Outcome":
    """The population has learned, and with `control` its start population too, without anybody taking over.

    bar  makes a context that yields what is told of steps: (steps in all, words). A stopped one goes on.
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
    outcome = Outcome(space, tuple(found["population"]), tuple(found.get("control", ())))
    outcome.write()
    return outcome


@dataclass(frozen=True)
class Outcome:
    """Members that took over from each other, and where asked for those that did not."""

    space: Space
    members: tuple[Member, ...]
    control: tuple[Member, ...]

    @property
    def best(self) -> Member:
        """The member with the best score in training; the evaluation has no say in it."""
        return max(self.members, key=lambda member: member.score)

    @property
    def median(self) -> Member:
        """Of the control the one in the middle by its evaluation, the better of two."""
        return sorted(self.control, key=lambda member: member.report.mean_blinds)[len(self.control) // 2]

    def gain(self) -> tuple[float, float]:
        """Blinds that the best beats more than the median of its start population, and half of the 95 % interval."""
        pairs = zip(self.best.report.records, self.median.report.records, strict=True)
        more = np.array([float(one.blinds - other.blinds) for one, other in pairs])
        return float(more.mean()), half_width(more)

    def verdict(self) -> str:
        """Whether the population was worth it, in a sentence."""
        best = f"member {self.best.number} beats {self.best.report.mean_blinds:.2f} blinds a game"
        if not self.control:
            return f"{best}; nothing to compare it with: --control trains the start population alone"
        more, half = self.gain()
        words = "more than" if more > half else "fewer than" if more < -half else "no different from"
        return f"{best}, {words} the median of its start population trained alone: {more:+.2f} ± {half:.2f}"

    def write(self) -> None:
        """population.json, lineage.png and the best member's run stand in the folder."""
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
        counted = json.loads((best.checkpoint / PROGRESS).read_text())
        metadata = {"timesteps": counted["steps"], "games": counted["games"], "seconds": counted["seconds"]}

        def copy(folder: Path) -> None:
            shutil.copytree(best.checkpoint / "algorithm", folder / "algorithm")

        save_checkpoint(
            config.folder / "checkpoints",
            counted["steps"],
            copy,
            {**metadata, "iteration": counted["iteration"], "reward": best.score, "best_reward": best.score},
            best=True,
        )
