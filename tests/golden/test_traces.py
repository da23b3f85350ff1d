"""Recorded games, decision by decision: every recorded field equal after every step (traces.jsonl.gz, see README.md)."""

from pathlib import Path
from typing import Any

import pytest

from ante.golden.check import read_records
from ante.golden.traces import replay

RUNS = read_records(Path(__file__).parent / "traces.jsonl.gz")


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run['seed']}-{run['deck']}-{run['stake']}")
def test_recorded_game_is_played_alike(run: dict[str, Any]) -> None:
    assert len(run["steps"]) > 0
    assert replay(run) is None
