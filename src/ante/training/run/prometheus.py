"""Exports the driver's metrics of a run to Prometheus at http://metrics_host:metrics_port/metrics.

Metrics of iterations are from the table in `ante.metrics`, the others are named here; the chart's alerts and dashboard
query them (docs/how-to/runbooks.md). Values that change within an iteration (memory, uploads) are read at each scrape.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ante.http.metrics_page import metrics_page
from ante.metrics import METRICS

if TYPE_CHECKING:
    from ante.storage.spool import Spool
    from ante.training.run.memory import Reading
    from ante.training.settings.config import TrainConfig

GB = 2**30
EXPORTED = tuple(metric for metric in METRICS if metric.prometheus)


@dataclass(frozen=True)
class Runners:
    """Env runner processes: requested, healthy, and restarts so far."""

    wanted: int = 0
    healthy: int = 0
    restarts: int = 0


class RunExporter(Collector):
    """The state of one run as a Prometheus collector. The training loop writes it, the server's threads read it.

    Each attribute is replaced as a whole, never changed in place, so that readers see a consistent value.
    """

    def __init__(self, run: str, spool: "Spool | None" = None) -> None:
        self.run, self.spool = run, spool
        self.row: Mapping[str, float] = {}
        self.runners = Runners()
        self.learning = False
        self.losses = 0
        self.memory: Callable[[], Reading] | None = None

    def collect(self) -> Iterator[Metric]:
        """Yield all known metrics; NaN values are left out."""
        yield from self._of_iterations()
        yield self._gauge(
            "ante_training_learning", "1 during learning; 0 during start, evaluation and uploads.", self.learning
        )
        yield self._counter(
            "ante_training_losses", "Process losses after which the run restarted from a checkpoint.", self.losses
        )
        yield self._gauge("ante_env_runners_wanted", "Env runner processes requested.", self.runners.wanted)
        yield self._gauge("ante_env_runners_healthy", "Env runner processes that respond.", self.runners.healthy)
        yield self._counter("ante_env_runner_restarts", "Restarts of single env runners.", self.runners.restarts)
        yield from self._of_memory()
        yield from self._of_uploads()

    def _of_iterations(self) -> Iterator[Metric]:
        for metric in EXPORTED:
            value = self.row.get(metric.name, math.nan)
            if not math.isnan(value):
                yield (self._counter if metric.counter else self._gauge)(metric.prometheus, metric.help, value)

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
        yield self._gauge("ante_upload_backlog_bytes", "Bytes waiting to be uploaded.", sum(job.bytes for job in jobs))
        yield self._gauge("ante_upload_failures", "Failed attempts of the current upload.", failures)
        yield self._gauge("ante_uploads_refused", "Uploads that failed permanently.", len(self.spool.refusals()))

    def _gauge(self, name: str, text: str, value: float) -> Metric:
        family = GaugeMetricFamily(name, text, labels=["run"])
        family.add_metric([self.run], value)
        return family

    def _counter(self, name: str, text: str, value: float) -> Metric:
        family = CounterMetricFamily(name, text, labels=["run"])
        family.add_metric([self.run], value)
        return family


@contextmanager
def serving(exporter: RunExporter, port: int, host: str = "127.0.0.1") -> Iterator[int]:
    """Serve the exporter's metrics at /metrics; yield the port, a free one for 0. Raises CannotServe."""
    registry = CollectorRegistry()
    registry.register(exporter)
    with metrics_page(registry, "tracking.metrics_port", port, host) as bound:
        yield bound


@contextmanager
def exporting(config: "TrainConfig") -> Iterator[RunExporter]:
    """Serve the metrics of a run at its metrics_port. Raises CannotServe."""
    exporter = RunExporter(config.name)
    if not config.tracking.metrics_port:
        yield exporter
        return
    with serving(exporter, config.tracking.metrics_port, config.tracking.metrics_host):
        yield exporter
