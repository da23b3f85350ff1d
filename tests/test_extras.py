"""Every optional import belongs to an extra, and the error names it."""

import ast
import sys
import tomllib
from pathlib import Path

from ante.errors import EXTRAS

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CORE = {"ante", "numpy", "numba", "gymnasium"}
BY_OTHERS = {
    "numba_cuda",
    "duckdb",
    "tensorboard",
}  # imported by name, by torch, or in code of docs/how-to/datasets.md
OF_CLI = {"tyro", "pydantic", "yaml", "rich"}  # not in other extras: see NotInstalled


def imported() -> set[str]:
    """Return the packages that the sources import, except the standard library."""
    found = set[str]()
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                found |= {each.name.partition(".")[0] for each in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names)


def test_every_package_beyond_the_core_has_an_extra_that_exists() -> None:
    assert imported() - CORE - OF_CLI == set(EXTRAS) - BY_OTHERS
    assert set(EXTRAS.values()) | {"cli"} <= set(PROJECT["optional-dependencies"])
