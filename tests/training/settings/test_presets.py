"""Presets: each gives an RLlib configuration with the file's values, without starting Ray; lookup by name."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ante.cli.learn.train import train_command
from ante.errors import BalatroError
from ante.training.presets.lookup import (
    DEFAULT,
    FOLDER,
    UnknownPreset,
    preset_file,
    preset_names,
    read_preset,
    settings_file,
)
from ante.training.settings.config import TrainConfig, read_config

pytest.importorskip("torch")
ROOT = Path(__file__).resolve().parents[3]
FILES = [preset_file(name) for name in preset_names()]


def made(file: Path) -> tuple[Any, Any]:
    """Return our configuration and RLlib's, validated by RLlib."""
    from ray.tune.registry import register_env

    from ante.training.rllib.build import ENV, make_env, rllib_config

    register_env(ENV, make_env)
    config = read_config(file)
    found = rllib_config(config)
    found.validate()
    return config, found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_file_makes_an_rllib_configuration(file: Path) -> None:
    config, found = made(file)
    assert (found.num_env_runners, found.num_envs_per_env_runner) == (
        config.resources.runners,
        config.resources.games_per_runner,
    )
    assert (found.num_learners, found.num_gpus_per_learner) == (
        config.resources.learners,
        config.resources.learner_gpus,
    )
    assert (found.num_cpus_per_env_runner, found.num_gpus_per_env_runner) == (
        config.resources.runner_cpus,
        config.resources.runner_gpus,
    )
    assert found.total_train_batch_size == config.algo.batch
    assert found.minibatch_size * max(1, config.resources.learners) == config.algo.minibatch
    runners = range(1, config.resources.runners + 1) if config.resources.runners else [0]
    steps = sum(found.get_rollout_fragment_length(worker_index=i) * config.resources.games_per_runner for i in runners)
    assert (
        config.algo.batch
        <= steps
        < config.algo.batch + config.resources.games_per_runner * max(1, config.resources.runners)
    )


def test_jimbot_has_the_values_of_the_plan() -> None:
    found = made(preset_file("jimbot"))[1]
    assert (found.num_env_runners, found.num_envs_per_env_runner, found.truncate_every) == (2, 4, 200)
    assert (found.train_batch_size_per_learner, found.minibatch_size, found.num_epochs) == (4000, 128, 30)
    assert (found.lr, found.gamma, found.lambda_, found.entropy_coeff) == (5e-5, 0.99, 0.95, 0.01)
    assert (found.clip_param, found.vf_clip_param, found.grad_clip, found.kl_stop) == (0.2, 10, 0.5, 0.02)


def test_cluster_puts_three_groups_of_games_on_each_of_three_gpus() -> None:
    found = made(preset_file("cluster"))[1]
    assert (found.num_env_runners, found.total_train_batch_size, found.minibatch_size) == (9, 4096, 512)
    assert found.num_epochs == 10
    each, learner = found.num_gpus_per_env_runner, found.num_gpus_per_learner
    assert 3 * each + learner <= 1 < 4 * each


def test_every_preset_says_what_it_trains_how_long_and_what_it_reaches(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert train_command(["--presets"]) == 0
    table = capsys.readouterr().out
    assert preset_names()[0] == DEFAULT == "laptop" and len(preset_names()) == len(list(FOLDER.glob("*.yaml")))
    for name in preset_names():
        preset = read_preset(name)
        assert preset.about in table and preset.time in table and preset.reaches in table


MEASURED = (FOLDER / "laptop.yaml", *sorted((ROOT / "configs/strength").glob("*.yaml")))


@pytest.mark.parametrize("file", MEASURED, ids=lambda file: file.stem)
def test_the_schedules_of_a_measured_recipe_end_with_its_run(file: Path) -> None:
    config = read_config(file)
    assert config.name == file.stem
    for schedule in (config.algo.lr, config.algo.entropy):
        assert isinstance(schedule, float) or schedule[-1][0] == config.steps


def test_a_preset_s_name_is_a_file_of_settings_unless_there_is_such_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert settings_file("quick") == settings_file(Path("quick"), tmp_path) == FOLDER / "quick.yaml"
    assert settings_file("quick.yaml") == Path("quick.yaml")
    (tmp_path / "quick").write_text("steps: 7\n")
    assert settings_file("quick") == Path("quick") and read_config(Path("quick")).steps == 7
    for read in (settings_file, preset_file, lambda name: read_config(Path(name))):
        with pytest.raises(UnknownPreset, match=r"there is no preset 'laptp': did you mean laptop\?"):
            read("laptp")


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """Record the settings of runs instead of training."""
    configs: list[Any] = []
    stub = ModuleType("ante.training.run.loop")
    stub.train = lambda config, resume, webhook: configs.append(config)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ante.training.run.loop", stub)
    monkeypatch.chdir(tmp_path)
    return configs


@pytest.mark.parametrize(
    ("words", "preset", "changes"),
    [
        ("", "laptop", {}),
        ("--seed 3 --algo.lr 1e-4", "laptop", {"seed": 3, "algo.lr": 1e-4}),
        ("--policy.kind shortlist --algo.kind ppo", "laptop", {}),
        ("--preset quick --steps 9", "quick", {"steps": 9}),
        ("--preset quick --algo.kind a2c", "quick", {"algo.kind": "a2c"}),
        ("--from white-stake --seed 4", "laptop", {"init_from": "white-stake", "seed": 4}),
        ("--init-from=white-stake", "laptop", {"init_from": "white-stake"}),
        ("--policy.kind lstm", None, {"policy.kind": "lstm"}),
        ("--algo.kind dqn --seed 1", None, {"algo.kind": "dqn", "seed": 1}),
    ],
)
def test_settings_come_from_the_default_preset_unless_another_kind_is_chosen(
    begun: list[Any], capsys: pytest.CaptureFixture[str], words: str, preset: str | None, changes: dict[str, Any]
) -> None:
    assert train_command(words.split()) == 0
    base = read_config(FOLDER / f"{preset}.yaml") if preset else TrainConfig()
    assert begun == [base.with_changes(changes)]
    first = capsys.readouterr().err.splitlines()[0]
    assert first.startswith(
        f"ante: preset {preset}: " if preset else "ante: no preset: defaults of each setting, with "
    )


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ("runs/nowhere", "init_from runs/nowhere: there is no such policy; use the folder of a run or a release"),
        (".", "no best checkpoint under checkpoints"),
    ],
)
def test_the_start_of_a_run_is_checked_before_anything_is_loaded(begun: list[Any], start: str, words: str) -> None:
    for resume in ([], ["--resume", "auto"]):
        with pytest.raises(BalatroError, match=words):
            train_command(["--from", start, "--name", "new", *resume])
    assert begun == []


def test_a_file_takes_the_place_of_the_default_preset(begun: list[Any], tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("name: mine\nseed: 5\n")
    assert train_command(["--config", "mine.yaml"]) == 0
    assert begun == [TrainConfig(name="mine", seed=5)]
    for words in ("--config mine.yaml --preset quick", "--preset quick --resume runs/mine"):
        with pytest.raises(BalatroError, match="exclude each other"):
            train_command(words.split())


def test_a_notebook_trains_the_same_settings(begun: list[Any]) -> None:
    from ante.notebook import settings_of

    assert settings_of(None, {"steps": 9}) == read_config(FOLDER / "laptop.yaml", {"steps": 9})
    assert settings_of(None, {"policy": {"kind": "lstm"}}) == TrainConfig().with_changes({"policy.kind": "lstm"})
    assert settings_of("quick", {"algo.kind": "a2c"}).algo.kind == "a2c"
