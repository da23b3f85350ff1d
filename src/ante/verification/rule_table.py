"""The table of `ante doctor --rules`: which items are implemented, with the evidence for each."""

from pathlib import Path
from typing import Any

from ante.catalog.decks import stake_by_key
from ante.verification.rule_coverage import games_with
from ante.verification.rule_evidence import ROOT, evidence, witnesses
from ante.verification.rule_items import items

NO_TESTS = "unknown: no tests in this installation"
GAMES = "tests/golden/traces.jsonl.gz"


def rules_table(root: Path = ROOT) -> list[dict[str, Any]]:
    """Rows {kind, item, implemented, tested, evidence, recorded}, one for every item of the catalogue.

    root         a source checkout; an installed package has no tests beside it
    implemented  the file that gives the item its effect, "" where none does
    tested       "yes" where a test has the item's name, mentions it and asserts; "no"; or NO_TESTS
    evidence     names of those tests, as pytest takes them
    recorded     in how many of the recorded games beside the tests the item takes part
    """
    catalogue = list(items())
    tests = witnesses(root)
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
