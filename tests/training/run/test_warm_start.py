"""Warm starts: which policies a run can start from, what it takes over, and the lineage in its files."""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ante.errors import BalatroError
from ante.training.settings.config import BadConfig, make_config
from tests.support.checkpoints import make_run
from tests.support.tiny import TINY

torch = pytest.importorskip("torch")

from ante.files import Unreadable  # noqa: E402
from ante.training.players.release import ABOUT, read_release, write_release  # noqa: E402
from ante.training.policies.registry import load_policy, new_policy  # noqa: E402
from ante.training.run.warm_start import BadStart, check_network, read_start, shapes_of  # noqa: E402
from ante.training.run_store.lineage import LINEAGE, read_lineage, write_lineage  # noqa: E402

MLP = {"policy.hidden": [16, 12], "resources.games_per_runner": 16, "algo.batch": 256, "algo.minibatch": 64}
MLP |= {"algo.epochs": 1, "games.max_decisions": 60, "resources.bf16": "off"}


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_run_starts_with_the_weights_of_a_checkpoint_or_a_release_and_records_their_digests(tmp_path: Path) -> None:
    run = make_run(tmp_path / "first", MLP)
    policy, _ = load_policy(run)
    start = read_start(make_config({**MLP, "init_from": str(run), "games.deck": "b_blue", "algo.lr": 1e-5}))
    assert start and start.weights.keys() == policy.state_dict().keys()
    for name, value in policy.state_dict().items():
        assert np.array_equal(start.weights[name], value.numpy()), name
    (ancestor,) = start.lineage
    weights = run / "checkpoints" / "000000001000" / "weights.npz"
    assert ancestor.weights_sha256 == sha256(weights)
    assert (ancestor.name, ancestor.checkpoint, ancestor.policy, ancestor.steps) == (
        "first",
        "000000001000",
        "mlp",
        1000,
    )

    second = make_run(tmp_path / "second", {**MLP, "init_from": str(run)})
    write_lineage(second, start.lineage)
    release = write_release(second, tmp_path / "released")
    assert json.loads((release / ABOUT).read_text())["lineage"] == json.loads((second / LINEAGE).read_text())["lineage"]
    assert (
        f"`first`, checkpoint 000000001000: 1,000 decisions, SHA-256 of its weights `{sha256(weights)}`"
        in (release / "README.md").read_text()
    )
    third = read_start(make_config({**MLP, "init_from": str(release)}))
    assert third and [each.name for each in third.lineage] == ["released", "first"]
    assert third.lineage[0].weights_sha256 == sha256(release / "weights.npz")
    assert third.lineage[1] == ancestor
    write_release(release, release)  # sealed again
    assert len(read_release(release)[1]["lineage"]) == 1


