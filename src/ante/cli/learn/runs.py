"""`ante runs`: list runs with their state and results, or compare some of them."""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from ante.cli.shown import ago, paper, short, span
from ante.errors import BalatroError

if TYPE_CHECKING:
    from rich.table import Table

    from ante.watch.runs import Listing, RunSummary

HERE = "runs"
Sort = Literal["newest", "name", "steps", "time", "blinds", "best", "wins", "evaluation"]
LEFT_OUT_FIRST = ("games", "best wins", "eval wins", "game", "time", "wins", "trains", "blinds", "best", "age")


@dataclass(frozen=True)
class Runs:
    """List runs with state, progress and results; or compare two or more: settings that differ, metrics, evaluation.

    A folder is searched for runs, also those of ante compare. A store shows no locks, so a run in it is unfinished until
    it is evaluated. Folders that are not runs, or are damaged, are named below the table.

    Try:
      ante runs
      ante runs comparisons/algorithms --sort evaluation
      ante runs s3://game-runs/runs --match 'ppo*'
      ante runs runs/one runs/two               (compare)
      ante runs one two three --json
    """

    where: Positional[Annotated[tuple[str, ...], arg(metavar="FOLDER|STORE|RUN ...")]] = ()
    """Folder or store (s3://bucket/runs, file:///folder) with runs, ./runs by default; or two or more runs to compare."""
    sort: Sort = "newest"
    """Order: newest, by last change; or name, steps, time, blinds, best, wins, evaluation (mean blinds)."""
    match: str = "*"
    """Only runs whose name has this pattern, such as 'ppo*'."""
    json: bool = False
    """Print everything as JSON."""

    def run(self) -> int:
        """Print the list or the comparison."""
        with TemporaryDirectory(prefix="ante-runs-") as place:
            if len(self.where) > 1:
                return self.compare([one_run(where, Path(place) / str(i)) for i, where in enumerate(self.where)])
            return self.show(listed(self.where[0] if self.where else HERE, Path(place)))

    def show(self, found: "Listing") -> int:
        """Print the table of all runs."""
        runs = [run for run in found.runs if fnmatchcase(run.name, self.match)]
        runs.sort(key=KEYS[self.sort], reverse=self.sort != "name")
        others = {name: why for name, why in found.others.items() if fnmatchcase(name, self.match)}
        if self.json:
            print_json({"runs": [facts(run) for run in runs], "others": others})
            return 0
        paper().print(table_of(runs) if runs else "no runs: ante train starts one")
        for name, why in others.items():
            say(f"not listed: {name}: {why}")
        return 0

    def compare(self, runs: "list[RunSummary]") -> int:
        """Print settings that differ, last metrics and evaluations side by side."""
        from ante.watch.runs import differing

        names = distinct(runs)
        settings = differing({name: run.config for name, run in zip(names, runs, strict=True)})
        if self.json:
            print_json({"runs": dict(zip(names, map(facts, runs), strict=True)), "settings": settings})
            return 0
        out = paper()
        rows = [(key, *(plain(values[name]) for name in names)) for key, values in settings.items()]
        out.print(side_by_side("settings that differ", names, rows) if rows else "all settings are equal")
        out.print(side_by_side("training, last row", names, metric_rows(runs)))
        out.print(side_by_side("evaluation (95 % intervals)", names, evaluation_rows(runs)))
        return 0


KEYS: "dict[str, Callable[[RunSummary], Any]]" = {
    "newest": lambda run: run.changed,
    "name": lambda run: run.name,
    "steps": lambda run: known(run.metric("steps")),
    "time": lambda run: known(run.metric("seconds")),
    "blinds": lambda run: known(run.metric("blinds")),
    "best": lambda run: known(run.best["blinds"]),
    "wins": lambda run: known(run.metric("win_rate")),
    "evaluation": lambda run: known(run.evaluation.blinds[0] if run.evaluation else math.nan),
}


def known(value: float) -> float:
    """Return a number to sort by: unknown ones come last."""
    return -math.inf if math.isnan(value) else value


def listed(where: str, place: Path) -> "Listing":
    """Return the runs in a folder or store. Raises BalatroError.

    place  folder for the files of a store's runs
    """
    from ante.watch.runs import Listing, list_runs

    if "://" not in where:
        return list_runs(Path(where))
    copy, failed = downloaded(where, place)
    found = list_runs(copy, copied=True)
    return Listing([run for run in found.runs if run.name not in failed], found.others | failed)


def one_run(where: str, place: Path) -> "RunSummary":
    """Return one run, by folder, by name below ./runs, or by its URL in a store. Raises BalatroError."""
    from ante.watch.runs import is_run, read_run

    if "://" not in where:
        beside = Path(HERE) / where
        folder = beside if not is_run(Path(where)) and is_run(beside) else Path(where)
        return read_run(folder, Path(os.path.abspath(folder)).name)
    copy, failed = downloaded(where, place)
    for why in failed.values():
        raise BalatroError(f"{where}: {why}")
    if not is_run(copy):
        raise BalatroError(f"{where} is not a run: ante runs {where} lists the runs in a store")
    return read_run(copy, copied=True)


