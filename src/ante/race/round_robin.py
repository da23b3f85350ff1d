"""A round robin of races: every two players race on the same seeds, and all races are rated together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.agents.evaluate import Player, Share, wilson
from ante.league.ratings import Interval, elos_of_matches, mean
from ante.race.races import Races, Result, play_races
from ante.race.rules import SEATS

POINTS = {Result.WON: 1.0, Result.LOST: 0.0}  # of others, 0.5


@dataclass(frozen=True)
class RaceStanding:
    """One row of the table.

    wins   races won, of all races; see `share_won`
    draws  races without a winner: both lost their last life in the same step, or max_decisions was reached
    lives  mean number of lives left
    ante   mean ante reached
    """

    player: str
    elo: Interval
    wins: Share
    draws: int
    lives: Interval
    ante: Interval


@dataclass(frozen=True)
class RaceTable:
    """The standings of a round robin, best first.

    shares  (players, players) share of races that the row's player won against the column's; a draw counts half
    """

    seeds: int
    races: int
    rows: tuple[RaceStanding, ...]
    shares: NDArray[np.float64]


def race_all(
    players: Sequence[Player], seeds: Sequence[str], advance: Callable[[int], None] = lambda _: None, **settings: Any
) -> RaceTable:
    """Let every two players race once on each seed and return the standings.

    players   at least two, with different names
    advance   called with the number of races that ended
    settings  of `Races`
    """
    n = len(players)
    points = np.zeros((len(seeds), n, n))
    lives, antes = np.zeros((len(seeds), n)), np.zeros((len(seeds), n))
    won, drawn = np.zeros((len(seeds), n), dtype=np.int64), np.zeros(n, dtype=np.int64)
    for pair in combinations(range(n), SEATS):
        races = play_races((players[pair[0]], players[pair[1]]), seeds, **settings)
        for seat, player in enumerate(pair):
            results = races.results(seat)
            points[:, player, pair[1 - seat]] = [POINTS.get(Result(result), 0.5) for result in results]
            won[:, player] += results == Result.WON
            drawn[player] += ((results == Result.DRAWN) | (results == Result.TRUNCATED)).sum()
            lives[:, player] += races.races.lives[:, seat] / (n - 1)
            antes[:, player] += antes_of(races, seat) / (n - 1)
        advance(len(seeds))
    elo = elos_of_matches(points)
    order = sorted(range(n), key=lambda i: -elo[i].value)
    rows = tuple(
        RaceStanding(
            players[i].name,
            elo[i],
            share_won(won[:, i], n - 1),
            int(drawn[i]),
            mean(lives[:, i]),
            mean(antes[:, i]),
        )
        for i in order
    )
    return RaceTable(len(seeds), len(seeds) * n * (n - 1) // 2, rows, points.mean(axis=0)[np.ix_(order, order)])


def share_won(won: NDArray[np.int64], races: int) -> Share:
    """Return the share of races won, with a 95 % interval over seeds: the races of a player on one seed are correlated.

    The interval is that of the bootstrap, and at least as wide as Wilson's for independent races; if all races have the
    same result, which leaves nothing to resample, it is Wilson's with one race a seed.

    won    (seeds,) races won on each seed, of `races`
    """
    share = wilson(int(won.sum()), races * len(won))
    if share.hits in (0, share.trials):
        low, high = (one := wilson(share.hits // races, len(won))).low, one.high
    else:
        sampled = mean(won / races)
        low, high = min(share.low, sampled.low), max(share.high, sampled.high)
    return replace(share, low=low, high=high)


def antes_of(races: Races, seat: int) -> NDArray[np.int64]:
    """Return the ante that each race has reached at a seat, (n,)."""
    return races.games[seat].states.ante.astype(np.int64)
