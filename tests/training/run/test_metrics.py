"""The metrics of a run on disk."""

import csv
import math
from pathlib import Path

import pyarrow.parquet
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from ante.metrics import COLUMNS
from ante.training.run.metrics import Metrics


def row(iteration: int) -> dict[str, float]:
    return {**dict.fromkeys(COLUMNS, 0.5), "iteration": iteration, "steps": 100 * iteration, "ante": math.nan}


def test_the_same_rows_stand_in_csv_parquet_and_tensorboard(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path)
    for i in (1, 2, 3):
        metrics.write(row(i))
    metrics.close()
    with (tmp_path / "metrics.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [r["iteration"] for r in rows] == ["1", "2", "3"]
    table = pyarrow.parquet.read_table(tmp_path / "metrics.parquet")
    assert table.column_names == list(COLUMNS)
    assert table["steps"].to_pylist() == [100, 200, 300]
    board = EventAccumulator(str(tmp_path / "tensorboard"))
    board.Reload()
    assert [(event.step, event.value) for event in board.Scalars("return")] == [(100, 0.5), (200, 0.5), (300, 0.5)]
    assert "ante" not in board.Tags()["scalars"]


def test_a_resumed_run_drops_rows_that_no_checkpoint_covers(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path)
    for i in (1, 2, 3):
        metrics.write(row(i))
    metrics.close()
    with (tmp_path / "metrics.csv").open("a") as stream:
        stream.write("4,40")  # truncated by a crash
    resumed = Metrics(tmp_path, done=2)
    resumed.write(row(3))
    resumed.close()
    assert pyarrow.parquet.read_table(tmp_path / "metrics.parquet")["iteration"].to_pylist() == [1, 2, 3]


def board_returns(folder: Path) -> list[tuple[int, float]]:
    """Return the return curve in TensorBoard."""
    board = EventAccumulator(str(folder / "tensorboard"))
    board.Reload()
    return [(event.step, event.value) for event in board.Scalars("return")]


def test_tensorboard_forgets_what_was_undone_and_is_made_anew_on_another_machine(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    metrics = Metrics(tmp_path / "one")
    for i in (1, 2, 3):
        metrics.write(row(i))
    metrics.close()
    resumed = Metrics(tmp_path / "one", done=2)
    resumed.write({**row(3), "return": 7.0})
    resumed.close()
    assert board_returns(tmp_path / "one") == [(100, 0.5), (200, 0.5), (300, 7.0)]
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "metrics.csv").write_bytes((tmp_path / "one" / "metrics.csv").read_bytes())
    elsewhere = Metrics(tmp_path / "two", done=3)
    elsewhere.write(row(4))
    elsewhere.close()
    assert board_returns(tmp_path / "two") == [(100, 0.5), (200, 0.5), (300, 7.0), (400, 0.5)]
