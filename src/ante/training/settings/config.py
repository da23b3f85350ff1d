"""The configuration of a training run: immutable, validated and saved with the results. Imports neither Ray nor torch."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BeforeValidator, SerializeAsAny, TypeAdapter, ValidationError, model_validator
from pydantic.fields import FieldInfo

from ante.errors import BalatroError, shown
from ante.files import Unreadable, decoded
from ante.training.presets.lookup import DEFAULT, preset_file, settings_file
from ante.training.settings.algorithms import ALGORITHMS, AlgoSettings
from ante.training.settings.field import RunName, Settings, StoreUrl, leaves, setting
from ante.training.settings.games import GamesSettings
from ante.training.settings.hints import HintSettings
from ante.training.settings.kinds import Kinds
from ante.training.settings.lifecycle import (
    CheckpointSettings,
    EvaluationSettings,
    TrackingSettings,
    UploadSettings,
    VideoSettings,
)
from ante.training.settings.policies import POLICIES, PolicySettings
from ante.training.settings.resources import ResourceSettings
from ante.training.settings.support import check_support
from ante.training.settings.values import declared, expanded, merged, sentence, unknown
from ante.yaml_files import parse_yaml, read_yaml

WHERE = ("name", "runs")  # derived from the folder of a resumed run
PLAIN = TypeAdapter(dict[str, Any])


class BadConfig(BalatroError, ValueError):
    """Invalid configuration."""


class TrainConfig(Settings):
    """One training run."""

    name: RunName = setting(
        "ppo",
        "Name of the run: its folder under `runs`.",
        "For every run: an existing run is never overwritten.",
        first=True,
    )
    runs: str = setting("runs", "Folder of all runs.", "To keep runs on another disk.", min_length=1)
    store: StoreUrl = setting(
        None,
        "Store for a copy of the run, under its name: a folder or s3://bucket/prefix.",
        "If the machine may be lost, as in a cluster; --resume auto then continues from the store.",
        first=True,
        resumable=True,
    )
    steps: int = setting(
        200_000,
        "Environment steps of the whole run, including resumed parts.",
        "Tune this first. Can be raised with --resume.",
        first=True,
        resumable=True,
        ge=1,
    )
    seed: int = setting(
        0,
        "Seed of the run.",
        "To measure variance: use at least three seeds.",
        first=True,
        ge=0,
        le=2**31 - 1,
    )
    init_from: str | None = setting(
        None,
        "Policy whose weights the run starts from: the folder of a run (its best checkpoint, or RUN@CHECKPOINT), a "
        "release, or the name of a released policy.",
        "To train a policy further with another deck, stake, reward or learning rate; the network must be the same.",
        first=True,
        alias="from",
        min_length=1,
    )
    policy: Annotated[SerializeAsAny[PolicySettings], BeforeValidator(POLICIES.make)] = POLICIES.make({})
    algo: Annotated[SerializeAsAny[AlgoSettings], BeforeValidator(ALGORITHMS.make)] = ALGORITHMS.make({})
    games: GamesSettings = GamesSettings()
    hints: HintSettings = HintSettings()
    resources: ResourceSettings = ResourceSettings()
    checkpoints: CheckpointSettings = CheckpointSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    videos: VideoSettings = VideoSettings()
    uploads: UploadSettings = UploadSettings()
    tracking: TrackingSettings = TrackingSettings()

    @model_validator(mode="after")
    def _fits_together(self) -> "TrainConfig":
        check_support(self, POLICIES, ALGORITHMS)
        self.policy.check(self)
        self.algo.check(self)
        self._check_batch()
        self._check_line_ups()
        return self

    def _check_line_ups(self) -> None:
        if self.tracking.knowledge and self.games.start_states:
            raise ValueError(
                "tracking.knowledge is not supported with games.start_states, whose games begin in the middle; use "
                "games.start_states null, or tracking.knowledge null"
            )

    def _check_batch(self) -> None:
        algo, resources = self.algo, self.resources
        if algo.minibatch > algo.batch:
            raise ValueError(
                f"algo.minibatch {algo.minibatch} is larger than algo.batch {algo.batch}; lower it or raise the batch"
            )
        learners = max(1, resources.learners)
        if algo.batch % learners or algo.minibatch % learners:
            raise ValueError(
                f"algo.batch {algo.batch} and algo.minibatch {algo.minibatch} must be divisible by resources.learners "
                f"{learners}; change one of these"
            )
        if resources.games > algo.batch:
            raise ValueError(
                f"resources.runners {resources.runners} times resources.games_per_runner {resources.games_per_runner} is "
                f"{resources.games} games, more than algo.batch {algo.batch} after a single step; raise algo.batch or "
                "lower resources.games_per_runner"
            )

    @property
    def folder(self) -> Path:
        """Folder of the run."""
        return Path(self.runs) / self.name

    @property
    def spill_folder(self) -> Path:
        """Folder to which Ray spills objects during the run."""
        return self.folder / "spill"

    @property
    def spool_folder(self) -> Path:
        """Folder of the upload queue."""
        return self.folder / "spool"

    def values(self) -> dict[str, Any]:
        """Return every setting in nested groups, as plain lists, numbers and strings."""
        return self.model_dump(mode="json")

    def flat(self) -> dict[str, Any]:
        """Return every setting by its dotted path."""
        return {leaf.path: leaf.value for leaf in leaves(self)}

    def flat_values(self) -> dict[str, Any]:
        """Return every setting by its dotted path, as plain lists, numbers and strings."""
        return PLAIN.dump_python(self.flat(), mode="json")

    def with_changes(self, changes: Mapping[str, Any]) -> "TrainConfig":
        """Return this configuration with some settings replaced, validated as a whole. Raises BadConfig.

        Args:
            changes: Nested groups or dotted paths. A change of kind keeps the settings that both kinds have.
        """
        return make_config(merge(self.model_dump(mode="json"), changes))

    def to_yaml(self) -> str:
        """Return the whole configuration as text."""
        return yaml.safe_dump(self.values(), sort_keys=False)


KINDS: dict[str, Kinds[Any]] = {"policy": POLICIES, "algo": ALGORITHMS}


def merge(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested values with some replaced; see `TrainConfig.with_changes`. Raises BadConfig."""
    try:
        return merged(expanded(values), expanded(changes), KINDS)
    except ValueError as error:
        raise BadConfig(str(error)) from None


