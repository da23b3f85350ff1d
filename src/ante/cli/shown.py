"""Formatting of sizes, times, tables and progress for the terminal."""

import json
import math
import os
import sys
import time
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
    """Return a timestamp in human-readable form (UTC); empty if it is no time."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return ""


def short(count: float) -> str:
    """Return a count in at most five characters, such as 24.0M; empty if it is unknown."""
    if math.isnan(count):
        return ""
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(count) >= unit:
            return f"{count / unit:.{0 if abs(count) >= 100 * unit else 1}f}{letter}"
    return f"{count:.0f}"


def span(seconds: float) -> str:
    """Return a duration in human-readable form; empty if it is unknown."""
    if math.isnan(seconds):
        return ""
    for least, unit, name in ((172_800, 86_400, "days"), (5400, 3600, "h"), (90, 60, "min")):
        if seconds >= least:
            return f"{seconds / unit:.{1 if name == 'h' else 0}f} {name}"
    return f"{max(0.0, seconds):.0f} s"


def ago(moment: float) -> str:
    """Return how long ago a moment was, given in seconds since 1970."""
    return f"{span(time.time() - moment)} ago"


@contextmanager
def progress(total: int, about: str, *amounts: Any) -> Iterator[Callable[[int], None]]:
    """Show progress on standard error, a bar that disappears or lines of text; yields a callable that advances it.

    amounts  rich columns, or text, between the bar and the remaining time
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from ante.tables import counted

    console = Console(file=sys.stderr)
    if not console.is_terminal:
        yield counted(total, about)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), *amounts, TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
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


def compile_all() -> float:
    """Compile the engine, with progress on standard error if code is missing, and return the duration in seconds.

    A terminal shows a bar; a file or pipe receives a line for each group of parts and every HEARTBEAT seconds.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from ante.engine.core.compile_cache import is_complete
    from ante.tables import Heartbeat
    from ante.warmup import warm_up

    if is_complete():
        return warm_up()
    console = Console(stderr=True)
    console.print("compiling the engine for this processor: about two minutes, once per version", soft_wrap=True)
    if not console.is_terminal:
        heartbeat = Heartbeat()
        return warm_up(lambda parts, share: heartbeat.report(f"compiling {parts}", share))
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=1.0)
        return warm_up(lambda parts, share: bar.update(task, description=parts, completed=share))


def compile_missing() -> None:
    """Compile the engine before other processes need it, unless the cache cannot be written: then each process compiles."""
    from ante.engine.core.compile_cache import CacheNotWritable, is_complete

    if os.environ.get("NUMBA_DISABLE_JIT") == "1" or is_complete():
        return
    try:
        compile_all()
    except CacheNotWritable as error:
        print(f"{error}; until then every process compiles for minutes", file=sys.stderr)
