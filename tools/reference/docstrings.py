"""Griffe extensions: aligned lists in docstrings become Markdown lists, and enums list their members."""

import re
from typing import Any

import griffe

MEMBER = re.compile(r"^    ([A-Z][A-Z_0-9]*) = ([^#\n]+?)(?:  # (.+))?$", re.MULTILINE)
ROW = re.compile(r"^(\S(?:.*?[^\s.])?) {2,}(\S.*)$")


def with_lists(text: str) -> str:
    """Return a docstring with paragraphs of aligned rows, `name  text`, converted to lists."""
    parts = []
    for part in re.split(r"\n\s*\n", text):
        lines = part.splitlines()
        if lines and ROW.match(lines[0]) and all(ROW.match(line) or line.startswith(" ") for line in lines):
            part = "\n".join(ROW.sub(r"- `\1`: \2", line) if ROW.match(line) else f"  {line.strip()}" for line in lines)
        parts.append(part)
    return "\n\n".join(parts)


def members(source: str) -> str:
    """Return the members of an enum's source as a list: name, value and comment."""
    found = MEMBER.findall(source)
    return "\n".join(f"- `{name}` = {value}{': ' if about else ''}{about}" for name, value, about in found)


class AlignedLists(griffe.Extension):
    """Convert each docstring when it is loaded."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Convert the docstring of one object."""
        if obj.docstring:
            obj.docstring.value = with_lists(obj.docstring.value)
            if isinstance(obj, griffe.Class) and any(str(base).endswith(("Enum", "Flag")) for base in obj.bases):
                obj.docstring.value += "\n\n" + members(obj.source)
