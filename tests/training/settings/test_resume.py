"""`ante train --resume latest|auto`: the chosen run and the settings with which it continues, without training."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from ante.cli.learn.train import train_command
from ante.errors import BalatroError
from ante.training.settings.config import BadConfig
from tests.training.run_store.test_publishing import Machine, uploaders  # noqa: F401

pytestmark = pytest.mark.usefixtures("uploaders")


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[Any, bool]]:
    """Record the calls of `train` instead of training."""
    calls: list[tuple[Any, bool]] = []
    stub = ModuleType("ante.training.run.loop")
    stub.train = lambda config, resume, webhook: calls.append((config, resume))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ante.training.run.loop", stub)
    monkeypatch.chdir(tmp_path)
    return calls


def test_without_a_checkpoint_auto_starts_and_latest_refuses(begun: list[tuple[Any, bool]], tmp_path: Path) -> None:
    assert train_command(["--name", "pod", "--store", "kept", "--algo.lr", "0.01", "--resume", "auto"]) == 0
    [(config, resume)] = begun
    assert (config.name, config.store, config.algo.lr, resume) == ("pod", "kept", 0.01, True)
    with pytest.raises(
        BalatroError, match=r"no checkpoint of run pod in runs or kept; --resume auto would start the run"
    ):
        train_command(["--name", "pod", "--store", "kept", "--resume", "latest"])
    with pytest.raises(BalatroError, match=r"no checkpoint of run pod in runs: add its --store"):
        train_command(["--name", "pod", "--resume", "latest"])
    with pytest.raises(BalatroError, match="there is no run runs/pod"):
        train_command(["--resume", "runs/pod"])


def test_an_empty_machine_continues_with_the_settings_of_the_run(begun: list[tuple[Any, bool]], tmp_path: Path) -> None:
    one = Machine(tmp_path, "elsewhere", **{"algo.lr": 0.01}, steps=1000)
    one.publish(100)
    for resume in ("latest", "auto"):
        train_command(
            ["--name", "ppo", "--store", "store", "--resume", resume, "--steps", "5000", "--resources.runners", "2"]
        )
        config, resumed = begun.pop()
        assert resumed
        assert (config.algo.lr, config.steps, config.resources.runners, config.runs) == (0.01, 5000, 2, "runs")
    with pytest.raises(BadConfig, match=r"algo.lr is 0\.01 in this run and cannot become 0\.1"):
        train_command(["--name", "ppo", "--store", "store", "--resume", "auto", "--algo.lr", "0.1"])


def test_a_file_of_settings_holds_for_a_pod_that_is_started_again(
    begun: list[tuple[Any, bool]], tmp_path: Path
) -> None:
    settings = {"algo.lr": 0.01, "steps": 1000, "name": "ppo", "store": "store"}
    (tmp_path / "train.yaml").write_text(yaml.safe_dump(settings))
    line = ["--config", "train.yaml", "--resume", "auto"]
    train_command(line)
    Machine(tmp_path, "elsewhere", **{"algo.lr": 0.01}, steps=1000).publish(100)
    (tmp_path / "train.yaml").write_text(yaml.safe_dump({**settings, "steps": 9000}))
    train_command(line)
    assert [config.steps for config, _ in begun] == [1000, 9000]
    (tmp_path / "train.yaml").write_text(yaml.safe_dump({**settings, "algo.gamma": 0.9}))
    with pytest.raises(BadConfig, match=r"algo.gamma is"):
        train_command(line)
    with pytest.raises(BalatroError, match="exclude each other"):
        train_command(["--config", "train.yaml", "--resume", "runs/ppo"])
    for flag in ("--name", "--runs"):
        with pytest.raises(BalatroError, match=f"{flag} and --resume runs/ppo exclude each other.*use --from runs/ppo"):
            train_command(["--resume", "runs/ppo", flag, "second"])


def test_credentials_in_a_store_are_refused_and_not_repeated(begun: list[tuple[Any, bool]]) -> None:
    with pytest.raises(BalatroError, match="must not contain credentials") as refused:
        train_command(["--store", "s3://key:hidden@game-runs/runs"])
    assert "hidden" not in str(refused.value)
    assert begun == []
