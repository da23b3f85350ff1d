"""Tables and progress on the terminal; the same in files and pipes.

A table is as wide as the terminal, without optional columns where it is too narrow for them. Progress is a bar or a
spinner on a terminal, and lines of text elsewhere.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

WIDE = 180  # characters
UNLIMITED = 10_000  # characters, more than any row has
HEARTBEAT = 5.0  # seconds between lines of progress in a file or pipe
SPREAD = 0.02  # of the time so far; the interval if it is longer than HEARTBEAT


def paper() -> Console:
    """Return a console for tables, as wide as the terminal or COLUMNS; for files and pipes, WIDE."""
    known = sys.stdout.isatty() or os.environ.get("COLUMNS")
    return Console(width=None if known else WIDE)


class Heartbeat:
    """Prints progress as lines of text on standard error: at each new stage, and then about every HEARTBEAT seconds."""

    def __init__(self) -> None:
        self.begin = self.last = time.monotonic()
        self.stage = ""

    def report(self, stage: str, share: float | None = None) -> None:
        """Print a line if it is time.

        share  share of the work that is done, of all stages, if known
        """
        now = time.monotonic()
        if stage == self.stage and now - self.last < max(HEARTBEAT, SPREAD * (now - self.begin)):
            return
        new, self.stage, self.last = stage != self.stage, stage, now
        done = "" if share is None else f" {share:.0%}"
        after = "" if new and share is None else f" after {now - self.begin:.0f} s"
        words = f"{stage}:{done}{after}" if done or after else stage
        print(words, file=sys.stderr, flush=True)


def counted(total: int, about: str) -> Callable[[int], None]:
    """Return a function that takes what was done since its last call, and prints progress as lines of text.

    Work that ends within HEARTBEAT seconds prints nothing.
    """
    heartbeat, done = Heartbeat(), 0
    heartbeat.stage = about

    def advance(count: int) -> None:
        nonlocal done
        done += count
        heartbeat.report(about, done / max(1, total))

    return advance


@contextmanager
def stages(console: Console) -> Iterator[Callable[[str], None]]:
    """Show what is in progress until the end of the block; yields a function that takes its description."""
    if console.is_terminal:
        with console.status("") as status:
            yield lambda words: status.update(Text(words))
        return
    heartbeat, ended, now = Heartbeat(), threading.Event(), [""]

    def repeat() -> None:
        while not ended.wait(HEARTBEAT / 20):
            if now[0]:
                heartbeat.report(now[0])

    def show(words: str) -> None:
        now[0] = words
        heartbeat.report(words)

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield show
    finally:
        ended.set()
        thread.join()


class FittedTable(Table):
    """A table that leaves out optional columns rather than wrap its cells; a line below it names them.

    optional  headings of columns that may be left out, in this order
    """

    def __init__(self, *headings: str, optional: tuple[str, ...] = (), **settings: Any) -> None:
        super().__init__(*headings, **settings)
        self.optional = optional

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Any]:
        """Yield the table with the columns that fit, and a line that names the others."""
        left_out: list[str] = []
        for heading in (*(each for each in self.optional if each in self.headings), None):
            table = self.without(left_out)
            if (
                heading is None
                or Measurement.get(console, options.update(max_width=UNLIMITED), table).maximum <= options.max_width
            ):
                break
            left_out.append(heading)
        yield table
        if left_out:
            names = ", ".join(heading for heading in self.headings if heading in left_out)
            yield Text(f"columns that need a wider terminal: {names}", style="dim")

    @property
    def headings(self) -> list[str]:
        """Return the headings of all columns."""
        return [str(column.header) for column in self.columns]

    def without(self, left_out: list[str]) -> Table:
        """Return a plain copy of the table without these columns."""
        columns = [column for column in self.columns if column.header not in left_out]
        table = Table(title=self.title)
        for column in columns:
            table.add_column(column.header, justify=column.justify, no_wrap=column.no_wrap)
        for cells in zip(*(column.cells for column in columns), strict=True):
            table.add_row(*cells)
        return table
