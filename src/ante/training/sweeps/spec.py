"""The specification of a sweep: searched settings, method, trials and their length. Imports neither Ray nor torch."""

from difflib import get_close_matches
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args

import numpy as np
from pydantic import BeforeValidator, Discriminator, Field, Tag, ValidationError
from pydantic.fields import FieldInfo

from ante.files import Unreadable
from ante.training.presets.lookup import settings_file
from ante.training.settings.config import (
    BadConfig,
    TrainConfig,
    fields_of,
    kinds_in,
    make_config,
    merge,
    read_values,
)
from ante.training.settings.field import RunName, Settings, StoreUrl
from ante.training.sweeps.space import CHOICE, RANGE, Choice, Range, Searched
from ante.yaml_files import read_yaml

OWN = ("name", "runs", "store", "steps", "seed")  # set by the sweep, not by the settings of its trials
EXAMPLE = "as in configs/sweeps/asha.yaml"


class RandomSearch(Settings):
    """Every trial trains to its end with settings drawn at the start."""

    kind: Literal["random"] = "random"


class Asha(Settings):
    """Asynchronous successive halving: trials that are behind others of the same length stop early."""

    kind: Literal["asha"] = "asha"
    reduction: float = Field(3.0, gt=1, le=100, description="One trial in `reduction` continues beyond each rung.")
    grace: int | None = Field(None, ge=1, description="Environment steps up to the first rung; `every` by default.")


class PopulationBased(Settings):
    """Population-based training: the worst trials repeatedly copy the weights of the best and perturb their settings."""

    kind: Literal["pbt"] = "pbt"
    quantile: float = Field(0.25, gt=0, le=0.5, description="Share of trials that copy others, and that are copied.")
    resample: float = Field(0.25, ge=0, le=1, description="Probability of sampling a copied setting again.")


METHODS = ("random", "asha", "pbt")


def is_integer(annotation: Any) -> bool:
    """Return whether a setting is an integer, or an integer or None."""
    kinds = get_args(annotation) or (annotation,)
    return int in kinds and set(kinds) <= {int, NoneType}


def method_of(value: Any) -> str | None:
    """Return the kind of a method; None if it has none."""
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return kind if isinstance(kind, str) else None


Method = Annotated[
    Annotated[RandomSearch, Tag("random")] | Annotated[Asha, Tag("asha")] | Annotated[PopulationBased, Tag("pbt")],
    Discriminator(
        method_of,
        custom_error_type="method",
        custom_error_message=f"a method has a kind: {', '.join(METHODS)}",
    ),
    BeforeValidator(lambda value: {"kind": value} if isinstance(value, str) else value),
]


