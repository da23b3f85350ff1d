"""Tables of settings for the documentation, generated from the declarations."""

from collections.abc import Iterator
from typing import Any

from pydantic.fields import FieldInfo

from ante.training.settings.config import KINDS, TrainConfig
from ante.training.settings.values import declared

HEADINGS = {
    "": "The run",
    "policy": "policy: the network",
    "algo": "algo: learning",
    "games": "games: rules and reward",
    "hints": "hints: advice",
    "resources": "resources: processes, GPUs, memory",
    "checkpoints": "checkpoints",
    "evaluation": "evaluation",
    "videos": "videos",
    "uploads": "uploads: the store",
    "tracking": "tracking",
}


def shown(default: object) -> str:
    """Return a default in the form of a YAML file."""
    if default is None:
        return "none"
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return str(list(default))
    return f"{default:g}" if isinstance(default, float) else str(default)


def limits(field: FieldInfo) -> str:
    """Return the range of a number as text; empty if unlimited."""
    words = []
    for limit in field.metadata:
        for name, text in (("ge", "from"), ("gt", "above"), ("le", "to"), ("lt", "below")):
            if hasattr(limit, name):
                words.append(f"{text} {getattr(limit, name):g}")
    return " ".join(words)


def rows(group: str) -> Iterator[tuple[str, str, str, str, str, str]]:
    """Yield name, default, kinds, description, advice and resume of each setting of a group.

    kinds is empty if all have it; resume is "yes" if a resumed run may change it.
    """
    known = KINDS[group].known if group in KINDS else {}
    classes: dict[str, Any] = {each: list(kinds.known.values()) for each, kinds in KINDS.items()}
    fields = {path: field for path, field in declared(TrainConfig, classes) if path.rpartition(".")[0] == group}
    for path, field in fields.items():
        name = path.rpartition(".")[2]
        owners = [kind for kind, each in known.items() if name in each.model_fields]
        default = KINDS[group].default if known and name == "kind" else shown(field.default)
        marks = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        limit = limits(field)
        about = f"{field.description} {limit[0].upper()}{limit[1:]}." if limit else str(field.description)
        shared = "" if len(owners) == len(known) else ", ".join(owners)
        yield name, default, shared, about, str(marks.get("when", "")), "yes" if marks.get("resumable") else ""


def as_text() -> str:
    """Return all groups as tables."""
    return "\n\n".join(table(group) for group in HEADINGS)


def table(group: str) -> str:
    """Return the table of one group, with a column of kinds if there are several."""
    kinds = group in KINDS
    heads = ["setting", "default", *(["kinds"] if kinds else []), "what it does", "when to change it", "resume"]
    lines = [f"### {HEADINGS[group]}", "", f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    for name, default, owners, about, when, resume in rows(group):
        cells = [f"`{name}`", default, *([owners or "all"] if kinds else []), about, when, resume]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
