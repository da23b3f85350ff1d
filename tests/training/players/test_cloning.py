"""Behaviour cloning: inputs equal the policy's observations, the clone imitates the data; and A2C's gradient step."""

import csv
import json
import os
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")

from ante.agents.baselines import Baseline  # noqa: E402
from ante.agents.evaluate import evaluate, paired_difference  # noqa: E402
from ante.agents.seed_lists import dataset_seeds, evaluation_seeds  # noqa: E402
from ante.env.games import Games  # noqa: E402
from ante.env.replay import Heading  # noqa: E402
from ante.training.datasets.export import export  # noqa: E402
from ante.training.datasets.read import Dataset  # noqa: E402
from ante.training.datasets.scripts import played_scripts  # noqa: E402
from ante.training.players.cloning import (  # noqa: E402
    CloneSettings,
    NothingToLearn,
    clone,
    judge_of,
    rows_of,
)
from ante.training.players.release import digest_of_weights, player_from, read_release  # noqa: E402
from ante.training.policies.registry import new_policy  # noqa: E402
from ante.training.run.warm_start import read_start  # noqa: E402
from ante.training.settings.config import BadConfig, TrainConfig, make_config  # noqa: E402

SMALL = CloneSettings(epochs=3, batch=128, hidden=(32, 32), entry=16, lr=3e-3)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Dataset]:
    """Return twenty games of greedy in both views."""
    found = {}
    for view in ("flat", "shortlist"):
        folder = tmp_path_factory.mktemp("shown") / view
        games = played_scripts(Baseline("greedy"), dataset_seeds(20, 1), Heading(""), 20)
        export(folder, games, view, player="greedy", deck="b_red", stake=1)
        found[view] = Dataset(folder)
    return found


def config_for(view: str) -> TrainConfig:
    policy = {"flat": "mlp", "shortlist": "shortlist"}[view]
    entry = {"policy.entry": 16} if view == "shortlist" else {}
    return make_config({"policy.kind": policy, "policy.hidden": (32, 32), **entry})


@pytest.mark.parametrize("view", ["flat", "shortlist"])
def test_rows_are_those_that_the_policy_packs_in_play(shown: dict[str, Dataset], view: str) -> None:
    steps = shown[view].read([0])
    policy = new_policy(config_for(view))
    first = steps.take(steps["game"] == 0)
    games = Games(1, seed=first["seed"][0], reorder="none", discrete=policy.discrete)
    games.reset()
    rows, recorded = np.zeros(1, dtype=policy.row_t), rows_of(first, policy)
    for k in range(len(first)):
        policy.pack(games, rows)
        assert rows.tobytes() == recorded[k : k + 1].tobytes()
        games.step(first["choice" if policy.discrete else "action"][k : k + 1].astype(np.int64))


def test_log_probs_and_values_are_the_policy_s_own(shown: dict[str, Dataset]) -> None:
    policy = new_policy(config_for("shortlist"))
    steps = shown["shortlist"].read([0])
    judge = judge_of(policy, "shortlist")
    assert judge is not None and judge_of(policy, "flat") is None
    log_probs, values = judge(steps.columns)
    listed = steps["choice"] >= 0
    assert np.isnan(log_probs[~listed]).all() and (log_probs[listed] <= 0).all()
    with torch.no_grad():
        logits, own = policy.heads(policy.stage(rows_of(steps, policy)))
    probabilities = logits.softmax(dim=1)[
        torch.arange(len(steps)), torch.as_tensor(np.maximum(steps["choice"], 0)).long()
    ]
    assert np.exp(log_probs[listed]) == pytest.approx(probabilities.numpy()[listed], abs=1e-5)
    assert values == pytest.approx(own.numpy(), abs=1e-5)


@pytest.mark.parametrize("view", ["flat", "shortlist"])
def test_a_cloned_policy_decides_like_its_data(shown: dict[str, Dataset], view: str, tmp_path: Path) -> None:
    epochs = clone(shown[view], tmp_path / "clone", SMALL)
    assert epochs[-1].held_loss < epochs[0].held_loss < epochs[0].uniform
    lines = list(csv.DictReader((tmp_path / "clone" / "metrics.csv").open()))
    assert [float(line["held_loss"]) for line in lines] == [each.held_loss for each in epochs]
    _, about = read_release(tmp_path / "clone")
    assert about["trained"]["dataset"]["player"] == "greedy"
    assert json.loads((tmp_path / "clone" / "policy.json").read_text())["trained"]["games"] == 20
    again = clone(shown[view], tmp_path / "again", SMALL)
    assert [each.held_loss for each in again] == pytest.approx([each.held_loss for each in epochs], rel=1e-3)
    with pytest.raises(NothingToLearn, match="already contains a policy"):
        clone(shown[view], tmp_path / "clone", SMALL)


