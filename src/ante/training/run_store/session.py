"""The store of a run: downloads before it starts, and uploads until its end. Imports neither Ray nor torch."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from ante.stopping import TERMINATIONS, Stop, stopping
from ante.storage.errors import StorageError
from ante.storage.opening import open_store
from ante.storage.spool import Spool
from ante.storage.store import check_key
from ante.training.run_store.restore import check_new
from ante.training.run_store.upload import Publisher
from ante.training.settings.config import TrainConfig

LOOKS_SECONDS = 0.2  # between two looks at the queue


class NotUploaded(StorageError):
    """Outputs of a run that are not uploaded yet."""


def say(console: Console, words: str) -> None:
    """Print a line for the user."""
    console.print(words, soft_wrap=True, markup=False, highlight=False)


@contextmanager
def fetching(config: TrainConfig, console: Console) -> Iterator[Callable[[int], None]]:
    """A bar over what a run fetches from its store; yields what to call with bytes that came."""
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"looking for {config.name} in {config.store or config.runs}", total=None)
        yield lambda count: bar.update(task, advance=count, description=f"fetching {config.name} from {config.store}")


@contextmanager
def publishing(config: TrainConfig, resume: bool, console: Console) -> Iterator[Publisher | None]:
    """What stands behind `with` can publish; at its end uploads are waited for. Yields None without a store.

    Raises BadConfig where a new run's name is taken in the store, StorageError; NotUploaded where the wait was too short.
    """
    if not config.store:
        yield None
        return
    publisher = begin(config, resume, partial(say, console))
    try:
        yield publisher
    except KeyboardInterrupt:
        say(console, left_over(publisher.spool))
        raise
    except BaseException:
        wait(publisher, console)
        say(console, left_over(publisher.spool))
        raise
    else:
        wait(publisher, console)
        if publisher.spool.jobs():
            raise NotUploaded(left_over(publisher.spool))
    finally:
        publisher.close()


def begin(config: TrainConfig, resume: bool, tell: Callable[[str], None]) -> Publisher:
    """A publisher, to whom what a killed attempt has left is known."""
    assert config.store
    store = open_store(config.store)
    check_key(config.name)
    if not resume:
        check_new(config, tell)
    publisher = Publisher(config, store, tell)
    publisher.adopt()
    return publisher


def wait(publisher: Publisher, console: Console) -> None:
    """The queue is empty, or its time is over, or Ctrl-C was pressed."""
    spool, config, until = publisher.spool, publisher.config, publisher.deadline()
    total = spool.bytes
    if total:
        at_most = f"at most {max(0.0, until - time.monotonic()):.0f} s; Ctrl-C ends the wait"
        say(console, f"{len(spool.jobs())} uploads to {publisher.url} are under way ({total / 1e6:,.1f} MB): {at_most}")
    columns = TextColumn("uploading"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    shown = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with stopping() as asked, shown as bar:
        task = bar.add_task("", total=total)
        while spool.jobs() and time.monotonic() < min([until, *(patience(stop, config) for stop in asked)]):
            publisher.tend()
            bar.update(task, completed=total - spool.bytes + sent(spool))
            time.sleep(LOOKS_SECONDS)
    for job, why in spool.refusals():
        say(console, f"refused: {job.about}: {why}")


def patience(stop: Stop, config: TrainConfig) -> float:
    """Return until when a wait continues after a signal."""
    return stop.at + (config.uploads.grace_seconds if stop.number in TERMINATIONS else 0.0)


def sent(spool: Spool) -> int:
    """Return the uploaded bytes of the first job."""
    return spool.state.sent if spool.state else 0


def left_over(spool: Spool) -> str:
    """Return what is left in a queue, why, and how to continue."""
    jobs, error = spool.jobs(), spool.state.error if spool.state else ""
    if not jobs:
        return "everything is uploaded"
    why = f" ({error})" if error else ""
    return (
        f"{len(jobs)} uploads to {jobs[0].store} still wait, {spool.bytes / 1e6:,.1f} MB{why}; their process goes on as "
        f"long as this machine runs, and nothing is lost: see ante artifacts queue {spool.folder}, and once it has ended "
        f"go on with ante artifacts queue {spool.folder} --upload"
    )
