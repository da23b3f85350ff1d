"""The cost of hints: training without hints, with rules, and with a slow, dead, hanging or broken LLM, interleaved.

The LLM is a fake server in a separate process. A contender's broker keeps working during the turns of others, as in a
real run.
"""

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import ray
import torch

from ante.bench.engine_speed import Row, row_of
from ante.bench.stopwatch import timed
from ante.errors import BalatroError
from ante.training.advice.broker import HintWatch
from ante.training.players.hint_value import student_interval
from ante.training.rllib.build import build
from ante.training.run.evaluate import trial
from ante.training.settings.config import TrainConfig, make_config

OFF, RULES, SLOW, DEAD, DIES = "no hints", "rules", "LLM of 2 s", "LLM dead", "LLM dies midway"
HANGS, NONSENSE = "LLM hangs", "LLM with invalid answers"
SERVERS = {SLOW: ("ok", 2.0), DIES: ("ok", 0.1), HANGS: ("hang", 0.0), NONSENSE: ("wrong-schema", 0.0)}
UNREACHABLE = "http://127.0.0.1:9/v1"  # the discard port, on which nothing listens
GAMES = 64


@dataclass
class Hinted:
    """One contender. Alarms are in seconds since its start."""

    algorithm: Any
    watch: HintWatch | None
    server: "subprocess.Popen[str] | None"
    begun: float
    alarms: list[float] = field(default_factory=list)
    decisions: int = 0
    killed: float = 0.0

    def kill_server(self) -> None:
        """Kill the LLM server."""
        assert self.server is not None
        self.server.kill()
        self.killed = time.monotonic() - self.begun


