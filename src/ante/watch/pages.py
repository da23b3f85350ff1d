"""Self-contained HTML pages: a common shell filled with body, styles, scripts and data."""

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from typing import Any

from ante.files import plain

PARTS = files("ante.watch") / "page"
CONNECT = "connect-src 'self'; "
MARK = re.compile(r"\{\{(\w+)\}\}")


def part(name: str) -> str:
    """Return the text of a file in `page/`."""
    return (PARTS / name).read_text()


def stored(data: Any) -> str:
    """Return data as ASCII JSON that is safe inside a script element; see `ante.files.plain` for what JSON lacks."""
    return json.dumps(plain(data), separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def inline(script: str) -> str:
    """Return a script as the content of its element, in strict mode."""
    return f'\n"use strict";\n{script}\n'


def security_policy(*scripts: str, live: bool = False) -> str:
    """Return the Content-Security-Policy of a page: these scripts, pictures and videos; with `live`, requests to its server."""
    digests = [base64.b64encode(hashlib.sha256(inline(each).encode()).digest()).decode() for each in scripts]
    allowed = " ".join(f"'sha256-{each}'" for each in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        f"{CONNECT if live else ''}img-src 'self' data: file: http: https:; media-src 'self' file: http: https:; "
        "base-uri 'none'; form-action 'none'"
    )


def page(title: str, body: str, style: str, script: str, data: Any, extras: str = "", live: bool = False) -> str:
    """Return a whole page; `extras` are elements next to its data; a `live` page may send requests to its server."""
    parts = {
        "title": html.escape(title.encode(errors="replace").decode()),
        "policy": security_policy(script, live=live),
        "style": style,
        "body": body,
        "data": stored(data),
        "extras": extras,
        "script": inline(script),
    }
    return MARK.sub(lambda mark: parts[mark[1]], part("shell.html"))
