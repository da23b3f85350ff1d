"""How far a run has come: its line of metrics, and what its checkpoints say of it."""

import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ray.rllib.algorithms.ppo import PPO

from ante.training.budget import Sizes
from ante.training.checkpoints import save_checkpoint
from ante.training.config import TrainConfig


@dataclass
class Progressed:
    """How far a run has come; saved is the iteration of its last checkpoint, 0 where there is none."""

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


def row_of(result: dict[str, Any], done: Progressed, seconds: float) -> dict[str, float]:
    """The metrics of one iteration, which is added to `done`."""
    runners, learner = result["env_runners"], result["learners"]["default_policy"]
    steps, games = int(runners["num_env_steps_sampled"]), int(runners.get("num_episodes", 0))
    done.steps += steps
    done.games += games
    done.iteration += 1
    done.seconds += seconds
    return {
        "iteration": done.iteration,
        "steps": done.steps,
        "games": done.games,
        "seconds": done.seconds,
        "steps_per_second": steps / seconds,
        "games_per_second": games / seconds,
        "return": float(runners.get("episode_return_mean", math.nan)),
        "ante": float(runners.get("ante", math.nan)),
        "blinds": float(runners.get("blinds", math.nan)),
        "win_rate": float(runners.get("win_rate", math.nan)),
        "policy_loss": float(learner.get("policy_loss", math.nan)),
        "value_loss": float(learner["vf_loss"]),
        "entropy": float(learner.get("entropy", math.nan)),
        "sample_seconds": float(runners.get("sample_seconds", math.nan)),
        "learn_seconds": float(learner.get("learn_seconds", math.nan)),
        "policy_lag": float(learner.get("policy_lag", math.nan)),
        "bytes_per_step": float(runners.get("bytes_per_step", math.nan)),
        "kl": float(learner.get("mean_kl_loss", math.nan)),
        "clipped": float(learner.get("clipped", math.nan)),
        "epochs": float(learner.get("epochs", math.nan)),
        "lr": float(learner.get("default_optimizer_learning_rate", math.nan)),
        "games_counted": float(runners.get("games_counted", math.nan)),
        "stage": float(runners.get("stage", math.nan)),
        "q_mean": float(learner.get("q_mean", math.nan)),
        "epsilon": float(learner.get("epsilon", math.nan)),
        "replay_steps": float(learner.get("replay_steps", math.nan)),
        "updates": float(learner.get("updates", math.nan)),
        "hint_loss": float(learner.get("imitation_loss", math.nan)),
        "illegal": float(runners.get("illegal", math.nan)),
    }


def progressed(config: TrainConfig, metadata: dict[str, Any]) -> Progressed:
    """How far a checkpoint had come. Sizes that memory made smaller stay so, until the budget becomes another one."""
    sizes = Sizes(config.minibatch, config.games)
    if metadata.get("memory_gb") == config.memory_gb:
        sizes = Sizes(metadata["minibatch"], metadata["games_per_runner"])
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
    )


@dataclass(frozen=True)
class Saved:
    """A checkpoint that was just written."""

    folder: Path
    metadata: dict[str, Any]
    best: bool


def save(config: TrainConfig, algorithm: PPO, done: Progressed) -> Saved:
    """A checkpoint of the run as it stands. It is the best one by its short evaluation, or by its merit."""
    reached, tried = merit(config, done), done.row.get("eval_blinds", math.nan)
    best = tried > done.best_trial if config.eval_every else reached > done.best
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
        "memory_gb": config.memory_gb,
        "minibatch": done.sizes.minibatch,
        "games_per_runner": done.sizes.games,
        "stage": done.stage,
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    folder = save_checkpoint(
        config.folder / "checkpoints",
        done.steps,
        lambda folder: algorithm.save_to_path(str(folder.resolve() / "algorithm")) and None,
        metadata,
        best,
        config.keep_checkpoints,
    )
    done.saved = done.iteration
    return Saved(folder, metadata, best)


def merit(config: TrainConfig, done: Progressed) -> float:
    """What checkpoints are compared by: the mean return, or blinds beaten where a potential is paid.

    (Without discount a potential costs a little in every step, so that long games look poor.) NaN where the games were
    of a stage before the present one: theirs cannot be compared.
    """
    if config.curriculum and done.row["stage"] != done.stage:
        return math.nan
    return done.row["blinds" if config.paid.potential else "return"]
