"""Pages that need no server: a template, with its styles, scripts and data put in."""

import json
from collections.abc import Mapping
from typing import Any


def stored(data: Any) -> str:
    """Data as JSON that can stand in a script element."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def filled(template: str, parts: Mapping[str, str]) -> str:
    """The template with each mark, which stands in it once, replaced by its part."""
    text = template
    for mark, part in parts.items():
        before, after = text.split(mark)
        text = before + part + after
    return text
