"""Settings of the fast path on Ray: schedules, normalisation, sampling ahead, also after a resume."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ante.training.settings.config import make_config
from tests.support.checkpoints import restore, save

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.ray,
    pytest.mark.usefixtures("local_ray"),
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled"),
]
SMALL = {
    "resources.games_per_runner": 16,
    "algo.batch": 512,
    "algo.minibatch": 128,
    "algo.epochs": 2,
    "policy.hidden": (32,),
    "games.max_decisions": 60,
    "resources.bf16": "off",
}


@pytest.fixture
def algorithm(local_ray: None) -> Iterator[Any]:
    """Return a function that creates algorithms; stops them after the test."""
    from ante.training.rllib.build import build
    from ante.training.settings.config import make_config

    made: list[Any] = []

    def make(**settings: Any) -> Any:
        run = make_config({**SMALL, **settings})
        made.append(build(run))
        made[-1].run = run
        return made[-1]

    yield make
    for each in made:
        each.stop()


def weights(made: Any) -> dict[str, np.ndarray]:
    state = made.learner_group.get_state()["learner"]["rl_module"]["default_policy"]
    return {name: np.array(value) for name, value in state.items()}


def metrics_of(made: Any) -> dict[str, Any]:
    return dict(made.train()["learners"]["default_policy"])


def test_schedules_follow_the_steps_and_are_exact_after_a_resume(algorithm: Any, tmp_path: Path) -> None:
    settings = {"algo.lr": ((0, 1e-3), (1024, 5e-4), (2560, 1e-4)), "algo.entropy": ((0, 0.1), (2048, 0.0))}
    made = algorithm(**settings)
    rows = [metrics_of(made) for _ in range(2)]
    save(made, made.run, tmp_path / "here")
    rows += [metrics_of(made) for _ in range(4)]
    fresh = algorithm(**settings)
    restore(fresh, tmp_path / "here")
    again = [metrics_of(fresh) for _ in range(4)]
    for i, row in enumerate([*rows, *again]):
        steps = 512 * (i if i < 6 else i - 4)
        assert row["default_optimizer_learning_rate"] == pytest.approx(
            np.interp(steps, [0, 1024, 2560], [1e-3, 5e-4, 1e-4])
        ), i
        assert row["curr_entropy_coeff"] == pytest.approx(np.interp(steps, [0, 2048], [0.1, 0.0]), abs=1e-7), i


@pytest.mark.parametrize("settings", [{}, {"algo.kind": "dqn"}, {"resources.learners": 2, "resources.runners": 1}])
def test_the_optimizers_step_with_the_scheduled_rate_after_a_resume_too(
    algorithm: Any, settings: dict[str, Any], tmp_path: Path
) -> None:
    settings = {"algo.lr": ((0, 1e-3), (2048, 2e-4)), **settings}
    made = algorithm(**settings)
    for rate in (1e-3, 8e-4):
        made.train()
        assert rates(made) == [pytest.approx([rate])] * max(1, made.run.resources.learners)
    save(made, made.run, tmp_path / "here")
    fresh = algorithm(**settings)
    restore(fresh, tmp_path / "here")
    for rate in (6e-4, 4e-4, 2e-4, 2e-4):
        fresh.train()
        assert rates(fresh) == [pytest.approx([rate])] * max(1, made.run.resources.learners)


def rates(made: Any) -> list[list[float]]:
    """Return the learning rates with which each learner's Adam made its last step."""

    def of(learner: Any) -> list[float]:
        return [float(group["lr"]) for group in learner.get_optimizer().param_groups]

    return [answer.get() for answer in made.learner_group.foreach_learner(of)]


