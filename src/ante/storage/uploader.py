"""The upload process: it publishes the jobs of a spool at low priority and retries failures.

    python -m ante.storage.uploader SPOOL [--parent PID]

It exits when the queue is empty and, with --parent, that process has ended. It can be killed at any time.
"""

import argparse
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_when_event_set, wait_random_exponential

from ante.storage.errors import AlreadyPublished, BadStore, StorageError
from ante.storage.local import in_words
from ante.storage.opening import open_store
from ante.storage.publish import publish, replace_files
from ante.storage.retention import Retention, prune
from ante.storage.spool import Job, Spool, State
from ante.storage.store import Progress, Store, no_progress, under

PERMANENT_ERRORS = (AlreadyPublished, BadStore)  # errors that retries cannot fix
NICE = 10
LONGEST_PAUSE = 60.0  # longest pause between attempts in seconds; pauses are random below a bound that doubles


class Uploader:
    """Publish the jobs of a spool in order; each is retried until it succeeds or fails permanently."""

    def __init__(
        self,
        spool: Spool,
        stop: threading.Event,
        open_url: Callable[[str], Store] = open_store,
        longest_pause: float = LONGEST_PAUSE,
        progress: Progress = no_progress,
    ) -> None:
        self.spool, self.stop, self.open_url, self.progress = spool, stop, open_url, progress
        self.pause = wait_random_exponential(multiplier=0.5, max=longest_pause)
        self.state = State(os.getpid())
        self.written_at = 0.0

    def empty(self) -> None:
        """Work until the queue is empty or a stop is requested."""
        while not self.stop.is_set() and (jobs := self.spool.jobs()):
            self._upload(jobs[0])
        if self.state != (idle := State(os.getpid(), changed=self.state.changed)) or not self.written_at:
            self._write_state(idle)

    def _upload(self, job: Job) -> None:
        """Retry a job with growing pauses. Jobs keep their order, so `latest` never refers to an older one."""
        self._write_state(State(os.getpid(), job.id))
        attempts = Retrying(
            retry=retry_if_exception_type(StorageError),
            wait=self.pause,
            stop=stop_when_event_set(self.stop),
            sleep=self._pause,
            before_sleep=self._failed,
            retry_error_callback=lambda _: None,
        )
        attempts(self._attempt, job)

    def _attempt(self, job: Job) -> None:
        self.progress(-self.state.sent)  # subtract the bytes of a failed attempt
        self.state = replace(self.state, sent=0)
        try:
            with in_words("notes of uploads", self.spool.folder):
                self._publish(job)
        except PERMANENT_ERRORS as error:
            log(f"{job.about} failed permanently: {error}")
            self.spool.refuse(job, str(error))
            return
        self.spool.done(job)
        log(f"{job.about} is stored in {job.store}")

    def _publish(self, job: Job) -> None:
        payload, notes = self.spool.payload(job), self.spool.notes(job)
        store = self.open_url(job.store)
        if job.loose:
            replace_files(store, job.shelf, payload, job.gone, notes, self._sent)
            return
        publish(store, job.shelf, job.name, payload, job.metadata, job.pointers, notes, self._sent)
        if job.newest:
            prune_shelf(store, job)

    def _pause(self, seconds: float) -> None:
        self.stop.wait(seconds)

    def _sent(self, count: int) -> None:
        self.progress(count)
        self.state = replace(self.state, sent=self.state.sent + count)
        if time.time() - self.written_at > 0.5:
            self._write_state(self.state)

    def _failed(self, attempt: RetryCallState) -> None:
        assert attempt.outcome
        words = str(attempt.outcome.exception())
        if words != self.state.error:
            log(words)
        self._write_state(replace(self.state, attempts=attempt.attempt_number, error=words))

    def _write_state(self, state: State) -> None:
        self.written_at = time.time()
        self.state = replace(state, changed=self.written_at)
        try:
            self.spool.write_state(self.state)
        except OSError as error:  # the state only informs; uploads continue without it
            log(f"cannot write the state of {self.spool.folder}: {error}")


def prune_shelf(store: Store, job: Job) -> None:
    """Delete all but the newest publications of the job's shelf. Errors are logged, and the next job retries."""
    try:
        for item, _ in prune(store, under(job.shelf, ""), Retention(newest=job.newest)):
            log(f"deleted {item}")
    except StorageError as error:
        log(f"cannot prune {job.shelf}: {error}")


def log(words: str) -> None:
    """Print a line with the time to standard error."""
    print(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), words, file=sys.stderr, flush=True)


def start_uploader(spool: Spool) -> "subprocess.Popen[bytes]":
    """Start an uploader process, which continues after this process ends until the queue is empty.

    It inherits the environment, including credentials, and writes its output to SPOOL/uploader.log.
    """
    spool.folder.mkdir(parents=True, exist_ok=True)
    words = [sys.executable, "-m", "ante.storage.uploader", str(spool.folder), "--parent", str(os.getpid())]
    with (spool.folder / "uploader.log").open("ab") as out:
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)


def wait_until_empty(spool: Spool, seconds: float) -> bool:
    """Wait for the queue to become empty, and return whether it did in time."""
    until = time.monotonic() + seconds
    while spool.jobs():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def work(spool: Spool, parent: int | None, stop: threading.Event) -> bool:
    """Work until the queue is empty and the parent has ended, or a stop is requested.

    Returns False if another uploader works on the queue. With a parent, this process takes over when that one ends.
    """
    while True:
        with spool.taken() as mine:
            if mine:
                serve(spool, parent, stop)
                return True
        if stop.is_set() or not lives(parent):
            return False
        stop.wait(0.5)


def serve(spool: Spool, parent: int | None, stop: threading.Event) -> None:
    """Upload all jobs, including those added while the parent runs."""
    spool.tidy()
    uploader, last = Uploader(spool, stop), False
    while not last and not stop.is_set():
        last = not lives(parent)  # checked before the queue, so the parent's last jobs are included
        uploader.empty()
        if not last:
            stop.wait(0.5)


def step_back() -> None:
    """Lower this process's priority, and its session's if Linux schedules by session."""
    os.nice(NICE)
    if os.getsid(0) == os.getpid():
        with suppress(OSError):  # a kernel without autogroups
            Path("/proc/self/autogroup").write_text(str(NICE))


def lives(parent: int | None) -> bool:
    """Return whether the parent process still runs."""
    return parent is not None and os.getppid() == parent


def main() -> None:
    """Work until the queue is empty. SIGTERM stops it after the current part."""
    parser = argparse.ArgumentParser(prog="python -m ante.storage.uploader", description=__doc__)
    parser.add_argument("spool", type=Path)
    parser.add_argument("--parent", type=int)
    words = parser.parse_args()
    step_back()
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    if not work(Spool(words.spool), words.parent, stop):
        log("another uploader works on this queue")


if __name__ == "__main__":
    main()
