"""The linters find planted words in every kind of text, at their lines, and ignore code."""

import subprocess
import sys
from pathlib import Path

import pytest
from tools import prose

CHECKS = prose.checks()

PYTHON = '''"""Answers the question."""

asked = told = "whatever"  # this asked for a comment


async def run(value: int) -> None:
    """Return what nobody
    wants, see `told` and spoilt.py --asks.

    asked  the number of requests
    """
    if value:
        raise ValueError(f"there are twins of {value!r} in vain")
    parse(help="goes on", name="told")
    print(
        f"{value} of its "
        f"own, and the run goes "
        "on"
    )


class Settings:
    seed: str
    """The seed that was asked for."""
'''

NOTEBOOK = """{
 "cells": [
  {
   "cell_type": "markdown",
   "source": [
    "The run goes on here.\\n"
   ]
  },
  {
   "cell_type": "code",
   "source": [
    "check(told=print)  # nobody reads it"
   ]
  }
 ]
}
"""


def found(folder: Path, name: str, text: str) -> list[tuple[int, str]]:
    """Return line and words of all warnings about a file with this text."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return sorted((each.line, " ".join(each.found.split())) for each in prose.warnings(file, CHECKS))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prose, "ROOT", tmp_path)


def test_python_docstrings_comments_and_strings(tmp_path: Path) -> None:
    assert found(tmp_path, "src/module.py", PYTHON) == [
        (1, '"""Answers'), (3, "asked"), (7, "nobody"), (8, "wants"), (13, "in vain"), (13, "twins"), (14, "goes on"),
        (16, 'of its " f"own,'), (17, 'goes " "on'), (24, "asked"),
    ]  # fmt: skip


def test_strings_of_tests_are_inputs(tmp_path: Path) -> None:
    text = '"""Answers the question."""\n\nassert said == "the run goes on"  # nobody\n'
    assert found(tmp_path, "tests/test_run.py", text) == [(1, '"""Answers'), (3, "nobody")]


def test_markdown_outside_of_code(tmp_path: Path) -> None:
    text = "# Title\n\nA run goes\non; it `asked` once.\n\n```\nit asked\n```\n\n[told](https://told.example/asked)\n"
    assert found(tmp_path, "page.md", text) == [(3, "goes on"), (10, "told")]


@pytest.mark.parametrize("name", ["values.yaml", "tool.sh", "Dockerfile.ray", "Makefile", "pyproject.toml"])
def test_comments_and_strings_of_other_files(tmp_path: Path, name: str) -> None:
    text = 'asked: told  # it stands in the chart\n# of its own.\nsummary: "training goes on without"\n'
    assert found(tmp_path, name, text) == [(1, "stands in"), (2, "of its own."), (3, "goes on")]


def test_comments_and_strings_of_pages(tmp_path: Path) -> None:
    text = "// A row that was\n// asked for.\nconst told = [`${asks} runs stood in it`, 'told'];\n/* in vain */\n"
    assert found(tmp_path, "page.js", text) == [(2, "asked"), (3, "stood in"), (4, "in vain")]


def test_notebooks(tmp_path: Path) -> None:
    assert found(tmp_path, "run.ipynb", NOTEBOOK) == [(6, "goes on"), (12, "nobody")]


def test_notes_of_the_chart(tmp_path: Path) -> None:
    assert found(tmp_path, "NOTES.txt", "{{ .Values.told }} goes on:\n  kubectl get told\n") == [(1, "goes on")]


def test_words_of_proselint_are_found(tmp_path: Path) -> None:
    assert found(tmp_path, "page.md", "It waits for ever.\n") == [(1, "for ever")]


def test_plain_text_passes(tmp_path: Path) -> None:
    text = "Returns the action mask. Each runner has its own copy, and a joker worth $5 is sold for $2.\n"
    assert found(tmp_path, "page.md", text) == []


def test_misspellings_are_found(tmp_path: Path) -> None:
    misspelt = "environment".replace("on", "o")
    (tmp_path / "page.md").write_text(f"A seed.\nTwo policies and an {misspelt}.\n")
    ended = subprocess.run(
        [sys.executable, "-m", "codespell_lib", "page.md"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode and f"page.md:2: {misspelt} ==> environment" in ended.stdout
