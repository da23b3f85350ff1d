"""Links refer to existing files or to pages that are generated during the build of the site."""

import json
import os
import posixpath
import re
import subprocess

import pytest
from markdown_it import MarkdownIt
from tools.reference.commands import GROUPS, commands, index_page
from tools.reference.hooks import GENERATED

from tests.docs.pages import HAND_WRITTEN, ROOT

PAGES = {f"docs/{path}" for path in GENERATED}
FILES = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
MENTION = re.compile(r"docs/[\w/.-]+\.(?:md|png|svg)")
KINDS = (".py", ".yaml", ".yml", ".tpl", ".txt", ".json", ".sh", "Makefile")
TEXTS = [file for file in FILES if file.endswith(KINDS)]


def texts_of(page: str) -> list[str]:
    """Return the Markdown of a page or a notebook."""
    text = (ROOT / page).read_text()
    if not page.endswith(".ipynb"):
        return [text]
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]


def targets(page: str) -> list[str]:
    """Return the paths, relative to the root, of a page's relative links and images."""
    found = []
    for text in texts_of(page):
        for token in MarkdownIt().enable("table").parse(text):
            for child in token.children or ():
                target = str(child.attrs.get("href") or child.attrs.get("src") or "").partition("#")[0]
                if target and not re.match(r"[a-z]+:", target):
                    found.append(posixpath.normpath(posixpath.join(posixpath.dirname(page), target)))
    return found


@pytest.mark.parametrize("page", [*HAND_WRITTEN, "CHANGELOG.md", *(f for f in FILES if f.endswith(".ipynb"))])
def test_links_lead_somewhere(page: str) -> None:
    assert not [target for target in targets(page) if target not in PAGES and not (ROOT / target).exists()]


def test_readme_links_to_no_page_that_only_the_site_has() -> None:
    assert not {*targets("README.md"), *targets("CONTRIBUTING.md")} & PAGES


def test_pages_that_sources_name_exist() -> None:
    lost = []
    for file in TEXTS:
        if os.path.exists(ROOT / file):
            named = set(MENTION.findall((ROOT / file).read_text()))
            lost += [f"{file}: {path}" for path in named if path not in PAGES and not (ROOT / path).exists()]
    assert not lost


def test_every_command_is_listed_once_and_has_a_section() -> None:
    pages = "".join(GENERATED[f"reference/cli/{group}.md"]() for group in GROUPS)
    for command in commands():
        assert index_page().count(f"[`ante {command}`](") == 1 and pages.count(f"\n## ante {command}\n") == 1


def test_every_environment_variable_of_ours_is_documented() -> None:
    pages = "".join(page.read_text() for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    sources = "".join(file.read_text() for file in (ROOT / "src").rglob("*.py"))
    read = set(re.findall(r'"((?:ANTE|S3|LLM|KNOWLEDGE|NATS)_[A-Z0-9_]+)"', sources))
    assert len(read) > 20 and [name for name in sorted(read) if not re.search(rf"\b{name}\b", pages)] == []
