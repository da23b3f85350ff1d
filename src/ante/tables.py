"""Tables for the terminal: as wide as it is, without optional columns where it is too narrow for them."""

import os
import sys
from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

WIDE = 180  # characters
UNLIMITED = 10_000  # characters, more than any row has


def paper() -> Console:
    """Return a console for tables, as wide as the terminal or COLUMNS; for files and pipes, WIDE."""
    known = sys.stdout.isatty() or os.environ.get("COLUMNS")
    return Console(width=None if known else WIDE)


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
