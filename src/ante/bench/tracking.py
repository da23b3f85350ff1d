"""The cost of trackers in the training loop, for `ante bench track`: milliseconds per row. Requires the extra `track`.

MLflow writes to a folder and W&B offline, so network time is not measured. With a server, logging in the loop costs
more, while the separate tracking process costs the same.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from mlflow import MlflowClient

from ante.bench.engine_speed import Row, row_of
from ante.errors import BalatroError
from ante.files import write_text
from ante.metrics import COLUMNS
from ante.training.run.metrics import Metrics
from ante.training.settings.config import make_config
from ante.training.tracking.following import following
from ante.training.tracking.mlflow_runs import metrics_of
from ante.training.tracking.state import read_state

ROWS = 200  # per repeat; a checkpoint every ten rows
PACE_SECONDS = 0.01  # simulates training between two rows, which gives trackers time as in a real run


def track_rows(repeats: int) -> list[Row]:
    """Return milliseconds per row: files only, with two trackers in a separate process, and with MLflow in the loop."""
    with tempfile.TemporaryDirectory() as place:
        os.environ.update({"WANDB_MODE": "offline", "MLFLOW_ALLOW_FILE_STORE": "true"})
        os.environ["MLFLOW_TRACKING_URI"] = (Path(place) / "mlruns").as_uri()
        alone = [timed(Path(place), f"alone-{k}", ()) for k in range(repeats)]
        followed = [timed(Path(place), f"followed-{k}", ("mlflow", "wandb")) for k in range(repeats)]
        called = [in_the_loop(Path(place), k) for k in range(repeats)]
    return [
        row_of("track: a row in metrics.csv and TensorBoard", alone, "ms"),
        row_of("track: the same with MLflow and W&B in a separate process", followed, "ms"),
        row_of("track: MLflow's log_metrics in the loop, to a folder", called, "ms"),
    ]


def a_row(k: int) -> dict[str, float]:
    """Return a row with a number in every column."""
    return {name: float(k) for name in COLUMNS} | {"iteration": k, "steps": 8192 * k}


def per_row(write: Callable[[dict[str, float]], None], then: Callable[[dict[str, float]], None]) -> float:
    """Return the mean milliseconds per call of `write`; calls of `then` are not counted."""
    spent = 0.0
    for k in range(1, ROWS + 1):
        begin = time.perf_counter()
        write(a_row(k))
        spent += time.perf_counter() - begin
        then(a_row(k))
        time.sleep(PACE_SECONDS)
    return 1000 * spent / ROWS


def timed(place: Path, name: str, trackers: tuple[str, ...]) -> float:
    """Write the rows of a fake run as `ante train` does."""
    config = make_config({"runs": str(place), "name": name, "tracking": {"trackers": trackers, "wait_seconds": 120.0}})
    (config.folder / "checkpoints").mkdir(parents=True)
    (config.folder / "config.yaml").write_text(config.to_yaml())
    messages: list[str] = []
    with following(config, messages.append) as followers:
        followers.begin()
        while not all(read_state(config.folder, name).id for name in trackers):
            time.sleep(PACE_SECONDS)  # startup runs on another core and is not counted
            for follower in followers.each:
                follower.look()
            if messages:
                followers.terminated = time.monotonic()  # ends its process now
                raise BalatroError(f"a tracker did not start: {messages[0]}")
        metrics = Metrics(config.folder)

        def write(row: dict[str, float]) -> None:
            metrics.write(row)
            followers.look()

        found = per_row(write, lambda row: checkpoint(config.folder, row))
        metrics.close()
        followers.outcome = "finished"
    missing = [words for words in messages if f"{ROWS:,} rows in " not in words]
    if missing:
        raise BalatroError(f"a tracker did not receive all rows: {missing[0]}")
    return found


def checkpoint(run: Path, row: dict[str, float]) -> None:
    """Create a minimal checkpoint every ten rows."""
    if row["iteration"] % 10 == 0:
        write_text(run / "checkpoints" / "latest.json", json.dumps({"iteration": int(row["iteration"])}))


def in_the_loop(place: Path, k: int) -> float:
    """Log each row with mlflow.log_metrics in the loop, for comparison."""
    client = MlflowClient()
    name = "in the loop"
    found = client.get_experiment_by_name(name)
    run = client.create_run(found.experiment_id if found else client.create_experiment(name)).info.run_id

    def write(row: dict[str, float]) -> None:
        client.log_batch(run, list(metrics_of(row, int(1000 * time.time()))))

    return per_row(write, lambda row: None)
