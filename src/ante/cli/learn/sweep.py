"""`ante sweep`: search for settings with Ray Tune."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from ante.cli.shown import compile_missing, paper

if TYPE_CHECKING:
    from ante.training.sweeps.results import SweepResult
    from ante.training.sweeps.saved import Point
    from ante.training.sweeps.spec import Sweep

SHOWN = 20  # rows of the table while trials train


@dataclass(frozen=True)
class SweepCommand:
    """Search for settings: trials with different settings train on Ray Tune and are compared on validation games.

    The file lists shared settings, searched settings with their ranges, the method (random, asha or pbt), the number of
    trials and their length (see configs/sweeps/). Trials run on this machine, or on the Ray cluster at RAY_ADDRESS. To
    continue an interrupted sweep, run the same command again. The output folder contains results.json, trials.png,
    best.yaml (a preset) and best/, an ordinary run.

    Try:
      ante sweep configs/sweeps/asha.yaml
      ante sweep configs/sweeps/pbt.yaml --trials 6
      ante sweep configs/sweeps/pbt.yaml --method random --name control   (the same initial settings, without copying)
      ante train --preset runs/asha/best.yaml --steps 5000000 --name best
    """

    file: Positional[Annotated[Path, arg(metavar="FILE")]]
    """YAML file of the sweep."""
    name: str | None = None
    """Name of the sweep's folder, instead of the file's."""
    method: Literal["random", "asha", "pbt"] | None = None
    """Method with its default parameters, instead of the file's."""
    trials: int | None = None
    """Number of trials, instead of the file's."""
    store: str | None = None
    """Store of checkpoints and results (a folder or s3://bucket/prefix), instead of the file's."""
    json: bool = False
    """Print results.json."""

    def run(self) -> int:
        """Train and print the report."""
        from rich.console import Console

        from ante.tables import stages
        from ante.training.sweeps.spec import read_sweep

        given = {name: getattr(self, name) for name in ("name", "method", "trials", "store")}
        sweep = read_sweep(self.file, {name: value for name, value in given.items() if value is not None})
        with stages(Console(stderr=True)) as show_stage:
            show_stage("loading PyTorch and Ray")
            from ante.training.sweeps.tuning import run_sweep
        compile_missing()
        found = run_sweep(sweep, lambda before: watching(sweep, before), lambda words: print_stage(words))
        if self.json:
            print(found.to_json())
            return 0
        print_results(found)
        return 0


def print_stage(words: str) -> None:
    """Print what is in progress."""
    import sys

    print(words, file=sys.stderr, flush=True)


def print_results(found: "SweepResult") -> None:
    """Print the table of trials, the evaluation of the best one and where the results are."""
    from ante.agents.report import players_table
    from ante.training.sweeps.results import BEST, COORDINATES, LINEAGE_PLOT, PRESET

    console, folder = paper(), found.sweep.folder
    console.print(table(found))
    for trial in found.trials:
        if trial.error:
            console.print(f"trial {trial.number} failed: {trial.error}", soft_wrap=True, markup=False)
    console.print(players_table(found.reports))
    console.print(
        f"best     trial {found.best.number}: {folder / BEST}\n"
        f"preset   ante train --preset {folder / PRESET}\n"
        f"plot     {folder / COORDINATES}",
        soft_wrap=True,
    )
    if (folder / LINEAGE_PLOT).exists():
        console.print(f"lineage  {folder / LINEAGE_PLOT}", soft_wrap=True)


def table(found: "SweepResult", most: int | None = None) -> Any:
    """Return a table of the trials, best first: state, steps, score and last settings."""
    from ante.tables import FittedTable
    from ante.training.sweeps.saved import DIVERGED

    sweep = found.sweep
    names = list(sweep.search)
    title = f"{sweep.folder}: {sweep.method.kind}, {sweep.trials} trials of {sweep.steps:,} steps"
    shown = FittedTable(title=title, optional=tuple(reversed(names)))
    for name in ("trial", "state", "steps", sweep.metric, *names):
        shown.add_column(name, justify="left" if name == "state" else "right")
    for trial in found.ranked()[:most]:
        last = trial.last
        score = "" if last is None or last.score == DIVERGED else f"{last.score:.3g}"
        values = [cell(sweep.rounded(last.values)[name]) for name in names] if last else [""] * len(names)
        shown.add_row(f"{trial.number}", trial.state(sweep.steps), f"{last.steps:,}" if last else "", score, *values)
    return shown


def cell(value: Any) -> str:
    """Format a setting."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


@contextmanager
def watching(sweep: "Sweep", before: "dict[int, list[Point]]") -> "Iterator[Callable[[Point], None]]":
    """Show all trials while they train, a table that disappears or a line for each evaluation; yields its update."""
    from rich.console import Console
    from rich.live import Live

    from ante.tables import stages
    from ante.training.sweeps.results import SweepResult, TrialResult

    points = {number: list(of) for number, of in before.items()}

    def state() -> SweepResult:
        return SweepResult(sweep, tuple(TrialResult(number, tuple(of)) for number, of in points.items()))

    console = Console(stderr=True)
    if not console.is_terminal:
        with stages(console) as show_stage:
            show_stage(f"training {sweep.trials} trials")

            def tell(point: "Point") -> None:
                points[point.trial].append(point)
                trial = TrialResult(point.trial, tuple(points[point.trial]))
                words = f"trial {point.trial}: {sweep.metric} {point.score:.3g} after {point.steps:,} steps, {trial.state(sweep.steps)}"
                console.print(words, soft_wrap=True, highlight=False)

            yield tell
        return
    with Live(table(state(), SHOWN), console=console, transient=True) as live:

        def update(point: "Point") -> None:
            points[point.trial].append(point)
            live.update(table(state(), SHOWN))

        yield update
