"""The search space of a population: settings, ranges and the schedule of comparisons. Imports neither Ray nor torch."""

import math
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, ValidationError, model_validator

from ante.files import Unreadable
from ante.training.presets.lookup import settings_file
from ante.training.settings.config import BadConfig, TrainConfig, fields_of, make_config, merge, read_values
from ante.training.settings.field import RunName, Settings
from ante.yaml_files import read_yaml

FACTORS = (0.8, 1.25)  # perturbation factors for copied settings
PARTS = ("name", "runs", "steps", "seed")  # set by the population, not by its members' settings


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
        if self.log:
            return float(math.exp(rng.uniform(math.log(self.low), math.log(self.high))))
        return float(rng.uniform(self.low, self.high))

    def moved(self, value: float, factor: float) -> float:
        """Return the value times a factor, clipped to the bounds."""
        return float(min(self.high, max(self.low, value * factor)))


class Space(Settings):
    """A population: members that learn in parallel with different settings, the worst continuing from the best."""

    name: RunName = Field("population", description="Name of the population's folder under `runs`.")
    runs: str = Field("runs", description="Folder of all runs.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Settings that all members share.")
    search: dict[str, Range] = Field(description="Settings that are searched: low, high, log.")
    population: int = Field(4, ge=2, le=256, description="Members.")
    steps: int = Field(200_000, ge=1, description="Environment steps of each member.")
    every: int = Field(40_000, ge=1, description="Environment steps between comparisons.")
    quantile: float = Field(0.25, gt=0, le=0.5, description="Share of members that copy others, and that are copied.")
    resample: float = Field(0.25, ge=0, le=1, description="Probability of resampling a copied setting.")
    metric: Literal["blinds", "return", "ante", "win_rate"] = Field(
        "blinds", description="Metric for comparing members."
    )
    eval_games: int = Field(256, ge=2, description="Games in the final evaluation of each member.")
    seed: int = Field(0, ge=0, description="Random seed.")

    @property
    def folder(self) -> Path:
        """The folder of the population."""
        return Path(self.runs) / self.name

    def member(self, values: dict[str, float], seed: int, name: str = "member") -> TrainConfig:
        """Return the settings of a member. Raises BadConfig."""
        own = {"name": name, "runs": str(self.folder), "steps": self.steps, "seed": seed}
        try:
            return make_config(merge(merge(self.settings, self.rounded(values)), own))
        except BadConfig as error:
            raise BadConfig(f"invalid member: {error}") from None

    def rounded(self, values: dict[str, float]) -> dict[str, float | int]:
        """Return the values with integer settings rounded."""
        fields = fields_of(self.settings)
        return {name: round(each) if fields[name].annotation is int else each for name, each in values.items()}

    def starts(self) -> list[dict[str, float]]:
        """Return the initial values of each member, sampled with the seed."""
        rng = np.random.default_rng(self.seed)
        return [{name: of.draw(rng) for name, of in self.search.items()} for _ in range(self.population)]

    def explored(self, values: dict[str, float], rng: np.random.Generator) -> dict[str, float]:
        """Return copied values, each resampled or multiplied by a perturbation factor."""
        return {
            name: of.draw(rng) if rng.random() < self.resample else of.moved(values[name], float(rng.choice(FACTORS)))
            for name, of in self.search.items()
        }


def read_space(file: Path) -> Space:
    """Read a population from a YAML file, merged with the settings file named by its `config`. Raises BadConfig.

    `config` is relative to this file, or a preset's name. The result is self-contained, since members are created on other machines without these files.
    """
    try:
        data = read_yaml(file)
    except Unreadable as error:
        raise BadConfig(str(error)) from None
    if not isinstance(data, dict):
        raise BadConfig(
            f"{file} contains no settings: set search, population and steps, as in configs/population/small.yaml"
        )
    shared = data.pop("config", None)
    base = read_values(settings_file(str(shared), file.parent)) if shared else {}
    try:
        space = Space.model_validate({"name": file.stem, **data})
        space = space.model_copy(update={"settings": merge(base, space.settings)})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "file"
        raise BadConfig(f"{file}: {place}: {first['msg'].removeprefix('Value error, ')}") from None
    check_space(space, file)
    return space


def check_space(space: Space, file: Path) -> None:
    """Raise BadConfig if members are invalid at either end of a range."""
    if not space.search:
        raise BadConfig(f"{file}: search is empty: add a setting with low and high, such as algo.lr")
    known = fields_of(space.settings)
    for name in space.search:
        if name in PARTS or name not in known:
            near = get_close_matches(name, known, 1) or [each for each in known if each.endswith(f".{name}")]
            hint = f"did you mean {near[0]}?" if near else "see ante train --help for the settings"
            raise BadConfig(f"{file}: search.{name} is not a setting that can be searched: {hint}")
    if space.every > space.steps:
        raise BadConfig(f"{file}: every {space.every:,} is more than steps {space.steps:,}; lower every")
    for end in ("low", "high"):
        space.member({name: getattr(of, end) for name, of in space.search.items()}, 0)
