"""Pages that need no server: the shell that all share, with its body, styles, scripts and data put in."""

import html
import json
from importlib.resources import files
from typing import Any

PARTS = files("ante.watch") / "page"


def part(name: str) -> str:
    """One of the parts that pages share."""
    return (PARTS / name).read_text()


def stored(data: Any) -> str:
    """Data as JSON that can stand in a script element."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def page(title: str, body: str, style: str, script: str, data: Any, extras: str = "") -> str:
    """A whole page; `extras` are elements that stand beside its data."""
    text = part("shell.html")
    parts = {
        "{{title}}": html.escape(title),
        "{{style}}": style,
        "{{body}}": body,
        "{{data}}": stored(data),
        "{{extras}}": extras,
        "{{script}}": script,
    }
    for mark, filling in parts.items():
        before, after = text.split(mark)
        text = before + filling + after
    return text
