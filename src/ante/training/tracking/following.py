"""The training side of tracking: starts, monitors and stops the sender processes.

A check costs the training loop one read of a small file every few seconds; no row passes through this process.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from ante.training.settings.config import TrainConfig
from ante.training.tracking.sender import covered
from ante.training.tracking.state import State, read_state, write_state
from ante.training.tracking.tracker import BadTracking, Outcome, check_installed

POLL_SECONDS = 5.0
TERMINATED_SECONDS = 5.0  # time for the end after a termination signal
Say = Callable[[str], None]


class Follower:
    """One tracker of one run, and its sender process."""

    def __init__(self, run: Path, tracker: str, wait_seconds: float, say: Say) -> None:
        self.run, self.tracker, self.say = run, tracker, say
        self.reported = False
        before = self.state
        if before.ended:
            write_state(run, tracker, replace(before, ended=""))
        words = [
            sys.executable,
            "-m",
            "ante.training.tracking.sender",
            str(run),
            tracker,
            "--wait",
            f"{wait_seconds:g}",
        ]
        # Its output is discarded: trackers may print credentials. Its errors are in the state file.
        self.process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def state(self) -> State:
        """Return the state saved by the sender; for an unreadable file, a state with that error."""
        try:
            return read_state(self.run, self.tracker)
        except BadTracking as error:
            return State(error=str(error))

    def look(self) -> None:
        """Print each error once."""
        if self.reported:
            return
        error = self.state.error
        if not error and (code := self.process.poll()) is not None:
            error = f"its process exited with code {code}"
        if error:
            self.reported = True
            self.say(f"{self.tracker} receives no rows ({error}); training continues, and metrics.csv has every row")

    def tell(self, outcome: Outcome) -> None:
        """Send the outcome of the run to the sender, which exits once all rows are sent."""
        assert self.process.stdin
        with suppress(BrokenPipeError):  # the process has exited; `result` reports it
            self.process.stdin.write(f"{outcome}\n".encode())
            self.process.stdin.close()

    def wait(self, until: float) -> None:
        """Wait until the sender exits, and kill it at this time (of time.monotonic())."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, until - time.monotonic()))
        with suppress(ProcessLookupError):  # also W&B's own process, which is in the same group
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def result(self) -> str:
        """Return how much was sent, and how to send the rest."""
        state, rows = self.state, covered(self.run)
        if state.ended:
            return f"{self.tracker}: {rows:,} rows in {state.place}"
        sent = min(state.iteration, rows)
        why = f" ({state.error})" if state.error else ""
        return (
            f"{self.tracker}: {rows - sent:,} of {rows:,} rows may be missing{why}; send them from metrics.csv with "
            f"ante track {self.run} --to {self.tracker}"
        )


class Followers:
    """All trackers of a run.

    outcome     how the run ended
    terminated  time of a termination signal, by time.monotonic(), or None
    """

    def __init__(self, config: TrainConfig, say: Say) -> None:
        self.config, self.say = config, say
        self.each: list[Follower] = []
        self.outcome: Outcome = "failed"
        self.terminated: float | None = None
        self.checked_at = time.monotonic()

    def begin(self) -> None:
        """Start sending the rows of the run, whose folder exists."""
        if not self.each:
            wait = self.config.tracking.wait_seconds
            self.each = [Follower(self.config.folder, name, wait, self.say) for name in self.config.tracking.trackers]

    def look(self) -> None:
        """Print each error once per tracker."""
        now = time.monotonic()
        if self.each and now - self.checked_at >= POLL_SECONDS:
            self.checked_at = now
            for follower in self.each:
                follower.look()

    def end(self) -> None:
        """Wait until all rows are sent or the time is over, and print the results."""
        for follower in self.each:
            follower.tell(self.outcome)
        until = time.monotonic() + self.config.tracking.wait_seconds
        if self.terminated is not None:
            until = min(until, self.terminated + TERMINATED_SECONDS)
        for follower in self.each:
            follower.wait(until)
            self.say(f"tracking    {follower.result()}")


@contextmanager
def following(config: TrainConfig, say: Say) -> Iterator[Followers]:
    """Track the run within the `with` block according to the settings. Raises NoTracker."""
    check_installed(config.tracking.trackers)
    followers = Followers(config, say)
    try:
        yield followers
    finally:
        followers.end()
