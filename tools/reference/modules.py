"""The list of packages and modules, generated from `pyproject.toml` and the first paragraphs of docstrings."""

import ast
import sys
import tomllib
from pathlib import Path

from tools.reference.tables import cell, table

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "ante"
MOST_MODULES = 15
HEAD = """# Packages and modules

A layer imports only from those below it. Packages on one line do not import each other. `lint-imports` enforces both.
[Architecture](../explanation/architecture.md) explains how the parts work together.

"""


def subject(file: Path) -> str:
    """Return the first paragraph of a module's docstring, on one line. Raises SystemExit without a docstring."""
    text = ast.get_docstring(ast.parse(file.read_text()))
    if not text:
        sys.exit(f"{file.relative_to(ROOT)} has no docstring: describe its purpose in the first line")
    return " ".join(text.split("\n\n")[0].split())


def layers(container: str) -> list[list[str]]:
    """Return the layers below a package, the highest first, each a list of packages."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (found,) = (each["layers"] for each in contracts if each.get("containers") == [container])
    return [line.replace(":", "|").replace(" ", "").split("|") for line in found]


def picture(container: str) -> str:
    """Return the layers below a package as centred text."""
    lines = [" | ".join(each) for each in layers(container)]
    width = max(map(len, lines))
    return "\n".join(["```", *(line.center(width).rstrip() for line in lines), "```"])


def packages(folder: Path) -> list[Path]:
    """Return a package and its subpackages, in the order of their paths."""
    return sorted(file.parent for file in folder.rglob("__init__.py"))


def section(folder: Path) -> str:
    """Return the section of one package: its subject and its modules. Raises SystemExit if it has too many."""
    name = folder.relative_to(SOURCES.parent).as_posix()
    modules = sorted(file for file in folder.glob("*.py") if file.name not in ("__init__.py", "__main__.py"))
    if len(modules) + 1 > MOST_MODULES:
        sys.exit(f"{name} has {len(modules) + 1} modules, more than {MOST_MODULES}: split it")
    lines = [f"## {name}", "", subject(folder / "__init__.py"), ""]
    if name == "ante/training":
        lines += [picture("ante.training"), ""]
    if modules:
        lines += [table(("module", "subject"), [(f"`{each.name}`", cell(subject(each))) for each in modules]), ""]
    return "\n".join(lines)


def page() -> str:
    """Return the page."""
    return "\n".join([HEAD + picture("ante"), "", *map(section, packages(SOURCES))])
