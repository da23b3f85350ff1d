"""Markdown tables."""

from collections.abc import Iterable, Sequence


def cell(text: str) -> str:
    """Returns a text as the content of one cell."""
    return " ".join(text.split()).replace("|", "\\|")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table; the cells are Markdown already."""
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])
