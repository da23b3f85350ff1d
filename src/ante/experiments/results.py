"""The results of a comparison, from the files of its runs: curves with bands over seeds, and a table with intervals.

All entries play the same games. The bootstrap resamples games jointly for all entries, and training seeds per entry, so
intervals cover both sources of variance. With few seeds they are too narrow; with one seed they cover the games only.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, FiniteFloat, ValidationError

from ante.agents.evaluate import wilson
from ante.errors import first_fault
from ante.experiments.running import PLAYERS, is_done, own_report
from ante.experiments.spec import FILE, Cell, Spec, cells_of, kept_spec
from ante.files import NoFile, Unreadable, plain, read_json, read_object, read_text, whole_rows, write_text
from ante.league.ratings import SAMPLES, Interval, interval, weights
from ante.watch.runs import EVALUATION, differing

MEASURES = ("ante", "blinds", "win", "reward")  # of each game in the final evaluation
CURVES = ("blinds", "ante", "win_rate", "return")  # columns of metrics.csv
AXES = ("steps", "seconds")
POINTS = 160  # per curve
RESULTS = "results.json"


@dataclass(frozen=True)
class Band:
    """One training metric of an entry: mean, minimum and maximum over seeds at each point x; None if not yet known."""

    x: list[float]
    mean: list[float | None]
    low: list[float | None]
    high: list[float | None]


@dataclass(frozen=True)
class Row:
    """The final results of an entry or another player.

    seeds     number of finished runs; 0 for another player
    measures  with the names in MEASURES
    ahead     difference in blinds beaten to the first entry on the same games; None for itself or without games
    seconds, steps_per_second, games_per_second   training, mean over seeds; None for another player
    memory_gb maximum peak memory of a run
    """

    name: str
    seeds: int
    games: int
    measures: dict[str, Interval]
    ahead: Interval | None
    seconds: float | None = None
    steps_per_second: float | None = None
    games_per_second: float | None = None
    memory_gb: float | None = None


@dataclass(frozen=True)
class Found:
    """The state of a run in a comparison: done, begun or missing."""

    entry: str
    seed: int
    state: str
    steps: int
    seconds: float
    folder: str


@dataclass(frozen=True)
class Results:
    """All contents of the report; bands[axis][column][entry]."""

    title: str
    about: str
    steps: int
    eval_games: int
    rows: tuple[Row, ...]
    bands: dict[str, dict[str, dict[str, Band]]]
    cells: tuple[Found, ...]
    differences: dict[str, dict[str, Any]]
    machine: dict[str, Any]
    spec: str

    def to_json(self) -> str:
        """Return the results as JSON."""
        return json.dumps(plain(asdict(self)), indent=1)

    @property
    def missing(self) -> list[Found]:
        """Unfinished runs."""
        return [each for each in self.cells if each.state != "done"]


def results_of(out: Path) -> Results:
    """Return the results in the folder of a comparison. Raises BadSpec, BalatroError if a file cannot be read."""
    spec = kept_spec(out)
    cells = cells_of(spec, out)
    metrics = {cell.label: columns_of(cell) for cell in cells}
    return Results(
        title=spec.title,
        about=spec.about,
        steps=spec.steps,
        eval_games=spec.eval_games,
        rows=tuple(table(spec, cells, metrics, out)),
        bands={
            axis: {name: bands(spec, cells, metrics, axis, name) for name in CURVES if has(metrics, name)}
            for axis in AXES
        },
        cells=tuple(found(cell, spec, metrics[cell.label], out) for cell in cells),
        differences=differences(cells),
        machine=machine_of(cells),
        spec=read_text(out / FILE) if (out / FILE).is_file() else "",
    )


def write_results(results: Results, out: Path) -> Path:
    """Write results.json to the folder and return the file."""
    write_text(out / RESULTS, results.to_json())
    return out / RESULTS


Columns = dict[str, NDArray[np.float64]]


def columns_of(cell: Cell) -> Columns:
    """Return metrics.csv of a run by column; empty if it does not exist. Raises BalatroError."""
    file = cell.folder / "metrics.csv"
    try:
        rows = whole_rows(file)
        return {name: np.array([float(row[name] or "nan") for row in rows]) for name in (rows[0] if rows else ())}
    except NoFile:
        return {}


def has(metrics: dict[str, Columns], name: str) -> bool:
    """Return whether the metrics contain this column."""
    return any(name in columns and np.isfinite(columns[name]).any() for columns in metrics.values())


def bands(spec: Spec, cells: Sequence[Cell], metrics: dict[str, Columns], axis: str, name: str) -> dict[str, Band]:
    """Return the band of each entry whose runs have this column."""
    made = {}
    for entry in spec.entries:
        runs = [metrics[cell.label] for cell in cells if cell.entry == entry]
        curves = [(run[axis], run[name]) for run in runs if name in run and np.isfinite(run[name]).any()]
        if curves:
            made[entry] = band(curves)
    return made


def band(curves: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> Band:
    """Interpolate curves (x, y) of several seeds to common points, up to the end of the shortest one."""
    known = [(x[np.isfinite(y)], y[np.isfinite(y)]) for x, y in curves]
    first, last = max(x[0] for x, _ in known), min(x[-1] for x, _ in known)
    points = np.linspace(min(first, last), last, min(POINTS, max(len(x) for x, _ in known)))
    values = np.array([np.interp(points, x, y) for x, y in known])
    return Band(*(rounded(row) for row in (points, values.mean(axis=0), values.min(axis=0), values.max(axis=0))))


def rounded(values: NDArray[np.float64]) -> list[Any]:
    """Round to six significant digits."""
    return [float(f"{value:.6g}") if math.isfinite(value) else None for value in values]


def games_of(report: dict[str, Any]) -> NDArray[np.float64]:
    """Return each game of a report: (MEASURES, games)."""
    records = report["records"]
    win = [float(record["outcome"] == "won") for record in records]
    rows = {name: [record[name] for record in records] for name in ("ante", "blinds", "reward")} | {"win": win}
    return np.array([rows[name] for name in MEASURES], dtype=np.float64)


class GameForm(BaseModel):
    """The validated fields of a game."""

    outcome: str
    ante: FiniteFloat
    blinds: FiniteFloat
    reward: FiniteFloat


class ReportForm(BaseModel):
    """The validated fields of a report."""

    player: str = ""
    games: int
    records: list[GameForm]


def read_reports(file: Path, games: int) -> list[dict[str, Any]]:
    """Return the reports in a file, each of this many games. Raises Unreadable."""
    data = read_json(file)
    reports: list[dict[str, Any]] = data if isinstance(data, list) else [data]
    if not reports:
        raise Unreadable(f"cannot read {file}: it contains no report")
    for report in reports:
        try:
            form = ReportForm.model_validate(report)
        except ValidationError as error:
            raise Unreadable(f"cannot read {file}: {first_fault(error)}") from None
        if form.games == games and len(form.records) != games:
            raise Unreadable(f"cannot read {file}: it declares {games} games and contains {len(form.records)}")
    return reports


def table(spec: Spec, cells: Sequence[Cell], metrics: dict[str, Columns], out: Path) -> list[Row]:
    """Return a row for each entry with a finished run, in the order of the specification, then the other players."""
    rng = np.random.default_rng(0)
    drawn = weights(spec.eval_games, SAMPLES, rng) / spec.eval_games  # shared by all entries
    played: dict[str, NDArray[np.float64]] = {}
    runs: dict[str, list[Cell]] = {}
    for entry in spec.entries:
        runs[entry] = [cell for cell in cells if cell.entry == entry and is_done(cell, spec)]
        files = [own_report(cell) if spec.seed_file else cell.folder / EVALUATION for cell in runs[entry]]
        reports = [read_reports(file, spec.eval_games)[0] for file in files]
        if reports:
            played[entry] = np.array([games_of(report) for report in reports])
    if spec.players and (out / PLAYERS).is_file():
        for word, report in zip(spec.players, read_reports(out / PLAYERS, spec.eval_games), strict=True):
            if report["games"] == spec.eval_games:  # runs of the same name, such as seed-0, differ by their folder
                played[word if report["player"] in played else report["player"]] = games_of(report)[None]
    sampled = {name: samples(games, drawn, rng) for name, games in played.items()}
    first = next(iter(spec.entries))
    return [
        Row(
            name,
            len(runs.get(name, ())),
            games.shape[0] * games.shape[2],
            {measure: measured(games[:, i], sampled[name][i], measure) for i, measure in enumerate(MEASURES)},
            ahead(played, sampled, name, first),
            **costs([metrics[cell.label] for cell in runs.get(name, ())]),
        )
        for name, games in played.items()
    ]


def samples(games: NDArray[np.float64], drawn: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return bootstrap means: games (seeds, measures, games), drawn (samples, games) -> (measures, samples)."""
    runs = weights(len(games), len(drawn), rng) / len(games)
    return np.einsum("bs,smg,bg->mb", runs, games, drawn, optimize=True)


