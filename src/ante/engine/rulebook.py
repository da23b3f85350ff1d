"""Which items of the game are implemented, and by what they are tested: the table of `ante doctor --rules`."""

import importlib
import pkgutil
from pathlib import Path
from typing import Any

import ante.engine.jokers
from ante.catalog.blinds import BLINDS
from ante.catalog.consumables import CONSUMABLES, Set
from ante.catalog.decks import DECKS
from ante.catalog.jokers import JOKERS
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS
from ante.engine.rule import EFFECTS

# Jokers whose whole effect is a question that rules code asks, with the module that asks it.
ASKED = {
    "j_blueprint": "engine/jokers/copying.py",
    "j_brainstorm": "engine/jokers/copying.py",
    "j_mr_bones": "engine/jokers/rounds.py",
    "j_to_the_moon": "engine/jokers/rounds.py",
}
TESTS = Path(__file__).resolve().parents[3] / "tests"


def joker_modules() -> dict[int, str]:
    """Where each joker's effects stand."""
    for module in pkgutil.iter_modules(ante.engine.jokers.__path__):
        importlib.import_module(f"ante.engine.jokers.{module.name}")
    return {effect.joker: effect.module.replace("ante.", "").replace(".", "/") + ".py" for effect in EFFECTS}


def tested_names() -> set[str]:
    """Names of the test functions beside a source checkout, in one word each; empty where there is none."""
    names: set[str] = set()
    for file in TESTS.rglob("test_*.py"):
        for line in file.read_text().splitlines():
            if line.startswith("def test_"):
                names.add(line[9:].split("(")[0])
    return names


def rules_table() -> list[dict[str, Any]]:
    """Rows {kind, item, implemented, tested, evidence}, one for every item of the catalogue.

    tested    a test function bears the item's key or name
    evidence  the file that implements it, "" where nothing does
    """
    effects, tests = joker_modules(), tested_names()
    rows = []
    for row in JOKERS[1:]:
        where = effects.get(int(row.joker), ASKED.get(row.key, ""))
        rows.append(make_row("joker", row.key, row.name, where, tests))
    for item in CONSUMABLES[1:]:
        rows.append(make_row(Set(item.set).name.lower(), item.key, item.name, "engine/consumables.py", tests))
    groups: tuple[tuple[str, Any, str], ...] = (
        ("voucher", VOUCHERS[1:], "engine/vouchers.py"),
        ("tag", TAGS[1:], "engine/tags.py"),
        ("blind", BLINDS[1:], "engine/bosses.py"),
        ("deck", DECKS, "engine/run.py"),
    )
    for kind, items, where in groups:
        for item in items:
            rows.append(make_row(kind, item.key, item.name, where, tests))
    return rows


def make_row(kind: str, key: str, name: str, where: str, tests: set[str]) -> dict[str, Any]:
    """One row of the table."""
    words = {key.split("_", 1)[1].lower(), name.lower().replace("!", "").replace(" ", "_").replace("-", "_")}
    tested = any(word in test for word in words for test in tests)
    return {"kind": kind, "item": key, "implemented": bool(where), "tested": tested, "evidence": where}
