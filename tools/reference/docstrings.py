"""A Griffe extension that converts lists aligned in two columns in docstrings to Markdown lists."""

import re
from typing import Any

import griffe

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


class AlignedLists(griffe.Extension):
    """Convert each docstring when it is loaded."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Convert the docstring of one object."""
        if obj.docstring:
            obj.docstring.value = with_lists(obj.docstring.value)