def measured(games: NDArray[np.float64], sampled: NDArray[np.float64], measure: str) -> Interval:
    """Return mean and interval of a measure, (seeds, games); intervals of shares are at least as wide as Wilson intervals."""
    found = interval(games.mean(), sampled)
    if measure != "win":
        return found
    share = wilson(int(games.sum()), games.size)
    return Interval(found.value, min(found.low, share.low), max(found.high, share.high))


def ahead(
    played: dict[str, NDArray[np.float64]], sampled: dict[str, NDArray[np.float64]], name: str, first: str
) -> Interval | None:
    """Return the difference in blinds beaten to the first entry."""
    if name == first or first not in played:
        return None
    at = MEASURES.index("blinds")
    value = played[name][:, at].mean() - played[first][:, at].mean()
    return interval(value, sampled[name][at] - sampled[first][at])


def costs(runs: Sequence[Columns]) -> dict[str, Any]:
    """Return the training costs, averaged over runs; empty without runs."""
    if not runs:
        return {}
    last = [{name: float(values[-1]) for name, values in run.items()} for run in runs]
    return {
        "seconds": float(np.mean([run["seconds"] for run in last])),
        "steps_per_second": float(np.mean([run["steps"] / run["seconds"] for run in last])),
        "games_per_second": float(np.mean([run["games"] / run["seconds"] for run in last])),
        "memory_gb": float(max(np.nanmax(run["memory_peak_gb"]) for run in runs)),
    }


def found(cell: Cell, spec: Spec, columns: Columns, out: Path) -> Found:
    """Return the state of a run."""
    begun = len(columns.get("steps", ())) > 0
    state = "done" if is_done(cell, spec) else "begun" if begun else "missing"
    steps, seconds = (float(columns[name][-1]) if begun else 0.0 for name in ("steps", "seconds"))
    return Found(cell.entry, cell.config.seed, state, int(steps), seconds, str(cell.folder.relative_to(out)))


def differences(cells: Sequence[Cell]) -> dict[str, dict[str, Any]]:
    """Return settings that differ between entries: setting -> entry -> value."""
    first = {cell.entry: cell.config.flat_values() for cell in reversed(cells)}
    order = dict.fromkeys(cell.entry for cell in cells)
    return differing({entry: first[entry] for entry in order}, ("name", "runs", "seed"))


def machine_of(cells: Sequence[Cell]) -> dict[str, Any]:
    """Return the machine recorded by the first run that has one."""
    for cell in cells:
        file = cell.folder / "machine.json"
        if file.is_file():
            return read_object(file)
    return {}
