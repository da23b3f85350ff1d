"""Runs a comparison from specification to report, for `ante compare` and `ante.compare`."""

from collections.abc import Sequence
from pathlib import Path

from ante.errors import BalatroError
from ante.experiments.report import PAGE, write_page
from ante.experiments.results import RESULTS, Results, results_of, write_results
from ante.experiments.running import (
    PLAYERS,
    Watched,
    check_cells,
    has_games,
    is_done,
    own_report,
    play_others,
    run_cells,
)
from ante.experiments.spec import FILE, SEEDS, Cell, Spec, cells_of, keep_spec, kept_spec, url_of
from ante.files import read_text, write_text
from ante.stopping import Stops
from ante.storage.opening import open_store


def prepare(spec: Spec, out: Path) -> list[Cell]:
    """Save the specification and return the unfinished cells. Raises BadSpec, BadConfig before anything runs."""
    cells = cells_of(spec, out)
    check_cells(cells)
    forget_other_games(spec, cells, out)
    keep_spec(spec, out)
    return [cell for cell in cells if not is_done(cell, spec)]


def forget_other_games(spec: Spec, cells: Sequence[Cell], out: Path) -> None:
    """Delete stored games with other seeds, rules or players than those of the specification; keep its seeds."""
    seeds = read_text(spec.seed_file) if spec.seed_file else ""
    kept, before = out / SEEDS, kept_spec(out) if (out / FILE).is_file() else None
    other_seeds = before is not None and (read_text(kept) if kept.is_file() else "") != seeds
    other_players = before is not None and before.players != spec.players
    if other_seeds or other_players or not has_games(out / PLAYERS, spec, cells[0]):
        (out / PLAYERS).unlink(missing_ok=True)
    if other_seeds:
        for cell in cells:
            own_report(cell).unlink(missing_ok=True)
    if seeds:
        out.mkdir(parents=True, exist_ok=True)
        write_text(kept, seeds)
    else:
        kept.unlink(missing_ok=True)


def run(
    spec: Spec, out: Path, left: Sequence[Cell], parallel: int, watcher: Watched, stops: Stops | None = None
) -> tuple[Results, list[Cell]]:
    """Run unfinished cells, `parallel` at a time, and write the report.

    Return the results and the failed cells. Raises BalatroError.
    """
    if parallel < 1:
        raise BalatroError(f"--parallel {parallel}: must be at least 1")
    failed = run_cells(left, spec, parallel, watcher, stops)
    if not stops and len(failed) < len(spec.entries) * len(spec.seeds):
        play_others(spec, out, cells_of(spec, out)[0], watcher, stops)
    watcher.after("writing the report")
    results = redraw(out)
    upload(spec, out)
    return results, failed


def upload(spec: Spec, out: Path) -> None:
    """Copy specification, results and report to the comparison's store, if it has one. Raises StorageError."""
    if not spec.store:
        return
    store = open_store(url_of(spec, out))
    for file in (out / name for name in (FILE, SEEDS, PLAYERS, RESULTS, PAGE)):
        if file.is_file():
            store.put_file(file.name, file)


def redraw(out: Path) -> Results:
    """Rebuild results and report from stored files, without training or playing. Raises BadSpec, BalatroError."""
    results = results_of(out)
    write_results(results, out)
    write_page(results, out)
    return results
