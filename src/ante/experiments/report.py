"""A comparison as one HTML file that needs no server: table, curves, settings that differ, runs."""

import html
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from ante.agents.evaluate import plain
from ante.experiments.results import Results
from ante.files import write_text
from ante.watch.pages import filled, stored

PAGE = "report.html"


def write_page(results: Results, out: Path) -> Path:
    """The report stands in the comparison's folder as report.html; answers the file."""
    own, shared = files("ante.experiments") / "page", files("ante.watch") / "page"
    data = plain(asdict(results)) | {"written": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")}
    parts = {
        "{{title}}": html.escape(results.title),
        "{{style}}": (shared / "page.css").read_text() + (own / "compare.css").read_text(),
        "{{data}}": stored(data),
        "{{script}}": (shared / "common.js").read_text() + (own / "compare.js").read_text(),
    }
    write_text(out / PAGE, filled((own / "compare.html").read_text(), parts))
    return out / PAGE