def downloaded(url: str, place: Path) -> tuple[Path, dict[str, str]]:
    """Download the small files of all runs in a store, with the times at which they changed.

    Returns:
        The folder of the copies, named as the last part of the URL, and the failures by run.
    """
    from ante.serve.catalogue.mirror import Mirror
    from ante.storage.opening import open_store

    mirror = Mirror(open_store(url), place)
    mirror.refresh()
    return mirror.folder, mirror.failed


def table_of(runs: "Sequence[RunSummary]") -> "Table":
    """Return a row for each run."""
    from rich.text import Text

    from ante.messages import printable
    from ante.tables import FittedTable

    left = ("run", "state", "trains", "game")
    heads = (*left, "steps", "games", "time", "blinds", "best", "wins", "best wins", "eval blinds", "eval wins", "age")
    table = FittedTable(optional=LEFT_OUT_FIRST)
    for head in heads:
        table.add_column(head, justify="left" if head in left else "right")
    for run in runs:
        table.add_row(*(Text(printable(cell)) for cell in cells_of(run)))
    return table


def cells_of(run: "RunSummary") -> Iterator[str]:
    """Yield the cells of a run's row."""
    steps = run.metric("steps")
    share = f" ({min(1.0, steps / run.target):.0%})" if run.target > 0 and not math.isnan(steps) else ""
    yield from (run.name, run.state, run.kind, run.game, f"{short(steps)}{share}", short(run.metric("games")))
    yield span(run.metric("seconds"))
    yield from (formed(run.metric("blinds"), ".2f"), formed(run.best["blinds"], ".2f"))
    yield from (formed(run.metric("win_rate"), ".1%"), formed(run.best["win_rate"], ".1%"))
    found = run.evaluation
    yield from (interval(found.blinds, ".2f"), interval(found.win_rate, ".1%")) if found else ("", "")
    yield ago(run.changed)


def metric_rows(runs: "Sequence[RunSummary]") -> Iterator[tuple[str, ...]]:
    """Yield the rows of progress, and of the metrics that the console shows."""
    from ante.metrics import METRICS

    yield ("state", *(run.state for run in runs))
    yield ("changed", *(ago(run.changed) for run in runs))
    yield ("steps", *(f"{short(run.metric('steps'))} of {short(run.target)}" for run in runs))
    yield ("time", *(span(run.metric("seconds")) for run in runs))
    yield ("best blinds", *(formed(run.best["blinds"], ".2f") for run in runs))
    for each in METRICS:
        values = [run.metric(each.name) for run in runs]
        if each.heading and not all(map(math.isnan, values)):
            yield (each.heading, *("" if math.isnan(value) else each.format.format(value) for value in values))


def evaluation_rows(runs: "Sequence[RunSummary]") -> Iterator[tuple[str, ...]]:
    """Yield the rows of the evaluations."""
    found = [run.evaluation for run in runs]
    yield ("game", *(run.game for run in runs))
    yield ("games", *(f"{each.games:,}" if each else "not evaluated" for each in found))
    yield ("wins", *(interval(each.win_rate, ".1%") if each else "" for each in found))
    yield ("blinds beaten", *(interval(each.blinds, ".2f") if each else "" for each in found))
    yield ("ante reached", *(interval(each.ante, ".2f") if each else "" for each in found))


def side_by_side(title: str, names: Sequence[str], rows: Any) -> "Table":
    """Return a table with a column for each run."""
    from rich.table import Table
    from rich.text import Text

    from ante.messages import printable

    table = Table(title=title)
    table.add_column("")
    for name in names:
        table.add_column(Text(printable(name)), justify="right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


def distinct(runs: "Sequence[RunSummary]") -> list[str]:
    """Return names that differ: with their folders where runs have the same name."""
    names = [run.name for run in runs]
    longer = [run.name if names.count(run.name) == 1 else f"{run.folder}" for run in runs]
    if len(set(longer)) < len(longer):
        raise BalatroError(
            f"{next(name for name in longer if longer.count(name) > 1)} is given twice: name each run once"
        )
    return longer


def interval(found: tuple[float, float, float], form: str) -> str:
    """Return a value with its interval."""
    value, low, high = found
    return formed(value, form) if math.isnan(low) else f"{value:{form}} ({low:{form}} to {high:{form}})"


def formed(value: float, form: str) -> str:
    """Return a number, empty if it is unknown."""
    return "" if math.isnan(value) else f"{value:{form}}"


def plain(value: object) -> str:
    """Return a setting as text."""
    return "" if value is None else str(value)


def say(words: str) -> None:
    """Print a line of untrusted text."""
    from ante.messages import printable

    print(printable(words))


def facts(run: "RunSummary") -> dict[str, Any]:
    """Return a run as plain data."""
    changed = datetime.fromtimestamp(run.changed, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {**asdict(run), "folder": str(run.folder), "changed": changed}


def print_json(found: Any) -> None:
    """Print data as JSON, with null for unknown numbers."""
    import json

    from ante.files import plain as json_values

    print(json.dumps(json_values(found), indent=1))
