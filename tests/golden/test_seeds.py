"""Seeds surveyed by the engine, against 100 recorded runs and facts recorded from the real game."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ante.engine.drivers.survey import survey

RUNS = json.loads(gzip.decompress((Path(__file__).parent / "seeds.json.gz").read_bytes()))["runs"]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run['seed']}-{run['deck']}-{run['stake']}")
def test_survey_equals_the_recorded_run(run: dict[str, Any]) -> None:
    got = survey(run["seed"], run["deck"], run["stake"])
    for ante, (mine, recorded) in enumerate(zip(got["antes"], run["antes"], strict=True), 1):
        for field in recorded:
            assert mine[field] == recorded[field], f"ante {ante}: {field}"
    assert got == run
