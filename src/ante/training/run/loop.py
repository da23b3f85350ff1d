"""The training loop on RLlib, with checkpoints, metrics and a final evaluation.

A run's folder, `runs/<name>/`, contains config.yaml, machine.json, metrics.csv, metrics.parquet, tensorboard/,
checkpoints/, episodes/ (replays and videos) and, at the end, evaluation.json, episode.mp4 and report.html.
"""

import gc
import math
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import ray
from ray.rllib.algorithms.algorithm import Algorithm
from rich.console import Console

from ante.agents.evaluate import Report
from ante.agents.report import blinds_table, players_table
from ante.errors import BalatroError
from ante.files import write_text
from ante.messages import masked, number_of
from ante.metrics import without_values
from ante.recording.starts import read_starts
from ante.stopping import TERMINATIONS, Stops, stopping
from ante.tables import paper, stages
from ante.training.baselines.external import ExternalAlgorithm
from ante.training.failures import original
from ante.training.numerics.precision import BF16, FLOAT32
from ante.training.rllib.algorithm import FastAlgorithm, NoRunner
from ante.training.rllib.build import build
from ante.training.rllib.checkpoint import restore_algorithm
from ante.training.rllib.cluster import start_ray
from ante.training.run.console import TrainView
from ante.training.run.evaluate import evaluate_run, trial, write_report
from ante.training.run.events import RunEvents, run_events
from ante.training.run.health import Health
from ante.training.run.highlights import keep_highlights
from ante.training.run.knowledge import RunKnowledge, run_knowledge
from ante.training.run.memory import MemoryGauge, memory_table
from ante.training.run.memory_budget import Budget, Sizes
from ante.training.run.metrics import Metrics, write_machine
from ante.training.run.progress import Progressed, complete_after, configured, progressed, row_of, save
from ante.training.run.prometheus import RunExporter, Runners, exporting
from ante.training.run.videos import keep_games, write_best
from ante.training.run.warm_start import read_start
from ante.training.run_store.checkpoints import find_checkpoint
from ante.training.run_store.lineage import write_lineage
from ante.training.run_store.lock import RunLock, check_free, locked
from ante.training.run_store.restore import restore_run
from ante.training.run_store.session import fetching, publishing, say
from ante.training.run_store.upload import Publisher
from ante.training.sampling.fragment import WINDOW
from ante.training.settings.algorithms import Accumulated
from ante.training.settings.config import BadConfig, TrainConfig
from ante.training.settings.curriculum import mastered
from ante.training.tracking.following import Followers, following
from ante.training.tracking.webhook import notifying
from ante.watch.report import write_report as write_page

LOST = (ray.exceptions.RayError, NoRunner)


@dataclass
class Session:
    """State that outlives the algorithm, which is rebuilt if memory runs short.

    stops      non-empty once a stop is requested
    followers  the processes that send rows to trackers
    lock       of the run's folder
    events     publishes the run's events
    knowledge  writes line-ups to a graph
    publisher  uploads the run to a store; None without one
    """

    console: Console
    stops: Stops
    gauge: MemoryGauge
    budget: Budget
    exporter: RunExporter
    followers: Followers
    lock: RunLock
    events: RunEvents
    knowledge: RunKnowledge
    publisher: Publisher | None = None

    def save(self, config: TrainConfig, algorithm: Algorithm, done: Progressed) -> None:
        """Save a checkpoint of the run with its highlights and queue it for upload. Raises RunGone, CannotSave."""
        self.lock.check()
        if isinstance(algorithm, FastAlgorithm):
            try:
                keep_highlights(config, algorithm.highlights, done.steps, self.lock.check)
            except (BalatroError, OSError) as error:  # as for the games of an evaluation
                say(self.console, f"highlights of training were not saved: {error}")
        saved = save(config, algorithm, done, self.lock.check)
        self.events.checkpoint(saved.folder, saved.metadata, saved.best)
        if isinstance(algorithm, FastAlgorithm):
            self.knowledge.put(algorithm.line_ups, done.steps)
        if self.publisher:
            self.publisher.checkpoint(saved.folder, saved.metadata, saved.best)


