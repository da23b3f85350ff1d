"""What a population searches: a file with settings, ranges and the schedule of comparisons. Knows neither Ray nor torch."""

import math
from pathlib import Path
from typing import Any, Literal

import numpy as np
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ante.training.config import BadConfig, TrainConfig, read_config

FACTORS = (0.8, 1.25)  # a setting that is taken over is multiplied by one of them
PARTS = ("name", "runs", "steps", "seed")  # of the members' settings: decided by the population


class Range(BaseModel):
    """A number between two bounds, drawn evenly, or evenly in its logarithm. Whole numbers stay whole."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    low: float
    high: float
    log: bool = False

    @model_validator(mode="after")
    def _is_one(self) -> "Range":
        if not self.low < self.high or (self.log and self.low <= 0):
            raise ValueError(f"low {self.low:g} must lie below high {self.high:g}, and above 0 where log is on")
        return self

    def draw(self, rng: np.random.Generator) -> float:
        """A value."""
        if self.log:
            return float(math.exp(rng.uniform(math.log(self.low), math.log(self.high))))
        return float(rng.uniform(self.low, self.high))

    def moved(self, value: float, factor: float) -> float:
        """The value times a factor, within the bounds."""
        return float(min(self.high, max(self.low, value * factor)))


class Space(BaseModel):
    """A population: members that learn side by side with settings of their own, the worst going on from the best."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field("population", pattern=r"^[\w.-]+$", description="Its folder under `runs`.")
    runs: str = Field("runs", description="Folder that holds it.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Settings that all members share.")
    search: dict[str, Range] = Field(description="Settings that are searched: low, high, log.")
    population: int = Field(4, ge=2, le=256, description="Members.")
    steps: int = Field(200_000, ge=1, description="Environment steps of each member.")
    every: int = Field(40_000, ge=1, description="Environment steps between comparisons.")
    quantile: float = Field(0.25, gt=0, le=0.5, description="Share of members that take over, and that are taken over.")
    resample: float = Field(0.25, ge=0, le=1, description="Chance that a setting taken over is drawn anew.")
    metric: Literal["blinds", "return", "ante", "win_rate"] = Field(
        "blinds", description="What members are compared by."
    )
    eval_games: int = Field(
        256, ge=2, description="Games of each member's closing evaluation, first of the seed panel."
    )
    seed: int = Field(0, ge=0, description="Seed of the draws.")

    @property
    def folder(self) -> Path:
        """Where the population is kept."""
        return Path(self.runs) / self.name

    def member(self, values: dict[str, float], seed: int, name: str = "member") -> TrainConfig:
        """The settings of a member. Raises BadConfig."""
        own = {"name": name, "runs": str(self.folder), "steps": self.steps, "seed": seed}
        try:
            return TrainConfig.model_validate({**self.settings, **self.rounded(values), **own})
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "settings"
            raise BadConfig(f"a member cannot be made: {place}: {first['msg'].removeprefix('Value error, ')}") from None

    def rounded(self, values: dict[str, float]) -> dict[str, float | int]:
        """The values as the settings take them."""
        whole = {name for name in values if TrainConfig.model_fields[name].annotation is int}
        return {name: round(value) if name in whole else value for name, value in values.items()}

    def starts(self) -> list[dict[str, float]]:
        """What each member begins with, drawn by the seed."""
        rng = np.random.default_rng(self.seed)
        return [{name: of.draw(rng) for name, of in self.search.items()} for _ in range(self.population)]

    def explored(self, values: dict[str, float], rng: np.random.Generator) -> dict[str, float]:
        """Values that were taken over, each drawn anew or moved by a factor."""
        return {
            name: of.draw(rng) if rng.random() < self.resample else of.moved(values[name], float(rng.choice(FACTORS)))
            for name, of in self.search.items()
        }


def read_space(file: Path) -> Space:
    """The population of a YAML file, with the settings of the file that its `config` names. Raises BadConfig.

    Members are made where neither file is: in a trial's folder, on another machine.
    """
    try:
        data = yaml.safe_load(file.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadConfig(f"cannot read {file}: {error}") from None
    if not isinstance(data, dict):
        raise BadConfig(
            f"{file} holds no settings: write search, population, steps; configs/population/small.yaml is one"
        )
    shared = data.pop("config", None)
    base = read_config(file.parent / str(shared)).model_dump(mode="json", exclude=set(PARTS)) if shared else {}
    try:
        space = Space.model_validate({"name": file.stem, **data})
        space = space.model_copy(update={"settings": base | space.settings})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "file"
        raise BadConfig(f"{file}: {place}: {first['msg'].removeprefix('Value error, ')}") from None
    check_space(space, file)
    return space


def check_space(space: Space, file: Path) -> None:
    """Members can be made at both ends of every range. Raises BadConfig."""
    if not space.search:
        raise BadConfig(f"{file}: search is empty: name a setting with low and high, such as lr")
    for name in space.search:
        if name in PARTS or name not in TrainConfig.model_fields:
            raise BadConfig(f"{file}: search.{name} is no setting that can be searched: docs/training.md has them")
    if space.every > space.steps:
        raise BadConfig(f"{file}: every {space.every:,} is more than steps {space.steps:,}: nobody would be compared")
    for end in ("low", "high"):
        space.member({name: getattr(of, end) for name, of in space.search.items()}, 0)
