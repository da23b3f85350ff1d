"""The store of a run: downloads before it starts, and uploads until its end. Imports neither Ray nor torch."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from ante.messages import number_of
from ante.stopping import TERMINATIONS, Stop, stopping
from ante.storage.errors import StorageError
from ante.storage.opening import open_store
from ante.storage.spool import Spool
from ante.storage.store import check_key
from ante.training.run_store.restore import check_new
from ante.training.run_store.upload import Publisher
from ante.training.settings.config import TrainConfig

POLL_SECONDS = 0.2  # interval for polling the queue


class NotUploaded(StorageError):
    """Some outputs of a run are not uploaded yet."""


def say(console: Console, words: str) -> None:
    """Print a line for the user."""
    console.print(words, soft_wrap=True, markup=False, highlight=False)


@contextmanager
def fetching(config: TrainConfig, console: Console) -> Iterator[Callable[[int], None]]:
    """Show a progress bar for a run's downloads; yield a function that adds a number of bytes."""
    columns = TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"looking for {config.name} in {config.store or config.runs}", total=None)
        yield lambda count: bar.update(task, advance=count, description=f"fetching {config.name} from {config.store}")


@contextmanager
def publishing(config: TrainConfig, resume: bool, console: Console) -> Iterator[Publisher | None]:
    """Provide a publisher within the `with` block and wait for its uploads afterwards. Yields None without a store.

    Raises BadConfig if the store has a run of the new run's name, StorageError, and NotUploaded after a timeout.
    """
    if not config.store:
        yield None
        return
    publisher = begin(config, resume, partial(say, console))
    try:
        yield publisher
    except KeyboardInterrupt:
        say(console, pending_text(publisher.spool))
        raise
    except BaseException:
        wait(publisher, console)
        say(console, pending_text(publisher.spool))
        raise
    else:
        wait(publisher, console)
        if publisher.spool.jobs():
            raise NotUploaded(pending_text(publisher.spool))
    finally:
        publisher.close()


def begin(config: TrainConfig, resume: bool, tell: Callable[[str], None]) -> Publisher:
    """Return a publisher that has queued a checkpoint left by a killed run."""
    assert config.store
    store = open_store(config.store)
    check_key(config.name)
    if not resume:
        check_new(config, tell)
    publisher = Publisher(config, store, tell)
    publisher.queue_latest()
    return publisher


def wait(publisher: Publisher, console: Console) -> None:
    """Wait until the queue is empty, a timeout, or Ctrl-C."""
    spool, config, until = publisher.spool, publisher.config, publisher.deadline()
    total = spool.bytes
    if total:
        at_most = f"at most {max(0.0, until - time.monotonic()):.0f} s; press Ctrl-C to stop waiting"
        say(console, f"{len(spool.jobs())} uploads to {publisher.url} queued ({total / 1e6:,.1f} MB): {at_most}")
    columns = TextColumn("uploading"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    shown = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with stopping() as stops, shown as bar:
        task = bar.add_task("", total=total)
        while spool.jobs() and time.monotonic() < min([until, *(deadline_after(stop, config) for stop in stops)]):
            publisher.check_uploader()
            bar.update(task, completed=total - spool.bytes + sent(spool))
            time.sleep(POLL_SECONDS)
    for job, why in spool.refusals():
        say(console, f"refused: {job.about}: {why}")


def deadline_after(stop: Stop, config: TrainConfig) -> float:
    """Return the time until which the wait continues after a signal."""
    return stop.at + (config.uploads.grace_seconds if stop.number in TERMINATIONS else 0.0)


def sent(spool: Spool) -> int:
    """Return the uploaded bytes of the current job."""
    return spool.state.sent if spool.state else 0


def pending_text(spool: Spool) -> str:
    """Return the number of pending uploads, their error, and how to continue."""
    jobs, error = spool.jobs(), spool.state.error if spool.state else ""
    if not jobs:
        return "everything is uploaded"
    why = f" ({error})" if error else ""
    return (
        f"pending: {number_of(len(jobs), 'upload')} to {jobs[0].store}, {spool.bytes / 1e6:,.1f} MB{why}; the uploader "
        f"continues in the background: ante artifacts queue {spool.folder} shows it. After a restart of the machine, "
        f"ante artifacts queue {spool.folder} --upload continues"
    )
