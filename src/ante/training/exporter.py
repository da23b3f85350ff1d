"""What a run tells Prometheus: numbers of the driver, served at http://HOST:metrics_port/metrics.

Names, kinds and help texts stand here and nowhere else; the chart's alerts and its dashboard ask for these (docs/runbooks.md).
What changes within an iteration (memory, uploads that wait) is read when somebody asks.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.storage.spool import Spool
    from ante.training.config import TrainConfig
    from ante.training.memory import Reading

GB = 2**30
COUNTERS = {  # metric: column of metrics.csv, help
    "ante_env_steps": ("steps", "Environment steps learned from, resumed parts included."),
    "ante_games": ("games", "Games that ended."),
    "ante_iterations": ("iteration", "Batches learned from."),
}
GAUGES = {
    "ante_env_steps_per_second": ("steps_per_second", "Environment steps a second, last iteration."),
    "ante_games_per_second": ("games_per_second", "Games that end a second, last iteration."),
    "ante_episode_return": ("return", "Mean sum of rewards of the last games."),
    "ante_episode_ante": ("ante", "Mean ante reached in the last games."),
    "ante_episode_blinds": ("blinds", "Mean blinds beaten in the last games."),
    "ante_episode_win_rate": ("win_rate", "Share of the last games won."),
    "ante_eval_blinds": ("eval_blinds", "Mean blinds beaten in the last short evaluation."),
    "ante_eval_win_rate": ("eval_win_rate", "Share of games won in the last short evaluation."),
    "ante_policy_loss": ("policy_loss", "Policy loss, last iteration."),
    "ante_value_loss": ("value_loss", "Value loss, last iteration."),
    "ante_policy_entropy": ("entropy", "Entropy of the policy in nats, last iteration."),
    "ante_policy_kl": ("kl", "KL from the policy that played to the one that learned, nats."),
    "ante_policy_lag": ("policy_lag", "Updates between the weights that played and those that learned."),
    "ante_sample_seconds": ("sample_seconds", "Seconds of one fragment's play, mean of the runners."),
    "ante_learn_seconds": ("learn_seconds", "Seconds of the last iteration's gradient steps."),
    "ante_curriculum_stage": ("stage", "Stage of the curriculum, from 1 on."),
}


class CannotServe(BalatroError, OSError):
    """The port of the metrics cannot be had."""


@dataclass(frozen=True)
class Runners:
    """Env runner processes: those asked for, those that answer, and restarts of single ones so far."""

    wanted: int = 0
    healthy: int = 0
    restarts: int = 0


class RunExporter(Collector):
    """The state of one run, as Prometheus wants it. Written by the training loop, read by the server's threads.

    Each attribute is replaced whole, never changed in place, so that a reader sees one or the other.
    """

    def __init__(self, run: str, spool: "Spool | None" = None) -> None:
        self.run, self.spool = run, spool
        self.row: Mapping[str, float] = {}
        self.runners = Runners()
        self.learning = False
        self.losses = 0
        self.memory: Callable[[], Reading] | None = None

    def collect(self) -> Iterator[Metric]:
        """Everything known now; what is not known (NaN) is left out."""
        yield from self._of_iterations()
        yield self._gauge(
            "ante_training_learning", "1 while the run learns; 0 in start, evaluation and uploads.", self.learning
        )
        yield self._counter(
            "ante_training_losses", "Losses of a process that sent the run back to a checkpoint.", self.losses
        )
        yield self._gauge("ante_env_runners_wanted", "Env runner processes asked for.", self.runners.wanted)
        yield self._gauge("ante_env_runners_healthy", "Env runner processes that answer.", self.runners.healthy)
        yield self._counter("ante_env_runner_restarts", "Restarts of single env runners.", self.runners.restarts)
        yield from self._of_memory()
        yield from self._of_uploads()

    def _of_iterations(self) -> Iterator[Metric]:
        row = self.row
        for name, (column, text) in COUNTERS.items():
            if column in row:
                yield self._counter(name, text, row[column])
        for name, (column, text) in GAUGES.items():
            if not math.isnan(row.get(column, math.nan)):
                yield self._gauge(name, text, row[column])

    def _of_memory(self) -> Iterator[Metric]:
        if self.memory is None:
            return
        family = GaugeMetricFamily(
            "ante_memory_bytes", "Memory of the driver and the processes on its machine.", labels=["run", "process"]
        )
        for process, amount in self.memory().by_process.items():
            family.add_metric([self.run, process], amount * GB)
        yield family

    def _of_uploads(self) -> Iterator[Metric]:
        if self.spool is None:
            return
        jobs, state = self.spool.jobs(), self.spool.state
        failures = state.attempts if state and state.job else 0
        yield self._gauge("ante_upload_backlog_jobs", "Uploads that wait.", len(jobs))
        yield self._gauge(
            "ante_upload_backlog_bytes", "Bytes that wait to be uploaded.", sum(job.bytes for job in jobs)
        )
        yield self._gauge("ante_upload_failures", "Failed attempts at the upload in hand.", failures)
        yield self._gauge(
            "ante_uploads_refused", "Uploads put aside, which cannot succeed.", len(self.spool.refusals())
        )

    def _gauge(self, name: str, text: str, value: float) -> Metric:
        family = GaugeMetricFamily(name, text, labels=["run"])
        family.add_metric([self.run], value)
        return family

    def _counter(self, name: str, text: str, value: float) -> Metric:
        family = CounterMetricFamily(name, text, labels=["run"])
        family.add_metric([self.run], value)
        return family


@contextmanager
def serving(exporter: RunExporter, port: int, host: str = "0.0.0.0") -> Iterator[int]:
    """The exporter's numbers stand at /metrics; yields the port, a free one for 0. Raises CannotServe."""
    registry = CollectorRegistry()
    registry.register(exporter)
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        raise CannotServe(
            f"metrics_port {port} cannot be had ({error.strerror or error}): choose another --metrics-port, or 0 for none"
        ) from None
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def exporting(config: "TrainConfig") -> Iterator[RunExporter]:
    """The numbers of a run, served where its metrics_port says so. Raises CannotServe."""
    exporter = RunExporter(config.name)
    if not config.metrics_port:
        yield exporter
        return
    with serving(exporter, config.metrics_port):
        yield exporter
