"""The reference scorer against the recorded hands, and the compiled engine against the reference."""

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.reference.cases import random_case
from tests.reference.compare import differences, least_different
from tests.reference.scorer import score

RECORDED = Path(__file__).parents[1] / "golden" / "scoring.jsonl.gz"


def recorded() -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]


def test_reference_scores_all_recorded_hands() -> None:
    wrong = {case["id"]: found for case in recorded() if (found := differences(score(case), case["expect"]))}
    assert not wrong, f"{len(wrong)}: {dict(list(wrong.items())[:5])}"


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_engine_scores_random_hands_as_the_reference_does(seed: int) -> None:
    random, wrong = Random(seed), []
    for _ in range(1000):
        case = random_case(random)
        found = least_different(case)
        if found:
            wrong.append((found, case))
    assert not wrong, f"{len(wrong)} of 1000, the first (got, wanted): {wrong[0]}"
