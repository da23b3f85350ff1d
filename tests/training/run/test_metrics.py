"""The metrics of a run on disk."""

import csv
import errno
import math
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow.parquet
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.summary.writer.event_file_writer import _AsyncWriterThread

from ante.metrics import COLUMNS
from ante.training.run.metrics import Metrics
from ante.training.run_store.checkpoints import CannotSave


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


@contextmanager
def unwritable() -> Iterator[None]:
    """Let every write to a file fail, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_row_that_cannot_be_written_is_a_sentence_and_earlier_rows_remain(tmp_path: Path) -> None:
    with (
        pytest.raises(CannotSave, match=r"cannot write .*metrics.csv: File too large; .*--resume") as found,
        unwritable(),
        Metrics(tmp_path) as metrics,
    ):
        metrics.write(row(1))
    assert found.value.__cause__ is not None
    with suppress(CannotSave), Metrics(tmp_path) as metrics:  # TensorBoard's thread may meet the limit as well
        metrics.write(row(1))
        with pytest.raises(CannotSave), unwritable():
            metrics.write(row(2))
    with Metrics(tmp_path, done=1) as metrics:
        assert [each["iteration"] for each in csv.DictReader((tmp_path / "metrics.csv").open())] == ["1"]


def test_an_error_of_training_is_not_replaced_by_one_of_closing(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="of training"), Metrics(tmp_path) as metrics:
        metrics.write(row(1))
        (tmp_path / "metrics.csv").write_text('1,2\n"')  # what remains of a row on a full disk
        raise KeyError("of training")


@pytest.mark.parametrize(
    ("number", "remedy"), [(errno.ENOSPC, "free disk space"), (errno.EROFS, "writable"), (errno.EIO, "then continue")]
)
def test_the_remedy_fits_the_error(number: int, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Metrics(tmp_path) as metrics:

        def refuse(_: object) -> None:
            raise OSError(number, "refused")

        monkeypatch.setattr(metrics._csv, "writerow", refuse)
        with pytest.raises(CannotSave, match=f"metrics.csv: refused; .*{remedy}"):
            metrics.write(row(1))


def test_the_thread_of_tensorboard_prints_no_traceback_if_it_cannot_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[type[BaseException]] = []
    monkeypatch.setattr(threading, "excepthook", lambda failure: seen.append(failure.exc_type))

    class BoardThread(threading.Thread):
        """A thread with the module of TensorBoard's."""

    BoardThread.__module__ = _AsyncWriterThread.__module__

    def fail(error: Exception, kind: type[threading.Thread]) -> None:
        def work() -> None:
            raise error

        thread = kind(target=work)
        thread.start()
        thread.join()

    with Metrics(tmp_path):
        fail(OSError(errno.ENOSPC, "full"), BoardThread)
        assert seen == []
        fail(ValueError("a defect"), BoardThread)
        fail(OSError(errno.ENOSPC, "full"), threading.Thread)  # of another writer, whose errors are raised nowhere else
        assert seen == [ValueError, OSError]
    fail(OSError(errno.ENOSPC, "full"), BoardThread)
    assert seen == [ValueError, OSError, OSError]
