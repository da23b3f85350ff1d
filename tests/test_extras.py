"""Every optional import belongs to an extra, and the error names it."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

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


INCLUDED = {"psutil": "ray", "botocore": "boto3", "urllib3": "boto3"}  # packages that another one contains or requires
ENTRIES = {  # the module that a user of an extra imports first
    "cli": "ante.cli",
    "train": "ante.training.run.loop",
    "watch": "ante.watch.report",
    "s3": "ante.storage.s3",
    "hints": "ante.hints.desk",
    "data": "ante.training.datasets.export",
}


def at_import(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the modules that these statements import when their module is imported."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Try):
            yield from at_import(node.body)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            yield from at_import(node.body)


def packages_of(module: str) -> set[str]:
    """Return the packages that importing a module of ours imports, except the standard library."""
    todo, seen, found = [module], set[str](), set[str]()
    while todo:
        name = todo.pop()
        parts = name.split(".")
        if name in seen or parts[0] != "ante":
            found |= {parts[0]} - {"ante"}
            continue
        seen.add(name)
        file = (ROOT / "src").joinpath(*parts)
        for each in (file / "__init__.py", file.with_suffix(".py")):
            if each.is_file():
                todo += at_import(ast.parse(each.read_text()).body)
        todo.append(".".join(parts[:-1]) or "ante")
    return found - set(sys.stdlib_module_names)


def required(extra: str) -> set[str]:
    """Return the distributions of an extra and of the extras that it includes."""
    found = set[str]()
    for text in PROJECT["optional-dependencies"][extra]:
        if ours := re.match(r"ante-balatro\[(.*)\]", text):
            found |= {name for each in ours[1].split(",") for name in required(each)}
        else:
            found.add(re.split(r"[\[<>=~ ]", text)[0].lower().replace("_", "-"))
    return found


@pytest.mark.parametrize("extra", ENTRIES)
def test_an_extra_alone_installs_what_its_entry_imports(extra: str) -> None:
    core = {re.split(r"[\[<>=~ ]", text)[0].lower() for text in PROJECT["dependencies"]}
    distributions = packages_distributions()
    names = {
        package: {name.lower().replace("_", "-") for name in distributions[package]} | {INCLUDED.get(package)}
        for package in packages_of(ENTRIES[extra])
    }
    assert {package for package, found in names.items() if not found & (required(extra) | core)} == set()
