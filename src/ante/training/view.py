"""What a training run shows while it works: a table of metrics over a progress bar, or a line each in a log."""

import math
from contextlib import AbstractContextManager
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

SHOWN = (  # column of metrics.csv, heading, format
    ("steps_per_second", "steps/s", "{:,.0f}"),
    ("games_per_second", "games/s", "{:,.1f}"),
    ("games", "games", "{:,.0f}"),
    ("return", "return", "{:.3f}"),
    ("ante", "mean ante", "{:.2f}"),
    ("blinds", "blinds", "{:.2f}"),
    ("win_rate", "wins", "{:.1%}"),
    ("policy_loss", "policy loss", "{:.4f}"),
    ("value_loss", "value loss", "{:.4f}"),
    ("entropy", "entropy", "{:.2f}"),
    ("memory_gb", "memory GB", "{:.1f}"),
)
STAGE = ("stage", "stage", "{:.0f}")  # beside them in a run with a curriculum

HINTS = (  # beside them in a run with hints
    ("hint_asks", "hint asks", "{:,.0f}"),
    ("hint_success", "succeeded", "{:.0%}"),
    ("hint_p95", "p95 s", "{:.2f}"),
    ("hint_agreement", "agreed", "{:.0%}"),
)


def shown(value: float, form: str) -> str:
    """A number, or a dash where there is none yet."""
    return "-" if math.isnan(value) else form.format(value)


class TrainView(AbstractContextManager["TrainView"]):
    """Shows each row of metrics. On a terminal in place; elsewhere as one line of text."""

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
        """Begin to show."""
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The last row stays on the screen."""
        if self._live:
            self._live.stop()

    def show(self, row: dict[str, float]) -> None:
        """The metrics of one iteration."""
        columns: tuple[tuple[str, str, str], ...] = SHOWN if math.isnan(row["stage"]) else (STAGE, *SHOWN)
        columns += () if math.isnan(row["hint_asks"]) else HINTS
        cells = [shown(row[name], form) for name, _, form in columns]
        self._progress.update(self._task, completed=row["steps"], description=f"iteration {row['iteration']:.0f}")
        if self._live is None:
            text = "  ".join(f"{heading} {cell}" for (_, heading, _), cell in zip(columns, cells, strict=True))
            self._console.print(f"{row['steps']:>11,.0f} steps  {text}", soft_wrap=True)
            return
        table = Table(*(heading for _, heading, _ in columns), expand=True)
        table.add_row(*cells)
        self._live.update(Group(table, self._progress))
