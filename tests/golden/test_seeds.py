"""Seeds surveyed by the engine, against 100 recorded runs and facts recorded from the real game."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ante.engine.drivers.survey import survey

RUNS = json.loads(gzip.decompress((Path(__file__).parent / "seeds.json.gz").read_bytes()))["runs"]


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(run, id=f"{run['seed']}-{run['deck']}-{run['stake']}", marks=[pytest.mark.slow] * (number >= 40))
        for number, run in enumerate(RUNS)
    ],
)
def test_survey_equals_the_recorded_run(run: dict[str, Any]) -> None:
    got = survey(run["seed"], run["deck"], run["stake"])
    for ante, (mine, recorded) in enumerate(zip(got["antes"], run["antes"], strict=True), 1):
        for field in recorded:
            assert mine[field] == recorded[field], f"ante {ante}: {field}"
    assert got == run
