"""The training loop without an algorithm: its messages, and a run's folder that is moved during an evaluation."""

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

pytest.importorskip("torch")

import ray

from ante.training.run import loop
from ante.training.run.progress import Progressed
from ante.training.run_store.lock import RunGone, locked
from ante.training.settings.config import TrainConfig, make_config


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=60)


def said(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def run_in(folder: Path, **settings: Any) -> TrainConfig:
    return make_config({"runs": str(folder), "name": "first", **settings})


def test_square_brackets_in_a_folder_are_printed_as_they_are(tmp_path: Path, console: Console) -> None:
    config = run_in(tmp_path / "[old]" / "runs [red]")
    loop.show_resumed(config, Progressed(steps=5, iteration=1, games_restarted="as [/requested]"), console)
    assert f"resumed {config.folder} after 5 steps" in said(console) and "as [/requested]" in said(console)


def test_square_brackets_in_the_cause_of_a_loss_do_not_end_the_run(
    tmp_path: Path, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def lost(*_: Any) -> Any:
        tries.append(1)
        raise ray.exceptions.RaySystemError("no connection to [/tmp/ray/sock]")

    monkeypatch.setattr(loop, "begin", lost)
    session: Any = SimpleNamespace(console=console, stops=[], exporter=SimpleNamespace(losses=0))
    with pytest.raises(ray.exceptions.RaySystemError):
        loop.learn_all(run_in(tmp_path, **{"resources.restarts": 2}), False, session)
    assert len(tries) == 3 and "no connection to [/tmp/ray/sock]); restart 2 of 2" in said(console)


def test_games_of_an_evaluation_are_not_written_for_a_run_that_was_moved_meanwhile(
    tmp_path: Path, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = run_in(tmp_path, **{"evaluation.every": 1})
    with locked(config.folder) as lock:

        def trial(*_: Any) -> Any:
            config.folder.rename(tmp_path / "moved")
            return {}, None, None

        monkeypatch.setattr(loop, "trial", trial)
        monkeypatch.setattr(loop, "keep_games", lambda config, *_: (config.folder / "episodes").mkdir(parents=True))
        session: Any = SimpleNamespace(console=console, lock=lock)
        with pytest.raises(RunGone):
            loop.tried(config, SimpleNamespace(), Progressed(iteration=1), session)  # type: ignore[arg-type]
    assert not config.folder.exists()