def test_the_released_policy_fits_the_default_preset() -> None:
    from ante.training.settings.config import default_config

    start = read_start(default_config({}).with_changes({"init_from": "white-stake", "games.stake": 2}))
    assert start and [(each.name, each.checkpoint) for each in start.lineage] == [("white-stake", None)]
    assert read_start(default_config({})) is None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"policy.hidden": [16, 8]},
            r"has policy.hidden \[16, 12\], but this run has policy.hidden \[16, 8\]: use the",
        ),
        ({"policy.kind": "lstm"}, "first has policy.kind mlp, but this run has policy.kind lstm: use the settings of"),
        ({"algo.kind": "dqn"}, "first has algo.kind ppo, but this run has algo.kind dqn: use the settings of"),
        ({"init_from": "first@7"}, "no checkpoint|no 7 checkpoint"),
        ({"init_from": "nowhere"}, "init_from nowhere: there is no such policy; use the folder .*white-stake"),
        ({"init_from": "."}, "no best checkpoint under checkpoints"),
    ],
)
def test_a_policy_that_does_not_fit_is_refused_with_both_networks(
    settings: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_run(Path("first"), MLP)
    with pytest.raises(BalatroError, match=words):
        read_start(make_config({**MLP, "init_from": "first"}).with_changes(settings))


def test_a_network_of_another_version_names_the_first_array_that_differs() -> None:
    config = make_config({**MLP, "init_from": "first"})
    own = shapes_of(new_policy(config).state_dict())
    with pytest.raises(BadStart, match=r"has value.bias of shape \(2,\), but this run has value.bias of shape \(1,\)"):
        check_network(config, config, own, {**own, "value.bias": (2,)})
    with pytest.raises(BadStart, match=r"has extra of shape \(3,\), but this run has no extra"):
        check_network(config, config, own, {**own, "extra": (3,)})


def test_algorithms_without_a_warm_start_are_refused() -> None:
    for kind in ("rllib-ppo", "sb3-a2c"):
        words = f"init_from white-stake is not supported with algo.kind {kind}; use algo.kind ppo, .* or init_from null"
        with pytest.raises(BadConfig, match=words):
            make_config({"init_from": "white-stake", "algo.kind": kind})


def test_a_damaged_lineage_is_named(tmp_path: Path) -> None:
    assert read_lineage(tmp_path) == ()
    (tmp_path / LINEAGE).write_text('{"lineage": [{"name": 3}]}')
    with pytest.raises(Unreadable, match=r"lineage\.json: lineage"):
        read_lineage(tmp_path)


@pytest.fixture
def begin_run(local_ray: None, tmp_path: Path) -> Iterator[Any]:
    """Return a function that begins a run as `ante train` does, and stops its algorithm after the test."""
    from ante.training.run.loop import begin

    made: list[Any] = []

    def make(settings: dict[str, Any]) -> tuple[Any, Path]:
        config = make_config({"runs": str(tmp_path), "name": f"run{len(made)}", **settings})
        made.append(begin(config, False, lambda stage: None)[0])
        return made[-1], config.folder

    yield make
    for each in made:
        each.stop()


def learner_weights(algorithm: Any) -> dict[str, np.ndarray]:
    state = algorithm.learner_group.get_state()["learner"]["rl_module"]["default_policy"]
    return {name: np.array(value) for name, value in state.items()}


@pytest.mark.ray
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
@pytest.mark.parametrize("settings", [MLP, TINY, {**MLP, "resources.learners": 2, "resources.runners": 1}])
def test_learner_and_runners_have_the_weights_and_the_critic_learns_first(
    settings: dict[str, Any], begin_run: Any, tmp_path: Path
) -> None:
    source = make_run(tmp_path / "source", settings)
    wanted = {name: value.numpy() for name, value in load_policy(source)[0].state_dict().items()}
    algorithm, folder = begin_run({**settings, "init_from": str(source), "algo.critic_warmup": 2, "algo.lr": 1e-2})
    of_runners = algorithm.env_runner_group.foreach_env_runner(lambda runner: runner.module.get_state())
    for have in (learner_weights(algorithm), *of_runners):
        assert all(np.array_equal(have[name], value) for name, value in wanted.items())
    assert [each.name for each in read_lineage(folder)] == ["source"]
    for update in range(3):
        algorithm.train()
        changed = {
            name for name, value in learner_weights(algorithm).items() if not np.array_equal(value, wanted[name])
        }
        assert changed == {"value.weight", "value.bias"} if update < 2 else len(changed) > 4


@pytest.mark.ray
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
def test_a_q_network_starts_with_an_equal_target_network(begin_run: Any, tmp_path: Path) -> None:
    settings = {**MLP, "algo.kind": "dqn"}
    source = make_run(tmp_path / "source", settings)
    algorithm, _ = begin_run({**settings, "init_from": str(source)})
    target = algorithm.learner_group._learner._target.state_dict()
    for name, value in load_policy(source)[0].state_dict().items():
        assert torch.equal(target[name], value), name


@pytest.mark.ray
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
def test_exploration_begins_with_the_schedule_of_the_new_run(begin_run: Any, tmp_path: Path) -> None:
    settings = {**MLP, "algo.kind": "dqn"}
    source = make_run(tmp_path / "source", {**settings, "algo.epsilon": 0.125})
    assert load_policy(source)[0].explore == 0.125
    algorithm, _ = begin_run({**settings, "init_from": str(source), "algo.epsilon": [[0, 0.75], [1000, 0.0]]})
    assert algorithm.env_runner.module.explore == 0.75
