"""The events of a run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ante.events.archive import row_of
from ante.events.log import stored_in
from ante.training.run.events import run_events
from ante.training.run_store.checkpoints import save_checkpoint
from ante.training.run_store.manifest import read_manifest
from ante.training.settings.config import BadConfig, make_config
from tests.support.checkpoints import METADATA

ROW = {"steps": 2048.0, "games": 7.0, "iteration": 1.0, "return": 0.5, "win_rate": float("nan")}
HINTED = {
    "seed": "ABC", "step": 3, "ante": 2, "confidence": 0.4, "hint": {"text": "play a pair", "agreed": True, "source": "llm"},
    "hint_decision": 1 << 22, "seconds": 0.25, "outcome": "lost",
}  # fmt: skip


def published(file: Path, use: Callable[..., None], **changes: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return kind and data of the events that `use` publishes."""
    config = make_config({"name": "mine", "runs": str(file.parent), "tracking.events": str(file), **changes})
    with run_events(config, print) as events:
        use(events)
    rows = [row_of(each) for each in stored_in(file, 100)]
    assert {(row["source"], row["subject"]) for row in rows} == {("train/mine", "mine")}
    return [(row["type"][8:], next(v for k, v in row.items() if isinstance(v, dict))) for row in rows]


def test_the_state_of_a_run_is_an_event(tmp_path: Path) -> None:
    (found,) = published(tmp_path / "e.sqlite", lambda events: events.state("learning", ROW), steps=9999)
    assert found == (
        "run.state",
        {"run": "mine", "state": "learning", "steps": 2048, "total_steps": 9999, "games": 7, "iteration": 1,
         "mean_return": 0.5, "win_rate": None},
    )  # fmt: skip


def test_a_checkpoint_is_an_event_with_the_digest_of_its_decisions(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    folder = save_checkpoint(
        tmp_path / "mine" / "checkpoints",
        2048,
        lambda path: (path / "w").write_text("weights") and None,
        METADATA,
        True,
    )
    ((kind, data),) = published(
        tmp_path / "e.sqlite", lambda events: events.checkpoint(folder, {**METADATA, "reward": 1.5}, True)
    )
    assert kind == "checkpoint.published" and data["best"] and data["mean_return"] == 1.5
    assert data["path"] == str(folder) and data["steps"] == METADATA["timesteps"]
    assert data["model_digest"] == read_manifest(folder, "metadata.json")["seal"]


def test_hints_are_events(tmp_path: Path) -> None:
    without = {**HINTED, "hint": None, "hint_decision": None}
    first, second = published(tmp_path / "e.sqlite", lambda events: events.hints([HINTED, without]))
    assert first[0] == "hint.asked" and first[1]["advisor"] == "llm" and first[1]["packed_action"] == 1 << 22
    assert second[1]["advisor"] == "" and second[1]["text"] == ""


def test_a_run_that_fails_says_so(tmp_path: Path) -> None:
    def fail(events: Any) -> None:
        raise RuntimeError("bug")

    with pytest.raises(RuntimeError):
        published(tmp_path / "e.sqlite", fail)
    assert [each.event.run_state.state for each in stored_in(tmp_path / "e.sqlite", 9)] == ["failed"]


def test_without_a_bus_nothing_is_published(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ANTE_EVENTS_URL", raising=False)
    with run_events(make_config({"name": "mine"}), print) as events:
        events.state("learning", ROW)
        events.checkpoint(tmp_path, {}, False)
        events.hints([HINTED])
    monkeypatch.setenv("ANTE_EVENTS_URL", str(tmp_path / "e.sqlite"))
    with run_events(make_config({"name": "mine"}), print) as events:
        events.state("learning", ROW)
    assert len(stored_in(tmp_path / "e.sqlite", 9)) == 1


def test_a_bus_with_a_password_is_refused_before_it_is_saved() -> None:
    with pytest.raises(BadConfig, match="is no NATS server") as caught:
        make_config({"tracking.events": "nats://me:hunter2@host:4222"})
    assert "ANTE_EVENTS_TOKEN" in str(caught.value)
