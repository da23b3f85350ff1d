"""A plot of population-based training: scores, ancestry and settings of its trials."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ante.watch.render.figures import write_figure

INCHES, DPI = (11.0, 2.6), 110
FAR = 20.0  # ratio of a setting's largest and smallest value from which its axis is logarithmic


@dataclass(frozen=True)
class Track:
    """One trial: at each evaluation (steps, score, trial whose weights it had copied, settings by name)."""

    trial: int
    points: Sequence[tuple[int, float, int, dict[str, float]]]


def draw_lineage(paths: Sequence[Track], metric: str, file: Path) -> Path:
    """Write the picture atomically (scores, lineage, and a panel for each setting) and return its file."""
    names = list(paths[0].points[0][3])
    rows = 1 + (1 + len(names)) // 2
    figure = Figure(figsize=(INCHES[0], INCHES[1] * rows), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    panels = list(figure.subplots(rows, 2, squeeze=False).flat)
    draw_scores(panels[0], paths, metric)
    draw_tree(panels[1], paths)
    for name, axes in zip(names, panels[2:], strict=False):
        draw_setting(axes, paths, name)
    for axes in panels[2 + len(names) :]:
        axes.set_visible(False)
    for axes in panels:
        axes.set_xlabel("thousand decisions")
        axes.grid(alpha=0.25)
    return write_figure(figure, file)


def thousands(path: Track) -> list[float]:
    """Return the thousands of steps at each of a trial's points."""
    return [steps / 1000 for steps, *_ in path.points]


def draw_scores(axes: Axes, paths: Sequence[Track], metric: str) -> None:
    """Draw the score of each trial."""
    for path in paths:
        values = [score if np.isfinite(score) else np.nan for _, score, _, _ in path.points]
        axes.plot(thousands(path), values, "o-", markersize=3, color=f"C{path.trial % 10}")
    axes.set_title(f"{metric} in validation games", fontsize=10)


def draw_tree(axes: Axes, paths: Sequence[Track]) -> None:
    """Draw a row for each trial, with lines from the trials whose weights it copied; the best one's are thick."""
    kept = ancestors(paths)
    for path in paths:
        before = 0.0
        for k, (now, (_, _, parent, _)) in enumerate(zip(thousands(path), path.points, strict=True)):
            thick = 2.6 if (path.trial, k) in kept else 0.9
            colour = f"C{path.trial % 10}" if thick > 1 else "0.6"
            axes.plot([before, now], [parent, path.trial], color=colour, linewidth=thick, solid_capstyle="round")
            before = now
        axes.plot(thousands(path), [path.trial] * len(path.points), "o", markersize=3, color=f"C{path.trial % 10}")
    axes.set_yticks([path.trial for path in paths])
    axes.invert_yaxis()
    axes.set_title("copied weights; thick: ancestors of the best trial", fontsize=10)


def ancestors(paths: Sequence[Track]) -> set[tuple[int, int]]:
    """Return the segments (trial, number) that led to the best trial."""
    by_trial = {path.trial: path for path in paths}
    trial = max(paths, key=lambda path: path.points[-1][1]).trial
    found = set()
    for k in reversed(range(len(by_trial[trial].points))):
        found.add((trial, k))
        trial = by_trial[trial].points[k][2]
    return found


def draw_setting(axes: Axes, paths: Sequence[Track], name: str) -> None:
    """Draw one setting of each trial; it jumps where the trial copied and perturbed another's."""
    values = [values[name] for path in paths for *_, values in path.points]
    for path in paths:
        own = [values[name] for *_, values in path.points]
        axes.plot(thousands(path), own, "o-", markersize=3, drawstyle="steps-pre", color=f"C{path.trial % 10}")
    if min(values) > 0 and max(values) / min(values) > FAR:
        axes.set_yscale("log")
    axes.set_title(name, fontsize=10)
