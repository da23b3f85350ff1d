"""Learning curves of runs as one picture: blinds, ante, win rate and entropy over steps, from metrics.csv."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ante.errors import BalatroError
from ante.files import Unreadable, whole_rows
from ante.metrics import METRICS
from ante.watch.published import LEGEND, lines_within, published_lines
from ante.watch.render.figures import write_figure
from ante.watch.runs import CONFIG, flat_settings
from ante.watch.window import comparable_rows, resumes

PANELS = tuple((each.name, each.curve) for each in METRICS if each.name in ("blinds", "ante", "win_rate", "entropy"))
SMOOTHED = 40  # a curve of n points is a mean over n / SMOOTHED of them
INCHES, DPI = (11.0, 6.5), 110
NEAR = 0.05  # share of an axis within which two labels overlap


class NoCurves(BalatroError, ValueError):
    """The metrics of a run cannot be drawn."""


@dataclass(frozen=True)
class Curves:
    """The metrics of one run, column by column, each (iterations,) float64."""

    name: str
    columns: dict[str, NDArray[np.float64]]
    resumes: tuple[float, ...] = ()  # steps of the first rows after a resume
    lines: dict[str, dict[str, float]] = field(default_factory=dict)  # metric -> other player -> its result


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
    return Curves(run.name, columns, tuple(float(raw[i]["steps"]) for i in resumes(raw)), lines_of(run))


def lines_of(run: Path) -> dict[str, dict[str, float]]:
    """Return the published results for the game of a run; none if its settings cannot be read."""
    try:
        return published_lines(flat_settings(run / CONFIG))
    except BalatroError:
        return {}


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


def draw_curves(curves: Sequence[Curves], file: Path, title: str = "") -> Path:
    """Write the picture atomically and return its file. Raises BadEnding."""
    return write_figure(figure_of(curves, title), file)


def figure_of(curves: Sequence[Curves], title: str = "") -> Figure:
    """Return the picture of these curves.

    If all runs play the game of the published results, these are horizontal lines.
    """
    figure = Figure(figsize=INCHES, dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    lines = curves[0].lines if all(each.lines == curves[0].lines for each in curves) else {}
    for axes, (name, about) in zip(figure.subplots(2, 2).flat, PANELS, strict=True):
        draw_panel(axes, curves, name, about)
        draw_lines(axes, lines.get(name, {}), 100.0 if name == "win_rate" else 1.0)
    if lines:
        figure.supxlabel(f"dashed: {LEGEND}", fontsize=8, color="grey")
    if title:
        figure.suptitle(title)
    return figure


def draw_lines(axes: Axes, lines: dict[str, float], scale: float) -> None:
    """Draw the results of other players up to the next one above the curves; the names of equal ones share a label."""
    levels = {player: scale * value for player, value in lines.items()}
    drawn, top = lines_within(levels, max(0.0, axes.dataLim.ymax))
    if drawn:
        axes.set_ylim(0.0, max(axes.get_ylim()[1], 1.1 * top))
    labels: dict[float, list[str]] = {}
    for player, level in drawn.items():
        axes.axhline(level, color="grey", linestyle="--", linewidth=1)
        near = next((each for each in labels if abs(each - level) < NEAR * axes.get_ylim()[1]), level)
        labels.setdefault(near, []).append(player)
    for level, players in labels.items():
        words = ", ".join(players)
        at = ("axes fraction", "data")
        axes.annotate(words, (0.99, level), xycoords=at, ha="right", va="bottom", color="grey", fontsize=8)


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
