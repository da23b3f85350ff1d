"""Find the tests of a source checkout that are evidence for an item, by reading their source.

A test is evidence for an item if its name has the item's name, it mentions the item itself - its key in a text, or its
member of the catalogue - in its body, its parameters or a helper of its file, and it asserts something.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ante.verification.rule_items import Item

ROOT = Path(__file__).resolve().parents[3]
# Names of items that tests of others use as well: they only count where a test's name begins with them.
COMMON = {("joker",), ("voucher",), ("boss",), ("double",), ("negative",)}


@dataclass(frozen=True)
class Witness:
    """One test function.

    id        `tests/engine/effects/test_tags.py::test_double_copies_the_next_tag`
    words     of its name, without the first
    mentions  words of its texts (`j_egg`, `m_glass`), and members (`Joker.EGG`)
    """

    id: str
    words: tuple[str, ...]
    mentions: frozenset[str]


def witnesses(root: Path = ROOT) -> list[Witness]:
    """Every test function below `root`/tests that asserts something; none where there is no such folder."""
    files = sorted((root / "tests").rglob("test_*.py"))
    return [test for file in files for test in witnesses_of_file(file, file.relative_to(root).as_posix())]


def witnesses_of_file(file: Path, name: str) -> Iterator[Witness]:
    """The tests of one file."""
    named = dict(names_given(ast.parse(file.read_text()).body))
    for function, node in named.items():
        if function.startswith("test_") and asserts(node):
            yield Witness(f"{name}::{function}", tuple(function.split("_")[1:]), frozenset(mentions(node, named)))


def names_given(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """What a file's own functions and constants are called."""
    for node in body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        yield name.id, node


def asserts(node: ast.AST) -> bool:
    """Whether a function contains an assertion itself, or expects an error."""
    return any(
        isinstance(inner, ast.Assert) or (isinstance(inner, ast.Attribute) and inner.attr == "raises")
        for inner in ast.walk(node)
    )


def mentions(node: ast.AST, named: dict[str, ast.stmt]) -> set[str]:
    """Words and members in a function and in everything of its file that it uses; names of functions do not count."""
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


def evidence(items: list[Item], tests: list[Witness]) -> dict[Item, list[str]]:
    """Return the names of the tests that are evidence for each item."""
    every_name = {tuple(name.split("_")) for item in items for name in item.names}
    found: dict[Item, list[str]] = {item: [] for item in items}
    for test in tests:
        borne = names_borne(test.words, every_name)
        for item in items:
            if any(tuple(name.split("_")) in borne for name in item.names) and mentioned(item, test):
                found[item].append(test.id)
    return found


def names_borne(words: tuple[str, ...], names: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """The item names in a test's name; one inside a longer one (`joker` in `green_joker`) does not count."""
    places = {(i, j) for i in range(len(words)) for j in range(i + 1, len(words) + 1) if words[i:j] in names}
    places = {(i, j) for i, j in places if i == 0 or words[i:j] not in COMMON}
    widest = {p for p in places if not any(q != p and q[0] <= p[0] and p[1] <= q[1] for q in places)}
    return {words[i:j] for i, j in widest}


def mentioned(item: Item, test: Witness) -> bool:
    """Whether a test mentions the item itself, and the noun that distinguishes it from its namesakes."""
    if item.noun and item.noun not in test.words and f"{item.noun}s" not in test.words:
        return False
    if item.kind == "pack":
        return any(re.fullmatch(rf"{item.key}_\d", word) for word in test.mentions)
    return item.member in test.mentions or (item.kind != "stake" and item.key in test.mentions)
