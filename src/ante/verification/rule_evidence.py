"""Find the tests of a source checkout that are evidence for an item, by parsing their source.

A test is evidence for an item if its name contains the item's name, it asserts something, and its body, its parameters
or a helper in its file mentions the item: its key in a string, or its member of the catalogue.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ante.verification.rule_items import Item

ROOT = Path(__file__).resolve().parents[3]
# Item names that are common words in names of other tests. They count only at the start of a test's name.
COMMON = {("joker",), ("voucher",), ("boss",), ("double",), ("negative",)}


@dataclass(frozen=True)
class AssertingTest:
    """One test function.

    id        pytest's name: `tests/engine/effects/test_tags.py::test_double_copies_the_next_tag`
    words     words of the function's name without `test`
    mentions  words of its strings (`j_egg`, `m_glass`), and members (`Joker.EGG`)
    """

    id: str
    words: tuple[str, ...]
    mentions: frozenset[str]


def asserting_tests(root: Path = ROOT) -> list[AssertingTest]:
    """Return all test functions below `root`/tests that assert something; an empty list without that folder."""
    files = sorted((root / "tests").rglob("test_*.py"))
    return [test for file in files for test in tests_of_file(file, file.relative_to(root).as_posix())]


def tests_of_file(file: Path, name: str) -> Iterator[AssertingTest]:
    """Yield the asserting tests of one file."""
    named = dict(definitions(ast.parse(file.read_text()).body))
    for function, node in named.items():
        if function.startswith("test_") and asserts(node):
            yield AssertingTest(f"{name}::{function}", tuple(function.split("_")[1:]), frozenset(mentions(node, named)))


def definitions(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the names and definitions of a file's functions and constants."""
    for node in body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        yield name.id, node


def asserts(node: ast.AST) -> bool:
    """Return whether a function contains an assertion or `pytest.raises`."""
    return any(
        isinstance(inner, ast.Assert) or (isinstance(inner, ast.Attribute) and inner.attr == "raises")
        for inner in ast.walk(node)
    )


def mentions(node: ast.AST, named: dict[str, ast.stmt]) -> set[str]:
    """Return the words and members in a function and the definitions of its file that it uses, except their names."""
    found: set[str] = set()
    waiting, seen = [node], {id(node)}
    while waiting:
        for inner in ast.walk(waiting.pop()):
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                found |= {inner.value, *re.findall(r"\w+", inner.value)}
            elif isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
                found.add(f"{inner.value.id}.{inner.attr}")
            elif isinstance(inner, ast.Name) and inner.id in named and id(named[inner.id]) not in seen:
                seen.add(id(named[inner.id]))
                waiting.append(named[inner.id])
    return found


def evidence(items: list[Item], tests: list[AssertingTest]) -> dict[Item, list[str]]:
    """Return the ids of the tests that are evidence for each item."""
    every_name = {tuple(name.split("_")) for item in items for name in item.names}
    found: dict[Item, list[str]] = {item: [] for item in items}
    for test in tests:
        found_names = names_within(test.words, every_name)
        for item in items:
            if any(tuple(name.split("_")) in found_names for name in item.names) and mentioned(item, test):
                found[item].append(test.id)
    return found


def names_within(words: tuple[str, ...], names: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Return the item names in a test's name, except those inside a longer one (`joker` in `green_joker`)."""
    places = {(i, j) for i in range(len(words)) for j in range(i + 1, len(words) + 1) if words[i:j] in names}
    places = {(i, j) for i, j in places if i == 0 or words[i:j] not in COMMON}
    widest = {p for p in places if not any(q != p and q[0] <= p[0] and p[1] <= q[1] for q in places)}
    return {words[i:j] for i, j in widest}


def mentioned(item: Item, test: AssertingTest) -> bool:
    """Return whether a test mentions the item, and the noun that distinguishes it from items of the same name."""
    if item.noun and item.noun not in test.words and f"{item.noun}s" not in test.words:
        return False
    if item.kind == "pack":
        return any(re.fullmatch(rf"{item.key}_\d", word) for word in test.mentions)
    return item.member in test.mentions or (item.kind != "stake" and item.key in test.mentions)
