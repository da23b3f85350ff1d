"""The plan of a measurement of time to strength, kept in its folder. Imports neither Ray nor torch."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError, field_validator

from ante.errors import BalatroError, shown
from ante.experiments.spec import Cell
from ante.files import write_text
from ante.training.presets.lookup import settings_file
from ante.training.settings.config import TrainConfig, make_config, merge, read_config
from ante.training.settings.field import Settings
from ante.yaml_files import read_yaml

FILE = "plan.yaml"
RUN = ("name", "runs", "seed")  # settings of a recipe that each run replaces


class BadPlan(BalatroError, ValueError):
    """A plan that is invalid or differs from the one in its folder."""


class Plan(Settings):
    """What is trained and measured.

    Args:
        recipe: Name of the preset or the file of settings.
        settings: The recipe's resolved settings.
        seeds: Training seeds, one run each.
        minutes: Milestones in minutes of training time.
        games: Games at each milestone, and of the reference.
        likeliest: Whether both players take their most likely action instead of sampling.
    """

    recipe: str
    settings: dict[str, Any]
    seeds: tuple[int, ...] = Field((0, 1, 2), min_length=1)
    minutes: tuple[float, ...] = Field((5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0), min_length=1)
    games: int = Field(4000, ge=2)
    likeliest: bool = False

    @field_validator("seeds")
    @classmethod
    def _differ(cls, seeds: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(seeds)) < len(seeds) or min(seeds) < 0:
            raise ValueError("the numbers must differ and be at least 0")
        return seeds

    @field_validator("minutes")
    @classmethod
    def _increase(cls, minutes: tuple[float, ...]) -> tuple[float, ...]:
        if any(one >= two for one, two in pairwise((0.0, *minutes))):
            raise ValueError("the numbers must be above 0 and in increasing order")
        return minutes

    def cell(self, seed: int, out: Path) -> Cell:
        """Return the run of a training seed, which evaluates nothing by itself and keeps all checkpoints."""
        own = {
            "name": f"seed-{seed}",
            "runs": str(out / "runs"),
            "seed": seed,
            "store": None,
            "checkpoints.minutes": self.minutes,
            "checkpoints.keep": 0,
            "evaluation.every": 0,
            "evaluation.games": 1,
        }
        return Cell(self.recipe, make_config(merge(self.settings, own)))


def plan_of(recipe: str, seeds: tuple[int, ...], minutes: tuple[float, ...], games: int, likeliest: bool) -> Plan:
    """Return the plan for a preset or a file of settings. Raises BadPlan, BadConfig, UnknownPreset."""
    config: TrainConfig = read_config(settings_file(recipe))
    settings = {name: value for name, value in config.values().items() if name not in RUN}
    try:
        return Plan(
            recipe=Path(recipe).stem, settings=settings, seeds=seeds, minutes=minutes, games=games, likeliest=likeliest
        )
    except ValidationError as error:
        first = error.errors()[0]
        cause = first["msg"].removeprefix("Value error, ")
        raise BadPlan(f"--{first['loc'][0]} {shown(first['input'])}: {cause}") from None


def keep_plan(plan: Plan, out: Path) -> None:
    """Save the plan; a plan in the folder may only gain seeds. Raises BadPlan, Unreadable."""
    file, values = out / FILE, plan.model_dump(mode="json")
    if file.exists():
        before = read_yaml(file)
        if not isinstance(before, dict):
            raise BadPlan(f"{file} contains {shown(before)}, not a plan: remove it, or choose another --out")
        changed = [name for name in values if before.get(name) != values[name]]
        seeds = before.get("seeds")
        if isinstance(seeds, list) and all(seed in values["seeds"] for seed in seeds):
            changed = [name for name in changed if name != "seeds"]
        if changed:
            raise BadPlan(
                f"{out} has a measurement with other {' and '.join(changed)} ({FILE}): repeat its command, with the same "
                "or further --seeds, or choose another --out"
            )
    out.mkdir(parents=True, exist_ok=True)
    write_text(file, yaml.safe_dump(values, sort_keys=False))
