"""The picture of a measurement: difference in win rate to the reference over training time."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ante.experiments.strength.results import MARGIN, Point, StrengthResults
from ante.watch.render.figures import write_figure

INCHES, DPI = (8.0, 5.0), 120
PICTURE = "strength.png"


def draw(results: StrengthResults, reference: str, out: Path) -> Path:
    """Write the picture atomically and return its file."""
    figure = Figure(figsize=INCHES, dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for number, (seed, points) in enumerate(results.seeds.items()):
        draw_points(axes, points, f"C{number}", f"seed {seed}", 1.0)
    if len(results.seeds) > 1:
        draw_points(axes, results.together, "black", "all seeds", 2.0)
    axes.axhline(0.0, color="grey", linewidth=1)
    axes.axhline(-100.0 * MARGIN, color="grey", linestyle="--", linewidth=1)
    if results.minutes is not None:
        axes.axvline(results.minutes, color="black", linestyle=":", linewidth=1)
    axes.set_title(f"{results.recipe} against {reference}, {results.games:,} games, 95 % intervals", fontsize=10)
    axes.set_xlabel("minutes of training")
    axes.set_ylabel("points of win rate")
    axes.grid(alpha=0.25)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8)
    file = out / PICTURE
    return write_figure(figure, file)


def draw_points(axes: Axes, points: Sequence[Point], color: str, label: str, width: float) -> None:
    """Draw differences with their intervals."""
    if not points:
        return
    middle = np.array([point.difference.value for point in points])
    below = middle - [point.difference.low for point in points]
    above = [point.difference.high for point in points] - middle
    minutes = [point.minutes for point in points]
    errors = 100.0 * np.array([below, above])
    axes.errorbar(minutes, 100.0 * middle, yerr=errors, color=color, label=label, linewidth=width, capsize=2)
