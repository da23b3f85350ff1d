"""Schedules: one number, or points with linear interpolation."""

from itertools import pairwise
from typing import Annotated

from pydantic import AfterValidator

Points = tuple[tuple[int, float], ...]


def check_points(schedule: float | Points) -> float | Points:
    """Return the schedule. Raises ValueError if it has too few points, unordered ones or values below 0."""
    points = schedule if isinstance(schedule, tuple) else ((0, schedule), (1, schedule))
    times = [steps for steps, _ in points]
    if len(points) < 2 or times[0] != 0 or any(one >= two for one, two in pairwise(times)):
        raise ValueError("points are [steps, value]: at least two, the first at step 0, in increasing order")
    if min(value for _, value in points) < 0:
        raise ValueError("values must not be below 0")
    return schedule


def check_share(schedule: float | Points) -> float | Points:
    """Return the schedule of a probability or share. Raises ValueError if a value is above 1."""
    if max((value for _, value in schedule) if isinstance(schedule, tuple) else (schedule,)) > 1:
        raise ValueError("values must not be above 1")
    return schedule


def check_learning(schedule: float | Points) -> float | Points:
    """Return the schedule of a learning rate. Raises ValueError if it starts at 0."""
    if value_at(schedule, 0) == 0:
        raise ValueError("the first value must be above 0")
    return schedule


# One value, or points (environment steps, value) with linear interpolation.
Schedule = Annotated[float | Points, AfterValidator(check_points)]
ShareSchedule = Annotated[Schedule, AfterValidator(check_share)]
RateSchedule = Annotated[Schedule, AfterValidator(check_learning)]


def value_at(schedule: float | Points, steps: int) -> float:
    """Return the value of a schedule after this many environment steps; it is constant after the last point."""
    if not isinstance(schedule, tuple):
        return schedule
    for (begin, one), (end, two) in pairwise(schedule):
        if steps < end:
            return one + (two - one) * max(0, steps - begin) / (end - begin)
    return schedule[-1][1]
