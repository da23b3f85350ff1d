"""Learning curves of runs as one picture: blinds, ante, win rate and entropy over steps, from metrics.csv."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ante.errors import BalatroError
from ante.files import Unreadable, whole_rows
from ante.metrics import METRICS
from ante.watch.window import comparable_rows, resumes

PANELS = tuple((each.name, each.curve) for each in METRICS if each.name in ("blinds", "ante", "win_rate", "entropy"))
SMOOTHED = 40  # a curve of n points is a mean over n / SMOOTHED of them
INCHES, DPI = (11.0, 6.5), 110


class NoCurves(BalatroError, ValueError):
    """The metrics of a run cannot be drawn."""


@dataclass(frozen=True)
class Curves:
    """The metrics of one run, column by column, each (iterations,) float64."""

    name: str
    columns: dict[str, NDArray[np.float64]]
    resumes: tuple[float, ...] = ()  # steps of the first rows after a resume


def read_curves(run: Path) -> Curves:
    """Read the metrics of a run's folder. Raises NoCurves."""
    file = run / "metrics.csv"
    try:
        raw = whole_rows(file)
    except Unreadable as error:
        raise NoCurves(str(error)) from None
    rows = comparable_rows(raw)
    missing = {"steps", "seconds", *(name for name, _ in PANELS)} - set(rows[0] if rows else ())
    if missing:
        raise NoCurves(f"{file} has no {', '.join(sorted(missing))}: is {run} the folder of a started run?")
    names = {"steps", "seconds", *(name for name, _ in PANELS)}
    columns = {name: np.array([float(row[name] or "nan") for row in rows]) for name in names}
    return Curves(run.name, columns, tuple(float(raw[i]["steps"]) for i in resumes(raw)))


def smooth(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a running mean that ignores NaN, of the length of `values`; its window is narrower at both ends."""
    half = len(values) // (2 * SMOOTHED)
    known = np.where(np.isnan(values), 0.0, values)
    sums = np.concatenate([[0.0], np.cumsum(known)])
    counts = np.concatenate([[0], np.cumsum(~np.isnan(values))])
    last = np.minimum(np.arange(len(values)) + half + 1, len(values))
    first = np.maximum(np.arange(len(values)) - half, 0)
    seen = counts[last] - counts[first]
    return np.where(seen > 0, (sums[last] - sums[first]) / np.maximum(seen, 1), np.nan)


def draw_curves(curves: Sequence[Curves], file: Path, title: str = "", lines: dict[str, float] | None = None) -> Path:
    """Write the picture atomically and return its file.

    lines  names of other players and their blinds per game, drawn as horizontal lines
    """
    figure = Figure(figsize=INCHES, dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (name, about) in zip(figure.subplots(2, 2).flat, PANELS, strict=True):
        draw_panel(axes, curves, name, about)
        if name == "blinds":
            for player, level in (lines or {}).items():
                axes.axhline(level, color="grey", linestyle="--", linewidth=1)
                axes.annotate(
                    player, (0.99, level), xycoords=("axes fraction", "data"), ha="right", va="bottom", color="grey"
                )
    if title:
        figure.suptitle(title)
    aside = file.with_name(f".{file.stem}.part{file.suffix}")
    figure.savefig(aside)
    aside.replace(file)
    return file


def draw_panel(axes: Axes, curves: Sequence[Curves], name: str, about: str) -> None:
    """Draw one metric of all runs: its points faintly, and their running mean above them."""
    for number, each in enumerate(curves):
        steps, values, color = each.columns["steps"] / 1e6, each.columns[name], f"C{number}"
        if name == "win_rate":
            values = 100.0 * values
        axes.plot(steps, values, ".", color=color, alpha=0.15, markersize=3, markeredgewidth=0)
        minutes = each.columns["seconds"][-1] / 60.0
        for resumed in each.resumes:
            axes.axvline(resumed / 1e6, color=color, linestyle=":", linewidth=1, alpha=0.7)
        axes.plot(steps, smooth(values), color=color, label=f"{each.name}, {minutes:.0f} min")
    axes.set_title(f"{about}, %" if name == "win_rate" else about, fontsize=10)
    axes.set_xlabel("million decisions")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
