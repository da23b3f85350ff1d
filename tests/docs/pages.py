"""The pages of the repository and the site, and the code in them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
HAND_WRITTEN = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "models/*/README.md", "tests/golden/README.md")
    for path in ROOT.glob(pattern)
    if path.name != "CHANGELOG.md"  # it describes earlier versions
)
LANGUAGES = {"bash", "python", "yaml", "toml", "json", "sql", "text", "promql"}


@dataclass(frozen=True)
class Code:
    """A code block or span.

    Args:
        page: The page, a path relative to the root.
        line: Its first line in the page.
        language: The language of a block; "inline" for a span, "" for a block without one.
        text: The content.
    """

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        """Return the location as text."""
        return f"{self.page}:{self.line}"


@cache
def page_text(page: str) -> str:
    """Return the text of a hand-written page, or of a page that is generated during the build of the site."""
    file = ROOT / page
    if file.exists():
        return file.read_text()
    from tools.reference.hooks import GENERATED

    return GENERATED[page.removeprefix("docs/")]()


@cache
def code_of(page: str) -> tuple[Code, ...]:
    """Return all code of a page."""
    return tuple(found(page, page_text(page), 0))


def found(page: str, text: str, first: int) -> Iterator[Code]:
    """Yield the code of a text that starts at a line of a page, including the content of admonitions and tabs."""
    opened = False
    for token in MarkdownIt().enable("table").parse(text):
        line = first + (token.map[0] if token.map else 0) + 1
        if token.type == "fence":
            yield Code(page, line, token.info.split()[0] if token.info.strip() else "", token.content)
        elif token.type == "code_block" and opened:
            yield from found(page, token.content, line - 1)
        elif token.type == "code_block":
            yield Code(page, line, "", token.content)
        elif token.type == "inline":
            for child in token.children or ():
                if child.type == "code_inline":
                    yield Code(page, line, "inline", child.content)
            opened = bool(re.match(r"(!!!|\?\?\?|===) ?", token.content))


def blocks(language: str, pages: list[str] = HAND_WRITTEN) -> list[Code]:
    """Return all blocks of a language."""
    return [code for page in pages for code in code_of(page) if code.language == language]