def test_normalised_rewards_and_values_are_the_games_own_after_a_resume_too(algorithm: Any, tmp_path: Path) -> None:
    from ante.training.numerics.normalisation import mean_and_spread

    made = algorithm(
        **{"algo.normalise_rewards": True, "algo.normalise_values": True},
    )
    runner, learner, seen = made.env_runner, made.learner_group._learner, []
    step = runner.games.step

    def watched(actions: np.ndarray) -> None:
        step(actions)
        seen.append((runner.games.rewards.copy(), runner.games.outcome != 0))

    runner.games.step = watched
    for _ in range(3):
        made.train()
    sofar, every = np.zeros(16), []
    for rewards, ended in seen:
        sofar = made.config.gamma * sofar + rewards
        every.append(sofar.copy())
        sofar[ended] = 0.0
    assert mean_and_spread(learner.scales.returns) == pytest.approx((np.mean(every), np.std(every)), rel=1e-4)
    save(made, made.run, tmp_path / "here")
    fresh = algorithm(
        **{"algo.normalise_rewards": True, "algo.normalise_values": True},
    )
    restore(fresh, tmp_path / "here")
    for scales in (fresh.learner_group._learner.scales, fresh.env_runner.scales, runner.scales):
        assert np.array_equal(scales.returns, learner.scales.returns)
    heads = [each._policy().value for each in (learner, fresh.learner_group._learner)]
    heads += [each.module.value for each in (runner, fresh.env_runner)]
    for head in heads:
        for name in ("count", "mean", "spread"):
            assert torch.equal(getattr(head, name), getattr(heads[0], name)), name
    assert heads[0].count > 1000
    assert np.isfinite(metrics_of(fresh)["vf_loss"])


def test_learners_in_processes_of_their_own_agree_on_everything(algorithm: Any) -> None:
    from ante.training.rllib.build import fast_config

    settings = {
        "algo.normalise_rewards": True,
        "algo.normalise_values": True,
        "algo.accumulate": 2,
        "algo.kl_target": 0.005,
        "algo.lr": 1e-2,
    }
    config = fast_config(
        make_config(
            {**SMALL, **settings, "resources.runners": 1, "algo.epochs": 6, "algo.batch": 256, "algo.minibatch": 64}
        )
    )
    made = config.learners(num_learners=2).build_algo()
    rows = [metrics_of(made) for _ in range(2)]
    assert all(0 < row["epochs"] < 6 for row in rows)
    states = [answer.get() for answer in made.learner_group.foreach_learner(lambda learner: learner.get_state())]
    for name, value in states[0]["rl_module"]["default_policy"].items():
        assert np.array_equal(value, states[1]["rl_module"]["default_policy"][name]), name
    for name, value in states[0]["scales"].items():
        assert np.array_equal(value, states[1]["scales"][name]) and value[0] > 0, name
    made.stop()


def test_one_and_two_learners_make_the_same_update_of_three_fragments(algorithm: Any) -> None:
    """The third fragment is split; advantages are normalised over the rows of both learners."""
    from ante.training.rllib.build import fast_config
    from ante.training.sampling.training_data import Fragments

    settings = {"algo.lr": 1e-3, "algo.normalise_values": True, "algo.value_weight": 0.5}
    one = algorithm(**settings)
    rollouts = [one.env_runner.sample()[0] for _ in range(3)]
    assert len({float(rollout.advantages.mean()) for rollout in rollouts}) == 3, "their means differ"
    state = one.learner_group.get_state()
    two = fast_config(make_config({**SMALL, **settings})).learners(num_learners=2).build_algo()
    two.learner_group.set_state(state)
    for made in (one, two):
        made.learner_group.update(training_data=Fragments(rollouts), num_epochs=1, minibatch_size=None)
    (first,), (second, third) = (gradients(made) for made in (one, two))
    two.stop()
    for name, value in first.items():
        assert np.array_equal(second[name], third[name]), name
        np.testing.assert_allclose(second[name], value, rtol=1e-4, atol=1e-5 * float(np.abs(value).max()), err_msg=name)


def gradients(made: Any) -> list[dict[str, np.ndarray]]:
    """Return the gradients of the last step of each learner."""

    def of(learner: Any) -> dict[str, np.ndarray]:
        return {name: each.grad.numpy() for name, each in learner._policy().named_parameters()}

    return [answer.get() for answer in made.learner_group.foreach_learner(of)]


@pytest.mark.parametrize(
    ("settings", "lags"), [({"resources.runners": 0}, [0, 1, 2, 2, 2]), ({"resources.runners": 2}, [0, 1, 2, 2, 2])]
)
def test_batches_are_played_ahead_as_far_as_the_lag_says(
    algorithm: Any, settings: dict[str, Any], lags: list[int]
) -> None:
    made = algorithm(
        **{"algo.kind": "appo", "algo.lag": 2, "algo.epochs": 1, "resources.games_per_runner": 8}, **settings
    )
    results = [made.train() for _ in lags]
    assert [result["learners"]["default_policy"]["policy_lag"] for result in results] == lags
    assert all(result["env_runners"]["num_env_steps_sampled"] == 512 for result in results)
    assert all(result["learners"]["default_policy"]["epochs"] == 1 for result in results)


