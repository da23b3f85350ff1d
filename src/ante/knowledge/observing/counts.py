"""Counts of one run: its games that reached ANTE, by the jokers and pairs of jokers that they then held.

A count is an entry of a symmetric matrix with a row for each joker number. Number 0, which is no joker, stands for every
game: entry (0, 0) counts all games, (0, j) those with joker j, and (j, k) those with both.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.catalog.jokers import JOKERS
from ante.errors import BalatroError, shown

ANTE = (
    4  # the line-up of a game is what it holds when this ante begins: the boss of the ante before has just been beaten
)
N = len(JOKERS)  # rows of a matrix
EVERY = 0  # the row of all games
KEYS = ("", *(row.key for row in JOKERS[1:]))
NUMBERS = {key: number for number, key in enumerate(KEYS)}

MOST = 1 << 40  # games

Counts = NDArray[np.int64]  # (2, N, N): games, and those that are won
Row = dict[str, Any]


@dataclass(frozen=True)
class RunCounts:
    """The counts of one run.

    Attributes:
        key: Identifies the run, also after it was resumed.
        name: Its name.
        policy: Its kind of policy.
        deck: Deck of its games.
        stake: Stake of its games.
        steps: Environment steps after which the counts were taken.
        version: Version of the package.
        engine: Hash of the engine's sources.
        counts: (2, N, N) int64.
    """

    key: str
    name: str
    policy: str
    deck: str
    stake: int
    steps: int
    version: str
    engine: str
    counts: Counts

    @property
    def games(self) -> int:
        """Number of games that reached ANTE."""
        return int(self.counts[0, EVERY, EVERY])

    @property
    def wins(self) -> int:
        """Number of those that are won."""
        return int(self.counts[1, EVERY, EVERY])


class BadCounts(BalatroError, ValueError):
    """The counts of a run contradict each other."""


def empty_counts() -> Counts:
    """Return counts of no games."""
    return np.zeros((2, N, N), dtype=np.int64)


def add_games(counts: Counts, held: NDArray[np.bool_], won: NDArray[np.bool_]) -> None:
    """Add games to counts, in place.

    Args:
        counts: (2, N, N) int64.
        held: (k, N) bool, the jokers of each game by number; column 0 is ignored.
        won: (k,) bool.
    """
    rows = held.astype(np.int64)
    rows[:, EVERY] = 1
    counts[0] += rows.T @ rows
    counts[1] += rows[won].T @ rows[won]


def rows_of(counts: Counts) -> list[Row]:
    """Return the counts above 0 of jokers (`other` is empty) and pairs, in the order of the catalogue."""
    found = []
    for one, other in zip(*np.nonzero(np.triu(counts[0], 1)), strict=True):
        pair = (KEYS[other], "") if one == EVERY else (KEYS[one], KEYS[other])
        games, wins = counts[:, one, other].tolist()
        found.append({"one": pair[0], "other": pair[1], "games": games, "wins": wins})
    return found


def counts_of(games: int, wins: int, rows: list[Row]) -> Counts:
    """Return the counts of which these are the rows; rows with jokers of other versions are left out. Raises BadCounts."""
    counts = empty_counts()
    counts[:, EVERY, EVERY] = numbers_of({"games": games, "wins": wins}, MOST)
    for row in rows:
        one, other = NUMBERS.get(row["one"]), NUMBERS.get(row["other"])
        if one is None or other is None:
            continue
        row = dict(zip(("games", "wins"), numbers_of(row, games), strict=True))
        for i, j in ((one, other), (other, one), *(((one, one),) if other == EVERY else ())):
            counts[:, i, j] = row["games"], row["wins"]
    return counts


def numbers_of(row: Row, most: int) -> tuple[int, int]:
    """Return games and wins of a row. Raises BadCounts unless wins are at most the games, and these at most `most`."""
    games, wins = row["games"], row["wins"]
    if type(games) is int and type(wins) is int and 0 <= wins <= games <= most:
        return games, wins
    raise BadCounts(
        f"{shown(wins)} of {shown(games)} games are won, of at most {most:,}: delete the run, or resume it to write it again"
    )
