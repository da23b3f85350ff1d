"""The index of the decision notes, generated from their titles."""

from pathlib import Path

from tools.reference.tables import cell, table

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "decisions"
HEAD = """# Decisions

One note per design decision: the choice, its reasons, its costs and the measurements.

"""


def page() -> str:
    """Return the page."""
    rows = []
    for file in sorted(FOLDER.glob("0*.md")):
        number, _, title = file.read_text().partition("\n")[0].removeprefix("# ").partition(". ")
        rows.append((number, f"[{cell(title)}]({file.name})"))
    return HEAD + table(("number", "decision"), rows) + "\n"
