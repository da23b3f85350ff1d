"""Writes the metrics of a run, iteration by iteration, and its machine: metrics.csv, metrics.parquet, TensorBoard, machine.json."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet
import torch
from torch.utils.tensorboard import SummaryWriter

from ante.errors import shown
from ante.files import NoFile, Unreadable, whole, whole_rows, write_text
from ante.machine import machine, memory, package_version
from ante.metrics import COLUMNS
from ante.training.run_store.checkpoints import cannot_save

WHOLE = re.compile(r"[0-9]{1,18}")


class Metrics:
    """Writes each row immediately. A resumed run continues after row `done`; later rows are dropped.

    A context manager that closes the files. All methods raise CannotSave if a file cannot be written.
    """

    def __init__(self, folder: Path, done: int = 0) -> None:
        self.file, board = folder / "metrics.csv", folder / "tensorboard"
        rows = read_rows(self.file, done)
        with writing(self.file):
            write_text(self.file, as_csv(rows))
            self._stream = self.file.open("a", newline="")
            self._csv = csv.DictWriter(self._stream, COLUMNS)
            exists = board.is_dir() and any(board.iterdir())
            # TensorBoard ignores values in earlier files of the folder from the step `purge_step` on.
            purge = int(rows[-1]["steps"]) + 1 if rows and exists else 0
            self._board = SummaryWriter(str(board), purge_step=purge)  # type: ignore[no-untyped-call]
            if not exists:
                self._copy_to_board(rows)

    def __enter__(self) -> Metrics:
        """Return the metrics."""
        self._hook, threading.excepthook = threading.excepthook, self._thread_failed
        return self

    def _thread_failed(self, failure: Any) -> None:
        """Drop write errors of TensorBoard's thread, which its next call raises again; they would print a traceback."""
        boards = type(failure.thread).__module__.startswith("tensorboard.")
        if not (boards and isinstance(failure.exc_value, OSError)):
            self._hook(failure)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close the files. If the block raised an error, errors of closing are ignored."""
        try:
            with suppress(*(() if kind is None else (OSError, pyarrow.ArrowException))):
                self.close()
        finally:
            threading.excepthook = self._hook

    def write(self, row: dict[str, float]) -> None:
        """Write one iteration."""
        with writing(self.file):
            self._csv.writerow(row)
            self._stream.flush()
            self._to_board(row)

    def _to_board(self, row: Mapping[str, float], moment: float | None = None) -> None:
        for name, value in row.items():
            if not math.isnan(value):
                self._board.add_scalar(name, value, int(row["steps"]), walltime=moment)  # type: ignore[no-untyped-call]

    def _copy_to_board(self, rows: list[dict[str, str]]) -> None:
        """Write the rows of a run from another machine to TensorBoard, with times counted back from now."""
        for row in rows:
            numbers = {name: float(value or "nan") for name, value in row.items()}
            self._to_board(numbers, time.time() - float(rows[-1]["seconds"]) + numbers["seconds"])

    def close(self) -> None:
        """Flush everything to disk and write metrics.parquet, unless the run's folder is gone."""
        with writing(self.file), ExitStack() as files:
            files.callback(self._board.close)
            files.callback(self._stream.close)
        if not self.file.exists():
            return
        parquet = self.file.with_suffix(".parquet")
        with writing(parquet), whole(parquet) as aside:
            pyarrow.parquet.write_table(pyarrow.csv.read_csv(self.file), aside)


@contextmanager
def writing(file: Path) -> Iterator[None]:
    """Translate errors of the file system. Raises CannotSave."""
    try:
        yield
    except OSError as error:
        raise cannot_save(file, error) from error


def read_rows(file: Path, done: int) -> list[dict[str, str]]:
    """Return the complete rows of a metrics.csv up to an iteration; none if the file is missing. Raises Unreadable."""
    try:
        rows = whole_rows(file)
    except NoFile:
        return []
    way_out = "rename the file to resume without its rows"
    for name in sorted(set(COLUMNS) ^ set(rows[0] if rows else COLUMNS)):
        about = "missing" if name in COLUMNS else "not one of this version's"
        raise Unreadable(f"cannot read {file}: column {shown(name)} is {about}; {way_out}")
    for number, row in enumerate(rows, 2):
        for name in ("iteration", "steps"):
            if not WHOLE.fullmatch(row[name]):
                raise Unreadable(f"cannot read {file}: line {number}, {name} is {shown(row[name])}; {way_out}")
    return [row for row in rows if int(row["iteration"]) <= done]


def as_csv(rows: list[dict[str, str]]) -> str:
    """Return the header and these rows as text."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write_machine(run: Path) -> None:
    """Write processor, cores, memory, GPUs and versions of the current machine to the run's folder as machine.json."""
    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    now = {**machine(), "memory": memory(), "gpus": gpus, "torch": torch.__version__, "ray": package_version("ray")}
    write_text(run / "machine.json", json.dumps(now, indent=1) + "\n")
