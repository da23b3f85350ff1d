"""Values of settings before validation: nested groups and dotted paths, and errors as text."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from ante.errors import shown
from ante.training.settings.curriculum import Stage
from ante.training.settings.field import Settings
from ante.training.settings.kinds import Kinds
from ante.training.settings.support import either

GroupKinds = Mapping[str, Kinds[Any]]
PLACES = ("store", "tracking.events", "tracking.knowledge")  # values are not shown: they may contain secrets


def expanded(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested groups with dotted paths merged into them; a later value replaces an earlier one."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        *groups, name = str(key).split(".")
        place = found
        for group in groups:
            inner = place.setdefault(group, {})
            if not isinstance(inner, dict):
                raise ValueError(f"{key}: {group} is a group of settings, not {inner!r}")
            place = inner
        if isinstance(value, Mapping) and isinstance(place.get(name), dict):
            place[name] = {**place[name], **value}
        else:
            place[name] = dict(value) if isinstance(value, Mapping) else value
    return found


def merged(values: dict[str, Any], changes: dict[str, Any], kinds: GroupKinds) -> dict[str, Any]:
    """Return nested values with some replaced. Raises ValueError for an unknown kind.

    A change of kind drops settings that the new kind lacks, so that a file works with another policy or algorithm.
    """
    found = dict(values)
    for group, change in changes.items():
        before = found.get(group)
        if not (isinstance(change, Mapping) and isinstance(before, Mapping)):
            found[group] = change
            continue
        if group in kinds and change.get("kind", before.get("kind")) != before.get("kind"):
            before = kept(before, str(change["kind"]), kinds[group])
        found[group] = {**before, **change}
    return found


def kept(before: Mapping[str, Any], kind: str, kinds: Kinds[Any]) -> dict[str, Any]:
    """Return the values of a group that another kind also has, and unknown ones, which are reported later."""
    others = {name for each in kinds.known.values() for name in each.model_fields}
    if before.get("kind"):
        others |= set(kinds.find(str(before["kind"])).model_fields)
    dropped = others - set(kinds.find(kind).model_fields)
    return {name: value for name, value in before.items() if name not in dropped}


def declared(
    model: type[BaseModel], groups: Mapping[str, list[type[Settings]]], prefix: str = ""
) -> Iterator[tuple[str, FieldInfo]]:
    """Yield the dotted path and the declaration of every setting, of all given classes of each group."""
    for name, field in model.model_fields.items():
        path = prefix + name
        if path in groups:
            for each in groups[path]:
                yield from declared(each, groups, f"{path}.")
        elif isinstance(field.annotation, type) and issubclass(field.annotation, Settings):
            yield from declared(field.annotation, groups, f"{path}.")
        else:
            yield path, field


def paths(model: type[BaseModel], kinds: GroupKinds) -> list[str]:
    """Return the dotted path of every setting, of every registered kind, each once."""
    every = {group: list(each.known.values()) for group, each in kinds.items()}
    return list(dict.fromkeys(path for path, _ in declared(model, every)))


def has(values: Mapping[str, Any], path: str) -> bool:
    """Return whether nested values or dotted paths set this setting."""
    group, _, name = path.rpartition(".")
    inner = expanded(values).get(group, {}) if group else values
    return isinstance(inner, Mapping) and name in inner


def remove(values: dict[str, Any], path: str) -> None:
    """Remove a setting from nested values, if it is set."""
    group, _, name = path.rpartition(".")
    (values.get(group, {}) if group else values).pop(name, None)


def sentence(error: ValidationError, model: type[BaseModel], kinds: GroupKinds) -> str:
    """Return the first error as text."""
    known, every = set(paths(model, kinds)), error.errors()
    path = setting_at(every[0]["loc"], known)
    same = [each for each in every if setting_at(each["loc"], known) == path]
    first = max(same, key=lambda each: len(each["loc"]))  # the most specific of several allowed forms
    place, cause = first["loc"], first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        return unknown(path, model, kinds)
    of_group = isinstance(first["input"], (Mapping, BaseModel)) and path not in known
    if not place or (first["type"] == "value_error" and of_group):
        return cause
    if path in PLACES:
        return f"{path}: {cause}"
    return f"{path}: {cause}, got {shown(first['input'])}"


def setting_at(place: tuple[int | str, ...], known: set[str]) -> str:
    """Return the setting that an error location belongs to; for a list of groups, the location itself."""
    for length in range(1, len(place)):
        path = ".".join(map(str, place[:length]))
        if path in known and path != "games.curriculum":
            return path
    return ".".join(map(str, place))


def unknown(path: str, model: type[BaseModel], kinds: GroupKinds) -> str:
    """Return the error for a setting that does not exist, or not for the chosen kind."""
    group, _, name = path.rpartition(".")
    owners = [kind for kind, each in kinds[group].known.items() if name in each.model_fields] if group in kinds else []
    if owners:
        return f"{path} is a setting of {group}.kind {either(owners)} only; leave it out, or use that kind"
    if group.startswith("games.curriculum."):
        return f"unknown setting {path!r}: a stage has {', '.join(Stage.model_fields)}"
    known = paths(model, kinds)
    same = [each for each in known if each.rpartition(".")[2] == name]
    near = same or get_close_matches(path, known, 1) or near_name(name, known)
    hint = f"did you mean {' or '.join(near)}?" if near else "ante train --help lists all settings"
    return f"unknown setting {path!r}: {hint}"


def near_name(name: str, known: list[str]) -> list[str]:
    """Return the settings whose last part is closest to a name; empty if none is close."""
    lasts = [each.rpartition(".")[2] for each in known]
    near = get_close_matches(name, lasts, 1)
    return [each for each, last in zip(known, lasts, strict=True) if last in near]