def test_a_cloned_policy_is_a_player_and_beats_one_that_knows_nothing(
    shown: dict[str, Dataset], tmp_path: Path
) -> None:
    clone(shown["shortlist"], tmp_path / "clone", SMALL)
    player = player_from(tmp_path / "clone")
    found = [evaluate(each, evaluation_seeds(96), max_decisions=400) for each in (player, Baseline("random"))]
    more, half = paired_difference(*found)
    assert more > 2 * half


@pytest.mark.parametrize("view", ["flat", "shortlist"])
def test_a_training_can_start_with_a_cloned_policy(shown: dict[str, Dataset], view: str, tmp_path: Path) -> None:
    clone(shown[view], tmp_path / "clone", SMALL)
    start = read_start(make_config({**config_for(view).values(), "init_from": str(tmp_path / "clone")}))
    assert start
    cloned, about = read_release(tmp_path / "clone")
    assert start.lineage[0].weights_sha256 == digest_of_weights(about)
    for name, value in cloned.state_dict().items():
        assert np.array_equal(start.weights[name], value.numpy())


def test_too_little_to_learn_from_is_refused(tmp_path: Path) -> None:
    games = played_scripts(Baseline("random"), dataset_seeds(2, 1), Heading(""), 2)
    export(tmp_path / "two", games, "shortlist", player="random")
    with pytest.raises(NothingToLearn, match="too few games to hold out 10%"):
        clone(Dataset(tmp_path / "two"), tmp_path / "clone", CloneSettings(epochs=1, hidden=(16, 16), entry=8))


@pytest.mark.parametrize("view", ["flat", "shortlist"])
def test_the_step_of_a2c_is_that_of_the_plain_policy_gradient(shown: dict[str, Dataset], view: str) -> None:
    """PPO's gradient with a2c's settings, against autograd on -A log p + w (V - R)^2 - b H, written independently."""
    from ante.training.learning.ppo import minibatches_of, score_actions
    from ante.training.numerics import torch_ops

    torch.manual_seed(2)
    config = config_for(view).with_changes({"algo.kind": "a2c", "algo.batch": 512, "algo.minibatch": 128})
    passes, together, clip = config.algo.update
    assert (passes, minibatches_of(512, 128, together)) == (1, (4, 4)), "one step for each batch"
    policy, steps = new_policy(config), shown[view].read([0])
    steps = steps.take(np.flatnonzero(steps["choice"] >= 0)[:96])
    rows, choice = rows_of(steps, policy), steps["choice"].astype(np.int64)
    rng = np.random.default_rng(3)
    advantages, targets = (rng.normal(0, 1, 96).astype(np.float32) for _ in range(2))
    with torch.no_grad():
        before = np.array(score_actions(policy, rows, choice)[0])
    weights = clip, 0.7, 0.02, float("inf")
    by_hand = (
        policy.ppo_gradient(policy.stage(rows), (choice, before, advantages, targets), *weights)
        if view == "flat"
        else None
    )
    if by_hand is None:
        batch = [torch.from_numpy(each) for each in (before, advantages, targets)]
        loss, _ = torch_ops.ppo(policy.evaluate(rows, choice), *batch, *weights)
        found = torch.autograd.grad(loss, list(policy.parameters()), allow_unused=True)
    else:
        found = by_hand[0]
    log_probs, entropy, values = policy.evaluate(rows, choice)
    advantage, target = torch.from_numpy(advantages), torch.from_numpy(targets)
    plain = -(advantage * log_probs).mean() + 0.7 * ((values - target) ** 2).mean() - 0.02 * entropy.mean()
    wanted = torch.autograd.grad(plain, list(policy.parameters()), allow_unused=True)
    for one, other in zip(found, wanted, strict=True):
        if other is not None:
            assert torch.allclose(one, other, rtol=2e-3, atol=2e-5)


def test_a2c_waits_for_its_batch() -> None:
    with pytest.raises(BadConfig, match=r"algo.overlap is a setting of algo.kind ppo or dqn only; leave it out"):
        make_config({"algo.kind": "a2c", "algo.overlap": True})
    assert make_config({"algo.epochs": 3, "algo.clip": 0.1}).algo.update == (3, 1, 0.1)
