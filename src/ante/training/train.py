"""The main job: PPO on real games, on RLlib, with checkpoints, metrics and a closing evaluation.

A run's folder, `runs/<name>/`, holds config.yaml, metrics.csv, metrics.parquet, tensorboard/, checkpoints/ and, at the
end, evaluation.json and episode.mp4.
"""

import gc
import math
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import ray
from ray.rllib.algorithms.ppo import PPO
from rich.console import Console

from ante.agents.evaluate import Report
from ante.agents.report import blinds_table, players_table
from ante.env.reward import find_reward
from ante.files import write_text
from ante.training.algorithm import build, start_ray
from ante.training.budget import Budget, Sizes
from ante.training.checkpoints import find_checkpoint, save_checkpoint
from ante.training.config import BadConfig, TrainConfig
from ante.training.curriculum import mastered
from ante.training.evaluate import evaluate_run, write_best_game, write_report
from ante.training.memory import MemoryGauge, memory_table
from ante.training.metrics import Metrics
from ante.training.rollout import WINDOW
from ante.training.view import TrainView


@dataclass
class Progressed:
    """How far a run has come."""

    steps: int = 0
    games: int = 0
    seconds: float = 0.0
    iteration: int = 0
    best: float = -math.inf
    row: dict[str, float] = field(default_factory=dict)
    sizes: Sizes = field(default_factory=lambda: Sizes(0, 0))
    stage: int = 1


@dataclass
class Session:
    """What outlives the algorithm, which is built anew where memory runs short.

    asked  no longer empty once the run should stop
    """

    console: Console
    asked: list[int]
    gauge: MemoryGauge
    budget: Budget


@contextmanager
def stopping() -> Iterator[list[int]]:
    """Yields a list that is no longer empty once Ctrl-C or a termination was asked for. A second Ctrl-C interrupts."""
    asked: list[int] = []

    def ask(number: int, _: FrameType | None) -> None:
        if asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        asked.append(number)

    old = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


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
        "policy_loss": float(learner["policy_loss"]),
        "value_loss": float(learner["vf_loss"]),
        "entropy": float(learner["entropy"]),
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
    }


def begin(config: TrainConfig, resume: bool) -> tuple[PPO, Progressed]:
    """The algorithm, fresh or as its last checkpoint left it. Raises BadConfig, BadCheckpoint."""
    if not resume:
        if (config.folder / "config.yaml").exists():
            raise BadConfig(
                f"run {config.folder} exists: go on with --resume {config.folder}, or choose another --name"
            )
        done = Progressed(sizes=Sizes(config.minibatch, config.games))
        algorithm = build_sized(config, done.sizes)
        config.folder.mkdir(parents=True, exist_ok=True)
        write_text(config.folder / "config.yaml", config.to_yaml())
        return algorithm, done
    checkpoint, metadata = find_checkpoint(config.folder / "checkpoints")
    done = progressed(config, metadata)
    algorithm = build_sized(config, done.sizes)
    algorithm.restore_from_path(str(checkpoint.resolve() / "algorithm"))
    if config.curriculum:
        algorithm.set_stage(done.stage)
    write_text(config.folder / "config.yaml", config.to_yaml())
    return algorithm, done


def build_sized(config: TrainConfig, sizes: Sizes) -> PPO:
    """The algorithm with these sizes, on a Ray that is started where there is none."""
    start_ray(config)
    return build(config.model_copy(update={"minibatch": sizes.minibatch, "games": sizes.games}))


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
        sizes=sizes,
        stage=metadata.get("stage", 1),
    )


