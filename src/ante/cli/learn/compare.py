"""`ante compare`: compare algorithms, policies and settings at an equal budget."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from ante.cli.options import Count, OutFolder
from ante.cli.shown import compile_missing, paper
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.experiments.results import Results, Row
    from ante.experiments.running import Watched
    from ante.experiments.spec import Cell, Spec


@dataclass(frozen=True)
class Compare:
    """Compare entries: train each on several seeds at an equal budget, evaluate all on the same games, write a report.

    Each run is a separate `ante train` process in OUT/ENTRY/seed-N. Finished runs are not repeated, and interrupted
    runs continue from their checkpoints. Ctrl-C saves checkpoints and stops; the same command continues. The
    specification lists entries (a settings file plus overrides), seeds, steps and games: docs/how-to/compare.md.

    Try:
      ante compare configs/compare/algorithms.yaml --out comparisons/algorithms
      ante compare configs/compare/algorithms.yaml --out comparisons/algorithms --parallel 2
      ante compare --out comparisons/algorithms --report            (redraws the report without training)
      ante compare --out comparisons/algorithms --report --json
    """

    spec: Positional[Annotated[Path | None, arg(metavar="SPEC.yaml")]] = None
    """Specification of the comparison; the one stored in OUT if omitted."""
    out: OutFolder | None = None
    """Folder of the comparison."""
    parallel: Count = 1
    """Number of concurrent runs, which share the machine's speed."""
    report: bool = False
    """Draw the report from stored data without training."""
    json: bool = False
    """Print all results as one JSON object."""

    def run(self) -> int:
        """Complete the comparison and print the table."""
        from ante.experiments.comparing import redraw
        from ante.experiments.spec import kept_spec, read_spec

        if self.out is None:
            raise BalatroError("--out is required: ante compare SPEC.yaml --out comparisons/first")
        if self.report:
            return show(redraw(self.out), self.out, self.json)
        return run_spec(read_spec(self.spec) if self.spec else kept_spec(self.out), self.out, self.parallel, self.json)


def run_spec(spec: "Spec", out: Path, parallel: int, as_json: bool) -> int:
    """Complete a comparison and show it; return 1 if a run failed, 130 if interrupted."""
    from ante.experiments.comparing import prepare, run
    from ante.stopping import stopping

    left = prepare(spec, out)
    compile_missing()
    with stopping() as stops, cell_bars(left, len(spec.entries) * len(spec.seeds)) as watcher:
        results, failed = run(spec, out, left, parallel, watcher, stops)
    show(results, out, as_json)
    if stops:
        print("stopped; the same command continues", file=sys.stderr)
        return 130
    return 1 if failed else 0


def show(results: "Results", out: Path, as_json: bool) -> int:
    """Print the table or JSON."""
    from ante.experiments.report import PAGE

    if as_json:
        print(results.to_json())
        return 0
    if results.rows:
        paper().print(table_of(results))
    if results.missing:
        print(f"not finished: {', '.join(f'{each.entry} seed {each.seed}' for each in results.missing)}")
    print(f"report  {out / PAGE}")
    return 0


def table_of(results: "Results") -> Any:
    """Return the final table for the terminal."""
    from ante.cli.games.league import spread
    from ante.tables import FittedTable

    first = results.cells[0].entry
    heads = ("", "mean ante", "blinds", "wins", "reward", f"blinds against {first}", "minutes", "steps/s", "peak GB")
    title = f"{results.title}: {results.steps:,} steps, {results.eval_games} games (95 % intervals)"
    shown = FittedTable(title=title, optional=("peak GB", "reward", "steps/s", "minutes", "mean ante"))
    for head in heads:
        shown.add_column(head, justify="right" if head else "left", no_wrap=not head)

    def cells(row: "Row") -> Iterator[str]:
        yield f"{row.name} ({row.seeds})" if row.seeds else row.name
        for name, form in (("ante", ".2f"), ("blinds", ".2f"), ("win", ".1%"), ("reward", ".3f")):
            yield spread(row.measures[name], form)
        yield spread(row.ahead, "+.2f") if row.ahead else ""
        if row.seconds is not None:
            yield from (f"{row.seconds / 60:.1f}", f"{row.steps_per_second:,.0f}", f"{row.memory_gb:.2f}")

    for row in results.rows:
        shown.add_row(*cells(row))
    return shown


@contextmanager
def cell_bars(left: "Sequence[Cell]", total: int) -> "Iterator[Watched]":
    """Show progress bars over all runs and over the steps of each active run, and a line at each start and end."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from ante.experiments.running import Watched, log_of

    console = Console(stderr=True)
    if total > len(left):
        console.print(f"{total - len(left)} of {total} runs are already finished")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("left"))
    with Progress(*columns, TimeRemainingColumn(), TimeElapsedColumn(), console=console, transient=True) as bars:
        whole = bars.add_task("runs", total=total, completed=total - len(left))
        tasks: dict[str, Any] = {}

        def begun(cell: "Cell") -> None:
            tasks[cell.label] = bars.add_task(f"{cell.label}, steps", total=cell.config.steps)
            console.print(f"{cell.label}: started, log in {log_of(cell)}", soft_wrap=True)

        def ended(cell: "Cell", trouble: str) -> None:
            bars.remove_task(tasks.pop(cell.label))
            bars.advance(whole)
            console.print(f"{cell.label}: {trouble or 'finished'}", soft_wrap=True)

        def after(words: str) -> None:
            bars.update(whole, description=words, completed=0, total=None)
            console.print(words, soft_wrap=True)

        yield Watched(begun, lambda cell, steps: bars.update(tasks[cell.label], completed=steps), ended, after)
