"""A comparison from its specification to its report: what `ante compare` and `ante.compare` do."""

from collections.abc import Sequence
from pathlib import Path

from ante.errors import BalatroError
from ante.experiments.report import write_page
from ante.experiments.results import Results, results_of, write_results
from ante.experiments.running import PLAYERS, Watched, check_cells, is_done, play_others, run_cells
from ante.experiments.spec import FILE, Cell, Spec, cells_of, keep_spec, kept_spec
from ante.training.stopping import Stops


def prepare(spec: Spec, out: Path) -> list[Cell]:
    """The cells that are not done; the folder holds the specification. Raises BadSpec, BadConfig before anything runs."""
    cells = cells_of(spec, out)
    check_cells(cells)
    if (out / FILE).is_file() and games(kept_spec(out)) != games(spec):
        (out / PLAYERS).unlink(missing_ok=True)
    keep_spec(spec, out)
    return [cell for cell in cells if not is_done(cell, spec)]


def games(spec: Spec) -> tuple[object, ...]:
    """What the games of the other players depend on."""
    panel = spec.panel.resolve() if spec.panel else None
    return spec.players, spec.eval_games, panel


def run(
    spec: Spec, out: Path, left: Sequence[Cell], parallel: int, told: Watched, stops: Stops | None = None
) -> tuple[Results, list[Cell]]:
    """What was left of `prepare` is done, `parallel` runs at a time, and the report stands in the folder.

    Answers what was found and the cells that failed. Raises BalatroError.
    """
    if parallel < 1:
        raise BalatroError(f"--parallel {parallel}: at least one run at a time")
    failed = run_cells(left, spec, parallel, told, stops)
    if not stops and len(failed) < len(spec.entries) * len(spec.seeds):
        play_others(spec, out, cells_of(spec, out)[0])
    return redraw(out), failed


def redraw(out: Path) -> Results:
    """Results and report anew from what is stored; nothing is trained or played. Raises BadSpec, BalatroError."""
    results = results_of(out)
    write_results(results, out)
    write_page(results, out)
    return results
