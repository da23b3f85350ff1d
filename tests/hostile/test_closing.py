"""The end of a training with an advisor that is gone or returns invalid data: the report is written anyway."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from ante.errors import BalatroError
from ante.hints.settings import BadHints
from ante.training.players import advised
from ante.training.run import loop

KEY = "s3cr3t-key-0123456789"


@pytest.mark.parametrize(
    "error",
    [BadHints("LLM_ENDPOINT is not set"), BalatroError(f"http://me:{KEY}@llm answers <html>"), BadHints(f"the key {KEY} is refused [/red]")],
)  # fmt: skip
def test_an_advisor_that_fails_costs_its_own_line(
    error: BalatroError, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LLM_API_KEY", KEY)
    config = SimpleNamespace(
        folder=tmp_path, runs=tmp_path, hints=SimpleNamespace(source="llm"), evaluation=SimpleNamespace(games=1)
    )
    best = SimpleNamespace(seed="A", outcome="lost", ante=1, blinds=0)
    written: list[Path] = []

    def fails(*_: object) -> object:
        raise error

    monkeypatch.setattr(advised, "advice_effect", fails)
    monkeypatch.setattr(loop, "evaluate_run", lambda *_: [("player", "report")])
    monkeypatch.setattr(loop, "write_report", lambda *_: None)
    monkeypatch.setattr(loop, "find_checkpoint", lambda *_: (None, {"timesteps": 1}))
    monkeypatch.setattr(loop, "keep_games", lambda *_, **__: [])
    monkeypatch.setattr(loop, "write_best", lambda *_: (tmp_path / "episode.mp4", best))
    monkeypatch.setattr(loop, "write_page", lambda folder: written.append(folder) or folder / "report.html")
    monkeypatch.setattr(loop, "players_table", lambda *_: "players")
    monkeypatch.setattr(loop, "blinds_table", lambda *_: "blinds")
    loop.conclude(config, Console())  # type: ignore[arg-type]
    out = capsys.readouterr().out
    assert written == [tmp_path] and "not measured" in out and KEY not in out
