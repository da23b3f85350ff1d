"""Settings of the fast learner, on Ray: schedules, early stop, accumulation, normalisation, and all of it after a resume."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.ray,
    pytest.mark.usefixtures("local_ray"),
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled"),
]
SMALL = {"games": 16, "batch": 512, "minibatch": 128, "epochs": 2, "hidden": (32,), "max_decisions": 60, "bf16": "off"}


@pytest.fixture
def algorithm() -> Iterator[Any]:
    """Makes algorithms that are stopped after the test."""
    from ante.training.algorithm import build
    from ante.training.config import TrainConfig

    made: list[Any] = []

    def make(**settings: Any) -> Any:
        made.append(build(TrainConfig(**{**SMALL, **settings})))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def weights(made: Any) -> dict[str, np.ndarray]:
    state = made.learner_group.get_state()["learner"]["rl_module"]["default_policy"]
    return {name: np.array(value) for name, value in state.items()}


def told(made: Any) -> dict[str, Any]:
    return dict(made.train()["learners"]["default_policy"])


def learn(made: Any, rollout: Any) -> dict[str, np.ndarray]:
    from ante.training.fragments import Fragments

    config = made.config
    made.learner_group.update(
        training_data=Fragments([rollout]), num_epochs=config.num_epochs, minibatch_size=config.minibatch_size
    )
    return weights(made)


def test_two_minibatches_together_make_the_step_of_one_twice_as_large(algorithm: Any) -> None:
    whole, halves, each = (
        algorithm(lr=1e-3, **more) for more in ({}, {"minibatch": 64, "accumulate": 2}, {"minibatch": 64})
    )
    (rollout,) = whole.env_runner.sample()
    begin = weights(whole)
    one, two, other = (learn(made, rollout) for made in (whole, halves, each))
    for name in one:
        moved = np.abs(one[name] - begin[name]).max()
        assert np.quantile(np.abs(two[name] - one[name]), 0.99) < 0.02 * moved, name
    assert np.abs(other["trunk.0.weight"] - one["trunk.0.weight"]).max() > 1e-3, "twice as many steps go elsewhere"


def test_an_update_ends_once_the_policy_has_moved_far_enough(algorithm: Any) -> None:
    free, held = algorithm(lr=1e-2, epochs=8), algorithm(lr=1e-2, epochs=8, kl_target=0.01)
    (rollout,) = free.env_runner.sample()
    policy = held.learner_group._learner.module["default_policy"].unwrapped()
    learn(free, rollout)
    learn(held, rollout)
    steps = [
        float(next(iter(made.learner_group._learner._optimizer_parameters)).state_dict()["state"][0]["step"])
        for made in (free, held)
    ]
    assert steps[0] == 8 * 4 and 0 < steps[1] < steps[0]
    with torch.no_grad():
        log_ratio = policy.evaluate(rollout.rows, rollout.actions)[0] - torch.from_numpy(rollout.log_probs)
        moved = float((log_ratio.exp() - 1 - log_ratio).mean())
    assert 0.005 < moved < 0.05
    assert told(held)["epochs"] < 8 and told(free)["epochs"] == 8


def test_schedules_follow_the_steps_and_are_exact_after_a_resume(algorithm: Any, tmp_path: Path) -> None:
    settings = {"lr": ((0, 1e-3), (1024, 5e-4), (2560, 1e-4)), "entropy": ((0, 0.1), (2048, 0.0))}
    made = algorithm(**settings)
    rows = [told(made) for _ in range(2)]
    made.save_to_path(str(tmp_path / "here"))
    rows += [told(made) for _ in range(4)]
    fresh = algorithm(**settings)
    fresh.restore_from_path(str(tmp_path / "here"))
    again = [told(fresh) for _ in range(4)]
    for i, row in enumerate([*rows, *again]):
        steps = 512 * (i if i < 6 else i - 4)
        assert row["default_optimizer_learning_rate"] == pytest.approx(
            np.interp(steps, [0, 1024, 2560], [1e-3, 5e-4, 1e-4])
        ), i
        assert row["curr_entropy_coeff"] == pytest.approx(np.interp(steps, [0, 2048], [0.1, 0.0]), abs=1e-7), i


def test_normalised_rewards_and_values_are_the_games_own_after_a_resume_too(algorithm: Any, tmp_path: Path) -> None:
    from ante.training.scales import mean_and_spread

    made = algorithm(normalise_rewards=True, normalise_values=True)
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
    made.save_to_path(str(tmp_path / "here"))
    fresh = algorithm(normalise_rewards=True, normalise_values=True)
    fresh.restore_from_path(str(tmp_path / "here"))
    for scales in (fresh.learner_group._learner.scales, fresh.env_runner.scales, runner.scales):
        assert np.array_equal(scales.returns, learner.scales.returns)
        assert np.array_equal(scales.targets, learner.scales.targets)
    assert learner.scales.targets[0] > 1000
    assert np.isfinite(told(fresh)["vf_loss"])


def test_learners_in_processes_of_their_own_agree_on_everything(algorithm: Any) -> None:
    from ante.training.algorithm import fast_config
    from ante.training.config import TrainConfig

    settings = {"normalise_rewards": True, "normalise_values": True, "accumulate": 2, "kl_target": 0.005, "lr": 1e-2}
    config = fast_config(TrainConfig(**{**SMALL, **settings, "runners": 1, "epochs": 6, "batch": 256, "minibatch": 64}))
    made = config.learners(num_learners=2).build_algo()
    rows = [told(made) for _ in range(2)]
    assert all(0 < row["epochs"] < 6 for row in rows)
    states = [answer.get() for answer in made.learner_group.foreach_learner(lambda learner: learner.get_state())]
    for name, value in states[0]["rl_module"]["default_policy"].items():
        assert np.array_equal(value, states[1]["rl_module"]["default_policy"][name]), name
    for name, value in states[0]["scales"].items():
        assert np.array_equal(value, states[1]["scales"][name]) and value[0] > 0, name
    made.stop()
