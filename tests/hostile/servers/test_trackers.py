"""Responses of trackers: invalid numbers are refused or ignored, and names are escaped before they are printed."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ante.training.tracking.sender import Sender
from ante.training.tracking.state import read_state
from ante.training.tracking.tracker import BadTracking
from ante.training.tracking.wandb_runs import WandbTracker
from tests.hostile.harness import check_sentence
from tests.training.tracking.made import made_run

KEY = "s3cr3t-key-0123456789"


def last_of_mlflow(value: Any) -> int:
    from ante.training.tracking.mlflow_runs import LAST, last_of

    return last_of(SimpleNamespace(data=SimpleNamespace(metrics={} if value is None else {LAST: value})))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [-1, -1e9, math.nan, math.inf, -math.inf, 1e300, 2.0**53, 10**30], ids=repr)
def test_an_iteration_of_mlflow_that_no_row_has_is_refused(value: float) -> None:
    with pytest.raises(BadTracking) as refused:
        last_of_mlflow(value)
    check_sentence(str(refused.value), "MLflow")


@pytest.mark.parametrize(("value", "found"), [(None, 0), (0, 0), (3.0, 3), (2**53 - 1, 2**53 - 1)])
def test_one_that_a_row_can_have_is_taken(value: Any, found: int) -> None:
    assert last_of_mlflow(value) == found


@pytest.mark.parametrize(
    "value", [None, "many", [], {}, -1, math.nan, math.inf, 1e300, {"max": 3}, "\x1b[2J"], ids=repr
)
def test_a_summary_of_wandb_that_says_nothing_is_ignored(value: Any) -> None:
    tracker = WandbTracker(1.0)
    tracker.run = SimpleNamespace(resumed=True, summary={"iteration": value})
    assert tracker._last() is None


@pytest.mark.parametrize(
    "words",
    [f"401 for {KEY}", f"http://me:{KEY}@host/ refused", f"GET https://host/?api_key={KEY}", "\x1b[2J\x1b]0;x\x07", "x" * 10**6, "\ud800", "", f"Bearer {KEY}", "[/red]"],
)  # fmt: skip
def test_what_a_tracker_raises_is_remembered_in_a_line(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    config = made_run(tmp_path, rows=1)

    def broken() -> Any:
        raise RuntimeError(words)

    assert not Sender(config.folder, "mlflow", broken).attempt()
    error = read_state(config.folder, "mlflow").error
    check_sentence(error, "RuntimeError")
    assert KEY not in error and len(error) < 400
