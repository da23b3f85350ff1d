"""Hands scored by independent engines, against ours (scoring.jsonl.gz, scoring_cases.json; see README.md)."""

from pathlib import Path

import pytest

from ante.verification.recorded_hands import compare_hand
from ante.verification.recorded_truth import read_records

FOLDER = Path(__file__).parent
HANDS = read_records(FOLDER / "scoring.jsonl.gz")
# Excluded by name: it has 717 cards in hand, more than a record can contain.
LEFT_OUT = {"balatrolator-035"}
PUBLISHED = read_records(FOLDER / "scoring_cases.json")
CASES = [case for case in PUBLISHED if not case.get("expected_seems_wrong") and case["id"] not in LEFT_OUT]


@pytest.mark.parametrize("part", [*range(4), *(pytest.param(part, marks=pytest.mark.slow) for part in range(4, 8))])
def test_hands_score_as_independent_engines_score_them(part: int) -> None:
    differences = [str(found) for case in HANDS[part::8] if (found := compare_hand(case))]
    assert not differences


def test_published_cases() -> None:
    assert [str(found) for case in CASES if (found := compare_hand(case))] == []
    assert len(CASES) == 41