def save(config: TrainConfig, algorithm: PPO, done: Progressed) -> None:
    """A checkpoint of the run as it stands; it is the best one where its merit is."""
    reached = merit(config, done)
    best = done.iteration == 1 or reached > done.best
    done.best = max(done.best, reached) if not math.isnan(reached) else done.best
    metadata = {
        "reward": done.row["return"],
        "best_reward": done.best,
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
    save_checkpoint(
        config.folder / "checkpoints",
        done.steps,
        lambda folder: algorithm.save_to_path(str(folder.resolve() / "algorithm")) and None,
        metadata,
        best,
    )


def merit(config: TrainConfig, done: Progressed) -> float:
    """What checkpoints are compared by: the mean return, or blinds beaten where a potential is paid.

    (Without discount a potential costs a little in every step, so that long games look poor.) NaN where the games were
    of a stage before the present one: theirs cannot be compared.
    """
    if config.curriculum and done.row["stage"] != done.stage:
        return math.nan
    return done.row["blinds" if find_reward(config.reward).potential else "return"]


def promote(config: TrainConfig, algorithm: PPO, done: Progressed, console: Console) -> None:
    """The next stage of the curriculum begins where the present one is mastered."""
    if not mastered(config.stages, done.stage, done.row, WINDOW):
        return
    console.print(f"stage {done.stage}: {done.row['win_rate']:.0%} of games won, after {done.steps:,} steps")
    done.stage, done.best = done.stage + 1, -math.inf
    algorithm.set_stage(done.stage)
    console.print(f"stage {done.stage} of {len(config.stages)} begins: {config.stages[done.stage - 1]}")


def train(config: TrainConfig, resume: bool = False) -> Path:
    """Run PPO until config.steps, or until Ctrl-C, then evaluate; answers the run's folder.

    Raises BadConfig, BadCheckpoint, NoRoom or BadVideo.
    """
    console, own_ray = Console(stderr=True), not ray.is_initialized()
    try:
        with stopping() as asked, MemoryGauge() as gauge:
            done = learn_all(config, resume, Session(console, asked, gauge, Budget(config.memory_gb)))
            gauge.read()
    finally:
        if own_ray:
            ray.shutdown()
        shutil.rmtree(config.spill_folder, ignore_errors=True)
    if asked:
        console.print(f"stopped at {done.steps:,} steps; go on with: ante train --resume {config.folder}")
    else:
        conclude(config, console)
    Console().print(memory_table(gauge, config.memory_gb))
    return config.folder


def learn_all(config: TrainConfig, resume: bool, session: Session) -> Progressed:
    """Learn to the end or to a stop. Where memory runs short, the run goes on from its checkpoint with less."""
    again = True
    while again:
        with session.console.status("starting Ray"):
            algorithm, done = begin(config, resume)
        if resume:
            session.console.print(f"resumed {config.folder} after {done.steps:,} steps and {done.games:,} games")
        session.gauge.take()  # what was read before this is over
        try:
            again = learn(config, algorithm, done, session)
        finally:
            algorithm.stop()
            del algorithm
            gc.collect()  # RLlib's objects refer to each other in circles
        resume = True
    return done


def learn(config: TrainConfig, algorithm: PPO, done: Progressed, session: Session) -> bool:
    """Iterate until the steps are done, a stop is asked for, or memory runs short; answers whether it did.

    A checkpoint is left in each case.
    """
    metrics = Metrics(config.folder, done.iteration)
    saved, less = done.iteration, False
    try:
        with TrainView(session.console, config.steps, done.steps) as view:
            while done.steps < config.steps and not session.asked and not less:
                clock = time.perf_counter()
                result = algorithm.train()
                done.row = row_of(result, done, time.perf_counter() - clock)
                done.row |= memory_columns(session.gauge, done.sizes)
                metrics.write(done.row)
                view.show(done.row)
                less = steps_down(done, session)
                promote(config, algorithm, done, session.console)
                if done.iteration % config.checkpoint_every == 0 or less:
                    save(config, algorithm, done)
                    saved = done.iteration
            if done.iteration > saved:
                save(config, algorithm, done)
            return less and not session.asked and done.steps < config.steps
    finally:
        metrics.close()


def memory_columns(gauge: MemoryGauge, sizes: Sizes) -> dict[str, float]:
    """What metrics.csv tells about memory."""
    return {
        "memory_gb": gauge.now.total,
        "memory_peak_gb": gauge.peak,
        "minibatch": sizes.minibatch,
        "games_per_runner": sizes.games,
    }


def steps_down(done: Progressed, session: Session) -> bool:
    """Whether the run has to go on with smaller sizes, which then stand in `done`. Each warning is printed."""
    reading = session.gauge.take()
    if reading is None:
        return False
    verdict = session.budget.judge(reading.total, done.sizes)
    if verdict.words:
        session.console.print(verdict.words, soft_wrap=True)
    done.sizes = verdict.sizes or done.sizes
    return verdict.sizes is not None


def conclude(config: TrainConfig, console: Console) -> None:
    """Evaluate the best checkpoint beside the baselines, print the tables, and write a video of its best game."""
    reports: list[Report] = []
    with console.status("") as status:

        def advance(_: int) -> None:
            status.update(f"evaluating on {config.eval_games} games of the seed panel")

        evaluated = evaluate_run(config, advance)
        reports += [report for _, report in evaluated]
        player, report = evaluated[0]
        status.update("writing the video")
        write_report(config, report)
        video, best = write_best_game(config, player, report)
    out = Console()
    out.print(players_table(reports))
    out.print(blinds_table(report))
    out.print(f"run         {config.folder}\nevaluation  {config.folder / 'evaluation.json'}")
    out.print(f"video       {video}: seed {best.seed}, {best.outcome} in ante {best.ante}, {best.blinds} blinds beaten")
    out.print(f"curves      tensorboard --logdir {config.runs}")
