"""Tune's schedulers for each method of a sweep, which continue where a stopped sweep was."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from ray.tune.schedulers import AsyncHyperBandScheduler, FIFOScheduler, PopulationBasedTraining

from ante.training.sweeps.saved import Point
from ante.training.sweeps.spec import Asha, PopulationBased, Sweep
from ante.training.sweeps.trial import number_of

COMPARED = {"time_attr": "steps", "metric": "score", "mode": "max"}
Before = Mapping[int, Sequence[Point]]


def scheduler_of(sweep: Sweep, numbers: Sequence[int], before: Before) -> Any:
    """Return the scheduler of a sweep.

    Args:
        sweep: The sweep.
        numbers: The trials that Tune starts, by position; all others have ended.
        before: The evaluations of each trial before this start.
    """
    if isinstance(sweep.method, Asha):
        return ResumedHalving(sweep, sweep.method, numbers, before)
    if isinstance(sweep.method, PopulationBased):
        return population(sweep, sweep.method, min(points[-1].steps if points else 0 for points in before.values()))
    return FIFOScheduler()


class ResumedHalving(AsyncHyperBandScheduler):  # type: ignore[misc]
    """Asynchronous successive halving that compares trials also with evaluations from before a stop."""

    def __init__(self, sweep: Sweep, method: Asha, numbers: Sequence[int], before: Before) -> None:
        grace = method.grace or sweep.every
        super().__init__(**COMPARED, max_t=sweep.steps, grace_period=grace, reduction_factor=method.reduction)
        self.numbers, self.before = list(numbers), {number: list(points) for number, points in before.items()}
        for number, points in self.before.items():
            if number not in self.numbers and points:
                trial = SimpleNamespace(trial_id=f"ended_{number}")
                self._replay(trial, points)
                self.on_trial_complete(None, trial, result_of(points[-1]))

    def on_trial_add(self, controller: Any, trial: Any) -> None:
        """See TrialScheduler."""
        self._replay(trial, self.before[self.numbers[number_of(trial.trial_id)]])

    def _replay(self, trial: Any, points: Sequence[Point]) -> None:
        super().on_trial_add(None, trial)
        for point in points:
            self.on_trial_result(None, trial, result_of(point))


def result_of(point: Point) -> dict[str, Any]:
    """Return an evaluation as a result of Tune."""
    return {"steps": point.steps, "score": point.score}


def population(sweep: Sweep, method: PopulationBased, reached: int) -> PopulationBasedTraining:
    """Return the scheduler of population-based training, with bounded exploration.

    reached  steps at which all trials compare first: 0, or those of the evaluation that they continue from
    """
    rng = np.random.default_rng((sweep.seed, 1, reached))

    def explore(trial: dict[str, Any]) -> dict[str, Any]:
        values = sweep.explored(trial["start"]["values"], rng)
        return {**trial, "start": {"values": values, "seed": int(rng.integers(2**31))}}

    return PopulationBasedTraining(
        **COMPARED,
        perturbation_interval=sweep.every,
        burn_in_period=reached,
        quantile_fraction=method.quantile,
        custom_explore_fn=explore,
        synch=True,
        log_config=False,
    )