class Sweep(Settings):
    """A search for settings: trials that train with different settings, compared on the same validation games."""

    name: RunName = Field("sweep", description="Name of the sweep's folder under `runs`.")
    runs: str = Field("runs", description="Folder of all runs.", min_length=1)
    store: StoreUrl = Field(None, description="Store of the checkpoints and results: a folder or s3://bucket/prefix.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Settings that all trials share.")
    search: dict[str, Searched] = Field(description="Searched settings: low, high, log; or choices.")
    method: Method = Field(default_factory=Asha, description="random, asha or pbt, with its parameters.")
    trials: int = Field(16, ge=1, le=1000, description="Trials.")
    parallel: int = Field(0, ge=0, description="Most trials at a time; 0 = as many as Ray has resources for.")
    steps: int = Field(200_000, ge=1, description="Environment steps of a trial that is not stopped early.")
    every: int = Field(40_000, ge=1, description="Environment steps between evaluations.")
    metric: Literal["blinds", "ante", "win_rate"] = Field(
        "blinds", description="Mean over the validation games by which trials are compared."
    )
    seed: int = Field(0, ge=0, le=2_000_000, description="Random seed.")

    @property
    def folder(self) -> Path:
        """The folder of the sweep."""
        return Path(self.runs) / self.name

    def config(self, values: dict[str, Any], seed: int, name: str = "trial") -> TrainConfig:
        """Return the settings of a trial. Raises BadConfig."""
        own = {"name": name, "runs": str(self.folder), "store": None, "steps": self.steps, "seed": seed}
        try:
            return make_config(merge(merge(self.settings, self.rounded(values)), own))
        except BadConfig as error:
            raise BadConfig(f"invalid trial: {error}") from None

    def rounded(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the values with integer settings rounded."""
        fields = self.fields(values)
        whole = [
            name for name, of in self.search.items() if isinstance(of, Range) and is_integer(fields[name].annotation)
        ]
        return {name: round(value) if name in whole else value for name, value in values.items()}

    def fields(self, values: dict[str, Any]) -> dict[str, FieldInfo]:
        """Return the declaration of every setting that a trial with these values has. Raises BadConfig."""
        try:
            return fields_of(merge(self.settings, kinds_in(values)))
        except ValueError as error:
            raise BadConfig(f"invalid trial: {error}") from None

    def starts(self) -> list[dict[str, Any]]:
        """Return the initial values of each trial, which depend on the seed only."""
        rng = np.random.default_rng(self.seed)
        return [{name: of.draw(rng) for name, of in self.search.items()} for _ in range(self.trials)]

    def explored(self, values: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        """Return copied values, each sampled again or perturbed."""
        assert isinstance(self.method, PopulationBased)
        again = self.method.resample
        return {
            name: of.draw(rng) if rng.random() < again else of.perturbed(values[name], rng)
            for name, of in self.search.items()
        }


def read_sweep(file: Path, changes: dict[str, Any] | None = None) -> Sweep:
    """Read a sweep from a YAML file, merged with the settings file named by its `config`. Raises BadConfig.

    `config` is relative to this file, or a preset's name. The result is self-contained, since trials run on other
    machines without these files.

    Args:
        file: The YAML file.
        changes: Keys that replace those of the file.
    """
    try:
        data = read_yaml(file)
    except Unreadable as error:
        raise BadConfig(str(error)) from None
    if not isinstance(data, dict):
        raise BadConfig(f"{file} contains no settings: set search, method and trials, {EXAMPLE}")
    shared = data.pop("config", None)
    base = read_values(settings_file(str(shared), file.parent)) if shared else {}
    return make_sweep({"name": file.stem, **data, **(changes or {})}, base, str(file))


def make_sweep(values: dict[str, Any], shared: dict[str, Any], source: str) -> Sweep:
    """Return a sweep from the keys of its file and settings that all trials share. Raises BadConfig.

    Args:
        values: The keys, except `config`.
        shared: Settings below those of the key `settings`.
        source: What errors call the file.
    """
    try:
        sweep = Sweep.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part not in (RANGE, CHOICE, *METHODS)) or "file"
        raise BadConfig(f"{source}: {place}: {first['msg'].removeprefix('Value error, ')}") from None
    sweep = sweep.model_copy(update={"settings": merge(shared, sweep.settings)})
    check_sweep(sweep, source)
    return sweep


def check_sweep(sweep: Sweep, source: str) -> None:
    """Raise BadConfig if the parts do not fit together, or trials are invalid at an end of a range."""
    if not sweep.search:
        raise BadConfig(f"{source}: search is empty: add a setting with low and high, such as algo.lr")
    check_names(sweep, source)
    if sweep.every > sweep.steps:
        raise BadConfig(f"{source}: every {sweep.every:,} is more than steps {sweep.steps:,}; lower every")
    if isinstance(sweep.method, Asha) and (sweep.method.grace or sweep.every) > sweep.steps:
        raise BadConfig(f"{source}: method.grace {sweep.method.grace:,} is more than steps {sweep.steps:,}; lower it")
    if isinstance(sweep.method, PopulationBased):
        if sweep.trials < 2:
            raise BadConfig(f"{source}: trials is {sweep.trials}, but method pbt requires 2 or more")
        if fixed := [name for name in sweep.search if name.startswith("policy.") or name == "algo.kind"]:
            raise BadConfig(
                f"{source}: search.{fixed[0]} cannot be searched by pbt, which copies weights between trials; use method "
                "asha or random"
            )
    extremes = [of.extremes() for of in sweep.search.values()]
    for k in range(max(map(len, extremes))):
        values = {name: each[min(k, len(each) - 1)] for name, each in zip(sweep.search, extremes, strict=True)}
        if sweep.config(values, 0).games.curriculum:
            raise BadConfig(
                f"{source}: games.curriculum is not supported in a sweep, whose trials are ranked on whole games: remove it, "
                "and use ante compare to compare curricula"
            )


def check_names(sweep: Sweep, source: str) -> None:
    """Raise BadConfig if a searched setting does not exist, or is set by the sweep."""
    kinds = {name: of.choices for name, of in sweep.search.items() if name.endswith(".kind") and isinstance(of, Choice)}
    known = dict(sweep.fields({}))
    for name, choices in kinds.items():
        for kind in choices:
            known |= sweep.fields({name: kind})
    for name in sweep.search:
        if name in OWN or name not in known:
            near = get_close_matches(name, known, 1) or [each for each in known if each.endswith(f".{name}")]
            hint = f"did you mean {near[0]}?" if near else "see ante train --help for the settings"
            raise BadConfig(f"{source}: search.{name} is not a setting that can be searched: {hint}")
