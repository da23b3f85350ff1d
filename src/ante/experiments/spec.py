"""What is compared: entries x seeds, each a run of its own. A file in YAML, validated; knows neither Ray nor torch."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ante.agents.evaluate import read_seeds
from ante.errors import BalatroError
from ante.files import write_text
from ante.training.config import BadConfig, TrainConfig, make_config, read_config

FILE = "compare.yaml"  # in the folder of a comparison: its specification, with the whole settings of each entry
OF_THE_SPEC = ("name", "runs", "seed", "steps", "eval_games")  # settings that stand once for all entries, or follow


class BadSpec(BalatroError, ValueError):
    """A specification of a comparison that cannot be used."""


class Entry(BaseModel):
    """One of those compared: settings of a file, single ones changed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    config: Path | None = Field(None, description="File of settings, found from the specification's folder.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Single settings, as in such a file.")


class Spec(BaseModel):
    """A comparison at an equal budget."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str = Field("Comparison", description="Heads the report.")
    about: str = Field("", description="A sentence below it.")
    entries: dict[str, Entry] = Field(min_length=1, description="Who is compared, by name.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Settings that all entries share.")
    seeds: tuple[int, ...] = Field((0, 1, 2), min_length=1, description="Seeds of the runs: one run each, per entry.")
    steps: int = Field(200_000, ge=1, description="Environment steps of each run.")
    eval_games: int = Field(200, ge=2, description="Games of each closing evaluation, the same for everybody.")
    panel: Path | None = Field(
        None, description="File of game seeds for it, from the specification's folder; the frozen panel by default."
    )
    players: tuple[str, ...] = Field(
        ("random", "greedy"), description="Others who play the same games: baselines, runs, releases."
    )

    @field_validator("entries")
    @classmethod
    def _names(cls, entries: dict[str, Entry]) -> dict[str, Entry]:
        for name in entries:
            if not name.replace("-", "").replace("_", "").isalnum():
                raise ValueError(f"{name!r} names a folder too: letters, digits, - and _")
        return entries

    @field_validator("seeds")
    @classmethod
    def _differ(cls, seeds: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(seeds)) < len(seeds) or min(seeds) < 0:
            raise ValueError("seeds are different numbers, 0 or more")
        return seeds


@dataclass(frozen=True)
class Cell:
    """One run of a comparison."""

    entry: str
    config: TrainConfig

    @property
    def folder(self) -> Path:
        """Of the run."""
        return self.config.folder

    @property
    def label(self) -> str:
        """What it is called on the screen."""
        return f"{self.entry}, seed {self.config.seed}"


def read_spec(file: Path) -> Spec:
    """The specification in a file, its paths made whole. Raises BadSpec."""
    try:
        values = yaml.safe_load(file.read_text())
    except (OSError, yaml.YAMLError) as error:
        raise BadSpec(f"cannot read specification {file}: {error}") from None
    if not isinstance(values, dict):
        raise BadSpec(f"specification {file} is not a list of `key: value` lines: see docs/compare.md")
    spec = make_spec(
        {**values, "entries": {name: entry or {} for name, entry in (values.get("entries") or {}).items()}}
    )
    place = file.parent
    entries = {
        name: entry.model_copy(update={"config": place / entry.config if entry.config else None})
        for name, entry in spec.entries.items()
    }
    return spec.model_copy(update={"entries": entries, "panel": place / spec.panel if spec.panel else None})


def make_spec(values: dict[str, Any]) -> Spec:
    """A validated specification. Raises BadSpec."""
    try:
        return Spec.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        cause = first["msg"].removeprefix("Value error, ")
        raise BadSpec(f"specification, {'.'.join(map(str, first['loc']))}: {cause}") from None


def cells_of(spec: Spec, out: Path) -> list[Cell]:
    """Every run: all entries of the first seed, then of the next, so that what is there early can be compared early.

    Raises BadSpec, BadConfig, BadSeedsFile.
    """
    if spec.panel:
        read_seeds(spec.panel, spec.eval_games)
    return [Cell(name, config_of(spec, name, seed, out)) for seed in spec.seeds for name in spec.entries]


def config_of(spec: Spec, name: str, seed: int, out: Path) -> TrainConfig:
    """The settings of one run: the file's, then those of all, then the entry's own. Raises BadSpec, BadConfig."""
    entry = spec.entries[name]
    for place, settings in (("settings", spec.settings), (f"entries.{name}.settings", entry.settings)):
        fixed = next((key for key in OF_THE_SPEC if key in settings), None)
        if fixed:
            raise BadSpec(f"specification, {place}: {fixed} is the same for all or follows; leave it out there")
    own = {"name": f"seed-{seed}", "runs": str(out / name), "seed": seed}
    budget = {"steps": spec.steps, "eval_games": spec.eval_games}
    changed = {**spec.settings, **entry.settings, **own, **budget}
    try:
        return read_config(entry.config, **changed) if entry.config else make_config(changed)
    except BadConfig as error:
        raise BadConfig(f"entry {name}: {error}") from None


def keep_spec(spec: Spec, out: Path) -> None:
    """The folder holds the specification with the whole settings of each entry, whatever becomes of their files."""
    entries = {}
    for name in spec.entries:
        whole = config_of(spec, name, spec.seeds[0], out).model_dump(mode="json")
        entries[name] = {"settings": {key: value for key, value in whole.items() if key not in OF_THE_SPEC}}
    values = spec.model_dump(mode="json") | {"entries": entries, "settings": {}}
    if spec.panel:
        values["panel"] = str(spec.panel.resolve())
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / FILE, yaml.safe_dump(values, sort_keys=False))


def kept_spec(out: Path) -> Spec:
    """The specification of a comparison's folder. Raises BadSpec."""
    if not (out / FILE).is_file():
        raise BadSpec(f"{out} holds no comparison: ante compare SPEC.yaml --out {out} begins one")
    return read_spec(out / FILE)
