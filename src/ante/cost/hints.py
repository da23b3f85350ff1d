"""What hints cost: training with and without them in turns, by rules and by an LLM that is slow, dead, hangs or lies.

The LLM is the make-believe server in a process of its own. A contender's broker works on while others have their turn,
which is what it does in a real run.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import ray
import torch

from ante.bench import Row, row_of
from ante.cost.stopwatch import timed
from ante.errors import BalatroError
from ante.training.algorithm import build
from ante.training.brokerage import HintWatch
from ante.training.config import TrainConfig

OFF, RULES, SLOW, DEAD, DIES = "no hints", "rules", "LLM of 2 s", "LLM dead", "LLM dies midway"
HANGS, NONSENSE = "LLM hangs", "LLM talks nonsense"
SERVERS = {SLOW: ("ok", 2.0), DIES: ("ok", 0.1), HANGS: ("hang", 0.0), NONSENSE: ("wrong-schema", 0.0)}
NOBODY = "http://127.0.0.1:9/v1"  # the discard port: nothing listens there
GAMES = 64


@dataclass
class Hinted:
    """One contender; alarms are seconds since it began."""

    algorithm: Any
    watch: HintWatch | None
    server: "subprocess.Popen[str] | None"
    begun: float
    alarms: list[float] = field(default_factory=list)
    decisions: int = 0
    killed: float = 0.0

    def kill_server(self) -> None:
        """The LLM dies."""
        assert self.server is not None
        self.server.kill()
        self.killed = time.monotonic() - self.begun


@contextmanager
def fake_server(mode: str, latency: float) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A make-believe LLM in a process of its own, and its URL."""
    arguments = ["--port", "0", "--mode", mode, "--latency", str(latency)]
    process = subprocess.Popen([sys.executable, "-m", "ante.hints.fake", *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.startswith("listening on "):
            raise BalatroError("the make-believe LLM did not start: try python -m ante.hints.fake")
        yield process, line.split()[2]
    finally:
        process.kill()
        process.wait()


@contextmanager
def contender(name: str, config: TrainConfig) -> Iterator[Hinted]:
    """An algorithm with its broker, its watch and, if it has one, its server."""
    with ExitStack() as stack:
        server, url = None, NOBODY
        if name in SERVERS:
            server, url = stack.enter_context(fake_server(*SERVERS[name]))
        source = {OFF: "off", RULES: "rules"}.get(name, "llm")
        own = config.model_copy(update={"hints": source, "name": name.replace(" ", "-")})
        stack.enter_context(patch.dict(os.environ, {"LLM_ENDPOINT": url, "LLM_MODEL": "fake", "LLM_CONCURRENCY": "8"}))
        made = Hinted(build(own), None, server, time.monotonic())
        stack.callback(made.algorithm.stop)
        if source != "off":

            def say(words: str) -> None:
                if words.startswith("ALARM"):
                    made.alarms.append(time.monotonic() - made.begun)

            made.watch = HintWatch(made.algorithm.hint_broker, own.folder, say)
            stack.callback(made.watch.close)
        yield made


def hint_rows(repeats: int = 5, config: TrainConfig | None = None) -> list[Row]:
    """Rows of `ante bench hints`: steps/s of each in turns, asks by decision, seconds to the alarm.

    Each turn stands between two of training without hints and is held against their mean: machines drift.
    """
    torch.set_num_threads(1)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as runs, ExitStack() as stack:
        base = config or TrainConfig(policy="shortlist", games=GAMES, epochs=2, minibatch=2048)
        base = base.model_copy(update={"runs": runs})
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
            rows.append(row_of(f"training, {name}", values, "steps/s", base.games))
        for name, values in ratios.items():
            rows.append(row_of(f"training, {name}, against {OFF}", values, "x", base.games))
        for name, each in made.items():
            rows += told(name, each)
    return rows


def rate(each: Hinted) -> float:
    """Steps a second of one iteration."""
    result, seconds = timed(each.algorithm.train)
    steps = int(result["env_runners"]["num_env_steps_sampled"])
    each.decisions += steps
    return steps / seconds


def told(name: str, each: Hinted) -> list[Row]:
    """What the ledger of a contender says at the end."""
    if each.watch is None:
        return []
    report = ray.get(each.algorithm.hint_broker.report.remote())
    share = report["figures"]["asks"] / each.decisions
    rows = [row_of(f"asks of 1,000 decisions, {name}", [1000.0 * share], "asks", 0)]
    if each.alarms:
        rows.append(row_of(f"from its start or its death to the alarm, {name}", [each.alarms[0] - each.killed], "s", 0))
    return rows
