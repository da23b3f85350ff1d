"""The results of a measurement: differences in win rate on the same games, and the minutes until they are small.

A training seed reaches the strength of the reference at its first milestone where the lower bound of the 95 % interval
of the difference in win rate is at least -MARGIN. The interval of one seed covers the games. That of all seeds also
covers the training seeds, by a bootstrap that samples both; with three seeds it is still too narrow.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.agents.evaluate import Share, half_width, wilson
from ante.experiments.results import samples
from ante.experiments.strength.plan import Plan
from ante.experiments.strength.records import FILE, REFERENCE, Record, find
from ante.files import Unreadable, plain, write_text
from ante.league.ratings import SAMPLES, Interval, interval, weights

MARGIN = 0.03  # of win rates: three points
RESULTS = "results.json"


@dataclass(frozen=True)
class Point:
    """One or all training seeds at a milestone.

    minutes     training time of the checkpoints, mean over seeds
    steps       environment steps, mean over seeds
    wins        share of games won
    difference  of the win rate to the reference on the same games
    """

    milestone: float
    minutes: float
    steps: float
    wins: Share
    difference: Interval

    @property
    def is_strong(self) -> bool:
        """Whether the difference is at least -MARGIN with 97.5 % confidence."""
        return self.difference.low >= -MARGIN


@dataclass(frozen=True)
class StrengthResults:
    """All results.

    seeds      by training seed, the points in order of milestones; missing ones are not measured yet, or after the end
    together   the milestones that all seeds have
    """

    recipe: str
    games: int
    reference: Share
    seeds: dict[int, tuple[Point, ...]]
    together: tuple[Point, ...]
    machine: dict[str, Any]

    def minutes_of(self, seed: int) -> float | None:
        """Return the minutes until a training seed was strong, or None."""
        return first_strong(self.seeds[seed])

    @property
    def minutes(self) -> float | None:
        """The minutes until all seeds together were strong, or None."""
        return first_strong(self.together)

    def to_json(self) -> str:
        """Return the results as JSON."""
        found = {seed: self.minutes_of(seed) for seed in self.seeds}
        content = asdict(self) | {"margin": MARGIN, "minutes": self.minutes, "minutes_of_seeds": found}
        return json.dumps(plain(content), indent=1) + "\n"

    def write(self, out: Path) -> None:
        """Write results.json."""
        write_text(out / RESULTS, self.to_json())


def first_strong(points: Sequence[Point]) -> float | None:
    """Return the minutes of the first strong point."""
    return next((point.minutes for point in points if point.is_strong), None)


def results_of(plan: Plan, records: Sequence[Record], machine: dict[str, Any]) -> StrengthResults | None:
    """Return the results of the measured games, or None without those of the reference. Raises Unreadable."""
    reference = find(records, REFERENCE, 0.0)
    if reference is None:
        return None
    for each in records:
        if each.games != plan.games:
            raise Unreadable(f"{FILE} has {each.games} games of seed {each.seed}, not {plan.games}: remove its line")
    base = reference.wins()
    rows = {seed: [found for m in plan.minutes if (found := find(records, seed, m))] for seed in plan.seeds}
    common = [m for m in plan.minutes if all(find(of, seed, m) for seed, of in rows.items())]
    return StrengthResults(
        recipe=plan.recipe,
        games=reference.games,
        reference=wilson(int(base.sum()), reference.games),
        seeds={seed: tuple(point_of([each], base) for each in of) for seed, of in rows.items()},
        together=tuple(
            point_of([each for of in rows.values() for each in of if each.minutes == minutes], base)
            for minutes in common
        ),
        machine=machine,
    )


def point_of(records: Sequence[Record], base: NDArray[np.float64]) -> Point:
    """Return the point of one milestone of one or several training seeds; base (games,) are the reference's wins."""
    won = np.array([each.wins() for each in records])
    return Point(
        milestone=records[0].minutes,
        minutes=float(np.mean([each.seconds for each in records])) / 60.0,
        steps=float(np.mean([each.steps for each in records])),
        wins=wilson(int(won.sum()), won.size),
        difference=paired(won[0], base) if len(won) == 1 else joint(won, base),
    )


def paired(won: NDArray[np.float64], base: NDArray[np.float64]) -> Interval:
    """Return the difference on the same games, with its normal interval over games."""
    more = won - base
    half = half_width(more)
    return Interval(float(more.mean()), float(more.mean()) - half, float(more.mean()) + half)


def joint(won: NDArray[np.float64], base: NDArray[np.float64]) -> Interval:
    """Return the mean difference of several training seeds (seeds, games), with a bootstrap over seeds and games."""
    rng = np.random.default_rng(0)
    drawn = weights(len(base), SAMPLES, rng) / len(base)
    found = samples((won - base)[:, None, :], drawn, rng)[0]
    return interval(float((won - base).mean()), found)
