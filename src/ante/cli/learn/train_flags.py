"""The flags of `ante train`: one per setting, the most important first, the others by group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, make_dataclass
from typing import Annotated, Any

import tyro
from pydantic.fields import FieldInfo
from tyro.conf import Fixed, arg

from ante.cli.options import REGISTRY
from ante.training.settings.config import BadConfig, fields_of, unknown_setting

HEADINGS = {
    "policy": "The network; --policy.kind KIND --help lists the settings of another kind.",
    "algo": "The algorithm; --algo.kind KIND --help lists the settings of another kind.",
    "games": "The games to train on.",
    "hints": "Hints for unsure decisions.",
    "resources": "Processes, GPUs and memory.",
    "checkpoints": "Saved states of training.",
    "evaluation": "Evaluation on fixed seeds.",
    "videos": "Recorded episodes and videos.",
    "uploads": "Uploads of the run to its store.",
    "tracking": "Prometheus metrics, W&B and MLflow.",
}


@dataclass(frozen=True)
class Flag:
    """One setting as a flag.

    Args:
        path: Its dotted path.
        declared: Its declaration.
        value: Its value if the flag is not given.
    """

    path: str
    declared: FieldInfo
    value: Any

    @property
    def group(self) -> str:
        """The heading under which it is listed; empty for the settings at the top."""
        extra = self.declared.json_schema_extra
        first = isinstance(extra, dict) and extra.get("first")
        return "" if first else self.path.rpartition(".")[0]

    @property
    def alias(self) -> str:
        """A second name of the flag; empty for most."""
        extra = self.declared.json_schema_extra
        return str(extra.get("alias", "")) if isinstance(extra, dict) else ""

    @property
    def name(self) -> str:
        """Its field in the parsed result."""
        return self.path.replace(".", "__")

    def field(self) -> tuple[str, Any, Any]:
        """Return its name, type and default for `make_dataclass`."""
        own = self.path.rpartition(".")[2] if self.group else self.path
        kind: Any = str if own.endswith("kind") else self.declared.annotation
        if self.path == "games.curriculum":
            kind = Fixed[Any]  # a list of groups can only be set in a file
        return (
            self.name,
            Annotated[
                kind,
                arg(name=own, aliases=[f"--{self.alias}"] if self.alias else None, help=self.declared.description),
            ],
            field(default_factory=lambda: self.value),
        )


def flags_of(values: Mapping[str, Any]) -> list[Flag]:
    """Return a flag for each setting of the kinds selected in nested values. Raises BadConfig for an unknown kind."""
    try:
        fields = fields_of(values)
    except ValueError as error:
        raise BadConfig(str(error)) from None
    return [Flag(path, each, value_at(values, path, each)) for path, each in fields.items()]


def value_at(values: Mapping[str, Any], path: str, declared: FieldInfo) -> Any:
    """Return the value of a setting in nested values, or its default."""
    group, _, name = path.rpartition(".")
    inner = values.get(group, {}) if group else values
    return inner.get(name, declared.get_default(call_default_factory=True))


def parse(arguments: Sequence[str], command: type[Any], given: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
    """Parse the command line with tyro.

    Args:
        arguments: The words after `ante train`.
        command: The dataclass of the options that are not settings.
        given: The values of those options.
        values: Nested settings that the flags change.

    Returns:
        The parsed command, and the changed settings as dotted paths with their values.

    Raises:
        BadConfig: For an unknown flag; it suggests the most similar setting.
    """
    flags = flags_of(values)
    check_known(arguments, {name for flag in flags for name in (flag.path, flag.alias) if name} | set(given) | {"help"})
    groups = {
        group: make_dataclass(group, [flag.field() for flag in flags if flag.group == group], frozen=True)
        for group in dict.fromkeys(flag.group for flag in flags if flag.group)
    }
    top = [flag.field() for flag in flags if not flag.group]
    top += [
        (group, Annotated[model, arg(name=group, help=HEADINGS.get(group, ""))], field(default=model()))
        for group, model in groups.items()
    ]
    whole = make_dataclass("Train", top, bases=(command,), frozen=True)
    parsed = tyro.cli(
        whole,
        prog="ante train",
        description=command.__doc__,
        default=whole(**given),
        args=list(arguments),
        registry=REGISTRY,
    )
    changes = {}
    for flag in flags:
        found = getattr(getattr(parsed, flag.group) if flag.group else parsed, flag.name)
        if found != flag.value:
            changes[flag.path] = found
    return parsed, changes


def check_known(arguments: Sequence[str], known: set[str]) -> None:
    """Raise BadConfig for a flag that does not exist, or not for the chosen kinds."""
    for word in arguments:
        name = word.partition("=")[0].removeprefix("--").replace("-", "_")
        group, _, last = name.rpartition(".")
        positive = f"{group}.{last.removeprefix('no_')}" if group else last.removeprefix("no_")
        if word.startswith("--") and not {name, positive} & known:
            raise BadConfig(unknown_setting(name))
