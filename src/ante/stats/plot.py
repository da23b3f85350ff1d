"""Plots a player's profile: blinds, money, hands, jokers."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ante.stats.profile import Profile
from ante.watch.render.figures import write_figure

INCHES, DPI = (12.0, 8.0), 110
SHOWN = 14  # number of jokers and pairs
FEWEST = 5  # minimum number of games behind a point of the money curve


def draw_profile(profile: Profile, file: Path) -> Path:
    """Write the plot atomically and return the file."""
    figure = Figure(figsize=INCHES, dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    (blinds, money, hands), (jokers, pairs, effort) = figure.subplots(2, 3)
    draw_blinds(blinds, profile)
    draw_effort(effort, profile)
    draw_money(money, profile)
    names = list(profile.hands)
    bars(hands, names, [100 * profile.hands[name].rate for name in names], "hands played, %")
    ends = [row for row in profile.jokers if row.picked.trials][:SHOWN]
    bars(jokers, [row.joker for row in ends], [100 * row.picked.rate for row in ends], "taken when offered, %")
    draw_pairs(pairs, profile)
    figure.suptitle(
        f"{profile.player}: {profile.games} games, {profile.wins.rate:.1%} won, {profile.blinds.value:.2f} blinds beaten"
    )
    return write_figure(figure, file)


def draw_blinds(axes: Axes, profile: Profile) -> None:
    """Plot how often each blind is beaten."""
    places = np.arange(len(profile.blind_rows))
    rates = np.array([row.beaten.rate for row in profile.blind_rows])
    spread = np.array(
        [(row.beaten.rate - row.beaten.low, row.beaten.high - row.beaten.rate) for row in profile.blind_rows]
    )
    axes.errorbar(places, 100 * rates, yerr=100 * spread.T.clip(min=0), fmt="o", capsize=2, markersize=3)
    boundaries(axes, profile)
    axes.set_ylim(0, 103)
    axes.set_title("blinds beaten by those who played them, %", fontsize=10)


def draw_effort(axes: Axes, profile: Profile) -> None:
    """Plot hands and discards used per blind."""
    places = np.arange(len(profile.blind_rows))
    for name in ("hands", "discards"):
        axes.plot(places, [getattr(row, name) for row in profile.blind_rows], "o-", markersize=3, label=name)
    boundaries(axes, profile)
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=8)
    axes.set_title("mean use for a beaten blind", fontsize=10)


def boundaries(axes: Axes, profile: Profile) -> None:
    """Label the antes on the axis, with a mark at the start of each."""
    firsts = [i for i, row in enumerate(profile.blind_rows) if i == 0 or row.ante != profile.blind_rows[i - 1].ante]
    axes.set_xticks(firsts, [str(profile.blind_rows[i].ante) for i in firsts])
    axes.set_xlabel("ante: Small, Big, Boss")
    axes.grid(alpha=0.3)


def draw_money(axes: Axes, profile: Profile) -> None:
    """Plot the money curve, median and quartiles."""
    rows = [row for row in profile.money if row.games >= min(FEWEST, profile.games)]
    rounds = [row.round for row in rows]
    axes.fill_between(rounds, [row.low for row in rows], [row.high for row in rows], alpha=0.25)
    axes.plot(rounds, [row.median for row in rows])
    if not rows:
        write_in(axes, "no shop was reached")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("rounds")
    axes.grid(alpha=0.3)
    axes.set_title("dollars at the start of the shop, quartiles", fontsize=10)


def bars(axes: Axes, names: list[str], values: list[float], title: str) -> None:
    """Plot horizontal bars, the first on top."""
    axes.barh(range(len(names)), values[::-1])
    if not names:
        write_in(axes, "none in enough games")
    axes.set_yticks(range(len(names)), names[::-1], fontsize=7)
    axes.set_title(title, fontsize=10)


def write_in(axes: Axes, words: str) -> None:
    """Write in an empty plot why it is empty."""
    axes.text(0.5, 0.5, words, ha="center", transform=axes.transAxes, color="grey")
    axes.set_xticks([])


def draw_pairs(axes: Axes, profile: Profile) -> None:
    """Plot the pairs with the most blinds beaten afterwards."""
    rows = sorted(profile.pairs, key=lambda row: -row.blinds.low)[:SHOWN][::-1]
    for place, row in enumerate(rows):
        axes.plot([row.blinds.low, row.blinds.high], [place, place], color="C0")
        axes.plot(row.blinds.value, place, "o", color="C0", markersize=4)
    if not rows:
        write_in(axes, "no pair was held in enough games")
    axes.axvline(0, color="grey", linewidth=1)
    axes.set_yticks(range(len(rows)), [f"{row.one} + {row.other} ({row.games})" for row in rows], fontsize=7)
    axes.set_title("additional blinds, once together", fontsize=10)
