"""The broker of a run as a Ray actor, and what the driver sees of it: ledger, alarm, the log of hinted decisions."""

import json
import math
import os
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
from ante.hints.settings import BadHints, HintSettings, read_settings
from ante.training.config import TrainConfig
from ante.training.hinting import HintPlan
from ante.training.metrics import NO_HINTS

START_SECONDS = 120.0
POLL_SECONDS = 5.0
ANSWER_SECONDS = 15.0
SILENT_SECONDS = 45.0  # after which a broker that does not answer raises the alarm: its start takes some
AGAIN_SECONDS = 600.0  # after which an alarm that lasts is told again
LINES = 5_000  # of hinted decisions in one file

SCHEMA = pyarrow.schema(  # of hints/*.parquet: a line for each decision that was asked about and whose game has ended
    [
        ("player", pyarrow.int32()),  # env runner
        ("decision", pyarrow.int64()),  # its number among that runner's
        ("seed", pyarrow.string()),
        ("step", pyarrow.int32()),  # of the game
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
        ("seconds", pyarrow.float32()),  # from ask to answer
        ("outcome", pyarrow.string()),  # of the game
        ("blinds", pyarrow.int32()),  # beaten in it
    ]
)


def plan_of(config: TrainConfig) -> HintPlan | None:
    """What runners and learners are told; None without hints. Each call names another broker."""
    if config.hints == "off":
        return None
    weights = config.hint_imitation, config.hint_prior, config.hint_shaping
    return HintPlan(f"hints-{uuid.uuid4().hex[:12]}", config.hint_share, config.hint_confidence, *weights)


def settings_of(config: TrainConfig) -> HintSettings | None:
    """Whom the broker asks: nobody where the rules advise. Raises BadHints."""
    if config.hints != "llm":
        return None
    cache = str((config.folder / "hints" / "answers.sqlite").absolute())
    return read_settings(os.environ, cache=cache).complete()


def start_broker(config: TrainConfig, name: str) -> Any:
    """The actor of this name, ready, which lives as long as the answered handle. Raises BadHints."""
    settings = settings_of(config)
    picture = None
    if settings is not None and settings.vision:
        from ante.watch.picture import png_of

        picture = png_of
    # The key is in the environment of Ray's processes; where Ray runs elsewhere, a Secret puts it there.
    made = ray.remote(BrokerActor).options(name=name, num_cpus=0, max_restarts=-1, max_concurrency=1)
    broker = made.remote(settings, max(1, config.runners), picture)
    try:
        ray.get(broker.report.remote(), timeout=START_SECONDS)
    except ray.exceptions.RayError as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        raise BadHints(
            f"the broker of hints did not start: {lines[-1].strip() if lines else type(error).__name__}"
        ) from None
    return broker


class BrokerActor(Broker):
    """A broker that reads the environment of its own process."""

    def __init__(self, settings: HintSettings | None, players: int, picture: Callable[[Any], bytes] | None) -> None:
        super().__init__(settings, os.environ, players, picture)


class HintWatch:
    """Asks the broker how it does, in a thread: so that an iteration of ten minutes hides no dead LLM.

    figures  the ledger's numbers by the names of metrics.csv, those in NO_HINTS
    """

    def __init__(self, broker: Any, folder: Path, say: Callable[[str], None]) -> None:
        self._broker, self._folder, self._say = broker, folder / "hints", say
        self._folder.mkdir(parents=True, exist_ok=True)
        self.figures: dict[str, float] = dict(NO_HINTS)
        self._rows: list[dict[str, Any]] = []
        self._known = "", 0
        self._file = sum(1 for _ in self._folder.glob("decisions-*.parquet"))
        self._told: float | None = None  # moment of the last alarm, while there is one
        self._heard = time.monotonic()
        self._stop, self._wake = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="hint-watch", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wake.wait(POLL_SECONDS)
            self._wake.clear()
            self.read()

    def now(self) -> dict[str, float]:
        """The figures as they were read last; they are read again soon."""
        self._wake.set()
        return self.figures

    def read(self) -> None:
        """One look. A broker that is being started again is looked at later."""
        try:
            report = ray.get(self._broker.report.remote(*self._known), timeout=ANSWER_SECONDS)
        except ray.exceptions.RayError as error:
            if time.monotonic() - self._heard > SILENT_SECONDS:
                self._alarm(f"hints: the broker does not answer ({type(error).__name__}); training goes on without")
            return
        self._heard = time.monotonic()
        self.figures = {f"hint_{name}": value for name, value in report["figures"].items()}
        self._rows += report["rows"]
        self._known = report["boot"], report["known"]
        if len(self._rows) >= LINES:
            self._write()
        known = {name: None if math.isnan(value) else value for name, value in report["figures"].items()}
        write_text(
            self._folder / "ledger.json",
            json.dumps({**known, "ends": report["ends"], "alarm": report["alarm"]}, indent=1),
        )
        self._alarm(report["alarm"])

    def _alarm(self, words: str | None) -> None:
        """Say an alarm when it begins, from time to time while it lasts, and that it is over."""
        if words is None:
            if self._told is not None:
                self._say("hints work again")
            self._told = None
        elif self._told is None or time.monotonic() - self._told > AGAIN_SECONDS:
            self._told = time.monotonic()
            self._say(f"ALARM {words}")

    def _write(self) -> None:
        """The lines so far as a file."""
        table = pyarrow.Table.from_pylist(self._rows, schema=SCHEMA)
        self._file += 1
        with whole(self._folder / f"decisions-{self._file:05d}.parquet") as aside:
            pyarrow.parquet.write_table(table, aside, compression="zstd")
        self._rows = []

    def close(self) -> None:
        """A last look, and everything is on disk."""
        self._stop.set()
        self._wake.set()
        self._thread.join()
        self.read()
        if self._rows:
            self._write()
