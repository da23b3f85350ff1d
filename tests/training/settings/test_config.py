"""Configurations: validated on creation, with solutions in the error messages."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ante.agents.baselines import Baseline
from ante.agents.evaluate import evaluate
from ante.agents.seed_lists import evaluation_seeds
from ante.env.reward import find_reward
from ante.training.settings.algorithms import ALGORITHMS, Ppo
from ante.training.settings.config import BadConfig, TrainConfig, check_resumed, config_of_run, make_config, read_config
from ante.training.settings.field import leaves, setting
from ante.training.settings.policies import POLICIES, PolicySettings
from ante.training.settings.schedule import value_at


class Tiny(PolicySettings):
    """A policy of another package."""

    kind: str
    size: int = setting(3, "Its size.", ge=1)


def every_config() -> list[TrainConfig]:
    """Return one configuration of each kind of policy with ppo, and of each kind of algorithm with mlp."""
    made = [{"policy.kind": kind} for kind in POLICIES.known] + [{"algo.kind": kind} for kind in ALGORITHMS.known]
    return [make_config(values) for values in made]


def test_every_setting_says_what_it_does_and_when_to_change_it() -> None:
    for config in every_config():
        for leaf in leaves(config):
            assert leaf.field.description and leaf.field.description.endswith("."), leaf.path
            assert str(leaf.mark("when")).endswith("."), leaf.path
            assert not {"|", "\n"} & {*leaf.field.description, *leaf.mark("when")}, leaf.path


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    for config in [
        *every_config(),
        make_config({"policy": {"hidden": [64, 32]}, "algo.lr": 1e-4, "games.curriculum": [{"goal": 1}]}),
        make_config({"policy": {"kind": f"{__name__}:Tiny", "size": 7}}),
    ]:
        (tmp_path / "config.yaml").write_text(config.to_yaml())
        assert read_config(tmp_path / "config.yaml") == config


def test_schedules_are_written_read_back_and_linear_between_their_points(tmp_path: Path) -> None:
    points = [[0, 3e-4], [1000, 1e-4], [5000, 0.0]]
    config = make_config({"algo": {"lr": points, "entropy": 0.02}})
    (tmp_path / "config.yaml").write_text(config.to_yaml())
    assert read_config(tmp_path / "config.yaml") == config
    assert isinstance(config.algo, Ppo)
    for steps in (0, 1, 400, 1000, 3210, 5000, 90_000):
        wanted = np.interp(steps, *zip(*points, strict=True))
        assert value_at(config.algo.lr, steps) == pytest.approx(wanted, abs=1e-12)
        assert value_at(config.algo.entropy, steps) == 0.02


@pytest.mark.parametrize(
    ("values", "batches"),
    [
        ({}, 0),
        ({"overlap": True}, 1),
        ({"lag": 3}, 0),
        ({"overlap": True, "lag": 3}, 3),
        ({"kind": "appo"}, 1),
        ({"kind": "appo", "lag": 3}, 3),
        ({"kind": "rllib-ppo"}, 0),
    ],
)
def test_what_is_played_ahead(values: dict[str, object], batches: int) -> None:
    assert make_config({"algo": values}).algo.ahead == batches


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"algo.minibach": 12}, r"unknown setting 'algo.minibach': did you mean algo.minibatch\?"),
        ({"lr": 1}, r"unknown setting 'lr': did you mean algo.lr\?"),
        ({"polcy": {}}, "unknown setting 'polcy': did you mean"),
        ({"every": 1}, "did you mean checkpoints.every or evaluation.every"),
        ({"algo.replay": 5000}, "algo.replay is a setting of algo.kind dqn only; leave it out, or use that kind"),
        ({"policy.memory": 5}, "policy.memory is a setting of policy.kind lstm only"),
        ({"policy.kind": "entity"}, r"there is no policy.kind 'entity': did you mean entities\?"),
        ({"policy.kind": "zzz"}, "there is no policy.kind 'zzz': use one of mlp, .* or module:Class"),
        (
            {"policy.kind": "pathlib:Path"},
            "policy.kind 'pathlib:Path' names .*, not a class derived from PolicySettings",
        ),
        ({"policy.kind": "nowhere:Path"}, "cannot import 'nowhere' of 'nowhere:Path'"),
        ({"policy": "lstm"}, "policy: must be a group of settings such as {kind: mlp}"),
        ({"games.curriculum": [{"gaol": 2}]}, "unknown setting 'games.curriculum.0.gaol': a stage has goal, deck"),
        ({"algo": 3, "algo.lr": 1}, "algo is a group of settings"),
    ],
)
def test_an_unknown_setting_names_the_way_out(values: dict[str, object], words: str) -> None:
    with pytest.raises(BadConfig, match=words):
        make_config(values)


GPU = {"resources.games_on": "gpu", "resources.runner_gpus": 1}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"games.stake": 9}, "games.stake: .*less than or equal to 8, got 9"),
        ({"algo.lr": "fast"}, "algo.lr: .*number"),
        ({"name": "a/b"}, "name"),
        ({"games.deck": "b_rad"}, "games.deck: .*did you mean b_red"),
        ({"games.reward": "gold"}, "games.reward: .*gold"),
        ({"games.reorder": "some"}, "games.reorder"),
        ({"algo.batch": 256, "algo.minibatch": 512}, "algo.minibatch 512 is larger than algo.batch 256; lower it"),
        (
            {"algo": {"batch": 256, "minibatch": 128, "accumulate": 4}},
            "128 times algo.accumulate 4 is larger than",
        ),
        ({"algo.lr": [[0, 1e-3]]}, "algo.lr: points are .* at least two"),
        ({"algo.lr": [[5, 1e-3], [10, 1e-4]]}, "algo.lr: points are .* the first at step 0"),
        ({"algo.entropy": [[0, 0.1], [10, 0.1], [10, 0.0]]}, "algo.entropy: points are .* in increasing order"),
        ({"algo.entropy": -0.1}, "algo.entropy: values must not be below 0"),
        ({"algo.lr": 0}, "algo.lr: the first value must be above 0"),
        ({"algo.lr": float("nan")}, "algo.lr: Input should be a finite number"),
        ({"algo.lr": [[0, 1e-3], [9, float("inf")]]}, "algo.lr: Input should be a finite number"),
        ({"resources.memory_gb": float("inf")}, "resources.memory_gb: Input should be a finite number"),
        ({"algo.kind": "dqn", "algo.epsilon": 2}, "algo.epsilon: values must not be above 1"),
        ({"algo.kind": "dqn", "algo.replay": 9000}, "algo.replay 9000 is smaller than two batches of 8192; raise it"),
        (
            {"algo": {"kind": "dqn", "batch": 600, "minibatch": 64, "replay": 1200}, "resources.games_per_runner": 500},
            "algo.replay 1200 is smaller than a fragment of 500 games, up to 2000 rows; raise it or lower resources",
        ),
        (
            {"policy": {"kind": "entities", "width": 60, "heads": 8}},
            "width 60 is not divisible by heads 8; change one",
        ),
        (
            {"policy": {"kind": "lstm", "sequence": 600}, "resources.learners": 2},
            "share of algo.minibatch, 512; short",
        ),
        ({"resources.learners": 3}, "must be divisible by resources.learners 3; change one"),
        (
            {"resources.runners": 8, "resources.games_per_runner": 4096},
            "is 32768 games, more than algo.batch 8192 after a single step; raise",
        ),
        ({"resources.games_on": "gpu"}, "requires a GPU for each env runner; set resources.runner_gpus"),
        (
            {"games.challenge": "c_omelette_1", "games.curriculum": [{"stake": 2}]},
            "set only goals in games.curriculum",
        ),
        ({"games.start_states": "x", "games.curriculum": [{"goal": 2}]}, "exclude each other.*leave out one"),
        (
            {"games.start_states": "x", "tracking.knowledge": "k.lbug"},
            "tracking.knowledge is not .* games.start_states",
        ),
    ],
)
def test_bad_values_are_named_with_the_way_out(values: dict[str, object], words: str) -> None:
    with pytest.raises(BadConfig, match=words):
        make_config(values)


UNSUPPORTED = [
    (
        {"hints.source": "rules", "policy.kind": "entities"},
        "hints.source rules is not supported with policy.kind entities; use policy.kind mlp.* or hints.source off",
    ),
    ({"hints.source": "llm", "algo.kind": "dqn"}, "algo.kind dqn; use algo.kind ppo, appo or a2c, or hints.source off"),
    ({"hints.shaping": 0.1}, "hints.shaping 0.1 .* policy.kind mlp; use policy.kind shortlist, or hints.shaping 0"),
    ({"policy.kind": "entities", "algo.kind": "rllib-ppo"}, "use policy.kind mlp, or algo.kind ppo, appo or a2c"),
    ({"policy.kind": "cnn", "algo.kind": "sb3-dqn"}, "algo.kind sb3-dqn .* policy.kind cnn; use policy.kind mlp"),
    ({"policy.kind": "lstm", "algo.kind": "dqn"}, "algo.kind dqn is not supported with policy.kind lstm; use policy"),
    (
        {"games.practice": 0.2, "algo.kind": "rllib-ppo"},
        "games.practice 0.2 .* rllib-ppo; use algo.kind ppo.* games.practice 0",
    ),
    (
        {"games.curriculum": [{"goal": 1}], "algo.kind": "rllib-ppo"},
        "games.curriculum is not supported .*, or games.curriculum .]",
    ),
    (
        {"games.start_states": "x", "algo.kind": "sb3-a2c"},
        "games.start_states x is not supported .*, or games.start_states null",
    ),
    ({"resources.runners": 1, "algo.kind": "sb3-a2c"}, "resources.runners 1 is not supported with algo.kind sb3-a2c"),
    (
        {"resources.learners": 2, "algo.kind": "dqn"},
        "resources.learners 2 .* algo.kind dqn; .* or resources.learners 1",
    ),
    ({"resources.bf16": "on", "algo.kind": "rllib-ppo"}, "resources.bf16 on .* or resources.bf16 auto"),
    (
        {**GPU, "games.practice": 0.2},
        "games.practice 0.2 .*games_on gpu; use resources.games_on cpu, or games.practice 0",
    ),
    (
        {**GPU, "algo.kind": "sb3-a2c"},
        "games_on gpu is not supported with algo.kind sb3-a2c; use algo.kind ppo, appo, a2c or dqn, or resources",
    ),
]


@pytest.mark.parametrize(("values", "words"), UNSUPPORTED)
def test_an_unsupported_combination_names_the_alternatives(values: dict[str, Any], words: str) -> None:
    with pytest.raises(BadConfig, match=words):
        make_config(values)


def test_the_alternatives_of_every_refused_pair_of_kinds_are_accepted() -> None:
    """The error for a policy and an algorithm that exclude each other names kinds that work with the other one."""
    refused = 0
    for policy in POLICIES.known:
        for algo in ALGORITHMS.known:
            try:
                make_config({"policy.kind": policy, "algo.kind": algo})
            except BadConfig as error:
                refused += 1
                policies, algorithms = str(error).partition("; use ")[2].split(", or ")
                for kind in policies.removeprefix("policy.kind ").replace(" or ", ", ").split(", "):
                    make_config({"policy.kind": kind, "algo.kind": algo})
                for kind in algorithms.removeprefix("algo.kind ").replace(" or ", ", ").split(", "):
                    make_config({"policy.kind": policy, "algo.kind": kind})
    assert refused == 6 * 5  # all policies except mlp with dqn, rllib-ppo and the three of Stable-Baselines3


def test_a_kind_of_another_package_has_its_own_settings() -> None:
    config = make_config({"policy": {"kind": f"{__name__}:Tiny", "size": 7}})
    assert isinstance(config.policy, Tiny) and config.policy.network() == {"size": 7}
    with pytest.raises(BadConfig, match=r"unknown setting 'policy.sizes'"):
        make_config({"policy": {"kind": f"{__name__}:Tiny", "sizes": 7}})
    with pytest.raises(BadConfig, match=r"policy\.size: .*greater than or equal to 1, got 0"):
        make_config({"policy": {"kind": f"{__name__}:Tiny", "size": 0}})


def test_changes_are_validated_and_another_kind_keeps_what_both_have() -> None:
    config = make_config(
        {"policy": {"kind": "lstm", "hidden": [32]}, "algo": {"kind": "dqn", "lr": 1e-2}} | {"policy.kind": "mlp"}
    )
    assert config.policy.kind == "mlp"
    changed = config.with_changes({"algo.kind": "ppo", "algo.clip": 0.3})
    assert isinstance(changed.algo, Ppo) and (changed.algo.lr, changed.algo.clip) == (1e-2, 0.3)
    assert changed.policy == config.policy
    with pytest.raises(BadConfig, match=r"larger than algo.batch"):
        config.with_changes({"algo.minibatch": 100_000})
    with pytest.raises(BadConfig, match=r"unknown setting 'algo.clip_range'"):
        config.with_changes({"algo.kind": "ppo", "algo.clip_range": 0.3})


def test_a_misspelt_setting_is_not_dropped_with_another_kind(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("algo: {kind: dqn, replayy: 9, replay: 40000, gamma: 0.9}\n")
    with pytest.raises(BadConfig, match=r"unknown setting 'algo.replayy'"):
        read_config(tmp_path / "c.yaml", {"algo.kind": "ppo"})
    (tmp_path / "c.yaml").write_text("algo: {kind: dqn, replay: 40000, gamma: 0.9}\n")
    assert read_config(tmp_path / "c.yaml", {"algo.kind": "ppo"}).algo.gamma == 0.9


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


def test_a_resumed_run_may_change_what_its_machine_needs_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "moved"
    with pytest.raises(BadConfig, match="there is no run"):
        config_of_run(folder)
    folder.mkdir()
    (folder / "config.yaml").write_text(make_config({"name": "old", "steps": 1000}).to_yaml())
    before = config_of_run(folder)
    assert before.folder == folder
    check_resumed(before, before.with_changes({"steps": 5000, "resources.runners": 2, "videos.keep": 7}))
    with pytest.raises(BadConfig, match=r"algo.lr is 0\.0003 in this run and cannot become 0\.1"):
        check_resumed(before, before.with_changes({"algo.lr": 0.1}))
    with pytest.raises(BadConfig, match=r"policy.kind is mlp in this run and cannot become lstm"):
        check_resumed(before, before.with_changes({"policy.kind": "lstm"}))


def test_terms_replace_those_of_the_named_reward() -> None:
    config = make_config({"games": {"reward": "shaped", "reward_terms": {"blind": 0.0, "ante": 0.5}}})
    paid = config.games.weighted_reward
    assert (paid.win, paid.blind, paid.progress, paid.ante) == (5.0, 0.0, 0.2, 0.5)
    assert make_config({}).games.weighted_reward == find_reward("shaped")
    with pytest.raises(BadConfig, match="there is no term 'blinds': choose among win, loss, blind"):
        make_config({"games.reward_terms": {"blinds": 1.0}})
    with pytest.raises(BadConfig, match="finite"):
        make_config({"games.reward_terms": {"win": float("inf")}})


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
def test_the_reward_of_a_run_is_the_sum_of_its_terms() -> None:
    """The same games are played with each term alone."""
    from ante.training.sampling.games import rules

    weights = {"win": 2.0, "loss": -1.0, "blind": 0.5, "progress": 0.25, "ante": 3.0}
    none = dict.fromkeys(weights, 0.0)
    made = {name: make_config({"games.reward_terms": {**none, name: 1.0}}) for name in weights}
    made["all"] = make_config({"games.reward_terms": weights})
    found = {name: evaluate(Baseline("greedy"), evaluation_seeds(6), **rules(config)) for name, config in made.items()}
    for i, record in enumerate(found["all"].records):
        parts = {name: found[name].records[i].reward for name in weights}
        assert record.reward == pytest.approx(sum(weights[name] * part for name, part in parts.items()))
        assert parts["loss"] == 1.0 and parts["blind"] == record.blinds
