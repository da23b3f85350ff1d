"""Updates of the fast learner with a runner in the same process and without Ray: accumulation, early stop, V-trace."""

from typing import Any

import numpy as np
import pytest

from tests.support.tiny import fitting

torch = pytest.importorskip("torch")
SMALL = {
    "resources.games_per_runner": 16,
    "algo.batch": 512,
    "algo.minibatch": 128,
    "algo.epochs": 2,
    "policy.hidden": (32,),
    "games.max_decisions": 60,
    "resources.bf16": "off",
}


def made(**settings: Any) -> tuple[Any, Any]:
    """Return a runner and a learner with the same weights; uses the settings of SMALL that apply to the kinds."""
    from ray.tune.registry import register_env

    from ante.training.rllib.build import ENV, fast_config, make_env
    from ante.training.settings.config import make_config

    register_env(ENV, make_env)
    config = fast_config(make_config(SMALL).with_changes(settings))
    runner = config.env_runner_cls(config=config)
    learner = config.build_learner(spaces=runner.get_spaces())
    learner.build()
    runner.module.set_state(learner._policy().get_state())
    return runner, learner


def learned(learner: Any, fragment: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the weights after one update, and its metrics."""
    from ante.training.sampling.training_data import Fragments

    config = learner.config
    given = Fragments([fragment])
    metrics = learner.update(training_data=given, num_epochs=config.num_epochs, minibatch_size=config.minibatch_size)
    return {name: np.array(value) for name, value in learner._policy().get_state().items()}, metrics["default_policy"]


def steps_of(learner: Any) -> int:
    """Return the number of Adam's steps."""
    (optimizer,) = learner._optimizer_parameters
    return int(optimizer.state_dict()["state"][0]["step"])


def test_two_minibatches_together_make_the_step_of_one_twice_as_large() -> None:
    runner, whole = made(**{"algo.lr": 1e-3})
    halves, each = (made(**{"algo.lr": 1e-3, "algo.minibatch": 64}, **more)[1] for more in ({"algo.accumulate": 2}, {}))
    begin = {name: np.array(value) for name, value in whole._policy().get_state().items()}
    for learner in (halves, each):
        learner._policy().set_state(begin)
    (rollout,) = runner.sample()
    one, two, other = (learned(learner, rollout)[0] for learner in (whole, halves, each))
    assert [steps_of(learner) for learner in (whole, halves, each)] == [8, 8, 16]
    for name in one:
        moved = np.abs(one[name] - begin[name]).max()
        assert np.quantile(np.abs(two[name] - one[name]), 0.99) < 0.02 * moved, name
    assert np.abs(other["trunk.0.weight"] - one["trunk.0.weight"]).max() > 1e-3, "twice as many steps differ"


def test_an_update_ends_once_the_policy_has_moved_far_enough() -> None:
    runner, free = made(
        **{"algo.lr": 1e-2, "algo.epochs": 8},
    )
    held = made(
        **{"algo.lr": 1e-2, "algo.epochs": 8, "algo.kl_target": 0.01},
    )[1]
    held._policy().set_state(free._policy().get_state())
    (rollout,) = runner.sample()
    metrics = [float(learned(learner, rollout)[1]["epochs"]) for learner in (free, held)]
    assert steps_of(free) == 8 * 4 and 0 < steps_of(held) < 8 * 4
    with torch.no_grad():
        log_probs = held._policy().evaluate(rollout.rows, rollout.actions)[0]
    log_ratio = log_probs - torch.from_numpy(rollout.log_probs)
    assert 0.005 < float((log_ratio.exp() - 1 - log_ratio).mean()) < 0.05
    assert metrics == [8, steps_of(held) / 4]


@pytest.mark.parametrize("normalise", [False, True])
def test_on_policy_the_learner_and_the_runner_compute_the_same_advantages(normalise: bool) -> None:
    runner, learner = made(
        **{"algo.kind": "appo", "games.max_decisions": 24, "algo.normalise_values": normalise, "algo.fragment": 10},
    )
    learned(learner, runner.sample()[0])
    runner.set_state(learner.get_state())
    (trace,) = runner.sample()
    assert trace.terminal.any() and len(trace.places) > 0, "games are lost and truncated in this fragment"
    rollout = learner._estimated(trace)
    values = runner._values_of(trace.rows.reshape(-1)).reshape(trace.actions.shape)
    wanted = runner._estimated(trace, values)
    np.testing.assert_allclose(rollout.advantages, wanted.advantages, atol=2e-3)
    np.testing.assert_allclose(rollout.targets, wanted.targets, atol=2e-3)
    assert np.abs(wanted.advantages).max() > 0.1
    assert trace.cut[9::10].all() and not trace.cut.all()


@pytest.mark.parametrize("policy", ["mlp", "entities", "shortlist", "lstm", "cnn-fused"])
def test_a_trace_of_an_older_policy_is_evaluated_by_the_current_one(policy: str) -> None:
    from ante.training.learning.ppo import RATIO_TOP
    from ante.training.policies.protocol import with_frames
    from tests.support import estimates

    small = {"resources.games_per_runner": 8, "algo.batch": 64, "algo.minibatch": 32}
    network = {"width": 16, "layers": 1, "heads": 2, "trunk": 16, "entry": 16, "sequence": 8, "size": (36, 48)}
    runner, learner = made(**fitting(policy, network), **{"algo.kind": "appo", "algo.lr": 3e-2}, **small)
    (trace,) = runner.sample()
    learned(learner, trace)
    now, shape = learner._policy(), trace.actions.shape
    with torch.no_grad():
        seen, last = (with_frames(rows, trace.frames) for rows in (trace.rows.reshape(-1), trace.extra))
        log_probs, _, values = now.evaluate(seen, trace.actions.reshape(-1))
        extra = np.asarray(now.act(last, torch.Generator().manual_seed(1))[2])
    ratios = np.exp(log_probs.numpy().reshape(shape) - trace.log_probs)
    assert np.abs(ratios - 1).max() > 0.01, "the policy has changed"
    values = values.numpy().reshape(shape)
    after = np.concatenate([values[1:], extra[None, : shape[1]]])
    after[trace.terminal] = 0
    assert len(trace.places) == 0
    config = learner.config
    wanted = estimates.vtrace(
        trace.rewards, values, after, trace.cut, ratios, config.gamma, config.lambda_, RATIO_TOP, RATIO_TOP
    )
    rollout = learner._estimated(trace)
    np.testing.assert_allclose(rollout.advantages.reshape(shape), wanted[0], atol=1e-3)
    np.testing.assert_allclose(rollout.targets.reshape(shape), wanted[1], atol=1e-3)


def test_a2c_makes_one_step_from_a_batch() -> None:
    runner, learner = made(
        **{"algo.kind": "a2c", "algo.lr": 1e-3},
    )
    (rollout,) = runner.sample()
    _, metrics = learned(learner, rollout)
    assert steps_of(learner) == 1
    assert float(metrics["mean_kl_loss"]) == pytest.approx(0.0, abs=1e-4)
