"""Shows the metrics of a run during training: named values above a progress bar, or one line per iteration in a log."""

import math
from contextlib import AbstractContextManager
from types import TracebackType

from rich.columns import Columns
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from ante.metrics import METRICS, Metric

COLUMNS = tuple(metric for metric in METRICS if metric.heading)


def columns_of(row: dict[str, float]) -> list[Metric]:
    """Return the metrics of this row that are shown."""
    return [each for each in COLUMNS if not each.where or not math.isnan(row.get(each.where, math.nan))]


def formatted(value: float, form: str) -> str:
    """Format the number, or a dash for NaN."""
    return "-" if math.isnan(value) else form.format(value)


class TrainView(AbstractContextManager["TrainView"]):
    """Shows each row of metrics, in place on a terminal and as lines of text elsewhere."""

    def __init__(self, console: Console, total: int, done: int) -> None:
        self._console = console
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("steps, left"),
            TimeRemainingColumn(),
            TextColumn("so far"),
            TimeElapsedColumn(),
            console=console,
        )
        self._task = self._progress.add_task("first batch", total=total, completed=done)
        self._live = Live(self._progress, console=console, refresh_per_second=4) if console.is_terminal else None

    def __enter__(self) -> "TrainView":
        """Start the display."""
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the display; the last row stays on the screen."""
        if self._live:
            self._live.stop()

    def show(self, row: dict[str, float]) -> None:
        """Show the metrics of one iteration."""
        columns = columns_of(row)
        headings = [each.heading for each in columns]
        cells = [formatted(row[each.name], each.format) for each in columns]
        self._progress.update(self._task, completed=row["steps"], description=f"iteration {row['iteration']:.0f}")
        if self._live is None:
            text = "  ".join(f"{heading} {cell}" for heading, cell in zip(headings, cells, strict=True))
            self._console.print(f"{row['steps']:>11,.0f} steps  {text}", soft_wrap=True)
            return
        pairs = (Text.assemble((f"{head} ", "dim"), cell) for head, cell in zip(headings, cells, strict=True))
        self._live.update(Group(Columns(pairs, padding=(0, 3), equal=True), self._progress))
