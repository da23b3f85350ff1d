"""A comparison as one self-contained HTML file: table, curves, differing settings, runs."""

from dataclasses import asdict
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from ante.experiments.results import Results
from ante.files import plain, write_text
from ante.watch.pages import page, part

PAGE = "report.html"


def write_page(results: Results, out: Path) -> Path:
    """Write report.html to the comparison's folder and return the file."""
    own = files("ante.experiments") / "page"
    data = plain(asdict(results)) | {"written": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")}
    style = part("page.css") + (own / "compare.css").read_text()
    script = part("common.js") + (own / "compare.js").read_text()
    write_text(out / PAGE, page(results.title, (own / "compare.html").read_text(), style, script, data))
    return out / PAGE
