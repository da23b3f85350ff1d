"""Lint prose: Markdown, docstrings, comments, help texts and error messages, and comments of YAML and Dockerfiles.

    .venv/bin/python tools/prose.py [PATH ...]

Runs a selection of proselint's checks and the terms of `tools/prose.toml` on everything that a person reads. Code is blanked
out first, so that positions stay those of the file.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from proselint.checks import __register__ as builtin
from proselint.registry.checks import Check, types
from tqdm import tqdm

ROOT = Path(__file__).parents[1]
RULES = tomllib.loads((ROOT / "tools/prose.toml").read_text())
SHOWN = ("help", "description", "epilog", "title", "doc", "why", "when")  # keyword arguments whose strings users read
FENCE = re.compile(r"^( *)(```|~~~).*?^\1\2", re.MULTILINE | re.DOTALL)
CODE = re.compile(
    r"``[^`]+``|`[^`\n]+(?:\n[^`\n]+)?`|https?://\S+|\]\([^)\s]*\)|<[^>\n]{1,200}>|<!--.*?-->|\{[^{}\n]*\}"
    r"|^ *(?:ante|helm|kubectl|make|pip|python) [^\n]*$"  # a command on its own line
    r"|^ {4,}\w+ {2,}"  # a parameter in a table of arguments
    r"|\w+(?:[./]\w+)+|--[\w-]+",  # a path, a dotted name or a flag
    re.DOTALL | re.MULTILINE,
)
WRAPPED = r"(?: |\n[ #]*)"  # a space, or the end of a line in a comment or docstring
HASH = re.compile(r"(?:^|(?<=\s))#(?!!)[^\n]*", re.MULTILINE)
TEMPLATE = re.compile(r"\{\{-?\s*/\*.*?\*/", re.DOTALL)


class Warning(NamedTuple):
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
    own = [
        Check(
            check_type=types.ExistenceSimple(pattern=pattern.replace(" ", WRAPPED)), path="ante.terms", message=advice
        )
        for pattern, advice in RULES["terms"].items()
    ]
    return chosen + own


def kept(text: str, spans: Iterator[tuple[int, int]]) -> str:
    """Return the text with everything outside the spans blanked out; lines stay where they are."""
    found, end = [], 0
    for begin, stop in sorted(spans):
        found += [re.sub(r"[^\n]", " ", text[end:begin]), text[max(begin, end) : stop]]
        end = max(stop, end)
    return "".join([*found, re.sub(r"[^\n]", " ", text[end:])])


def without_code(text: str) -> str:
    """Return prose with code, addresses and markup blanked out."""
    for pattern in (FENCE, CODE):
        text = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    return text


def python_prose(text: str) -> str:
    """Return a module's docstrings, comments, help texts and messages of raised errors; the rest blanked out."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    comments = [
        (starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1])
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT and not token.string.startswith(("#!", "# type:", "# noqa", "# fmt:"))
    ]

    def place(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    strings = [
        (place(node.lineno, node.col_offset), place(node.end_lineno or 1, node.end_col_offset or 0))
        for node in shown_strings(ast.parse(text))
    ]
    return without_code(kept(text, iter(comments + strings)))


def shown_strings(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the string expressions that users and readers see."""
    for node in ast.walk(tree):
        match node:
            case ast.Module(body=[ast.Expr(value=ast.Constant(value=str()) as words), *_]):
                yield words
            case ast.FunctionDef(body=[ast.Expr(value=ast.Constant(value=str()) as words), *_]):
                yield words
            case ast.ClassDef(body=[ast.Expr(value=ast.Constant(value=str()) as words), *_]):
                yield words
            case ast.Raise(exc=ast.Call(args=arguments)):
                yield from (each for each in arguments if isinstance(each, ast.JoinedStr | ast.Constant))
            case ast.Call(func=ast.Name(id="setting"), args=[_, words, *_]):
                yield words
            case ast.keyword(arg=name, value=ast.Constant(value=str()) | ast.JoinedStr() as words) if name in SHOWN:
                yield words


def prose(file: Path) -> str:
    """Return what a person reads of a file, at its place in the file."""
    text = file.read_text()
    if file.suffix == ".py":
        return python_prose(text)
    if file.suffix == ".md":
        return without_code(text)
    comments = [match.span() for pattern in (HASH, TEMPLATE) for match in pattern.finditer(text)]
    return without_code(kept(text, iter(comments)))


def warnings(file: Path, chosen: list[Check]) -> Iterator[Warning]:
    """Yield the warnings of one file."""
    text = prose(file)
    for check in chosen:
        for result in check.check_with_flags(f"\n{text}\n"):
            begin, end = result.span[0] - 1, result.span[1] - 1
            line = text.count("\n", 0, begin + len(text[begin:end]) - len(text[begin:end].lstrip())) + 1
            advice = result.message if not result.replacements else f"write {result.replacements!r}"
            yield Warning(file.relative_to(ROOT), line, text[begin:end], advice)


def files(paths: list[str]) -> list[Path]:
    """Return the tracked files of these paths that hold prose."""
    listed = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard", *paths], cwd=ROOT, text=True)
    excluded = tuple(RULES["excluded"])
    return [
        ROOT / name
        for name in listed.splitlines()
        if not name.startswith(excluded) and (ROOT / name).is_file()
        and (name.endswith((".md", ".py", ".yaml", ".tpl", ".sh")) or "Dockerfile" in name or name == "Makefile")
    ]  # fmt: skip


def main() -> None:
    """Print the warnings of the given paths, or of all files. The exit code is 1 if there are any."""
    chosen = checks()
    found = [each for file in tqdm(files(sys.argv[1:]), disable=None) for each in warnings(file, chosen)]
    print("\n".join(map(str, sorted(found))))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
