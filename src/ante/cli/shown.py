"""Formatting of sizes, times, tables and progress for the terminal."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

LONGEST_CELL = 1100  # characters; S3 keys have up to 1,024


def show(rows: list[Any], heads: tuple[str, ...], cells: Sequence[tuple[str, ...]], as_json: bool) -> None:
    """Print rows as JSON or as a table."""
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    from rich.table import Table
    from rich.text import Text

    from ante.messages import printable

    table = Table(*heads)
    for row in cells:
        table.add_row(*(Text(printable(cell, LONGEST_CELL)) for cell in row))
    paper().print(table)


def paper() -> "Console":
    """Return the console for tables; loads rich only now, so that `--help` is quick."""
    from ante.tables import paper

    return paper()


def size(count: int) -> str:
    """Return a size in human-readable form."""
    return f"{count / 1e6:,.1f} MB" if count >= 100_000 else f"{count:,} B"


def when(seconds: float) -> str:
    """Return a timestamp in human-readable form (UTC)."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


@contextmanager
def progress(total: int, about: str, *amounts: Any) -> Iterator[Callable[[int], None]]:
    """Show a transient progress bar on standard error; yields a callable that advances it.

    amounts  rich columns, or text, between the bar and the remaining time
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), *amounts, TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(about, total=total)
        yield lambda count: bar.advance(task, count)


def bytes_bar(total: int, about: str) -> AbstractContextManager[Callable[[int], None]]:
    """Return a progress bar over bytes."""
    from rich.progress import DownloadColumn, TransferSpeedColumn

    return progress(total, about, DownloadColumn(), TransferSpeedColumn())


def game_bar(games: int, about: str) -> AbstractContextManager[Callable[[int], None]]:
    """Return a progress bar over games."""
    from rich.progress import MofNCompleteColumn

    return progress(games, about, MofNCompleteColumn(), "games, left")


def step_bar(steps: int, about: str) -> AbstractContextManager[Callable[[int], None]]:
    """Return a progress bar over steps, shown as a percentage."""
    from rich.progress import TaskProgressColumn

    return progress(steps, about, TaskProgressColumn(), "left")