def test_appo_repeats_itself_learns_and_goes_on_from_a_checkpoint(algorithm: Any, tmp_path: Path) -> None:
    settings = {
        "algo.kind": "appo",
        "algo.lag": 2,
        "algo.lr": 3e-3,
        "algo.epochs": 1,
        "algo.batch": 1024,
        "algo.normalise_values": True,
        "seed": 3,
    }
    made, second = algorithm(**settings), algorithm(**settings)
    results = [made.train() for _ in range(12)]
    for before, again in zip(results[:4], (second.train() for _ in range(4)), strict=True):
        for name in ("policy_loss", "vf_loss", "entropy"):
            assert before["learners"]["default_policy"][name] == again["learners"]["default_policy"][name]
    losses = [result["learners"]["default_policy"]["vf_loss"] for result in results]
    assert np.mean(losses[-3:]) < 0.8 * np.mean(losses[:3])
    save(made, made.run, tmp_path / "here")
    fresh = algorithm(**settings)
    restore(fresh, tmp_path / "here")
    here = weights(made)
    assert all(np.array_equal(here[name], value) for name, value in weights(fresh).items())
    one, two = metrics_of(made), metrics_of(fresh)
    for name in ("policy_lag", "vf_loss", "entropy"):
        assert one[name] == two[name], f"{name}: the checkpoint contains the batches sampled ahead"
    assert two["policy_lag"] > 0


def test_health_of_an_update_is_logged(algorithm: Any) -> None:
    """First ratio, explained variance and gradient norms, recomputed from the rollout; a batch with NaN takes no step."""
    from ante.training.sampling.training_data import Fragments

    made = algorithm(**{"algo.minibatch": 512, "algo.epochs": 1, "algo.grad_clip": 1e9, "algo.lr": 0.01})
    learner = made.learner_group._learner
    (rollout,) = made.env_runner.sample()
    policy = learner.module["default_policy"].unwrapped()
    with torch.no_grad():
        values = policy.evaluate(rollout.rows, torch.from_numpy(rollout.actions))[2].numpy()

    def update(rollout: Any) -> dict[str, float]:
        found = made.learner_group.update(training_data=Fragments([rollout]), num_epochs=1, minibatch_size=512)
        return {name: float(value) for name, value in found[0]["default_policy"].items()}

    found = update(rollout)
    assert found["first_ratio"] == found["ratio_distance"] == pytest.approx(0.0, abs=1e-5), "a single gradient step"
    expected = 1 - np.var(rollout.targets - values) / np.var(rollout.targets)
    assert found["explained_variance"] == pytest.approx(expected, abs=1e-4)
    gradient = [parameter.grad.square().sum().item() for parameter in policy.parameters()]
    assert found["grad_norm"] == pytest.approx(np.sqrt(sum(gradient)), rel=1e-4) and found["nonfinite_grad_steps"] == 0
    with torch.no_grad():
        now = policy.evaluate(rollout.rows, torch.from_numpy(rollout.actions))[0].numpy()
    distance = np.abs(np.exp(np.float64(now) - rollout.log_probs) - 1.0).mean()
    assert distance > 1e-3 and update(rollout)["first_ratio"] == pytest.approx(distance, rel=1e-3), "older weights"

    before = weights(made)
    for damaged in (rollout.targets, rollout.advantages):
        kept, damaged[7] = damaged[7], np.nan
        found = update(rollout)
        assert found["nonfinite_grad_steps"] == 1 and np.isnan(found["grad_norm"])
        damaged[7] = kept
    assert all(np.array_equal(before[name], value) for name, value in weights(made).items())


def test_the_use_of_a_gpu_is_reported_as_far_as_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    import pynvml
    import torch

    from ante.training.learning.learner import gpu_use

    device = torch.device("cuda", 1)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda of: 3 * 2**29 if of == device else 0)
    monkeypatch.setattr(torch.cuda, "utilization", lambda of: 87 if of == device else 0)
    assert gpu_use(device) == {"gpu_utilisation": 0.87, "gpu_memory_gb": 1.5}

    def unknown(_: object) -> int:
        raise pynvml.NVMLError_NotSupported

    monkeypatch.setattr(torch.cuda, "utilization", unknown)
    assert str(gpu_use(device)) == "{'gpu_utilisation': nan, 'gpu_memory_gb': 1.5}"
    monkeypatch.setitem(sys.modules, "pynvml", None)  # not installed
    assert str(gpu_use(device)) == "{'gpu_utilisation': nan, 'gpu_memory_gb': 1.5}"
