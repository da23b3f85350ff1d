"""Updates of the fast learner with a runner in the same process and without Ray: accumulation, early stop, V-trace."""

import copy
import math
from pathlib import Path
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
    for name in (name for name, _ in whole._policy().named_parameters()):
        moved = np.abs(one[name] - begin[name]).max()
        assert np.quantile(np.abs(two[name] - one[name]), 0.99) < 0.02 * moved, name
    assert np.abs(other["trunk.0.weight"] - one["trunk.0.weight"]).max() > 1e-3, "twice as many steps differ"


def test_frozen_layers_stay_and_the_others_learn_from_accumulated_minibatches() -> None:
    settings = {"algo.batch": 64, "algo.epochs": 1, "algo.lr": 1e-2, "resources.games_per_runner": 8}
    cnn = fitting("cnn", {"size": (36, 48), "channels": (2, 2, 2), "hidden": (16,)})
    runner, learner = made(**settings, **cnn, **{"algo.minibatch": 16, "algo.accumulate": 2})
    policy = learner._policy()
    for parameter in policy.convolutions.parameters():
        parameter.requires_grad_(False)
    before = {name: value.clone() for name, value in policy.state_dict().items()}
    (rollout,) = runner.sample()
    learned(learner, rollout)
    for name, value in policy.named_parameters():
        assert torch.equal(value, before[name]) == name.startswith("convolutions"), name


def test_gradient_steps_do_not_depend_on_the_minibatches_that_are_accumulated() -> None:
    """Games that do not divide the batch: 1,100 rows are 2 minibatches of 512, but 17 of 64."""
    settings = {"algo.batch": 1024, "algo.epochs": 1, "resources.games_per_runner": 110}
    runner, whole = made(**settings, **{"algo.minibatch": 512})
    parts = made(**settings, **{"algo.minibatch": 64, "algo.accumulate": 8})[1]
    (rollout,) = runner.sample()
    assert len(rollout) == 1100
    for learner in (whole, parts):
        learned(learner, rollout)
        assert steps_of(learner) == 2


def test_a2c_takes_one_step_if_the_games_do_not_divide_the_batch() -> None:
    """A second step would use ratios other than 1, without clipping."""
    settings = {"algo.kind": "a2c", "algo.batch": 600, "algo.minibatch": 250, "resources.games_per_runner": 400}
    runner, learner = made(**settings)
    (rollout,) = runner.sample()
    assert len(rollout) == 800
    metrics = learned(learner, rollout)[1]
    assert steps_of(learner) == 1
    assert float(metrics["policy_loss"]) == pytest.approx(0.0, abs=1e-3), "all ratios are 1: the mean advantage is 0"


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


