"""MLflow as a tracker: at MLFLOW_TRACKING_URI, or in a folder `mlruns` next to the runs."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from mlflow import MlflowClient
from mlflow.entities import Metric, Param, Run, RunTag

from ante.messages import foreign, without_credentials
from ante.training.settings.config import TrainConfig
from ante.training.tracking.summary import settings_of
from ante.training.tracking.tracker import PROJECT, BadTracking, Begun, Outcome, Row

MOST = 1000  # metrics per request, MLflow's limit
MOST_PARAMS = 100
STATUS: dict[Outcome, str] = {"finished": "FINISHED", "stopped": "KILLED", "failed": "FAILED"}
LAST = "iteration"  # sent after the rest of its row, so that it marks complete rows
# MLflow's own timeouts are minutes per request; rows remain in metrics.csv anyway.
PATIENCE = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", "MLFLOW_HTTP_REQUEST_TIMEOUT": "15"}


class MlflowTracker:
    """See Tracker."""

    def begin(self, config: TrainConfig, known: str | None) -> Begun:
        """See Tracker."""
        uri = os.environ.get("MLFLOW_TRACKING_URI") or config.folder.absolute().with_name("mlruns").as_uri()
        for name, value in PATIENCE.items():
            os.environ.setdefault(name, value)
        if uri.startswith("file:") or "://" not in uri:
            os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")  # otherwise MLflow 3 rejects folders
        self.client = MlflowClient(tracking_uri=uri)
        run = self.client.get_run(known) if known else self._created(config)
        self.id = run.info.run_id
        if known:
            self._resume(run, config)
        experiment = run.info.experiment_id
        place = foreign(f"{without_credentials(uri)}/#/experiments/{experiment}/runs/{self.id}")
        return Begun(self.id, place if uri.startswith("http") else without_credentials(uri), last_of(run))

    def _created(self, config: TrainConfig) -> Run:
        project = config.tracking.project or os.environ.get("MLFLOW_EXPERIMENT_NAME") or PROJECT
        found = self.client.get_experiment_by_name(project)
        experiment = found.experiment_id if found else self.client.create_experiment(project)
        run = self.client.create_run(experiment, run_name=config.name, tags={"runs": config.runs})
        params = [Param(name, value) for name, value in settings_of(config).items()]
        for begin in range(0, len(params), MOST_PARAMS):
            self.client.log_batch(run.info.run_id, params=params[begin : begin + MOST_PARAMS])
        return run

    def _resume(self, run: Run, config: TrainConfig) -> None:
        """Resume a run. Parameters are immutable in MLflow, so changed ones are stored as tags."""
        self.client.update_run(self.id, status="RUNNING")
        changed = {
            name: value
            for name, value in settings_of(config).items()
            if name in run.data.params and run.data.params[name] != value
        }
        self.client.log_batch(self.id, tags=[RunTag(f"resumed.{name}", value) for name, value in changed.items()])

    def send(self, rows: Sequence[Row], moments: Sequence[float]) -> None:
        """See Tracker."""
        batch: list[Metric] = []
        for row, moment in zip(rows, moments, strict=True):
            metrics = list(metrics_of(row, int(moment * 1000)))
            if len(batch) + len(metrics) > MOST:
                self.client.log_batch(self.id, metrics=batch)
                batch = []
            batch += metrics
        self.client.log_batch(self.id, metrics=batch)

    def conclude(self, figures: Mapping[str, float], words: Mapping[str, str]) -> None:
        """See Tracker."""
        now = int(time.time() * 1000)
        metrics = [Metric(name, value, now, 0) for name, value in figures.items()]
        self.client.log_batch(self.id, metrics=metrics, tags=[RunTag(name, text) for name, text in words.items()])

    def end(self, outcome: Outcome) -> None:
        """See Tracker."""
        self.client.set_terminated(self.id, STATUS[outcome])


def last_of(run: Run) -> int:
    """Return the iteration of a run's last row; 0 if it has none."""
    found = run.data.metrics.get(LAST, 0)
    if not 0 <= found < 2**53:
        raise BadTracking(f"MLflow has {found!r} as {LAST}, which no row has: use another project")
    return int(found)


def metrics_of(row: Row, moment: int) -> Iterator[Metric]:
    """Return a row as MLflow metrics, at the environment steps of the row.

    moment  milliseconds since 1970
    """
    names = chain((name for name in row if name != LAST), (LAST,))
    return (Metric(name, row[name], moment, int(row["steps"])) for name in names)
