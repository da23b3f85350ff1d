"""The list of packages and modules, written from `pyproject.toml` and the docstrings.

The first paragraph of each docstring is the only home of these words.
"""

import ast
import sys
import tomllib
from pathlib import Path

from tools.reference.tables import cell, table

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "ante"
MOST_MODULES = 15
HEAD = """# Packages and modules

A layer imports only what is below it, and packages on one line do not import each other; `lint-imports` enforces both.
[Architecture](../explanation/architecture.md) explains how the parts work together.

"""


def subject(file: Path) -> str:
    """Returns the first paragraph of a module's docstring, on one line. Raises SystemExit where there is none."""
    text = ast.get_docstring(ast.parse(file.read_text()))
    if not text:
        sys.exit(f"{file.relative_to(ROOT)} has no docstring: say in its first line what it is for")
    return " ".join(text.split("\n\n")[0].split())


def layers(container: str) -> list[list[str]]:
    """Returns the layers below a package, the highest first, each a list of packages."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (found,) = (each["layers"] for each in contracts if each.get("containers") == [container])
    return [line.replace(":", "|").replace(" ", "").split("|") for line in found]


def picture(container: str) -> str:
    """Returns the layers below a package as text, centred."""
    lines = [" | ".join(each) for each in layers(container)]
    width = max(map(len, lines))
    return "\n".join(["```", *(line.center(width).rstrip() for line in lines), "```"])


def packages(folder: Path) -> list[Path]:
    """Returns a package and those inside it, in the order of their paths."""
    return sorted(file.parent for file in folder.rglob("__init__.py"))


def section(folder: Path) -> str:
    """Returns one package: its subject and its modules. Raises SystemExit where it holds too many."""
    name = folder.relative_to(SOURCES.parent).as_posix()
    modules = sorted(file for file in folder.glob("*.py") if file.name not in ("__init__.py", "__main__.py"))
    if len(modules) + 1 > MOST_MODULES:
        sys.exit(f"{name} holds {len(modules) + 1} modules: split it, {MOST_MODULES} are the most")
    lines = [f"## {name}", "", subject(folder / "__init__.py"), ""]
    if name == "ante/training":
        lines += [picture("ante.training"), ""]
    if modules:
        lines += [table(("module", "subject"), [(f"`{each.name}`", cell(subject(each))) for each in modules]), ""]
    return "\n".join(lines)


def page() -> str:
    """Returns the page."""
    return "\n".join([HEAD + picture("ante"), "", *map(section, packages(SOURCES))])
