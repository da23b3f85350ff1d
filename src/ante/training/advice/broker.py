"""The hint broker of a run as a Ray actor, and the driver's monitor: ledger, alarm, log of hinted decisions."""

import json
import math
import os
import re
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import ray

from ante.files import whole, write_text
from ante.hints.broker import Broker
from ante.hints.settings import AdvisorSettings, BadHints, read_settings
from ante.knowledge.facts import facts_from
from ante.messages import foreign
from ante.metrics import without_values
from ante.training.advice.asks import HintPlan
from ante.training.settings.config import TrainConfig

START_SECONDS = 120.0
POLL_SECONDS = 5.0
ANSWER_SECONDS = 15.0
SILENT_SECONDS = 45.0  # time without a response before the alarm; the broker takes some time to start
AGAIN_SECONDS = 600.0  # interval at which a persisting alarm is repeated
LINES = 5_000  # hinted decisions per file
FILE = re.compile(r"decisions-(\d+)\.parquet")

SCHEMA = pyarrow.schema(  # of hints/*.parquet: one row per hinted decision whose game has ended
    [
        ("player", pyarrow.int32()),  # index of the env runner
        ("decision", pyarrow.int64()),  # counted per runner
        ("seed", pyarrow.string()),
        ("step", pyarrow.int32()),  # step of the game
        ("ante", pyarrow.int32()),
        ("phase", pyarrow.string()),
        ("confidence", pyarrow.float32()),  # of the policy
        ("used_llm", pyarrow.bool_()),
        (
            "hint",
            pyarrow.struct([("text", pyarrow.string()), ("agreed", pyarrow.bool_()), ("source", pyarrow.string())]),
        ),
        ("hint_decision", pyarrow.int64()),
        ("hint_confidence", pyarrow.int32()),
        ("hint_outlook", pyarrow.int32()),
        ("hint_reason", pyarrow.string()),
        ("seconds", pyarrow.float32()),  # from request to response
        ("outcome", pyarrow.string()),  # of the game
        ("blinds", pyarrow.int32()),  # beaten in the game
    ]
)


def plan_of(config: TrainConfig) -> HintPlan | None:
    """Return the hint settings for runners and learners, or None without hints. Each call names a new broker."""
    if config.hints.source == "off":
        return None
    weights = config.hints.imitation, config.hints.prior, config.hints.shaping
    return HintPlan(f"hints-{uuid.uuid4().hex[:12]}", config.hints.share, config.hints.confidence, *weights)


def settings_of(config: TrainConfig) -> AdvisorSettings | None:
    """Return the settings of the LLM client, or None if the rule-based advisor is used. Raises BadHints."""
    if config.hints.source != "llm":
        return None
    cache = str((config.folder / "hints" / "answers.sqlite").absolute())
    return read_settings(os.environ, cache=cache).complete()


def start_broker(config: TrainConfig, name: str) -> Any:
    """Start the actor of this name and wait until it is ready; it lives as long as the handle. Raises BadHints."""
    settings = settings_of(config)
    picture: Callable[[Any], bytes] | None = None
    if settings is not None and settings.vision:
        from ante.watch.render.picture import png_of

        picture = png_of
    # The key is in the environment of Ray's processes; on a cluster it comes from a Secret.
    made = ray.remote(BrokerActor).options(name=name, num_cpus=0, max_restarts=-1, max_concurrency=1)
    broker = made.remote(settings, max(1, config.resources.runners), picture)
    try:
        ray.get(broker.report.remote(), timeout=START_SECONDS)
    except ray.exceptions.RayError as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        raise BadHints(
            f"the hint broker did not start: {foreign(lines[-1]) if lines else type(error).__name__}"
        ) from None
    return broker


class BrokerActor(Broker):
    """A broker configured by the environment of its process."""

    def __init__(self, settings: AdvisorSettings | None, players: int, picture: Callable[[Any], bytes] | None) -> None:
        facts = facts_from(settings.knowledge, os.environ) if settings else None
        super().__init__(settings, os.environ, players, picture, facts)


class HintWatch:
    """Polls the broker in a thread, so that a dead LLM is reported even during long iterations.

    figures  the ledger's values under their names in metrics.csv
    publish  called with new rows of hinted decisions
    """

    def __init__(
        self,
        broker: Any,
        folder: Path,
        say: Callable[[str], None],
        publish: Callable[[list[dict[str, Any]]], None] = lambda _: None,
    ) -> None:
        self._broker, self._folder, self._say, self._publish = broker, folder / "hints", say, publish
        self._folder.mkdir(parents=True, exist_ok=True)
        self.figures: dict[str, float] = without_values("hints")
        self._rows: list[dict[str, Any]] = []
        self._known = "", 0
        written = (FILE.fullmatch(file.name) for file in self._folder.iterdir())
        self._file = max((int(found[1]) for found in written if found), default=0)  # number of the last file
        self._last_alarm: float | None = None  # time of the last report of the active alarm
        self._last_response = time.monotonic()
        self._stop, self._wake = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="hint-watch", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wake.wait(POLL_SECONDS)
            self._wake.clear()
            self.read()

    def now(self) -> dict[str, float]:
        """Return the values read last, and trigger another read."""
        self._wake.set()
        return self.figures

    def read(self) -> None:
        """Poll once. If the broker is restarting, the next poll retries."""
        try:
            report = ray.get(self._broker.report.remote(*self._known), timeout=ANSWER_SECONDS)
        except ray.exceptions.RayError as error:
            if time.monotonic() - self._last_response > SILENT_SECONDS:
                self._alarm(f"hints: the broker does not respond ({type(error).__name__}); training continues")
            return
        self._last_response = time.monotonic()
        self.figures = {f"hint_{name}": value for name, value in report["figures"].items()}
        self._rows += report["rows"]
        self._publish(report["rows"])
        self._known = report["boot"], report["known"]
        known = {name: None if math.isnan(value) else value for name, value in report["figures"].items()}
        ledger = json.dumps({**known, "ends": report["ends"], "alarm": report["alarm"]}, indent=1)
        self._alarm(self._store(LINES, ledger) or report["alarm"])

    def _store(self, least: int, ledger: str = "") -> str | None:
        """Write the rows if there are at least `least`, and the ledger; return why that failed, or None."""
        try:
            if len(self._rows) >= least:
                self._write()
            if ledger:
                write_text(self._folder / "ledger.json", ledger)
        except OSError as error:  # a full disk must not stop this thread
            return f"hints cannot be written to {self._folder} ({error.strerror or error}); training continues"
        return None

    def _alarm(self, words: str | None) -> None:
        """Report an alarm when it starts, repeatedly while it persists, and when it is resolved."""
        if words is None:
            if self._last_alarm is not None:
                self._say("hints have recovered")
            self._last_alarm = None
        elif self._last_alarm is None or time.monotonic() - self._last_alarm > AGAIN_SECONDS:
            self._last_alarm = time.monotonic()
            self._say(f"ALARM {words}")

    def _write(self) -> None:
        """Write the collected lines to a file."""
        table = pyarrow.Table.from_pylist(self._rows, schema=SCHEMA)
        with whole(self._folder / f"decisions-{self._file + 1:05d}.parquet") as aside:
            pyarrow.parquet.write_table(table, aside, compression="zstd")
        self._file, self._rows = self._file + 1, []

    def close(self) -> None:
        """Poll once more and write everything to disk."""
        self._stop.set()
        self._wake.set()
        self._thread.join()
        self.read()
        if why := self._store(least=1):
            self._say(why)
