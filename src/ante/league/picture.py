"""Plots a league: Elo over training steps for checkpoints, horizontal lines for other players."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ante.league.standing import Standing, Table
from ante.watch.render.figures import write_figure

INCHES, DPI = (10.0, 5.5), 110


def draw_table(table: Table, file: Path) -> Path:
    """Write the plot atomically and return the file."""
    figure = Figure(figsize=INCHES, dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    runs = sorted({row.player.run for row in table.rows if row.player.run})
    if runs:
        for number, run in enumerate(runs):
            draw_run(axes, [row for row in table.rows if row.player.run == run], Path(run).name, f"C{number}")
        for row in table.rows:
            if not row.player.run:
                draw_level(axes, row)
        axes.set_xlabel("million decisions of training")
        axes.set_xlim(left=0)
        axes.legend(fontsize=8, loc="lower right")
    else:
        draw_bars(axes, table)
    rules = table.rules
    axes.set_ylabel("Elo, with 95 % intervals" if runs else "")
    axes.set_title(
        f"{rules['games']} games on the same seeds, {rules['challenge'] or rules['deck']}, stake {rules['stake']}"
    )
    axes.grid(alpha=0.3)
    return write_figure(figure, file)


def draw_run(axes: Axes, rows: list[Standing], name: str, color: str) -> None:
    """Plot the checkpoints of one run, oldest first."""
    rows = sorted(rows, key=lambda row: row.player.steps or 0)
    steps = [(row.player.steps or 0) / 1e6 for row in rows]
    values = np.array([row.elo.value for row in rows])
    spread = np.array([(row.elo.value - row.elo.low, row.elo.high - row.elo.value) for row in rows]).T
    axes.errorbar(steps, values, yerr=spread.clip(min=0), fmt="o-", capsize=3, markersize=4, color=color, label=name)


def draw_level(axes: Axes, row: Standing) -> None:
    """Plot a player that is not a checkpoint as a horizontal line."""
    axes.axhspan(row.elo.low, row.elo.high, color="grey", alpha=0.15)
    axes.axhline(row.elo.value, color="grey", linestyle="--", linewidth=1)
    axes.annotate(
        row.player.name, (0.01, row.elo.value), xycoords=("axes fraction", "data"), va="bottom", color="dimgrey"
    )


def draw_bars(axes: Axes, table: Table) -> None:
    """Plot a league without checkpoints as bars, the best on top."""
    for place, row in enumerate(reversed(table.rows)):
        axes.plot([row.elo.low, row.elo.high], [place, place], color="C0")
        axes.plot(row.elo.value, place, "o", color="C0")
    axes.set_yticks(range(len(table.rows)), [row.player.name for row in reversed(table.rows)])
    axes.set_xlabel("Elo, with 95 % intervals")
