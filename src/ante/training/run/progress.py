"""The progress of a run: its row of metrics, and the metadata of its checkpoints."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ray.rllib.algorithms.algorithm import Algorithm

from ante.env.reward import Reward
from ante.metrics import METRICS, Source
from ante.training.rllib.checkpoint import write_algorithm
from ante.training.run.memory_budget import Sizes
from ante.training.run_store.checkpoints import evaluated_steps, save_checkpoint, with_facts
from ante.training.settings.config import TrainConfig

NEEDED = ("games", "seconds", "iteration", "minibatch", "games_per_runner", "best_reward")  # facts of a checkpoint


@dataclass
class Progressed:
    """The progress of a run.

    saved            iteration of its last checkpoint, 0 if there is none
    precision        float32 or bf16, which the run has used since its start; empty before
    games_restarted  why the games of the checkpoint are not continued; empty if they are
    """

    steps: int = 0
    games: int = 0
    seconds: float = 0.0
    iteration: int = 0
    best: float = -math.inf
    best_trial: float = -math.inf
    row: dict[str, float] = field(default_factory=dict)
    sizes: Sizes = field(default_factory=lambda: Sizes(0, 0))
    stage: int = 1
    saved: int = 0
    precision: str = ""
    games_restarted: str = ""


def row_of(result: dict[str, Any], done: Progressed, seconds: float) -> dict[str, float]:
    """Add one iteration to `done` and return its metrics: those of the loop, the env runners and the learner."""
    runners, learner = result["env_runners"], result["learners"]["default_policy"]
    steps, games = int(runners["num_env_steps_sampled"]), int(runners.get("num_episodes", 0))
    done.steps += steps
    done.games += games
    done.iteration += 1
    done.seconds += seconds
    row = {
        "iteration": done.iteration,
        "steps": done.steps,
        "games": done.games,
        "seconds": done.seconds,
        "steps_per_second": steps / seconds,
        "games_per_second": games / seconds,
    }
    return row | reported("runners", runners) | reported("learner", learner)


def reported(source: Source, results: Mapping[str, Any]) -> dict[str, float]:
    """Return the metrics of a source from RLlib's results; NaN for missing ones."""
    return {
        metric.name: float(results.get(metric.key or metric.name, math.nan))
        for metric in METRICS
        if metric.source == source
    }


def progressed(config: TrainConfig, metadata: dict[str, Any]) -> Progressed:
    """Return the progress of a checkpoint. Sizes reduced for memory are kept until they or the budget are changed.

    Raises BadCheckpoint.
    """
    with_facts(config.folder / "checkpoints", metadata, NEEDED)
    sizes, reduced = configured(config), Sizes(metadata["minibatch"], metadata["games_per_runner"])
    before = metadata.get("configured_games", config.resources.games_per_runner)
    if (metadata.get("memory_gb"), before) == (config.resources.memory_gb, sizes.games):
        sizes = reduced
    return Progressed(
        steps=metadata["timesteps"],
        games=metadata["games"],
        seconds=metadata["seconds"],
        iteration=metadata["iteration"],
        best=metadata["best_reward"],
        best_trial=metadata.get("best_trial", -math.inf),
        sizes=sizes,
        stage=metadata.get("stage", 1),
        saved=metadata["iteration"],
        precision=metadata.get("precision", ""),
    )


def configured(config: TrainConfig) -> Sizes:
    """Return the sizes of the configuration."""
    return Sizes(config.algo.minibatch, config.resources.games_per_runner)


def complete_after(config: TrainConfig) -> int | None:
    """Return the steps of a run that is trained and evaluated as configured; None for any other run."""
    steps = evaluated_steps(config.folder, config.evaluation.games)
    return steps if steps is not None and steps >= config.steps else None


@dataclass(frozen=True)
class Saved:
    """A newly written checkpoint."""

    folder: Path
    metadata: dict[str, Any]
    best: bool


def save(
    config: TrainConfig, algorithm: Algorithm, done: Progressed, check: Callable[[], None] = lambda: None
) -> Saved:
    """Save a checkpoint of the run. It becomes the best one by its short evaluation, or by its merit.

    check  raises RunGone if the run's folder was moved or deleted

    Raises CannotSave, and NotFinite if the weights are not finite; then no checkpoint is written.
    """
    reached, tried = merit(config, done), done.row.get("eval_blinds", math.nan)
    best = tried > done.best_trial if config.evaluation.every else reached > done.best
    best = best or not (config.folder / "checkpoints" / "best.json").exists()
    done.best = max(done.best, reached) if not math.isnan(reached) else done.best
    done.best_trial = max(done.best_trial, tried) if not math.isnan(tried) else done.best_trial
    metadata = {
        "reward": done.row["return"],
        "best_reward": done.best,
        "trial": tried,
        "best_trial": done.best_trial,
        "timesteps": done.steps,
        "games": done.games,
        "seconds": done.seconds,
        "iteration": done.iteration,
        "memory_gb": config.resources.memory_gb,
        "minibatch": done.sizes.minibatch,
        "games_per_runner": done.sizes.games,
        "configured_games": config.resources.games_per_runner,
        "stage": done.stage,
        "precision": done.precision,
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    folder = save_checkpoint(
        config.folder / "checkpoints",
        done.steps,
        lambda folder: write_algorithm(algorithm, config, folder),
        metadata,
        best,
        config.checkpoints.keep,
        check,
    )
    done.saved = done.iteration
    return Saved(folder, metadata, best)


def merit(config: TrainConfig, done: Progressed) -> float:
    """Return the value by which checkpoints are compared: mean return, or blinds beaten if a potential is paid.

    (Without a discount a potential costs a little in every step, so long games would score low.) NaN if the games are
    from an earlier stage: those cannot be compared.
    """
    if config.games.curriculum and done.row["stage"] != done.stage:
        return math.nan
    paid = config.games.weighted_reward
    return done.row["blinds" if isinstance(paid, Reward) and paid.potential else "return"]
