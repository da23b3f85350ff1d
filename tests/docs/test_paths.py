"""Files of the repository that the documentation names exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "models").rglob("*.md")])
NAMED = re.compile(r"`((?:src|tests|tools|configs|docs|examples|helm|k8s|docker|notebooks|requirements)/[\w./-]+)`")
BEFORE = "CHANGELOG.md"  # also names files of earlier versions


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_files_exist(page: Path) -> None:
    named = set(NAMED.findall(page.read_text())) if page.name != BEFORE else set()
    assert {path for path in named if not (ROOT / path).exists()} == set()


def test_pages_name_files() -> None:
    assert sum(len(NAMED.findall(page.read_text())) for page in PAGES) > 50
