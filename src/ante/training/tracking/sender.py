"""The process that sends a run's rows to a tracker; metrics.csv is its queue.

    python -m ante.training.tracking.sender RUN TRACKER --wait SECONDS

A row is sent once a checkpoint covers it, so that no iteration is repeated with other values. Failed rows remain in
metrics.csv and are retried with growing pauses. Once the run has ended (reported on standard input), the process has
SECONDS left. It may be killed at any time.
"""

import argparse
import math
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

from ante.files import read_object, whole_rows
from ante.messages import described
from ante.storage.uploader import step_back
from ante.training.settings.config import config_of_run
from ante.training.tracking.state import State, read_state, taken, write_state
from ante.training.tracking.summary import figures_of, links_of
from ante.training.tracking.tracker import Outcome, Row, Tracker

POLL_SECONDS = 1.0  # seconds between reads of metrics.csv
LONGEST_PAUSE = 60.0  # maximum time between two attempts; the pause doubles until then
MOST_ROWS = 200  # rows sent between two updates of the state file
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


class Sender:
    """Sends the rows of a run that its tracker does not have."""

    def __init__(self, run: Path, name: str, make: Callable[[], Tracker]) -> None:
        self.run, self.name, self.make = run, name, make
        self.state = State()
        self.tracker: Tracker | None = None
        self.pause, self.not_before = POLL_SECONDS, 0.0

    def attempt(self, outcome: Outcome | None = None) -> bool:
        """Send all rows and, with an outcome, end the run in its tracker. Return whether it succeeded."""
        try:
            self._catch_up()
            if outcome:
                self._end(outcome)
        except Exception as error:  # trackers raise any class; the error is stored, and the trainer reports it
            self.tracker = None
            self.pause = min(2 * self.pause, LONGEST_PAUSE)
            self.not_before = time.monotonic() + self.pause
            self._remember(replace(self.state, error=described(error)))
            return False
        self.pause = POLL_SECONDS
        return True

    def _catch_up(self) -> None:
        if self.tracker is None:
            self.tracker = self._begin()
        rows, moments = unsent_rows(self.run, self.state.iteration)
        for begin in range(0, len(rows), MOST_ROWS):
            part = slice(begin, begin + MOST_ROWS)
            self.tracker.send(rows[part], moments[part])
            self._remember(replace(self.state, iteration=int(rows[part][-1]["iteration"]), error=""))

    def _begin(self) -> Tracker:
        self.state = read_state(self.run, self.name)
        tracker = self.make()
        begun = tracker.begin(config_of_run(self.run), self.state.id or None)
        sent = self.state.iteration if begun.iteration is None else begun.iteration
        self._remember(State(begun.id, begun.place, sent))
        return tracker

    def _end(self, outcome: Outcome) -> None:
        assert self.tracker
        if outcome == "finished":
            self.tracker.conclude(figures_of(self.run), links_of(config_of_run(self.run)))
        self.tracker.end(outcome)
        self._remember(replace(self.state, ended=outcome))

    def _remember(self, state: State) -> None:
        if state != self.state:
            self.state = state
            write_state(self.run, self.name, state)

    def follow(self, poll_end: Callable[[float], Outcome | None], wait_seconds: float) -> None:
        """Send until the run has ended, then until everything is sent.

        poll_end      waits at most this many seconds; returns how the run ended, or None while it continues
        wait_seconds  timeout of the attempts after the end
        """
        outcome = None
        while outcome is None:
            if time.monotonic() >= self.not_before and has_unsent_rows(self.run, self.state):
                self.attempt()
            outcome = poll_end(POLL_SECONDS)
        until = time.monotonic() + wait_seconds
        while not self.attempt(outcome) and time.monotonic() + self.pause < until:
            time.sleep(self.pause)


def make_tracker(name: str, wait_seconds: float) -> Tracker:
    """Return the tracker of this name.

    wait_seconds  timeout of its end
    """
    if name == "mlflow":
        from ante.training.tracking.mlflow_runs import MlflowTracker

        return MlflowTracker()
    from ante.training.tracking.wandb_runs import WandbTracker

    return WandbTracker(wait_seconds)


def has_unsent_rows(run: Path, state: State) -> bool:
    """Return whether there is anything to send; a run starts in its tracker before its first row."""
    return not state.id or covered(run) > state.iteration


def covered(run: Path) -> int:
    """Return the last iteration that a checkpoint covers; 0 if there is none."""
    file = run / "checkpoints" / "latest.json"
    return int(read_object(file)["iteration"]) if file.exists() else 0


def unsent_rows(run: Path, sent: int) -> tuple[list[Row], list[float]]:
    """Return the rows of metrics.csv after iteration `sent` that a checkpoint covers, without NaN values, and their times.

    Times are computed backwards from the last row of the file, written when the file was last modified.
    """
    file, until = run / "metrics.csv", covered(run)
    if sent >= until or not file.exists():
        return [], []
    last, written = file.stat().st_mtime, whole_rows(file)
    rows = ({name: float(text or "nan") for name, text in row.items()} for row in written)
    finite = ({name: value for name, value in row.items() if math.isfinite(value)} for row in rows)
    unsent: list[Row] = [row for row in finite if sent < row["iteration"] <= until]
    return unsent, [last - (float(written[-1]["seconds"]) - row["seconds"]) for row in unsent]


def read_outcome(seconds: float) -> Outcome | None:
    """Wait for a line on standard input and return it, `failed` if the trainer exits without one."""
    readable, _, _ = select.select([sys.stdin], [], [], seconds)
    if not readable:
        return None
    word = sys.stdin.readline().strip()
    return next((each for each in OUTCOMES if each == word), "failed")


def main() -> None:
    """Send until the run has ended; start after any other sender of the same run has exited."""
    parser = argparse.ArgumentParser(prog="python -m ante.training.tracking.sender", description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("tracker")
    parser.add_argument("--wait", type=float, default=30.0)
    words = parser.parse_args()
    step_back()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends with the training, which handles the signal
    while True:
        with taken(words.run, words.tracker) as mine:
            if mine:
                sender = Sender(words.run, words.tracker, lambda: make_tracker(words.tracker, words.wait))
                sender.follow(read_outcome, words.wait)
                return
        time.sleep(POLL_SECONDS)


if __name__ == "__main__":
    main()
