"""Configurations: checked at the border, with the way out in the message."""

import os
from pathlib import Path

import numpy as np
import pytest

from ante.agents.baselines import Baseline
from ante.agents.evaluate import evaluate, panel
from ante.env.reward import find_reward
from ante.training.config import BadConfig, TrainConfig, make_config, read_config, value_at
from ante.training.resume import check_resumed, config_of_run


def test_every_setting_has_a_sentence() -> None:
    for name, setting in TrainConfig.model_fields.items():
        assert setting.description and setting.description.endswith("."), name


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    config = make_config({"name": "x", "hidden": [64, 32], "lr": 1e-4})
    file = tmp_path / "config.yaml"
    file.write_text(config.to_yaml())
    assert read_config(file) == config


def test_schedules_are_written_read_back_and_linear_between_their_points(tmp_path: Path) -> None:
    points = [[0, 3e-4], [1000, 1e-4], [5000, 0.0]]
    config = make_config({"lr": points, "entropy": 0.02})
    (tmp_path / "config.yaml").write_text(config.to_yaml())
    assert read_config(tmp_path / "config.yaml") == config
    for steps in (0, 1, 400, 1000, 3210, 5000, 90_000):
        wanted = np.interp(steps, *zip(*points, strict=True))
        assert value_at(config.lr, steps) == pytest.approx(wanted, abs=1e-12)
        assert value_at(config.entropy, steps) == 0.02


def test_what_is_played_ahead() -> None:
    assert [make_config(values).ahead for values in ({}, {"overlap": True}, {"algo": "appo"}, {"lag": 3})] == [
        0,
        1,
        1,
        0,
    ]
    assert [make_config({**values, "lag": 3}).ahead for values in ({"overlap": True}, {"algo": "appo"})] == [3, 3]


def test_an_unknown_key_names_the_nearest() -> None:
    with pytest.raises(BadConfig, match=r"unknown configuration key 'minibach': did you mean minibatch\?"):
        make_config({"minibach": 12})


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"stake": 9}, "stake: .*less than or equal to 8, got 9"),
        ({"lr": "fast"}, "lr: .*number"),
        ({"name": "a/b"}, "name"),
        ({"deck": "b_rad"}, "deck: .*did you mean b_red"),
        ({"reward": "gold"}, "reward: .*gold"),
        ({"reorder": "some"}, "reorder"),
        ({"batch": 256, "minibatch": 512}, "minibatch"),
        (
            {"batch": 256, "minibatch": 128, "accumulate": 4},
            "minibatch 128 times accumulate 4 is larger than batch 256",
        ),
        ({"lr": [[0, 1e-3]]}, "lr: points are .* two at least"),
        ({"lr": [[5, 1e-3], [10, 1e-4]]}, "lr: points are .* the first at 0"),
        ({"entropy": [[0, 0.1], [10, 0.1], [10, 0.0]]}, "entropy: points are .* each later"),
        ({"entropy": -0.1}, "entropy: no value may be below 0"),
        ({"lr": 0}, "lr: nothing would be learned"),
        ({"kl_target": 0.02, "path": "stock"}, "kl_target 0.02 needs path fast"),
        ({"policy": "entities", "path": "stock"}, "policy entities needs path fast"),
        ({"algo": "appo", "path": "stock"}, "algo appo needs path fast"),
        ({"games_on": "gpu"}, "games_on gpu needs a share of one for each env runner: set runner_gpus"),
        ({"games_on": "gpu", "runner_gpus": 1, "policy": "shortlist"}, "policy shortlist needs games_on cpu"),
        ({"games_on": "gpu", "runner_gpus": 1, "practice": 0.2}, "practice 0.2 needs games_on cpu"),
        ({"games_on": "gpu", "runner_gpus": 1, "algo": "dqn"}, "algo dqn needs games_on cpu"),
        ({"games_on": "gpu", "runner_gpus": 1, "path": "stock"}, "games_on gpu needs path fast"),
        ({"policy": "entity"}, "policy: .*'mlp', 'entities', 'shortlist', 'lstm', 'cnn', 'cnn-fused' or 'planner'"),
        ({"width": 60, "heads": 8}, "width 60 cannot be shared out among 8 heads"),
        ({"normalise_values": True, "path": "stock"}, "normalise_values True needs path fast"),
    ],
)
def test_bad_values_are_named(values: dict[str, object], words: str) -> None:
    with pytest.raises(BadConfig, match=words):
        make_config(values)


def test_files_that_are_no_configuration(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    with pytest.raises(BadConfig, match="cannot read"):
        read_config(file)
    file.write_text("steps: [")
    with pytest.raises(BadConfig, match="cannot read"):
        read_config(file)
    file.write_text("- steps\n")
    with pytest.raises(BadConfig, match="key: value"):
        read_config(file)


def test_configurations_we_stand_behind_are_valid() -> None:
    files = sorted(Path("configs").glob("*.yaml"))
    assert files
    for file in files:
        read_config(file)


def test_a_run_begun_before_the_fast_path_goes_on_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("name: old\nsteps: 100\n")
    assert config_of_run(tmp_path).path == "stock"
    (tmp_path / "config.yaml").write_text(make_config({"name": "new"}).to_yaml())
    assert config_of_run(tmp_path).path == "fast"


def test_a_resumed_run_may_only_become_longer(tmp_path: Path) -> None:
    folder = tmp_path / "moved"
    with pytest.raises(BadConfig, match="there is no run"):
        config_of_run(folder)
    folder.mkdir()
    (folder / "config.yaml").write_text(make_config({"name": "old", "steps": 1000}).to_yaml())
    before = config_of_run(folder)
    assert before.folder == folder
    check_resumed(before, before.model_copy(update={"steps": 5000}))
    with pytest.raises(BadConfig, match=r"lr is 0\.0003 in this run and cannot become 0\.1"):
        check_resumed(before, before.model_copy(update={"lr": 0.1}))


def test_terms_replace_those_of_the_named_reward() -> None:
    config = make_config({"reward": "shaped", "reward_terms": {"blind": 0.0, "ante": 0.5}})
    assert (config.paid.win, config.paid.blind, config.paid.progress, config.paid.ante) == (5.0, 0.0, 0.2, 0.5)
    assert make_config({}).paid == find_reward("shaped")
    with pytest.raises(BadConfig, match="there is no term 'blinds': choose among win, loss, blind"):
        make_config({"reward_terms": {"blinds": 1.0}})
    with pytest.raises(BadConfig, match="finite"):
        make_config({"reward_terms": {"win": float("inf")}})


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
def test_what_a_run_is_paid_is_the_sum_of_its_terms() -> None:
    """The same games again with each term alone."""
    from ante.training.games import rules

    weights = {"win": 2.0, "loss": -1.0, "blind": 0.5, "progress": 0.25, "ante": 3.0}
    none = dict.fromkeys(weights, 0.0)
    made = {name: make_config({"reward_terms": {**none, name: 1.0}}) for name in weights}
    made["all"] = make_config({"reward_terms": weights})
    found = {name: evaluate(Baseline("greedy"), panel()[:6], **rules(config)) for name, config in made.items()}
    for i, record in enumerate(found["all"].records):
        parts = {name: found[name].records[i].reward for name in weights}
        assert record.reward == pytest.approx(sum(weights[name] * part for name, part in parts.items()))
        assert parts["loss"] == 1.0 and parts["blind"] == record.blinds
