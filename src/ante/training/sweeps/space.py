"""The values of a searched setting: a range, or a list of choices. Imports neither Ray nor torch."""

import math
from typing import Annotated, Any

import numpy as np
from pydantic import Discriminator, Field, Tag, model_validator

from ante.training.settings.field import Settings

FACTORS = (0.8, 1.25)  # perturbation factors for copied settings


class Range(Settings):
    """A range of values, sampled uniformly, or uniformly in the logarithm. Integer settings are rounded."""

    low: float
    high: float
    log: bool = False

    @model_validator(mode="after")
    def _is_one(self) -> "Range":
        if not self.low < self.high or (self.log and self.low <= 0):
            raise ValueError(f"low {self.low:g} must be below high {self.high:g}, and above 0 if log is set")
        return self

    def draw(self, rng: np.random.Generator) -> float:
        """Sample a value."""
        return self.value_at(float(rng.random()))

    def perturbed(self, value: float, rng: np.random.Generator) -> float:
        """Return the value times a random factor, clipped to the bounds."""
        return float(min(self.high, max(self.low, value * float(rng.choice(FACTORS)))))

    def contains(self, value: Any) -> bool:
        """Return whether a value lies within the bounds. Raises TypeError if it is no number."""
        return bool(self.low <= value <= self.high)

    def extremes(self) -> list[Any]:
        """Return the values that a check must try."""
        return [self.low, self.value_at(0.5), self.high]

    def position(self, value: float) -> float:
        """Return where the value lies between the bounds, from 0 to 1."""
        low, high, at = (math.log(each) if self.log else each for each in (self.low, self.high, value))
        return (at - low) / (high - low)

    def value_at(self, position: float) -> float:
        """Return the value at a position from 0 to 1."""
        if self.log:
            return math.exp(math.log(self.low) + position * (math.log(self.high) - math.log(self.low)))
        return self.low + position * (self.high - self.low)


class Choice(Settings):
    """A list of values, sampled uniformly."""

    choices: list[Any] = Field(min_length=2)

    def draw(self, rng: np.random.Generator) -> Any:
        """Sample a value."""
        return self.choices[int(rng.integers(len(self.choices)))]

    def perturbed(self, value: Any, rng: np.random.Generator) -> Any:
        """Return the choice before or after this one."""
        at = self.choices.index(value) + int(rng.choice((-1, 1)))
        return self.choices[min(len(self.choices) - 1, max(0, at))]

    def contains(self, value: Any) -> bool:
        """Return whether a value is one of the choices."""
        return value in self.choices

    def extremes(self) -> list[Any]:
        """Return the values that a check must try."""
        return list(self.choices)

    def position(self, value: Any) -> float:
        """Return where the value lies in the list, from 0 to 1."""
        return self.choices.index(value) / (len(self.choices) - 1)


RANGE, CHOICE = "a range", "a choice"


def form_of(value: Any) -> str:
    """Return which of the two forms a value of a file has."""
    return CHOICE if isinstance(value, Choice) or (isinstance(value, dict) and "choices" in value) else RANGE


Searched = Annotated[Annotated[Range, Tag(RANGE)] | Annotated[Choice, Tag(CHOICE)], Discriminator(form_of)]
