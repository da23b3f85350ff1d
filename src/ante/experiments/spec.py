"""The specification of a comparison in YAML: a run for each entry and seed. Imports neither Ray nor torch."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError, field_validator, model_validator

from ante.agents.seed_lists import read_seeds
from ante.errors import BalatroError
from ante.files import Unreadable, write_text
from ante.training.presets.lookup import settings_file
from ante.training.settings.config import BadConfig, TrainConfig, make_config, merge, read_values
from ante.training.settings.field import Settings, StoreUrl
from ante.training.settings.values import has, remove
from ante.yaml_files import read_yaml

SEEDS = "seeds.txt"  # copy of the evaluation seeds in a comparison's folder
FILE = "compare.yaml"  # specification in a comparison's folder, with the complete settings of each entry
OF_THE_SPEC = (
    "name",
    "runs",
    "seed",
    "steps",
    "store",
    "evaluation.games",
)  # settings that are the same for all entries, or derived
RULES = ("games.deck", "games.stake", "games.challenge")  # of the evaluation's games, the same for all entries


class BadSpec(BalatroError, ValueError):
    """A specification of a comparison is invalid."""


class Entry(Settings):
    """A compared configuration: the settings of a file, with changes."""

    config: Path | None = Field(None, description="File of settings, relative to the specification, or a preset.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Settings that override those of the file.")


class Spec(Settings):
    """A comparison at an equal budget."""

    title: str = Field("Comparison", description="Title of the report.")
    about: str = Field("", description="Description below the title.")
    entries: dict[str, Entry] = Field(min_length=1, description="Compared configurations by name.")
    config: Path | None = Field(
        None, description="File of settings that all entries share, relative to the specification, or a preset."
    )
    settings: dict[str, Any] = Field(default_factory=dict, description="Settings that override those of `config`.")
    seeds: tuple[int, ...] = Field(
        (0, 1, 2), min_length=1, description="Training seeds; each entry has one run per seed."
    )
    steps: int = Field(200_000, ge=1, description="Environment steps of each run.")
    eval_games: int = Field(200, ge=2, description="Games in each final evaluation, the same for all entries.")
    seed_file: Path | None = Field(
        None,
        description="File of evaluation seeds, relative to the specification; by default those of the runs' final evaluations.",
    )
    store: StoreUrl = Field(
        None,
        description="Store of the runs and the report: a folder or s3://bucket/prefix, below which OUT's name is added.",
    )
    players: tuple[str, ...] = Field(
        ("random", "greedy"), description="Other players on the same games: baselines, runs, releases."
    )

    @field_validator("entries", mode="before")
    @classmethod
    def _without_settings(cls, entries: Any) -> Any:
        if not isinstance(entries, dict):
            return entries
        return {name: {} if entry is None else entry for name, entry in entries.items()}

    @field_validator("entries")
    @classmethod
    def _names(cls, entries: dict[str, Entry]) -> dict[str, Entry]:
        for name in entries:
            if not name.replace("-", "").replace("_", "").isalnum():
                raise ValueError(f"{name!r} is also a folder's name: use letters, digits, - and _ only")
        return entries

    @model_validator(mode="after")
    def _apart(self) -> "Spec":
        if both := next((name for name in self.players if name in self.entries), None):
            raise ValueError(f"{both} is an entry and a player: rename the entry, or leave {both} out of players")
        return self

    @field_validator("seeds")
    @classmethod
    def _differ(cls, seeds: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(seeds)) < len(seeds) or min(seeds) < 0:
            raise ValueError("seeds must be different numbers of at least 0")
        return seeds

    @field_validator("players")
    @classmethod
    def _once(cls, players: tuple[str, ...]) -> tuple[str, ...]:
        if twice := next((name for name in players if players.count(name) > 1), None):
            raise ValueError(f"{twice} is named twice: remove one of them")
        return players


@dataclass(frozen=True)
class Cell:
    """One run of a comparison."""

    entry: str
    config: TrainConfig

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return self.config.folder

    @property
    def label(self) -> str:
        """The display name of the run."""
        return f"{self.entry}, seed {self.config.seed}"


def read_spec(file: Path) -> Spec:
    """Read a specification and resolve its paths. Raises BadSpec."""
    try:
        values = read_yaml(file)
    except Unreadable as error:
        raise BadSpec(str(error)) from None
    if not isinstance(values, dict):
        raise BadSpec(f"specification {file} is not a YAML mapping of `key: value` lines: see docs/how-to/compare.md")
    spec = make_spec(values)
    place = file.parent

    def found(config: Path | None) -> Path | None:
        return settings_file(config, place) if config else None

    entries = {name: entry.model_copy(update={"config": found(entry.config)}) for name, entry in spec.entries.items()}
    seeds = place / spec.seed_file if spec.seed_file else None
    return spec.model_copy(update={"entries": entries, "config": found(spec.config), "seed_file": seeds})


def make_spec(values: dict[str, Any]) -> Spec:
    """Validate a specification. Raises BadSpec."""
    try:
        return Spec.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        cause = first["msg"].removeprefix("Value error, ")
        raise BadSpec(": ".join(("specification", *filter(None, (".".join(map(str, first["loc"])), cause))))) from None


def cells_of(spec: Spec, out: Path) -> list[Cell]:
    """Return all runs, ordered by seed, so that entries can be compared early.

    Raises BadSpec, BadConfig, BadSeedsFile.
    """
    if spec.seed_file:
        read_seeds(spec.seed_file, spec.eval_games)
    cells = [Cell(name, config_of(spec, name, seed, out)) for seed in spec.seeds for name in spec.entries]
    for path in RULES:
        if len(found := {cell.config.flat()[path] for cell in cells}) > 1:
            kinds = " and ".join(map(str, sorted(found, key=str)))
            raise BadSpec(
                f"specification: entries differ in {path} ({kinds}), so their games are not the same: move it to settings"
            )
    return cells


def config_of(spec: Spec, name: str, seed: int, out: Path) -> TrainConfig:
    """Return the settings of one run: its file's, those that all share, then its own. Raises BadSpec, BadConfig."""
    entry = spec.entries[name]
    for place, settings in (("settings", spec.settings), (f"entries.{name}.settings", entry.settings)):
        fixed = next((key for key in OF_THE_SPEC if has(settings, key)), None)
        if fixed:
            raise BadSpec(f"specification, {place}: {fixed} is common to all entries or derived: remove it")
    store = f"{url_of(spec, out)}/{name}" if spec.store else None
    own = {"name": f"seed-{seed}", "runs": str(out / name), "seed": seed, "store": store}
    budget = {"steps": spec.steps, "evaluation.games": spec.eval_games}
    try:
        values = read_values(entry.config) if entry.config else {}
        shared = read_values(spec.config) if spec.config else {}
        for changes in (shared, spec.settings, entry.settings, own, budget):
            values = merge(values, changes)
        return make_config(values)
    except BadConfig as error:
        raise BadConfig(f"entry {name}: {error}") from None


def url_of(spec: Spec, out: Path) -> str:
    """Return the URL of a comparison in the store of its specification."""
    assert spec.store
    return f"{spec.store.rstrip('/')}/{out.absolute().name}"


def keep_spec(spec: Spec, out: Path) -> None:
    """Save the specification with the complete settings of each entry, independent of their files."""
    entries = {}
    for name in spec.entries:
        whole = config_of(spec, name, spec.seeds[0], out).values()
        for path in OF_THE_SPEC:
            remove(whole, path)
        entries[name] = {"settings": whole}
    values = spec.model_dump(mode="json") | {"entries": entries, "config": None, "settings": {}}
    if spec.seed_file:
        values["seed_file"] = str(spec.seed_file.resolve())
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / FILE, yaml.safe_dump(values, sort_keys=False))


def kept_spec(out: Path) -> Spec:
    """Read the specification from a comparison's folder, with the copy of its seeds in there. Raises BadSpec."""
    if not (out / FILE).is_file():
        raise BadSpec(f"{out} contains no comparison: create one with ante compare SPEC.yaml --out {out}")
    spec = read_spec(out / FILE)
    if spec.seed_file and (out / SEEDS).is_file():
        return spec.model_copy(update={"seed_file": out / SEEDS})
    return spec
