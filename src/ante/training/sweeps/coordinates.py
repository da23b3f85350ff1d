"""A parallel-coordinates plot of a sweep: an axis for each searched setting and the score, a line for each trial."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from ante.training.sweeps.saved import DIVERGED
from ante.training.sweeps.space import Range
from ante.training.sweeps.spec import Sweep
from ante.watch.render.figures import write_figure

if TYPE_CHECKING:
    from ante.training.sweeps.results import TrialResult

AXIS_INCHES, HEIGHT, DPI = 1.9, 4.2, 110
TICKS = 5  # of an axis


def draw_coordinates(sweep: Sweep, trials: "Sequence[TrialResult]", file: Path) -> Path:
    """Write the plot atomically and return its file. Colour is the score; dashed lines are trials that ended early."""
    drawn = [(each, each.last) for each in trials if each.last and each.last.score != DIVERGED]
    scores = [last.score for _, last in drawn]
    low, high = (min(scores), max(scores)) if drawn and min(scores) < max(scores) else (0.0, max([1.0, *scores]))
    names = [*sweep.search, sweep.metric]
    figure = Figure(figsize=(AXIS_INCHES * (len(names) + 1), HEIGHT), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    colours = ScalarMappable(Normalize(low, high), "viridis")
    for trial, last in sorted(drawn, key=lambda each: each[1].score):
        line = [of.position(last.values[name]) for name, of in sweep.search.items()] + [
            (last.score - low) / (high - low)
        ]
        style = "-" if trial.state(sweep.steps) == "finished" else "--"
        axes.plot(range(len(names)), line, style, color=colours.to_rgba(np.array([last.score]))[0], linewidth=1.4)
    for at, name in enumerate(names):
        axes.axvline(at, color="0.3", linewidth=0.8)
        for position, label in marks(sweep, name, low, high):
            axes.text(at - 0.03, position, label, fontsize=7, ha="right", va="center")
    axes.set_xticks(range(len(names)), names, fontsize=8)
    axes.set_yticks([])
    axes.set_xlim(-0.5, len(names) - 0.8)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_title(
        f"{sweep.name}: {len(drawn)} trials, {sweep.metric} in validation games; dashed: ended early", fontsize=10
    )
    figure.colorbar(colours, ax=axes, label=sweep.metric, pad=0.01)
    return write_figure(figure, file)


def marks(sweep: Sweep, name: str, low: float, high: float) -> list[tuple[float, str]]:
    """Return the labels of an axis with their positions."""
    shares = [k / (TICKS - 1) for k in range(TICKS)]
    if name not in sweep.search:
        return [(share, f"{low + share * (high - low):.3g}") for share in shares]
    of = sweep.search[name]
    if isinstance(of, Range):
        return [(share, f"{of.value_at(share):.3g}") for share in shares]
    return [(of.position(each), str(each)) for each in of.choices]
