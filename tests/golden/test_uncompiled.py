"""A sample of the recorded truth against uncompiled code, for `make test-nojit` and tools/mutate.py."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ante.verification.recorded_truth import FORMS, read_records
from tests.support.perturb import uncompiled_only

pytestmark = uncompiled_only
FOLDER = Path(__file__).parent
FORM = {"scoring.jsonl.gz": "hands", "seeds.json.gz": "seeds", "traces.jsonl.gz": "games"}
SAMPLE = [
    (name, number)
    for name, numbers in {
        "scoring.jsonl.gz": range(0, 6400, 80),
        "seeds.json.gz": range(0, 100, 34),
        "traces.jsonl.gz": range(0, 45, 6),
    }.items()
    for number in numbers
]
records = cache(read_records)


@pytest.mark.parametrize(("name", "number"), SAMPLE)
def test_a_record_is_equal(name: str, number: int) -> None:
    record: Any = records(FOLDER / name)[number]
    assert FORMS[FORM[name]].compare(record) is None
