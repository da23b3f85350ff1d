"""The standings of a league: ratings and paired differences between players."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.agents.evaluate import Share, wilson
from ante.league.folder import BadLeague, Entrant, League, Results
from ante.league.order import OrderReport, order_report
from ante.league.ratings import LEVEL, Interval, elos, matches, mean, paired


@dataclass(frozen=True)
class Standing:
    """One row of the table.

    behind  mean difference in blinds beaten to the leader on the same seeds, below 0; None for the leader
    """

    player: Entrant
    games: int
    elo: Interval
    wins: Share
    blinds: Interval
    ante: Interval
    behind: Interval | None


@dataclass(frozen=True)
class Table:
    """The standings of a league, best first.

    shares   (players, players) share of matches on the same seeds that the row's player won against the column's
    partial  players with missing games, which are excluded
    """

    rules: dict[str, Any]
    rows: tuple[Standing, ...]
    shares: NDArray[np.float64]
    partial: tuple[str, ...]


def reach_of(results: dict[str, Results]) -> NDArray[np.int64]:
    """Return the progress of every player on every seed, (players, seeds)."""
    return np.stack([each.reach for each in results.values()])


def table_of(league: League) -> Table:
    """Return the standings of all players with complete results. Raises BadLeague."""
    results = league.complete()
    reach = reach_of(results)
    ratings = elos(reach)
    names = sorted(results, key=lambda name: -ratings[list(results).index(name)].value)
    order = [list(results).index(name) for name in names]
    best = results[names[0]]
    rows = [
        Standing(
            league.entrants[name],
            len(results[name]),
            ratings[i],
            wilson(int(results[name].won.sum()), len(results[name])),
            mean(results[name].blinds.astype(float)),
            mean(results[name].ante.astype(float)),
            None if name == names[0] else paired(results[name].blinds, best.blinds),
        )
        for name, i in zip(names, order, strict=True)
    ]
    shares = matches(reach).mean(axis=0)[np.ix_(order, order)]
    partial = tuple(name for name in league.entrants if name not in results)
    return Table({"games": len(best), **vars(league.rules)}, tuple(rows), shares, partial)


def order_of_run(league: League, run: str) -> OrderReport:
    """Return whether the ranking of a run's checkpoints agrees with their training order. Raises BadLeague."""
    results = league.complete()
    found = [each for each in league.entrants.values() if each.run == run and each.name in results]
    found.sort(key=lambda each: each.steps or 0)
    if len(found) < 3:
        raise BadLeague(f"only {len(found)} checkpoints of {run} have played all games: an order needs 3; add more")
    scores = np.stack([results[each.name].blinds for each in found]).astype(float)
    return order_report([each.name for each in found], [each.steps or 0 for each in found], scores)


@dataclass(frozen=True)
class Verdict:
    """The comparison of a checkpoint with the current best: it is promoted only if the whole interval is above 0.

    difference  blinds beaten on the same seeds, challenger minus best; the level is 1 - 0.05 / challengers, a
                Bonferroni correction for selecting the strongest challenger
    """

    run: str
    best: str
    challenger: str
    challengers: int
    difference: Interval

    @property
    def promoted(self) -> bool:
        """Whether the challenger is significantly better."""
        return self.difference.low > 0.0


def judge_run(league: League, run: str, best: str) -> Verdict:
    """Compare the run's strongest other checkpoint with its best one on the same seeds; both sample their actions.

    Raises BadLeague.
    """
    results = league.complete()
    mine = [name for name in results if (league.entrants[name].run, league.entrants[name].likeliest) == (run, False)]
    if best not in mine:
        raise BadLeague(f"{best}, the current best checkpoint, has not played in {league.folder}: add {run}@best first")
    others = [name for name in mine if name != best]
    if not others:
        raise BadLeague(f"no other checkpoint of {run} has played all games in {league.folder}: add {run}@latest")
    challenger = max(others, key=lambda name: results[name].blinds.mean())
    level = 1.0 - (1.0 - LEVEL) / len(others)
    found = paired(results[challenger].blinds, results[best].blinds, level)
    return Verdict(run, best, challenger, len(others), found)
