"""The numbers of a run, iteration by iteration: metrics.csv, metrics.parquet and TensorBoard."""

import csv
import io
import math
import os
import time
from collections.abc import Mapping
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
from torch.utils.tensorboard import SummaryWriter

from ante.files import whole_rows, write_text

COLUMNS = (
    "iteration",  # batches learned from
    "steps",  # environment steps so far
    "games",  # games that ended so far
    "seconds",  # spent in sampling and learning so far
    "steps_per_second",  # of this iteration
    "games_per_second",  # of this iteration
    "return",  # mean sum of rewards of the last games
    "ante",  # reached, mean of the last games
    "blinds",  # beaten, mean of the last games
    "win_rate",  # of the last games
    "policy_loss",
    "value_loss",
    "entropy",  # of the policy, nats
    "sample_seconds",  # playing one fragment, mean of the runners; this and the next three on the fast path only
    "learn_seconds",  # of this iteration's gradient steps, staging included
    "policy_lag",  # updates between the weights that played and those that learned
    "bytes_per_step",  # that travel from runner to learner
    "kl",  # from the policy that played to the one that learned, mean over the gradient steps, nats
    "clipped",  # share of rows whose ratio left the clipping range
    "epochs",  # passes made over the batch; fewer than planned where kl_target ended the update
    "lr",  # learning rate
    "memory_gb",  # of all processes, the last reading
    "memory_peak_gb",  # the highest reading so far
    "minibatch",  # halved where memory runs short, as is the next one
    "games_per_runner",
    "eval_blinds",  # beaten, mean of a short evaluation on the seed panel; this and the next three where there was one
    "eval_ante",
    "eval_win_rate",
    "eval_seconds",
    "games_counted",  # whole games behind return, ante, blinds and win_rate, mean of the runners; fast path only
    "stage",  # of the curriculum that these games are of; empty without one
    "q_mean",  # value of the decisions learned from, as the network sees it; this and the next three with dqn only
    "epsilon",  # chance of any legal decision instead of the best one
    "replay_steps",  # steps that can be drawn
    "updates",  # gradient steps so far
    "hint_asks",  # positions asked about so far; this and the next nine in a run with hints only
    "hint_calls",  # requests that went to the LLM so far, retries counted
    "hint_success",  # share of the last 50 asks that ended with a hint
    "hint_p50",  # seconds of a call, median of the last 1,000
    "hint_p95",
    "hint_tokens",  # of questions and answers so far
    "hint_cache_hits",  # asks answered from memory so far
    "hint_breaker",  # 0 closed, 1 half-opened, 2 opened
    "hint_agreement",  # share of hints that the policy had chosen itself
    "hint_loss",  # cross-entropy on hinted positions
    "illegal",  # share of this iteration's actions that were not legal; algorithms of other libraries only
)
NO_HINTS = {name: math.nan for name in COLUMNS if name.startswith("hint_") and name != "hint_loss"}  # of the ledger


class Metrics:
    """Writes each row down at once. A resumed run goes on after row `done`; later rows, which no checkpoint covers, go."""

    def __init__(self, folder: Path, done: int = 0) -> None:
        self.file, board = folder / "metrics.csv", folder / "tensorboard"
        rows = read_rows(self.file, done)
        write_text(self.file, as_csv(rows))
        self._stream = self.file.open("a", newline="")
        self._csv = csv.DictWriter(self._stream, COLUMNS)
        there = board.is_dir() and any(board.iterdir())
        # TensorBoard forgets what earlier files of the folder say from the step `purge_step` on.
        purged = int(rows[-1]["steps"]) + 1 if rows and there else 0
        self._board = SummaryWriter(str(board), purge_step=purged)  # type: ignore[no-untyped-call]
        if not there:
            self._tell_again(rows)

    def write(self, row: dict[str, float]) -> None:
        """One iteration."""
        self._csv.writerow(row)
        self._stream.flush()
        self._show(row)

    def _show(self, row: Mapping[str, float], moment: float | None = None) -> None:
        for name, value in row.items():
            if not math.isnan(value):
                self._board.add_scalar(name, value, int(row["steps"]), walltime=moment)  # type: ignore[no-untyped-call]

    def _tell_again(self, rows: list[dict[str, str]]) -> None:
        """TensorBoard has the rows of a run that comes from elsewhere, as if it had been made just now."""
        for row in rows:
            numbers = {name: float(value or "nan") for name, value in row.items()}
            self._show(numbers, time.time() - float(rows[-1]["seconds"]) + numbers["seconds"])

    def close(self) -> None:
        """Everything is on disk, metrics.parquet too."""
        self._stream.close()
        self._board.close()  # type: ignore[no-untyped-call]
        aside = self.file.with_name(f".metrics.parquet.{os.getpid()}")
        pyarrow.parquet.write_table(pyarrow.csv.read_csv(self.file), aside)
        aside.replace(self.file.with_suffix(".parquet"))


def read_rows(file: Path, done: int) -> list[dict[str, str]]:
    """The whole rows of a metrics.csv up to an iteration; none where there is no file."""
    if not file.exists():
        return []
    rows = whole_rows(file)
    return [row for row in rows if int(row["iteration"]) <= done]


def as_csv(rows: list[dict[str, str]]) -> str:
    """Heading and rows."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
