"""The table of `ante doctor --rules`: the implementation and the tests of each item."""

from pathlib import Path
from typing import Any

from ante.catalog.decks import stake_by_key
from ante.verification.rule_coverage import games_with
from ante.verification.rule_evidence import ROOT, asserting_tests, evidence
from ante.verification.rule_items import items

NO_TESTS = "unknown: no tests in this installation"
GAMES = "tests/golden/traces.jsonl.gz"


def rules_table(root: Path = ROOT) -> list[dict[str, Any]]:
    """Return rows {kind, item, implemented, tested, evidence, recorded}, one for each item of the catalogue.

    root         a source checkout; an installed package has no tests
    implemented  the file that implements the item's effect, "" for none
    tested       "yes" if a test is evidence for the item (see rule_evidence), else "no"; NO_TESTS without tests
    evidence     pytest's names of those tests
    recorded     the number of recorded games in which the item takes part
    """
    catalogue = list(items())
    tests = asserting_tests(root)
    found = evidence(catalogue, tests)
    games = games_with(root / GAMES) if (root / GAMES).exists() else {}
    return [
        {
            "kind": item.kind,
            "item": item.key,
            "implemented": item.where,
            "tested": ("yes" if found[item] else "no") if tests else NO_TESTS,
            "evidence": found[item],
            "recorded": games.get(f"stake {stake_by_key[item.key]}" if item.kind == "stake" else item.key, 0),
        }
        for item in catalogue
    ]