def make_config(values: Mapping[str, Any]) -> TrainConfig:
    """Return a validated configuration.

    Args:
        values: Nested groups, or dotted paths such as "algo.lr".

    Raises:
        BadConfig: For an unknown setting the message names the nearest one.
    """
    try:
        return TrainConfig.model_validate(expanded(values))
    except ValidationError as error:
        raise BadConfig(sentence(error, TrainConfig, KINDS)) from None
    except ValueError as error:
        raise BadConfig(str(error)) from None
    except RecursionError:
        raise BadConfig("settings are nested too deeply") from None


def unknown_setting(path: str) -> str:
    """Return the error for a setting that does not exist, or not for the chosen kind."""
    return unknown(path, TrainConfig, KINDS)


def fields_of(values: Mapping[str, Any]) -> dict[str, FieldInfo]:
    """Return the declaration of every setting by its dotted path, for the kinds in these values. Raises BadConfig."""
    nested, chosen = expanded(values), {}
    for group, kinds in KINDS.items():
        settings = nested.get(group, {})
        if not isinstance(settings, Mapping):
            raise BadConfig(f"{group} is {shown(settings)}: write its settings by name, such as {group}.kind")
        chosen[group] = [kinds.find(settings.get("kind", kinds.default))]
    return dict(declared(TrainConfig, chosen))


def read_values(file: Path) -> dict[str, Any]:
    """Return the contents of a YAML file of settings, or of a preset by name. Raises BadConfig, UnknownPreset."""
    try:
        values = read_yaml(settings_file(file))
    except Unreadable as error:
        raise BadConfig(str(error)) from None
    if values is None:  # an empty file
        return {}
    if not isinstance(values, dict):
        raise BadConfig(f"configuration {file} is not a list of `key: value` lines")
    return values


def read_config(file: Path, changes: Mapping[str, Any] | None = None) -> TrainConfig:
    """Return the configuration of a YAML file or preset, with some settings replaced. Raises BadConfig, UnknownPreset."""
    return make_config(merge(read_values(file), changes or {}))


def kinds_in(changes: Mapping[str, Any]) -> dict[str, str]:
    """Return the kinds that nested groups, dotted paths or settings objects choose, by "policy.kind" and "algo.kind"."""
    nested = merge({}, changes)
    groups = {group: nested[group] for group in KINDS if group in nested}
    kinds = {
        f"{group}.kind": value.get("kind") if isinstance(value, Mapping) else getattr(value, "kind", None)
        for group, value in groups.items()
    }
    return {path: kind for path, kind in kinds.items() if isinstance(kind, str)}


def default_preset(kinds: Mapping[str, str]) -> str | None:
    """Return the preset of a run that names neither a preset nor a file.

    Args:
        kinds: The chosen kinds, by "policy.kind" and "algo.kind".

    Returns:
        None if a chosen kind is not the preset's, because its settings suit its own kinds: the run then has the
        default of every setting.
    """
    own = read_config(preset_file(DEFAULT)).flat()
    return DEFAULT if all(own[path] == kind for path, kind in kinds.items()) else None


def default_config(kinds: Mapping[str, str]) -> TrainConfig:
    """Return the settings of a run that names neither a preset nor a file; see `default_preset`. Raises BadConfig."""
    preset = default_preset(kinds)
    return read_config(preset_file(preset)) if preset else TrainConfig()


def config_in(data: bytes, name: str) -> TrainConfig:
    """Return the configuration in bytes of YAML; `name` is their source. Raises BadConfig."""
    try:
        values = parse_yaml(decoded(data, name), name)
    except Unreadable as error:
        raise BadConfig(str(error)) from None
    if not isinstance(values, dict):
        raise BadConfig(f"configuration {name} is not a list of `key: value` lines")
    return make_config(values)


def config_of_run(folder: Path) -> TrainConfig:
    """Return the configuration a run was started with, even if its folder has been moved. Raises BadConfig."""
    if not folder.is_dir():
        raise BadConfig(f"there is no run {folder}: runs are folders such as runs/ppo, created by ante train")
    return read_config(folder / "config.yaml", {"runs": str(folder.parent), "name": folder.name})


def check_resumed(before: TrainConfig, now: TrainConfig) -> None:
    """Raise BadConfig if a setting changes that a resumed run cannot change."""
    was, may_change = before.flat(), [leaf.path for leaf in leaves(now) if leaf.mark("resumable")]
    for path, value in now.flat().items():
        if path not in (*may_change, *WHERE) and (path not in was or was[path] != value):
            raise BadConfig(
                f"{path} is {was.get(path, 'unset')} in this run and cannot become {value}: a resumed run may change "
                f"{', '.join(may_change)}; start another run to change others"
            )