def begin(config: TrainConfig, resume: bool, show_stage: Callable[[str], None]) -> tuple[Algorithm, Progressed]:
    """Restore the algorithm from its last checkpoint, or build a new one. Raises BadCheckpoint, BadStart."""
    if not (resume and (config.folder / "checkpoints" / "latest.json").exists()):
        start = read_start(config)
        done = Progressed(sizes=configured(config))
        algorithm = build_sized(config, done, show_stage)
        with stopped_on_error(algorithm):
            config.folder.mkdir(parents=True, exist_ok=True)
            if start:
                algorithm.start_from(start.weights)
                write_lineage(config.folder, start.lineage)
            write_text(config.folder / "config.yaml", config.to_yaml())
            write_machine(config.folder)
        return algorithm, done
    checkpoint, metadata = find_checkpoint(config.folder / "checkpoints")
    done = progressed(config, metadata)
    algorithm = build_sized(config, done, show_stage)
    with stopped_on_error(algorithm):
        show_stage(f"loading {checkpoint}")
        done.games_restarted = restore_algorithm(algorithm, checkpoint)
        if config.games.curriculum:
            algorithm.set_stage(done.stage)
        write_text(config.folder / "config.yaml", config.to_yaml())
        write_machine(config.folder)
    return algorithm, done


@contextmanager
def stopped_on_error(algorithm: Algorithm) -> Iterator[None]:
    """Stop the algorithm's processes if the block raises an error."""
    try:
        yield
    except BaseException:
        algorithm.stop()
        raise