def test_certain_actions_are_learned_from_in_one_epoch_only() -> None:
    runner, learner = made(**{"algo.epochs": 3})
    (rollout,) = runner.sample()
    learner.config = learner.config.copy(copy_frozen=False)
    learner.config.certain = float(np.exp(np.median(rollout.log_probs)))
    visits = learner._visits(rollout, len(rollout), 3, np.random.default_rng(0))
    times = np.bincount(np.concatenate(visits), minlength=len(rollout))
    certain = np.exp(rollout.log_probs.astype(float)) > learner.config.certain
    assert 0.2 < certain.mean() < 0.6
    assert (times[certain] == 1).all() and (times[~certain] == 3).all()
    assert all(len(np.unique(rows)) == len(rows) and (np.diff(rows) < 0).any() for rows in visits)
    _, metrics = learned(learner, rollout)
    assert metrics["epochs"] == 3 and metrics["num_module_steps_trained"] == times.sum()
    assert sum(len(rows) // 128 for rows in visits) - 3 <= steps_of(learner) <= times.sum() // 128


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
    np.testing.assert_allclose(learner._errors[-1][1].reshape(shape), wanted[1] - values, atol=1e-3)


def test_a2c_makes_one_step_from_a_batch() -> None:
    runner, learner = made(
        **{"algo.kind": "a2c", "algo.lr": 1e-3},
    )
    (rollout,) = runner.sample()
    _, metrics = learned(learner, rollout)
    assert steps_of(learner) == 1
    assert float(metrics["mean_kl_loss"]) == pytest.approx(0.0, abs=1e-4)


def test_each_update_logs_its_rows_gradients_and_explained_variance() -> None:
    runner, learner = made()
    for _ in range(2):
        (rollout,) = runner.sample()
        _, metrics = learned(learner, rollout)
        assert float(metrics["num_module_steps_trained"]) == 2 * 512
        assert float(metrics["grad_norm"]) > 0
        assert float(metrics["nonfinite_grad_steps"]) == float(metrics["fragments_lost"]) == 0
        unexplained = np.var(rollout.advantages) / np.var(rollout.targets)
        assert float(metrics["explained_variance"]) == pytest.approx(1 - unexplained, abs=1e-4)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_batch_with_a_bad_target_changes_neither_weights_nor_statistics(bad: float) -> None:
    runner, learner = made(
        **{"algo.normalise_values": True, "algo.normalise_rewards": True, "algo.minibatch": 512, "algo.lr": 1e-2}
    )
    (rollout,) = runner.sample()
    before, _ = learned(learner, rollout)
    returns, damaged = learner.scales.returns.copy(), copy.deepcopy(rollout)
    damaged.targets[7] = damaged.returns[1] = bad
    kept, metrics = learned(learner, damaged)
    assert float(metrics["nonfinite_grad_steps"]) == 2 and np.isnan(float(metrics["grad_norm"]))
    assert before.keys() == kept.keys() and all(np.array_equal(before[name], kept[name]) for name in before)
    assert np.array_equal(learner.scales.returns, returns) and kept["value.spread"] > 0
    after, metrics = learned(learner, rollout)
    assert float(metrics["nonfinite_grad_steps"]) == 0 and all(np.isfinite(value).all() for value in after.values())
    assert after["value.count"] > kept["value.count"]
    assert not np.array_equal(after["trunk.0.weight"], kept["trunk.0.weight"])


def test_explained_variance_leaves_out_a_batch_that_was_not_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if another learner had lost all its fragments."""
    runner, learner = made()
    (lost,), (rollout,) = runner.sample(), runner.sample()
    lost.targets[:] = 1000.0 * lost.advantages
    with monkeypatch.context() as patch:
        patch.setattr(learner, "_common_rows", lambda *rows: [0 for _ in rows])
        learned(learner, lost)
    unexplained = np.var(rollout.advantages) / np.var(rollout.targets)
    found = float(learned(learner, rollout)[1]["explained_variance"])
    assert found == pytest.approx(1 - unexplained, abs=1e-4)


class Remembered:
    """A loss term without a loss that remembers the sizes of its batches and gradient steps."""

    name, weight = "remembered", 1.0

    def __init__(self) -> None:
        self.sizes: list[tuple[int, int]] = []

    def begin(self, rollout: Any, rows: int) -> None:
        self.sizes.append((len(rollout), rows))

    def schedule(self, steps: int) -> None:
        pass

    def loss(self, policy: Any) -> None:
        pass

    def saved(self) -> list[tuple[int, int]]:
        return self.sizes

    def restore(self, state: list[tuple[int, int]]) -> None:
        self.sizes = list(state)


def test_a_loss_term_begins_each_update_and_is_restored() -> None:
    """The gradient steps are the same with a minibatch that was reduced to save memory."""
    runner, learner = made(**{"algo.minibatch": 32, "algo.accumulate": 4})
    (term,) = learner.terms = [Remembered()]
    learned(learner, runner.sample()[0])
    assert term.sizes == [(512, 128)]
    state, other = learner.get_state(), made()[1]
    (again,) = other.terms = [Remembered()]
    other.set_state({name: each for name, each in state.items() if name != "terms"})
    assert again.sizes == []
    other.set_state(state)
    assert again.sizes == [(512, 128)]


def test_the_first_updates_of_a_warmup_change_the_value_head_only() -> None:
    runner, learner = made(**{"algo.critic_warmup": 1, "algo.lr": 1e-2})
    before = {name: np.array(value) for name, value in learner._policy().get_state().items()}
    (rollout,) = runner.sample()
    first, second = learned(learner, rollout)[0], learned(learner, rollout)[0]
    assert {name for name in before if not np.array_equal(before[name], first[name])} == {"value.weight", "value.bias"}
    assert not np.array_equal(first["trunk.0.weight"], second["trunk.0.weight"])


def learned_from_high_returns(**settings: Any) -> tuple[Any, Any]:
    """Return a learner with value normalisation and the rollout that it has learned: value targets of 40 to 60."""
    runner, learner = made(**{"algo.normalise_values": True, "algo.lr": 5e-3, "algo.epochs": 8, **settings})
    (rollout,) = runner.sample()
    spread = (rollout.targets - rollout.targets.mean()) / rollout.targets.std()
    rollout.targets[:] = 50 + 5 * np.clip(spread, -2, 2)
    for _ in range(6):
        learned(learner, rollout)
    return learner, rollout


def values_of(policy: Any, rollout: Any) -> np.ndarray:
    with torch.no_grad():
        return np.asarray(policy.evaluate(rollout.rows, rollout.actions)[2])


def test_value_errors_and_their_limit_are_in_standard_deviations_of_the_targets() -> None:
    from ante.training.learning.ppo import VALUE_LOSS

    limit = 110.0  # about the median: the values stay close to 0, ten standard deviations below their targets
    learner, rollout = learned_from_high_returns(**{"algo.value_error_limit": limit, "algo.lr": 1e-9})
    policy = learner._policy()
    spread = float(policy.value.spread)
    squares = ((values_of(policy, rollout) - rollout.targets) / spread) ** 2
    rows = learner._staged(policy, rollout.seen)[np.arange(len(rollout))]
    batch = rollout.actions, rollout.log_probs, rollout.advantages, rollout.targets
    loss = learner._minibatch(policy, rows, batch)[1][VALUE_LOSS]
    assert loss == pytest.approx(np.minimum(squares, limit).mean(), rel=1e-3)
    assert spread > 2 and 0.1 < (squares > limit).mean() < 0.9


def test_released_values_are_in_units_of_the_reward_and_start_another_run_too(tmp_path: Path) -> None:
    from ante.training.players.release import read_release, write_policy
    from ante.training.settings.config import make_config

    learner, rollout = learned_from_high_returns()
    config = make_config(SMALL).with_changes({"algo.normalise_values": True})
    write_policy(learner._policy(), config, {"timesteps": 1, "games": 1, "seconds": 1.0}, tmp_path / "high")
    policy, _ = read_release(tmp_path / "high")
    values = values_of(policy, rollout)
    assert abs(values.mean() - rollout.targets.mean()) < 1 and np.corrcoef(values, rollout.targets)[0, 1] > 0.5
    assert float(policy.value.spread) > 2 and float(policy.value.mean) > 40
    for normalise in (True, False):
        _, other = made(**{"algo.normalise_values": normalise, "algo.lr": 1e-9})
        other._policy().set_state({name: value.numpy() for name, value in policy.state_dict().items()})
        learned(other, rollout)
        np.testing.assert_allclose(values_of(other._policy(), rollout), values, rtol=1e-3)
        assert (float(other._policy().value.mean) > 40) == normalise


def test_values_of_a_checkpoint_with_separate_scales_are_restored() -> None:
    """Earlier versions stored the moments of value targets beside the weights."""
    learner, rollout = learned_from_high_returns()
    head, state = learner._policy().value, learner.get_state()
    count, mean, spread = (float(each) for each in (head.count, head.mean, head.spread))
    state["scales"]["targets"] = np.array([count, count * mean, count * (spread**2 + mean**2)])
    blank = {"value.count": 0.0, "value.mean": 0.0, "value.spread": 1.0}
    for name, value in blank.items():
        state["rl_module"]["default_policy"][name] = np.full(1, value, dtype=np.float32)
    _, fresh = made(**{"algo.normalise_values": True})
    fresh.set_state(state)
    np.testing.assert_allclose(values_of(fresh._policy(), rollout), values_of(learner._policy(), rollout), rtol=1e-4)


def test_a_policy_whose_value_cannot_be_normalised_is_refused() -> None:
    from ante.training.learning.ppo import BadHead
    from ante.training.policies.mlp_rows import PackedPolicy

    setup = PackedPolicy.setup

    def plain(policy: Any) -> None:
        setup(policy)
        policy.value = torch.nn.Linear(32, 1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PackedPolicy, "setup", plain)
        with pytest.raises(BadHead, match="needs a policy whose value is a ValueHead"):
            made(**{"algo.normalise_values": True})


def test_weights_without_scales_of_values_are_read(tmp_path: Path) -> None:
    """Releases and checkpoints of earlier versions, such as models/white-stake, have none."""
    from ante.training.policies.registry import new_policy, read_policy
    from ante.training.run_store.weights import write_weights
    from ante.training.settings.config import make_config

    config = make_config(SMALL)
    weights = {name: value.numpy() for name, value in new_policy(config).state_dict().items()}
    (tmp_path / "config.yaml").write_text(config.to_yaml())
    write_weights(
        {name: each for name, each in weights.items() if name[6:] not in ("count", "mean", "spread")}, tmp_path
    )
    found = read_policy(tmp_path)
    assert (float(found.value.mean), float(found.value.spread)) == (0.0, 1.0)
    assert np.array_equal(found.value.weight.detach().numpy(), weights["value.weight"])
