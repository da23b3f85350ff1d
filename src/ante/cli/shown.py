"""How sizes, moments, tables and progress look on the terminal."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 180  # characters


def show(rows: list[Any], heads: tuple[str, ...], cells: Sequence[tuple[str, ...]], as_json: bool) -> None:
    """Rows as JSON or as a table."""
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    from rich.table import Table

    table = Table(*heads)
    for row in cells:
        table.add_row(*row)
    paper().print(table)


def paper() -> "Console":
    """Where tables are printed: as wide as the terminal, or as COLUMNS says; in a file or pipe so wide that nothing is cut."""
    from rich.console import Console

    known = sys.stdout.isatty() or os.environ.get("COLUMNS")
    return Console(width=None if known else WIDE)


def size(count: int) -> str:
    """Bytes for people."""
    return f"{count / 1e6:,.1f} MB" if count >= 100_000 else f"{count:,} B"


def when(seconds: float) -> str:
    """A moment for people."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


@contextmanager
def progress(total: int, about: str, *amounts: Any) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error, which goes when it is over; yields what to call with what was done.

    amounts  columns of rich, or words, between the bar and the time that is left
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), *amounts, TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(about, total=total)
        yield lambda count: bar.advance(task, count)


def bytes_bar(total: int, about: str) -> AbstractContextManager[Callable[[int], None]]:
    """A progress bar over bytes."""
    from rich.progress import DownloadColumn, TransferSpeedColumn

    return progress(total, about, DownloadColumn(), TransferSpeedColumn())


def game_bar(games: int, about: str) -> AbstractContextManager[Callable[[int], None]]:
    """A progress bar over games."""
    from rich.progress import MofNCompleteColumn

    return progress(games, about, MofNCompleteColumn(), "games, left")


def step_bar(steps: int, about: str) -> AbstractContextManager[Callable[[int], None]]:
    """A progress bar over so many steps that a share says more."""
    from rich.progress import TaskProgressColumn

    return progress(steps, about, TaskProgressColumn(), "left")