def sized(config: TrainConfig, sizes: Sizes) -> TrainConfig:
    """Return the configuration with these sizes. Gradient steps stay the same: smaller minibatches are accumulated.

    Raises BadConfig if they do not fit the other settings.
    """
    algo = config.algo
    changes = {"algo.minibatch": sizes.minibatch, "resources.games_per_runner": sizes.games}
    if isinstance(algo, Accumulated):
        changes["algo.accumulate"] = algo.accumulate * max(1, algo.minibatch // sizes.minibatch)
    return config.with_changes(changes)


def fits(config: TrainConfig, sizes: Sizes) -> bool:
    """Return whether a run can continue with these sizes and the same gradient steps."""
    if sizes.minibatch < config.algo.minibatch and not config.algo.accumulates:
        return False
    if config.algo.minibatch % sizes.minibatch:
        return False
    try:
        sized(config, sizes)
    except BadConfig:
        return False
    return True


def build_sized(config: TrainConfig, done: Progressed, show_stage: Callable[[str], None]) -> Algorithm:
    """Build the algorithm with the sizes in `done`, and start Ray if needed.

    The precision is the one in `done`, and is decided and set there at the start of a run.
    """
    if not config.algo.external:
        show_stage("starting Ray")
        start_ray(config)
    show_stage("building the policy and the games")
    if done.precision and config.resources.bf16 == "auto":
        config = config.with_changes({"resources.bf16": "on" if done.precision == BF16 else "off"})
    algorithm = build(sized(config, done.sizes))
    done.precision = BF16 if getattr(getattr(algorithm, "config", None), "bf16", False) else FLOAT32
    return algorithm


def promote(config: TrainConfig, algorithm: Algorithm, done: Progressed, console: Console) -> None:
    """Start the next stage of the curriculum if the current one is completed."""
    if not mastered(config.games.stages, done.stage, done.row, WINDOW):
        return
    console.print(f"stage {done.stage}: {done.row['win_rate']:.0%} of games won, after {done.steps:,} steps")
    done.stage, done.best = done.stage + 1, -math.inf
    algorithm.set_stage(done.stage)
    console.print(f"stage {done.stage} of {len(config.games.stages)} starts: {config.games.stages[done.stage - 1]}")


def train(config: TrainConfig, resume: bool = False, webhook: str = "") -> Path:
    """Train until config.steps or Ctrl-C, then evaluate; return the run's folder. A complete run is left as it is.

    webhook  URL to which the end or the failure of the training is sent; none if empty

    With a store the run is uploaded too, and a resumed run continues from the store's copy if that has more steps.
    Raises BadConfig, BadStart, BadStarts, BadCheckpoint, RunTaken, RunInUse, RunGone, CannotServe, CannotSave, BadVideo, StorageError, or
    NotUploaded if uploads are incomplete.
    """
    console = Console(stderr=True)
    if config.games.start_states:
        read_starts(Path(config.games.start_states))  # validate before starting anything
    if not resume:
        check_free(config.folder)
        read_start(config)  # validate before starting anything
    with (
        locked(config.folder) as lock,
        exporting(config) as exporter,
        notifying(webhook, config, partial(say, console)) as notice,
    ):
        if resume:
            with fetching(config, console) as progress:
                restore_run(config, partial(say, console), progress)
        with publishing(config, resume, console) as publisher:
            exporter.spool = publisher.spool if publisher else None
            if resume and (steps := complete_after(config)):
                words = (
                    f"run {config.folder} is complete ({steps:,} of {config.steps:,} steps); raise --steps to continue"
                )
                say(console, words)
                if publisher:
                    publisher.files(last=True)  # those that an interrupted upload left
            else:
                notice.state = run(config, resume, console, exporter, lock, publisher)
    return config.folder


def run(
    config: TrainConfig,
    resume: bool,
    console: Console,
    exporter: RunExporter,
    lock: RunLock,
    publisher: Publisher | None,
) -> Literal["stopped", "finished"]:
    """Train; finish the run unless it was stopped. Return how it ended."""
    with (
        following(config, partial(say, console)) as followers,
        run_events(config, partial(say, console)) as events,
        run_knowledge(config, partial(say, console)) as knowledge,
    ):
        gauge, stops = learn_on_ray(config, resume, console, exporter, followers, lock, events, knowledge, publisher)
        terminated = next((stop.at for stop in stops if stop.number in TERMINATIONS), None)
        followers.terminated = terminated
        if not stops:
            conclude(config, console)
        outcome: Literal["stopped", "finished"] = "stopped" if stops else "finished"
        followers.outcome = outcome
        events.state(followers.outcome, exporter.row)
    Console().print(memory_table(gauge, config.resources.memory_gb))
    if publisher:
        publisher.terminated = terminated
        publisher.files(last=True)
    return outcome


def learn_on_ray(
    config: TrainConfig,
    resume: bool,
    console: Console,
    exporter: RunExporter,
    followers: Followers,
    lock: RunLock,
    events: RunEvents,
    knowledge: RunKnowledge,
    publisher: Publisher | None,
) -> tuple[MemoryGauge, Stops]:
    """Train; return memory use and the stop signals. Shuts down Ray if this call started it."""
    own_ray = not ray.is_initialized()
    try:
        with stopping() as stops, MemoryGauge() as gauge:
            exporter.memory = lambda: gauge.now
            session = Session(
                console,
                stops,
                gauge,
                Budget(config.resources.memory_gb, partial(fits, config)),
                exporter,
                followers,
                lock,
                events,
                knowledge,
                publisher,
            )
            done = learn_all(config, resume, session)
            gauge.read()
    finally:
        if own_ray:
            ray.shutdown()
        if lock.in_place():
            shutil.rmtree(config.spill_folder, ignore_errors=True)
    if stops:
        say(console, f"stopped at {done.steps:,} steps; continue with: ante train --resume {config.folder}")
    return gauge, stops


def learn_all(config: TrainConfig, resume: bool, session: Session) -> Progressed:
    """Train to the end or a stop. Continue from the last checkpoint if memory runs short or a process is lost.

    Re-raises the loss of a process after `restarts` losses without a new checkpoint in between, and at once an error
    that code in a process raised.
    """
    again, losses, reached, done = True, 0, -1, Progressed()
    while again:
        algorithm = None
        try:
            with stages(session.console) as show_stage:
                algorithm, done = begin(config, resume, show_stage)
            session.followers.begin()
            session.stops.listen()  # Ray replaces the SIGTERM handler when it starts
            show_resumed(config, done, session.console)
            session.gauge.take()  # discard earlier readings
            session.exporter.row = {"steps": done.steps, "games": done.games, "iteration": done.iteration}
            session.exporter.learning = True
            again = learn(config, algorithm, done, session)
        except OSError:
            session.lock.check()  # raises RunGone if the run's folder was moved: then that is the cause
            raise
        except LOST as error:
            if not is_loss(error):
                raise
            session.exporter.losses += 1
            losses, reached = (losses + 1 if done.saved == reached else 1), done.saved
            if losses > config.resources.restarts or session.stops:
                raise
            first = str(error).partition("\n")[0]
            words = (
                f"a process was lost ({type(error).__name__}: {first}); restart {losses} of {config.resources.restarts}"
            )
            say(session.console, words)
        finally:
            session.exporter.learning = False
            if algorithm is not None:
                algorithm.stop()
            del algorithm
            gc.collect()  # RLlib's objects form reference cycles
        resume = True
    return done


def show_resumed(config: TrainConfig, done: Progressed, console: Console) -> None:
    """Print from where a run continues; nothing for a new run."""
    if not done.iteration:
        return
    say(console, f"resumed {config.folder} after {done.steps:,} steps and {done.games:,} games")
    if done.games_restarted:
        say(console, f"games in progress begin again: {done.games_restarted}")


def is_loss(error: BaseException) -> bool:
    """Return whether an error of Ray is the loss of a process or an object, not an error that code raised."""
    cause = original(error)
    return isinstance(cause, LOST) and type(cause) is not ray.exceptions.RayError


def learn(config: TrainConfig, algorithm: Algorithm, done: Progressed, session: Session) -> bool:
    """Iterate until the steps are done, a stop is requested, or memory runs short. Return whether memory ran short.

    A checkpoint is written in each case, except after a wasted iteration: the kept ones must be from before. Raises
    Diverged, NoFragments.
    """
    less, due, health = False, False, Health()
    with (
        Metrics(config.folder, done.iteration) as metrics,
        TrainView(session.console, config.steps, done.steps) as view,
        watching(config, algorithm, session) as hints,
    ):
        while done.steps < config.steps and not session.stops and not less:
            clock, before = time.perf_counter(), done.seconds
            result = algorithm.train()
            done.row = row_of(result, done, time.perf_counter() - clock)
            done.row |= memory_columns(session.gauge, done.sizes)
            done.row |= hints()
            done.row |= tried(config, algorithm, done, session)
            session.lock.check()
            metrics.write(done.row)
            session.exporter.row, session.exporter.runners = done.row, runners_of(algorithm)
            session.events.state("learning", done.row)
            view.show(done.row)
            health.add(done.row)
            health.check(config.folder)
            due = due or config.checkpoints.due(done.iteration, before, done.seconds)
            if not health.wasted:
                less, better = must_shrink(done, session), done.row["eval_blinds"] > done.best_trial
                promote(config, algorithm, done, session.console)
                if due or less or better:
                    session.save(config, algorithm, done)
                    due = False
            session.followers.look()
            if session.publisher:
                session.publisher.check_uploader()
        if done.iteration > done.saved and not health.wasted:
            session.save(config, algorithm, done)
        return less and not session.stops and done.steps < config.steps


@contextmanager
def watching(config: TrainConfig, algorithm: Algorithm, session: Session) -> Iterator[Callable[[], dict[str, float]]]:
    """Yield a function that returns the current ledger columns, NaN without hints; print alarms."""
    if config.hints.source == "off":
        yield lambda: without_values("hints")
        return
    from ante.training.advice.broker import HintWatch

    watch = HintWatch(algorithm.hint_broker, config.folder, partial(say, session.console), session.events.hints)
    try:
        yield watch.now
    finally:
        watch.close()


def runners_of(algorithm: Algorithm) -> Runners:
    """Return the number and state of env runner processes."""
    if isinstance(algorithm, ExternalAlgorithm):
        return Runners(0, 0, 0)
    group = algorithm.env_runner_group
    return Runners(
        group.num_remote_env_runners(), group.num_healthy_remote_env_runners(), group.num_remote_worker_restarts()
    )


def tried(config: TrainConfig, algorithm: Algorithm, done: Progressed, session: Session) -> dict[str, float]:
    """Return the columns of a short evaluation if one is due, else NaN. Raises RunGone."""
    if not config.evaluation.every or done.iteration % config.evaluation.every:
        return without_values("evaluation")
    found, player, report = trial(config, algorithm)
    session.lock.check()
    try:
        keep_games(config, player, report, done.steps)
    except (BalatroError, OSError) as error:  # a full disk must not stop the run
        say(session.console, f"the games of this evaluation were not saved: {error}")
    say(
        session.console,
        f"iteration {done.iteration}: {found['eval_blinds']:.2f} blinds beaten, ante {found['eval_ante']:.2f}, "
        f"wins {found['eval_win_rate']:.1%} in {config.evaluation.trial_games} validation games",
    )
    return found


def memory_columns(gauge: MemoryGauge, sizes: Sizes) -> dict[str, float]:
    """Return the memory columns of metrics.csv."""
    return {
        "memory_gb": gauge.now.total,
        "memory_peak_gb": gauge.peak,
        "minibatch": sizes.minibatch,
        "games_per_runner": sizes.games,
    }


def must_shrink(done: Progressed, session: Session) -> bool:
    """Return whether the run must continue with smaller sizes, which are set in `done`; print each warning."""
    reading = session.gauge.take()
    if reading is None:
        return False
    verdict = session.budget.judge(reading.total, done.sizes)
    if verdict.words:
        session.console.print(verdict.words, soft_wrap=True)
    done.sizes = verdict.sizes or done.sizes
    return verdict.sizes is not None


def conclude(config: TrainConfig, console: Console) -> None:
    """Evaluate the best checkpoint and the baselines, print the tables, write videos and the report."""
    reports: list[Report] = []
    with stages(console) as show_stage:

        def advance(_: int) -> None:
            show_stage(f"evaluating on {config.evaluation.games} fresh games")

        evaluated = evaluate_run(config, advance)
        reports += [report for _, report in evaluated]
        player, report = evaluated[0]
        show_stage("writing videos")
        write_report(config, report)
        advice = ""
        if config.hints.source != "off":
            from ante.training.players.advised import advice_effect

            show_stage("playing with advice")
            try:
                advice = str(advice_effect(config, report))
            except BalatroError as error:  # a missing advisor does not prevent the report
                advice = f"not measured: {masked(error)}"
        steps = find_checkpoint(config.folder / "checkpoints", "best")[1]["timesteps"]
        video, best = write_best(config, keep_games(config, player, report, steps, final=True))
        show_stage("writing the report")
        page = write_page(config.folder)
    out = paper()
    out.print(players_table(reports))
    out.print(blinds_table(report))
    if advice:
        say(out, f"advice      {advice}")
    say(out, f"run         {config.folder}\nevaluation  {config.folder / 'evaluation.json'}")
    say(
        out,
        f"video       {video}: seed {best.seed}, {best.outcome} in ante {best.ante}, {number_of(best.blinds, 'blind')} beaten",
    )
    say(out, f"report      {page}: open it in a browser, or run ante watch {config.folder} --serve")
    say(out, f"curves      tensorboard --logdir {config.runs}")
