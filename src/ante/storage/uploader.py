"""The process that empties a spool: niced, alone on its queue, and patient.

    python -m ante.storage.uploader SPOOL [--parent PID]

It continues until the queue is empty, and with --parent until that process has ended too. It may be killed at any time.
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

HOPELESS = (AlreadyPublished, BadStore)  # will be the same whenever it is tried again
NICE = 10
LONGEST_PAUSE = 60.0  # seconds between two attempts; the pause is drawn at random below a bound that doubles


class Uploader:
    """Publishes the jobs of a spool one after the other, each until it stands or can never stand."""

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
        self.told_at = 0.0

    def empty(self) -> None:
        """Work until the queue is empty or a stop is requested."""
        while not self.stop.is_set() and (jobs := self.spool.jobs()):
            self._upload(jobs[0])
        if self.state != (idle := State(os.getpid(), changed=self.state.changed)) or not self.told_at:
            self._tell(idle)

    def _upload(self, job: Job) -> None:
        """Attempts follow each other with growing pauses. Order is kept, so that `latest` never steps back."""
        self._tell(State(os.getpid(), job.id))
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
        self.progress(-self.state.sent)  # those of an attempt that failed
        self.state = replace(self.state, sent=0)
        try:
            with in_words("notes of uploads", self.spool.folder):
                self._publish(job)
        except HOPELESS as error:
            log(f"{job.about} is put aside: {error}")
            self.spool.refuse(job, str(error))
            return
        self.spool.done(job)
        log(f"{job.about} stands in {job.store}")

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
        if time.time() - self.told_at > 0.5:
            self._tell(self.state)

    def _failed(self, attempt: RetryCallState) -> None:
        assert attempt.outcome
        words = str(attempt.outcome.exception())
        if words != self.state.error:
            log(words)
        self._tell(replace(self.state, attempts=attempt.attempt_number, error=words))

    def _tell(self, state: State) -> None:
        self.told_at = time.time()
        self.state = replace(state, changed=self.told_at)
        try:
            self.spool.tell(self.state)
        except OSError as error:  # the state is only informative; uploads continue without it
            log(f"cannot write the state of {self.spool.folder}: {error}")


def prune_shelf(store: Store, job: Job) -> None:
    """Only the newest publications are left on the job's shelf. What hinders that is logged: the next job tries again."""
    try:
        for item, _ in prune(store, under(job.shelf, ""), Retention(newest=job.newest)):
            log(f"{item} is not kept any longer")
    except StorageError as error:
        log(f"cannot prune {job.shelf}: {error}")


def log(words: str) -> None:
    """A line with the time, on standard error."""
    print(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), words, file=sys.stderr, flush=True)


def start_uploader(spool: Spool) -> "subprocess.Popen[bytes]":
    """An uploader works on the spool beside this process, and outlives it until the queue is empty.

    It inherits the environment, and with it the credentials; its output is in SPOOL/uploader.log.
    """
    spool.folder.mkdir(parents=True, exist_ok=True)
    words = [sys.executable, "-m", "ante.storage.uploader", str(spool.folder), "--parent", str(os.getpid())]
    with (spool.folder / "uploader.log").open("ab") as out:
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)


def wait_until_empty(spool: Spool, seconds: float) -> bool:
    """Whether the queue became empty in time."""
    until = time.monotonic() + seconds
    while spool.jobs():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def work(spool: Spool, parent: int | None, stop: threading.Event) -> bool:
    """Work until the queue is empty and the parent has ended, or a stop is requested. Returns False if another one is at work.

    With a parent, this process takes over when the other one ends.
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
    """Upload what is queued, and what is queued while the parent lives too."""
    spool.tidy()
    uploader, last = Uploader(spool, stop), False
    while not last and not stop.is_set():
        last = not lives(parent)  # read first, so that its last uploads are seen
        uploader.empty()
        if not last:
            stop.wait(0.5)


def step_back() -> None:
    """Give way to other processes: to those of other sessions too, where Linux shares time out by session."""
    os.nice(NICE)
    if os.getsid(0) == os.getpid():
        with suppress(OSError):  # a kernel without such groups
            Path("/proc/self/autogroup").write_text(str(NICE))


def lives(parent: int | None) -> bool:
    """Whether the process that started this one is still there."""
    return parent is not None and os.getppid() == parent


def main() -> None:
    """Work until the queue is empty; SIGTERM ends it after the part that is on its way."""
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
