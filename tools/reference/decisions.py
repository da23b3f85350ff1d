"""The index of the decision notes, written from their titles."""

from pathlib import Path

from tools.reference.tables import cell, table

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "decisions"
HEAD = """# Decisions

One note for each decision that shaped the code: what was chosen, why, what it costs, and what was measured.

"""


def page() -> str:
    """Returns the page."""
    rows = []
    for file in sorted(FOLDER.glob("0*.md")):
        number, _, title = file.read_text().partition("\n")[0].removeprefix("# ").partition(". ")
        rows.append((number, f"[{cell(title)}]({file.name})"))
    return HEAD + table(("number", "decision"), rows) + "\n"
