"""Successive halving after a stop decides as it would have without one."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from ante.training.sweeps.saved import Point
from ante.training.sweeps.space import Range
from ante.training.sweeps.spec import Asha, Sweep

SWEEP = Sweep(
    search={"algo.lr": Range(low=1e-4, high=1e-2)},
    method=Asha(reduction=2),
    trials=12,
    steps=8000,
    every=1000,
)


def scores() -> dict[tuple[int, int], float]:
    """Return the score of each trial at each evaluation."""
    rng = np.random.default_rng(4)
    return {(number, steps): float(rng.random()) for number in range(12) for steps in range(1000, 8001, 1000)}


class Course:
    """Plays trials against a scheduler, one evaluation of each trial in turn, and keeps the decisions."""

    def __init__(self, numbers: list[int], before: dict[int, list[Point]]) -> None:
        from ante.training.sweeps.schedulers import scheduler_of

        self.scheduler = scheduler_of(SWEEP, numbers, before)
        self.trials = {number: SimpleNamespace(trial_id=f"x_{k:05d}") for k, number in enumerate(numbers)}
        for trial in self.trials.values():
            self.scheduler.on_trial_add(None, trial)
        self.points = {number: list(of) for number, of in before.items()}
        self.decisions: dict[tuple[int, int], str] = {}

    def play(self, number: int, steps: int) -> None:
        """Report one evaluation."""
        result: dict[str, Any] = {"steps": steps, "score": scores()[number, steps]}
        decision = self.scheduler.on_trial_result(None, self.trials[number], result)
        self.decisions[number, steps] = decision
        ended = decision == "STOP" or steps >= SWEEP.steps
        if ended:
            self.scheduler.on_trial_complete(None, self.trials[number], result)
        values = {"algo.lr": 0.001}
        self.points[number].append(Point(trial=number, values=values, parent=number, ended=ended, **result))

    def running(self, number: int) -> bool:
        return number in self.trials and not (self.points[number] and self.points[number][-1].ended)


def play_all(course: Course, first: int, last: int) -> None:
    """Report the evaluations from `first` to `last` thousand steps, in turn."""
    for thousand in range(first, last + 1):
        for number in range(12):
            if course.running(number):
                course.play(number, thousand * 1000)


@pytest.mark.parametrize("stop", [1, 2, 3, 5])
def test_a_resumed_sweep_stops_the_same_trials(stop: int) -> None:
    whole = Course(list(range(12)), {number: [] for number in range(12)})
    play_all(whole, 1, 8)
    assert 3 < sum(decision == "STOP" for decision in whole.decisions.values()) <= 12

    first = Course(list(range(12)), {number: [] for number in range(12)})
    play_all(first, 1, stop)
    left = [number for number in range(12) if first.running(number)]
    assert len(left) < 12
    second = Course(left, first.points)
    play_all(second, stop + 1, 8)
    together = {**first.decisions, **second.decisions}
    assert together == whole.decisions


def test_a_population_compares_first_at_the_evaluation_that_all_continue_from() -> None:
    from ante.training.sweeps.schedulers import scheduler_of
    from ante.training.sweeps.spec import PopulationBased

    sweep = SWEEP.model_copy(update={"method": PopulationBased()})
    point = Point(trial=0, steps=3000, score=1.0, values={"algo.lr": 0.001}, parent=0)
    before = {number: [point.model_copy(update={"steps": 3000 + number})] for number in range(12)}
    assert scheduler_of(sweep, list(range(12)), before)._burn_in_period == 3000
