"""Lint prose: Markdown, docstrings, comments, and the strings that people read: help texts, messages, errors, labels.

    .venv/bin/python tools/prose.py [PATH ...]

Runs a selection of proselint's checks and the terms of `tools/prose.toml` on the repository's own text files. Code is
blanked out first, so that positions stay those of the file.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from proselint.checks import __register__ as builtin
from proselint.registry.checks import Check, types

ROOT = Path(__file__).parents[1]
RULES = tomllib.loads((ROOT / "tools/prose.toml").read_text())
FENCE = re.compile(r"^( *)(```|~~~).*?^\1\2", re.MULTILINE | re.DOTALL)
CODE = re.compile(
    r"``[^`]+``|`[^`\n]+(?:\n[^`\n]+)?`|https?://\S+|\]\([^)\s]*\)|<[^>\n]{1,200}>|<!--.*?-->|\{[^{}\n]*\}"
    r"|^ *(?:ante|helm|kubectl|make|pip|python) [^\n]*$"  # a command on its own line
    r"|\b(?:ante )?hints ask\b"  # a command in a sentence
    r"|^ {4,}\w+ {2,}"  # a parameter in a table of arguments
    r"|\w+(?:[./]\w+)+|--[\w-]+|\w+(?=[=(])",  # a path, a dotted name, a flag, an argument, a call
    re.DOTALL | re.MULTILINE,
)
WRAPPED = r"""(?: |[ "'+]*\n[ #/f"'+]*)"""  # a space, or the end of a line in a comment, docstring or split string
COMMENT = re.compile(r"(?:^|(?<=\s))(?:#(?!!)|//)[^\n]*|/\*.*?\*/", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"')
WORDS = re.compile(r"[A-Za-z]{2,} [a-z]{2,}")  # a string without them is a key or a name
TEXTS = (".md", ".html", "NOTES.txt")
SOURCES = (".py", ".yaml", ".yml", ".tpl", ".sh", ".js", ".css", ".ipynb", ".ci/run", "Makefile", "pyproject.toml")


class Finding(NamedTuple):
    """A place in a file and what to write instead."""

    file: Path
    line: int
    found: str
    advice: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {' '.join(self.found.split())!r}: {self.advice}"


def checks() -> list[Check]:
    """Return the checks of proselint that prose.toml selects, and one for each of its own terms."""
    chosen = [each for each in builtin if any(each.matches_partial(name) for name in RULES["proselint"])]
    for pattern, advice in RULES["terms"].items():
        term = types.ExistenceSimple(pattern=pattern.replace(" ", WRAPPED))
        chosen.append(Check(check_type=term, path="ante.terms", message=advice))
    return chosen


def blank(text: str) -> str:
    """Return spaces for all characters except the ends of lines."""
    return re.sub(r"[^\n]", " ", text)


def kept(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return the text with everything outside the spans blanked out; lines stay where they are."""
    found, end = [], 0
    for begin, stop in sorted(spans):
        found += [blank(text[end:begin]), text[max(begin, end) : stop]]
        end = max(stop, end)
    return "".join([*found, blank(text[end:])])


def without_code(text: str) -> str:
    """Return prose with code, addresses and markup blanked out."""
    for pattern in (FENCE, CODE):
        text = pattern.sub(lambda match: blank(match[0]), text)
    return text


def python_spans(text: str, docstrings_only: bool) -> Iterator[tuple[int, int]]:
    """Yield the places of comments, docstrings and, on request, all strings of several words."""
    lines = text.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith(("#!", "# type:", "# noqa", "# fmt:")):
            yield starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]

    def place(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    nodes = list(ast.walk(ast.parse(text)))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            begin, stop = place(node.lineno, node.col_offset), place(node.end_lineno or 1, node.end_col_offset or 0)
            message = not docstrings_only and id(node) not in parts and WORDS.search(text, begin, stop)
            if message or id(node) in docstrings:
                yield begin, stop


def prose(file: Path) -> str:
    """Return what a person reads of a file, at its place in the file."""
    text, name = file.read_text(), file.relative_to(ROOT).as_posix()
    if name.endswith(TEXTS):
        return without_code(text)
    tested = name.startswith("tests/")  # its strings are inputs, and messages of other files
    if name.endswith(".py"):
        return without_code(kept(text, python_spans(text, docstrings_only=tested)))
    if name.endswith(".js"):
        text = text.replace("`", '"')  # template strings, not Markdown's code
    spans = [match.span() for match in COMMENT.finditer(text)]
    spans += [match.span() for match in QUOTED.finditer(text) if WORDS.search(match[0]) and not tested]
    return without_code(kept(text, spans))


def warnings(file: Path, chosen: list[Check]) -> Iterator[Finding]:
    """Yield the warnings of one file."""
    text = prose(file)
    for check in chosen:
        for result in check.check_with_flags(f"\n{text}\n"):
            begin, end = result.span[0] - 1, result.span[1] - 1
            if text[begin:end].strip().lower() in RULES["accepted"]:
                continue
            line = text.count("\n", 0, begin + len(text[begin:end]) - len(text[begin:end].lstrip())) + 1
            advice = result.message if not result.replacements else f"write {result.replacements!r}"
            yield Finding(file.relative_to(ROOT), line, text[begin:end], advice)


def files(paths: list[str]) -> list[Path]:
    """Return the files of these paths that hold prose; files that git ignores are left out."""
    listed = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard", *paths], cwd=ROOT, text=True)
    read = [name for name in listed.splitlines() if name.endswith(TEXTS + SOURCES) or "Dockerfile" in name]
    return [ROOT / name for name in read if not name.startswith(tuple(RULES["excluded"])) and (ROOT / name).is_file()]


def main() -> None:
    """Print the warnings of the given paths, or of all files. The exit code is 1 if there are any."""
    chosen = checks()
    found = sorted(each for file in files(sys.argv[1:]) for each in warnings(file, chosen))
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
