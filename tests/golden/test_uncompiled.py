"""A sample of the recorded truth against uncompiled code, for `make test-nojit` and tools/mutate.py."""

from pathlib import Path

import pytest

from ante.verification.recorded_truth import FORMS, read_records
from tests.support.perturb import uncompiled_only

pytestmark = uncompiled_only
FOLDER = Path(__file__).parent
EVERY = {"scoring.jsonl.gz": ("hands", 80), "seeds.json.gz": ("seeds", 34), "traces.jsonl.gz": ("games", 6)}


@pytest.mark.parametrize("name", EVERY)
def test_a_sample_of_the_records_is_equal(name: str) -> None:
    form, every = EVERY[name]
    records = read_records(FOLDER / name)[::every]
    assert len(records) > 2
    assert [found for found in map(FORMS[form].compare, records) if found] == []