@contextmanager
def fake_server(mode: str, latency: float) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Start a fake LLM in a separate process, and yield its URL."""
    arguments = ["--port", "0", "--mode", mode, "--latency", str(latency)]
    process = subprocess.Popen([sys.executable, "-m", "ante.hints.fake", *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.startswith("listening on "):
            raise BalatroError("the fake LLM server did not start: try python -m ante.hints.fake")
        yield process, line.split()[2]
    finally:
        process.kill()
        process.wait()


@contextmanager
def environment(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables temporarily."""
    before = {name: os.environ.pop(name, None) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@contextmanager
def contender(name: str, config: TrainConfig) -> Iterator[Hinted]:
    """Create an algorithm with its broker, its monitor and its LLM server, if any."""
    with ExitStack() as stack:
        server, url = None, UNREACHABLE
        if name in SERVERS:
            server, url = stack.enter_context(fake_server(*SERVERS[name]))
        source = {OFF: "off", RULES: "rules"}.get(name, "llm")
        own = config.with_changes({"hints.source": source, "name": name.replace(" ", "-")})
        stack.enter_context(environment({"LLM_ENDPOINT": url, "LLM_MODEL": "fake", "LLM_CONCURRENCY": "8"}))
        made = Hinted(build(own), None, server, time.monotonic())
        stack.callback(made.algorithm.stop)
        if source != "off":

            def record_alarm(words: str) -> None:
                if words.startswith("ALARM"):
                    made.alarms.append(time.monotonic() - made.begun)

            made.watch = HintWatch(made.algorithm.hint_broker, own.folder, record_alarm)
            stack.callback(made.watch.close)
        yield made


def hint_rows(repeats: int = 5, config: TrainConfig | None = None) -> list[Row]:
    """Return rows of `ante bench hints`: steps/s of each contender, requests per decision, seconds to the alarm.

    Each turn is between two turns without hints and is compared with their mean, because the machine's speed drifts.
    """
    torch.set_num_threads(1)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as runs, ExitStack() as stack:
        base = config or make_config(
            {
                "policy.kind": "shortlist",
                "resources.games_per_runner": GAMES,
                "algo.epochs": 2,
                "algo.minibatch": 2048,
            }
        )
        base = base.with_changes({"runs": runs})
        names = (OFF, RULES, SLOW, DEAD, DIES, HANGS, NONSENSE)
        made = {name: stack.enter_context(contender(name, base)) for name in names}
        rates: dict[str, list[float]] = {name: [] for name in names}
        ratios: dict[str, list[float]] = {name: [] for name in names[1:]}
        for turn in range(-1, repeats):
            before = rate(made[OFF])
            for name in names[1:]:
                if name == DIES and turn == repeats // 2:
                    made[name].kill_server()
                own, after = rate(made[name]), rate(made[OFF])
                if turn >= 0:
                    rates[OFF].append(after)
                    rates[name].append(own)
                    ratios[name].append(2 * own / (before + after))
                before = after
        for name, values in rates.items():
            rows.append(row_of(f"training, {name}", values, "steps/s", base.resources.games_per_runner))
        for name, values in ratios.items():
            rows.append(row_of(f"training, {name}, against {OFF}", values, "x", base.resources.games_per_runner))
        for name, each in made.items():
            rows += rows_of(name, each)
    return rows


def rate(each: Hinted) -> float:
    """Return steps per second of one iteration."""
    result, seconds = timed(each.algorithm.train)
    steps = int(result["env_runners"]["num_env_steps_sampled"])
    each.decisions += steps
    return steps / seconds


def rows_of(name: str, each: Hinted) -> list[Row]:
    """Return the final ledger of a contender as rows."""
    if each.watch is None:
        return []
    report = ray.get(each.algorithm.hint_broker.report.remote())
    share = report["figures"]["asks"] / each.decisions
    rows = [row_of(f"requests per 1,000 decisions, {name}", [1000.0 * share], "requests", 0)]
    if each.alarms:
        rows.append(row_of(f"from start or failure to the alarm, {name}", [each.alarms[0] - each.killed], "s", 0))
    return rows


@dataclass(frozen=True)
class Point:
    """One evaluation of one run after `steps`, with the hint source `hints`."""

    seed: int
    hints: str
    steps: int
    blinds: float
    ante: float
    win_rate: float
    trained_return: float


@dataclass(frozen=True)
class Effect:
    """Blinds beaten after this many steps, means over seeds, and the paired difference with its 95 % interval."""

    steps: int
    seeds: int
    without: float
    with_hints: float
    more: float
    low: float
    high: float


def run(config: TrainConfig, at: Sequence[int], advance: Callable[[Point], None]) -> list[Point]:
    """Train one run, and evaluate it after each of these numbers of steps."""
    algorithm, steps, points = build(config), 0, []
    try:
        result: dict[str, Any] = {}
        for goal in at:
            while steps < goal:
                result = algorithm.train()
                steps += int(result["env_runners"]["num_env_steps_sampled"])
            found, *_ = trial(config, algorithm)
            score = float(result["env_runners"].get("episode_return_mean", math.nan))
            rates = found["eval_blinds"], found["eval_ante"], found["eval_win_rate"]
            points.append(Point(config.seed, config.hints.source, goal, *rates, score))
            advance(points[-1])
    finally:
        algorithm.stop()
    return points


def measure(
    config: TrainConfig, seeds: int, points: int, advance: Callable[[Point], None] = lambda _: None
) -> tuple[list[Point], list[Effect]]:
    """Run each seed with and without hints, and return the effect of hints. Raises BalatroError."""
    if points > config.steps:
        raise BalatroError(
            f"{points:,} evaluations need at least as many steps, not {config.steps:,}: give fewer --points"
        )
    at = [config.steps * (k + 1) // points for k in range(points)]
    found: list[Point] = []
    with tempfile.TemporaryDirectory() as runs:
        for seed in range(seeds):
            for hints in ("off", config.hints.source):
                update = {"seed": seed, "hints.source": hints, "runs": runs, "name": f"{hints}-{seed}"}
                found += run(config.with_changes(update), at, advance)
    return found, [effect(found, steps, config.hints.source) for steps in at]


def effect(points: Sequence[Point], steps: int, hints: str) -> Effect:
    """Return the effect of hints after this many steps, paired by seed, with Student's t interval."""
    without = {point.seed: point.blinds for point in points if point.steps == steps and point.hints == "off"}
    advised = {point.seed: point.blinds for point in points if point.steps == steps and point.hints == hints}
    more = np.array([advised[seed] - without[seed] for seed in sorted(advised)])
    means = float(np.mean(list(without.values()))), float(np.mean(list(advised.values())))
    return Effect(steps, len(more), *means, *student_interval(more))
