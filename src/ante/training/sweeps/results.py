"""The results of a sweep: a table, plots, and the best settings as a preset file and as a run."""

import json
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console

from ante.agents.evaluate import Report
from ante.errors import BalatroError
from ante.files import inside, write_text
from ante.training.run.evaluate import evaluate_run, write_report
from ante.training.run_store.checkpoints import read_metadata, save_checkpoint
from ante.training.run_store.lineage import read_lineage, write_lineage
from ante.training.run_store.manifest import FILES
from ante.training.run_store.session import publishing
from ante.training.settings.config import TrainConfig, merge
from ante.training.sweeps.ancestry import Track, draw_lineage
from ante.training.sweeps.coordinates import draw_coordinates
from ante.training.sweeps.saved import DIVERGED, TRIAL, Point, Record, SavedTrial
from ante.training.sweeps.spec import PopulationBased, Sweep

RESULTS, PRESET, BEST = "results.json", "best.yaml", "best"
COORDINATES, LINEAGE_PLOT = "trials.png", "lineage.png"


class Unfinished(BalatroError, RuntimeError):
    """Trials of a sweep have not ended, or none reached its last step."""


@dataclass(frozen=True)
class TrialResult:
    """One trial: its evaluations, and the last line of its error if it failed."""

    number: int
    points: tuple[Point, ...]
    error: str = ""

    @property
    def last(self) -> Point | None:
        """The last evaluation."""
        return self.points[-1] if self.points else None

    def state(self, steps: int) -> str:
        """Return what became of the trial, given the steps of the sweep."""
        if self.error:
            return "failed"
        if self.last is None:
            return "waiting"
        if self.last.score == DIVERGED:
            return "diverged"
        if self.last.steps >= steps:
            return "finished"
        return "stopped early" if self.last.ended else "training"


@dataclass(frozen=True)
class SweepResult:
    """The trials of a sweep, and the evaluations of the best one and the baselines on fresh games."""

    sweep: Sweep
    trials: tuple[TrialResult, ...]
    reports: tuple[Report, ...] = ()

    @property
    def best(self) -> TrialResult:
        """The trial with the best last score among those that finished. Raises Unfinished if there is none."""
        finished = [each for each in self.ranked() if each.state(self.sweep.steps) == "finished"]
        if not finished:
            raise Unfinished(
                f"no trial of {self.sweep.folder} reached {self.sweep.steps:,} steps: look at its table, and search "
                "smaller ranges"
            )
        return finished[0]

    def ranked(self) -> list[TrialResult]:
        """Return all trials: longest first, and the best score first among those of equal length."""
        every = self.sweep.every

        def place(trial: TrialResult) -> tuple[bool, int, float]:
            last = trial.last
            return (True, 0, 0.0) if last is None else (trial.error != "", -(last.steps // every), -last.score)

        return sorted(self.trials, key=place)

    def to_json(self) -> str:
        """Return all trials, best first, as JSON."""
        rows = [
            {
                "trial": each.number,
                "state": each.state(self.sweep.steps),
                "points": [point.model_dump(exclude={"trial"}) for point in each.points],
                **({"error": each.error} if each.error else {}),
            }
            for each in self.ranked()
        ]
        return json.dumps({"best": self.best.number, "metric": self.sweep.metric, "trials": rows}, indent=1)


def conclude(
    sweep: Sweep,
    record: Record,
    kept: Mapping[int, SavedTrial],
    failed: Mapping[int, str],
    show_stage: Callable[[str], None],
) -> SweepResult:
    """Write the results, evaluate the best trial on fresh games, and return the results. Raises Unfinished."""
    trials = tuple(TrialResult(number, tuple(of), failed.get(number, "")) for number, of in record.points().items())
    found = SweepResult(sweep, trials)
    best = found.best
    write_text(sweep.folder / RESULTS, found.to_json())
    draw_coordinates(sweep, trials, sweep.folder / COORDINATES)
    written = [RESULTS, COORDINATES, PRESET]
    if isinstance(sweep.method, PopulationBased):
        draw_lineage(tracks(sweep, trials), sweep.metric, sweep.folder / LINEAGE_PLOT)
        written.append(LINEAGE_PLOT)
    write_text(sweep.folder / PRESET, preset(sweep, best))
    config = write_run(sweep, best, kept[best.number])
    show_stage(f"evaluating trial {best.number} on {config.evaluation.games} fresh games")
    reports = tuple(report for _, report in evaluate_run(config, lambda _: None))
    write_report(config, reports[0])
    for path in written:
        record.upload(path)
    if sweep.store:
        publish_run(config, record.storage)
    return SweepResult(sweep, trials, reports)


def publish_run(config: TrainConfig, store: str) -> None:
    """Upload a run that has ended to a store. Raises StorageError."""
    placed = config.model_copy(update={"store": store})
    with publishing(placed, resume=True, console=Console(stderr=True)) as publisher:
        assert publisher
        publisher.files(last=True)


def tracks(sweep: Sweep, trials: tuple[TrialResult, ...]) -> list[Track]:
    """Return the lineage of each trial that has evaluations; a choice that is not a number is drawn by its position in the list."""

    def numbers(values: dict[str, Any]) -> dict[str, float]:
        plain = {name: isinstance(value, (int, float)) for name, value in values.items()}
        return {name: value if plain[name] else sweep.search[name].position(value) for name, value in values.items()}

    return [
        Track(each.number, [(p.steps, p.score, p.parent, numbers(p.values)) for p in each.points])
        for each in trials
        if each.points
    ]


def preset(sweep: Sweep, best: TrialResult) -> str:
    """Return the best trial's settings as a preset file for `ante train --preset FILE`."""
    last = best.last
    assert last is not None
    head = (
        f"# trial {best.number} of {sweep.trials} of sweep {sweep.name} ({sweep.method.kind})\n"
        f"# reaches: {sweep.metric} {last.score:.4g} in validation games after {last.steps:,} steps\n"
    )
    own = {"name": f"{sweep.name}-best", "steps": sweep.steps}
    return head + yaml.safe_dump(merge(merge(sweep.settings, sweep.rounded(last.values)), own), sort_keys=False)


def write_run(sweep: Sweep, best: TrialResult, saved: SavedTrial) -> TrainConfig:
    """Write the folder of a run with the best trial's checkpoint and return its settings."""
    last = best.last
    assert last is not None
    config = sweep.config(last.values, saved.point.seed, BEST)
    shutil.rmtree(config.folder, ignore_errors=True)
    config.folder.mkdir(parents=True)
    write_text(config.folder / "config.yaml", config.to_yaml())
    if lineage := read_lineage(sweep.folder):
        write_lineage(config.folder, lineage)
    counted = read_metadata(saved.folder / TRIAL)

    def copy(folder: Path) -> None:
        for name in counted[FILES]:
            shutil.copyfile(inside(saved.folder / TRIAL, name), folder / name)

    metadata: dict[str, Any] = {
        "timesteps": counted["steps"],
        "minibatch": config.algo.minibatch,
        "games_per_runner": config.resources.games_per_runner,
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        **{name: counted[name] for name in ("games", "seconds", "iteration")},
        "reward": last.score,
        "best_reward": last.score,
    }
    save_checkpoint(config.folder / "checkpoints", counted["steps"], copy, metadata, best=True)
    return config
