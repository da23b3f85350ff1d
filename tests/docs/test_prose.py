"""The prose linter finds planted words in every kind of text, at their lines, and ignores code."""

from pathlib import Path

import pytest
from tools import prose

CHECKS = prose.checks()

PYTHON = '''"""Answers the question."""

asked = told = "whatever it says"  # this asked for a comment


def run(value: int) -> None:
    """Return what nobody
    wants, see `told` and spoilt.py --asks.

    asked  the number of requests
    """
    if value:
        raise ValueError(f"there are twins of {value!r} in vain")
    parse(help="goes on", name="goes on")
'''


def found(folder: Path, name: str, text: str) -> list[tuple[int, str]]:
    """Return line and words of all warnings about a file with this text."""
    file = folder / name
    file.write_text(text)
    return sorted((each.line, " ".join(each.found.split())) for each in prose.warnings(file, CHECKS))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prose, "ROOT", tmp_path)


def test_python_docstrings_comments_help_and_errors(tmp_path: Path) -> None:
    assert found(tmp_path, "module.py", PYTHON) == [
        (1, '"""Answers'), (3, "asked"), (7, "nobody"), (8, "wants"), (13, "in vain"), (13, "twins"), (14, "goes on"),
    ]  # fmt: skip


def test_markdown_outside_of_code(tmp_path: Path) -> None:
    text = "# Title\n\nA run goes\non; it `asked` once.\n\n```\nit asked\n```\n\n[told](https://told.example/asked)\n"
    assert found(tmp_path, "page.md", text) == [(3, "goes on"), (10, "told")]


@pytest.mark.parametrize("name", ["values.yaml", "tool.sh", "Dockerfile.ray"])
def test_comments_of_other_files(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, name, "asked: told  # it stands in the chart\n# of its own.\n") == [
        (1, "stands in"), (2, "of its own."),
    ]  # fmt: skip


def test_words_of_proselint_are_found(tmp_path: Path) -> None:
    assert found(tmp_path, "page.md", "It waits for ever.\n") == [(1, "for ever")]


def test_plain_text_passes(tmp_path: Path) -> None:
    text = "Returns the action mask. Each runner has its own copy, and a joker worth $5 is sold for $2.\n"
    assert found(tmp_path, "page.md", text) == []
