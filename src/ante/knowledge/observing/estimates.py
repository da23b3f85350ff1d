"""Estimates over all runs: do games with a joker, or with a pair, win more often than the other games?

Each run is a stratum, since runs have different win rates: differences are combined by Mantel and Haenszel, and tested by
Cochran, Mantel and Haenszel. These are observations, not effects: games that hold a strong joker may be better for another
reason, such as their money, and the policy chooses what it buys.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.catalog.jokers import JOKERS
from ante.knowledge.measuring.statistics import Z_95, q_values, rounded, wilson
from ante.knowledge.observing.counts import EVERY, KEYS, N, RunCounts

LEAST = 20  # games with a joker or a pair, and games without, that an estimate needs
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """What all runs saw of a joker (`other` is empty) or of a pair.

    Attributes:
        one: Key of a joker.
        other: Key of the other one.
        runs: Number of runs with games with and without it.
        games: Games with it.
        wins: Those of them that are won.
        rate: Their win rate.
        rate_low: Lower end of its 95 % interval (Wilson).
        rate_high: Upper end.
        lift: Wins with it, divided by those expected from the win rates of the runs.
        effect: Win rate with it, less that without it, within runs.
        low: Lower end of the effect's 95 % interval (Sato's variance).
        high: Upper end.
        n: Games of these runs, with and without it.
        q: False discovery rate, among all jokers or among all pairs.
        more: Effect of a pair, less the larger one of its jokers'; 0 for a joker.
    """

    one: str
    other: str
    runs: int
    games: int
    wins: int
    rate: float
    rate_low: float
    rate_high: float
    lift: float
    effect: float
    low: float
    high: float
    n: int
    q: float
    more: float = 0.0


@dataclass(frozen=True)
class Compared:
    """Games with something against games without it, over strata; one entry for each of k things.

    Attributes:
        runs: (k,) strata with both kinds of games.
        games: (k,) games with it in these strata.
        wins: (k,) those that are won.
        n: (k,) all games of these strata.
        effect: (k,) difference of win rates.
        half: (k,) half-width of its 95 % interval.
        lift: (k,) wins with it, divided by the expected ones.
        p: (k,) two-sided p-value, 1 where nothing varies.
    """

    runs: NDArray[np.int64]
    games: NDArray[np.int64]
    wins: NDArray[np.int64]
    n: NDArray[np.int64]
    effect: Floats
    half: Floats
    lift: Floats
    p: Floats


def compared(
    games: NDArray[np.int64], wins: NDArray[np.int64], all_games: NDArray[Any], all_wins: NDArray[Any]
) -> Compared:
    """Return the comparison of games with each of k things with the other games of the same strata.

    Args:
        games: (strata, k) games with it.
        wins: (strata, k) those that are won.
        all_games: (strata,) games with and without it.
        all_wins: (strata,) those that are won.
    """
    from scipy.special import erfc

    n1, a = games.astype(np.float64), wins.astype(np.float64)
    n, m = (np.broadcast_to(each[:, None], n1.shape).astype(np.float64) for each in (all_games, all_wins))
    used = (n1 > 0) & (n1 < n)
    n1, a, n, m = (np.where(used, each, 0.0) for each in (n1, a, n, m))
    n0, c = n - n1, m - a
    with np.errstate(invalid="ignore", divide="ignore"):

        def over(value: Floats, divisor: Floats) -> Floats:
            """Return the sum over strata of quotients, without the unused strata."""
            return np.asarray(np.where(used, value / divisor, 0.0).sum(axis=0))

        weight = over(n1 * n0, n)
        effect = over(a * n0 - c * n1, n) / weight
        spread = over(n1**2 * c - n0**2 * a + n1 * n0 * (n0 - n1) / 2.0, n**2)
        variance = (effect * spread + over(a * (n0 - c) + c * (n1 - a), 2.0 * n)) / weight**2
        expected = over(n1 * m, n)
        z = (a.sum(axis=0) - expected) / np.sqrt(over(n1 * n0 * m * (n - m), n**2 * (n - 1.0)))
        lift = a.sum(axis=0) / expected
    half = Z_95 * np.sqrt(np.maximum(0.0, variance))
    p = np.where(np.isfinite(z), erfc(np.abs(z) / np.sqrt(2.0)), 1.0)
    effect, half, lift = (np.nan_to_num(each, posinf=0.0, neginf=0.0) for each in (effect, half, lift))
    strata, having, winning, every = (np.asarray(each.sum(axis=0), dtype=np.int64) for each in (used, n1, a, n))
    return Compared(strata, having, winning, every, effect, half, lift, p)


def estimates_of(runs: Sequence[RunCounts], least: int = LEAST) -> list[Estimate]:
    """Return the estimates of jokers, then those of pairs, in the order of the catalogue.

    Left out are those with fewer than `least` games with it, or without it.
    """
    if not runs:
        return []
    games, wins = (np.stack([run.counts[kind] for run in runs]) for kind in (0, 1))
    every = games[:, EVERY, EVERY], wins[:, EVERY, EVERY]
    one, other = np.triu_indices(N, 1)
    found = compared(games[:, one, other], wins[:, one, other], *every)
    enough = (found.games >= least) & (found.n - found.games >= least)
    single = one == EVERY
    q = np.ones(len(one))
    for family in (enough & single, enough & ~single):
        if family.any():
            q[family] = q_values(found.p[family])
    alone = np.zeros(N)
    alone[other[single]] = found.effect[single]
    low, high = wilson(found.wins, np.maximum(1, found.games))
    made = []
    for i in np.flatnonzero(enough):
        first, second = (KEYS[other[i]], "") if single[i] else (KEYS[one[i]], KEYS[other[i]])
        effect, half = float(found.effect[i]), float(found.half[i])
        more = 0.0 if single[i] else effect - max(alone[one[i]], alone[other[i]])
        made.append(
            Estimate(
                one=first,
                other=second,
                runs=int(found.runs[i]),
                games=int(found.games[i]),
                wins=int(found.wins[i]),
                rate=rounded(found.wins[i] / found.games[i]),
                rate_low=rounded(low[i]),
                rate_high=rounded(high[i]),
                lift=rounded(found.lift[i]),
                effect=rounded(effect),
                low=rounded(effect - half),
                high=rounded(effect + half),
                n=int(found.n[i]),
                q=rounded(q[i]),
                more=rounded(more),
            )
        )
    return made


def name_of(key: str) -> str:
    """Return the name of a joker."""
    return JOKERS[KEYS.index(key)].name
