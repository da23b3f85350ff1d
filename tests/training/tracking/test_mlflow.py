"""A run in MLflow, in a real store on disk, read back with MLflow's client."""

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ante.training.tracking.sender import Sender
from ante.training.tracking.state import read_state, write_state
from ante.training.tracking.tracker import Outcome
from tests.training.tracking.made import cover, evaluated, known_rows, made_run, write_rows

pytestmark = pytest.mark.skipif(not find_spec("mlflow"), reason="mlflow is not installed")


@pytest.fixture(autouse=True)
def _without_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")


def always(outcome: Outcome) -> Callable[[float], Outcome]:
    return lambda _: outcome


def send(run: Path, outcome: Outcome = "finished") -> None:
    from ante.training.tracking.mlflow_runs import MlflowTracker

    Sender(run, "mlflow", MlflowTracker).follow(always(outcome), 10.0)


def found(run: Path) -> Any:
    import mlflow

    client = mlflow.MlflowClient(tracking_uri=run.absolute().with_name("mlruns").as_uri())
    return client, client.get_run(read_state(run, "mlflow").id)


def rows_of(run: Path) -> list[dict[str, float]]:
    """Return the run's rows in MLflow in the order of steps; duplicate values are listed twice."""
    client, there = found(run)
    rows: dict[int, dict[str, float]] = {}
    for name in there.data.metrics:
        if not name.startswith("evaluation/"):
            for each in client.get_metric_history(there.info.run_id, name):
                row = rows.setdefault(each.step, {})
                assert name not in row
                row[name] = each.value
    return [rows[step] for step in sorted(rows)]


def test_mlflow_has_the_rows_settings_and_evaluation_of_a_run(tmp_path: Path) -> None:
    config = made_run(tmp_path, rows=70)  # more than fit into one request
    evaluated(config.folder)
    send(config.folder)
    assert rows_of(config.folder) == known_rows(config.folder)
    _, there = found(config.folder)
    assert there.info.run_name == "made" and there.info.status == "FINISHED"
    assert there.data.params["algo.lr"] == "0.0003" and there.data.params["games.deck"] == "b_red"
    assert set(there.data.params) == set(config.flat())
    figures = {name: value for name, value in there.data.metrics.items() if name.startswith("evaluation/")}
    assert figures == {"evaluation/games": 8, "evaluation/mean_blinds": 3.5, "evaluation/wins/rate": 0.25}
    assert there.data.tags["report"] == f"{config.folder.absolute()}/report.html"


def test_rows_wait_until_a_checkpoint_covers_them(tmp_path: Path) -> None:
    config = made_run(tmp_path, rows=9)
    cover(config.folder, 5)
    send(config.folder, "stopped")
    assert [row["iteration"] for row in rows_of(config.folder)] == [1, 2, 3, 4, 5]
    assert found(config.folder)[1].info.status == "KILLED"


def test_a_resumed_run_goes_on_in_the_same_one(tmp_path: Path) -> None:
    config = made_run(tmp_path, rows=4)
    send(config.folder, "stopped")
    before = read_state(config.folder, "mlflow").id
    more = config.with_changes({"steps": 999_999, "tracking.trackers": ("mlflow",)})
    (config.folder / "config.yaml").write_text(more.to_yaml())
    write_rows(config.folder, 10)
    cover(config.folder, 10)
    send(config.folder)
    assert read_state(config.folder, "mlflow").id == before
    assert rows_of(config.folder) == known_rows(config.folder)
    data = found(config.folder)[1].data
    assert data.params["steps"] == "200000" and data.tags["resumed.steps"] == "999999"


def test_the_rows_in_mlflow_are_queried(tmp_path: Path) -> None:
    """A machine with an outdated state file does not send rows twice."""
    config = made_run(tmp_path, rows=6)
    send(config.folder, "failed")
    write_state(config.folder, "mlflow", replace(read_state(config.folder, "mlflow"), iteration=2))
    write_rows(config.folder, 8)
    cover(config.folder, 8)
    send(config.folder)
    assert rows_of(config.folder) == known_rows(config.folder)


def test_the_project_is_the_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = []
    for k, project in enumerate((None, "of the settings")):
        config = made_run(tmp_path, rows=1, name=f"run-{k}").with_changes({"tracking.project": project})
        (config.folder / "config.yaml").write_text(config.to_yaml())
        monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "of the variable")
        send(config.folder)
        client, there = found(config.folder)
        names.append(client.get_experiment(there.info.experiment_id).name)
    assert names == ["of the variable", "of the settings"]
