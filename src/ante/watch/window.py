"""Rows of metrics.csv whose means cover too few games, as after a resume, when short games end first."""

import math
from collections.abc import Mapping, Sequence

MEANS = ("blinds", "win_rate", "ante", "return")  # means over the last games
LEAST = 0.5  # share of the previous number of games below which means are not comparable


def resumes(rows: Sequence[Mapping[str, str]]) -> list[int]:
    """Return the indices of the first rows after a resume.

    Within one stage of a curriculum the number of counted games only grows, up to the window, so a fall to less than
    LEAST of the number before is a restart of the runners.
    """
    found = []
    for i in range(1, len(rows)):
        same = rows[i].get("stage", "") == rows[i - 1].get("stage", "")
        if same and counted(rows[i]) < LEAST * counted(rows[i - 1]):
            found.append(i)
    return found


def comparable_rows(rows: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return the rows; after a resume MEANS are empty until they cover LEAST of the games that they covered before."""
    result, starts, needed = [], set(resumes(rows)), 0.0
    for i, row in enumerate(rows):
        if i in starts:
            needed = max(needed, LEAST * counted(rows[i - 1]))
        elif i and row.get("stage", "") != rows[i - 1].get("stage", ""):
            needed = 0.0
        if not counted(row) < needed:  # also if it is unknown
            needed = 0.0
        result.append({**row, **({name: "" for name in MEANS if name in row} if needed else {})})
    return result


def counted(row: Mapping[str, str]) -> float:
    """Return the number of games behind a row's means; NaN, which is below and above nothing, if it is unknown."""
    return float(row.get("games_counted") or math.nan)
