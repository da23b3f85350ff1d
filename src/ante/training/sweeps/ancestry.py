"""A picture of a population: learning curves, ancestry and settings of its members."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ante.files import whole

INCHES, DPI = (11.0, 2.6), 110
FAR = 20.0  # ratio of a setting's largest and smallest value from which its axis is logarithmic


@dataclass(frozen=True)
class Track:
    """One member: at each comparison (steps, score, member whose weights it had copied, settings by name)."""

    member: int
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
    with whole(file) as aside:
        figure.savefig(aside, format="png")
    return file


def thousands(path: Track) -> list[float]:
    """Return the thousands of steps at each of a member's points."""
    return [steps / 1000 for steps, *_ in path.points]


def draw_scores(axes: Axes, paths: Sequence[Track], metric: str) -> None:
    """Draw the score of each member."""
    for path in paths:
        values = [score if np.isfinite(score) else np.nan for _, score, _, _ in path.points]
        axes.plot(thousands(path), values, "o-", markersize=3, color=f"C{path.member % 10}")
    axes.set_title(f"{metric}, while training", fontsize=10)


def draw_tree(axes: Axes, paths: Sequence[Track]) -> None:
    """Draw a row for each member, with lines from the members whose weights it copied; the best one's are thick."""
    kept = ancestors(paths)
    for path in paths:
        before = 0.0
        for k, (now, (_, _, parent, _)) in enumerate(zip(thousands(path), path.points, strict=True)):
            thick = 2.6 if (path.member, k) in kept else 0.9
            colour = f"C{path.member % 10}" if thick > 1 else "0.6"
            axes.plot([before, now], [parent, path.member], color=colour, linewidth=thick, solid_capstyle="round")
            before = now
        axes.plot(thousands(path), [path.member] * len(path.points), "o", markersize=3, color=f"C{path.member % 10}")
    axes.set_yticks([path.member for path in paths])
    axes.invert_yaxis()
    axes.set_title("copied weights; thick: ancestors of the best member", fontsize=10)


def ancestors(paths: Sequence[Track]) -> set[tuple[int, int]]:
    """Return the segments (member, number) that led to the best member."""
    by_member = {path.member: path for path in paths}
    member = max(paths, key=lambda path: path.points[-1][1]).member
    found = set()
    for k in reversed(range(len(by_member[member].points))):
        found.add((member, k))
        member = by_member[member].points[k][2]
    return found


def draw_setting(axes: Axes, paths: Sequence[Track], name: str) -> None:
    """Draw one setting of each member; it jumps where the member copied and perturbed another's."""
    values = [values[name] for path in paths for *_, values in path.points]
    for path in paths:
        own = [values[name] for *_, values in path.points]
        axes.plot(thousands(path), own, "o-", markersize=3, drawstyle="steps-pre", color=f"C{path.member % 10}")
    if min(values) > 0 and max(values) / min(values) > FAR:
        axes.set_yscale("log")
    axes.set_title(name, fontsize=10)
