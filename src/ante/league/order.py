"""Reliability of a league's ranking as a function of the number of games: Kendall's tau, from stored results."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ante.league.ratings import SAMPLES, Interval, interval, weights

WANTED = 0.9  # tau of a reliable ranking
REPEATS = 400
SIZES = (10, 25, 50, 100, 200, 400, 700, 1000)


@dataclass(frozen=True)
class SizeRow:
    """Mean tau between the ranking with this many games per player and the ranking with all games."""

    games: int
    shared: float
    independent: float


@dataclass(frozen=True)
class OrderReport:
    """The ranking of a league's players.

    players              names, by training steps
    tau                  between mean blinds and training steps
    sizes                for samples of the stored games: all players on the same seeds, or each on its own seeds
    shared, independent  smallest number of games in `sizes` with mean tau of at least WANTED, or None
    """

    players: tuple[str, ...]
    tau: Interval
    sizes: tuple[SizeRow, ...]
    shared: int | None
    independent: int | None


def kendall(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Kendall's tau-b of two rankings of the same players: (..., players) each -> (...); 0 if undefined."""
    a = np.sign(one[..., :, None] - one[..., None, :])
    b = np.sign(other[..., :, None] - other[..., None, :])
    agree = (a * b).sum(axis=(-1, -2))
    size = np.sqrt(np.abs(a).sum(axis=(-1, -2)) * np.abs(b).sum(axis=(-1, -2)))
    return np.divide(agree, size, out=np.zeros(np.broadcast(agree, size).shape), where=size > 0)


def order_report(
    players: Sequence[str], steps: Sequence[int], scores: NDArray[np.float64], seed: int = 0
) -> OrderReport:
    """Return the ranking of players, sorted by training steps, by games on the same seeds: scores (players, seeds)."""
    rng = np.random.default_rng(seed)
    trained = np.asarray(steps, dtype=np.float64)
    drawn = weights(scores.shape[1], SAMPLES, rng)
    tau = interval(float(kendall(scores.mean(axis=1), trained)), kendall(drawn @ scores.T, trained))
    sizes = tuple(size_row(scores, games, rng) for games in SIZES if games <= scores.shape[1])
    return OrderReport(tuple(players), tau, sizes, *(enough(sizes, way) for way in ("shared", "independent")))


def size_row(scores: NDArray[np.float64], games: int, rng: np.random.Generator) -> SizeRow:
    """Estimate mean tau by repeatedly sampling `games` games per player with replacement."""
    players, seeds = scores.shape
    truth = scores.mean(axis=1)
    same = rng.integers(seeds, size=(REPEATS, 1, games))
    own = rng.integers(seeds, size=(REPEATS, players, games))
    every = np.arange(players)[None, :, None]
    return SizeRow(games, *(float(kendall(scores[every, which].mean(axis=2), truth).mean()) for which in (same, own)))


def enough(sizes: Sequence[SizeRow], way: str) -> int | None:
    """Return the smallest size from which all larger sizes reach the required tau, or None."""
    found = None
    for row in reversed(sizes):
        if getattr(row, way) < WANTED:
            break
        found = row.games
    return found
