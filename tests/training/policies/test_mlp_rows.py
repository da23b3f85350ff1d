"""The MLP on packed rows: equal to the dense network, with the gradients of autograd."""

import os

import gymnasium
import numpy as np
import pytest

from ante.env.games import Games, Outcome
from ante.env.layout import masked_space
from ante.training.numerics.packed_rows import unpack

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
WEIGHTS = 0.2, 0.8, 0.02, 1.5  # clip, weights of value and entropy, value clip


def policy(hidden: list[int] | None = None):
    from ante.training.policies.mlp_rows import PackedPolicy

    torch.manual_seed(0)
    made = PackedPolicy(
        observation_space=masked_space(),
        action_space=gymnasium.spaces.Discrete(143),
        model_config={"hidden": hidden or [48, 32]},
    )
    torch.nn.init.normal_(made.policy.weight, std=0.5)
    return made


def played(made, steps: int = 40, n: int = 16) -> tuple[Games, np.ndarray]:
    """Return games after some steps of the policy, and all observed rows."""
    from ante.training.sampling.fragment import end_to_end

    games, generator, seen = Games(n, reorder="none"), torch.Generator().manual_seed(1), []
    games.reset()
    for _ in range(steps):
        rows = np.zeros(n, dtype=made.row_t)
        made.pack(games, rows)
        seen.append(rows)
        games.step(made.act(rows, generator)[0])
        games.reset(np.flatnonzero(games.outcome != Outcome.PLAYING))
    return games, end_to_end(seen)


def batch_of(made, rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return actions, slightly changed log-probabilities, advantages and targets."""
    rng = np.random.default_rng(3)
    actions, log_probs, _ = made.act(rows, torch.Generator().manual_seed(5))[:3]
    noise = rng.normal(scale=0.3, size=len(rows)).astype(np.float32)
    return actions, log_probs + noise, *(rng.normal(size=len(rows)).astype(np.float32) for _ in range(2))


def dense_gradients(made, rows: np.ndarray, batch: tuple[np.ndarray, ...]) -> tuple[float, list[torch.Tensor]]:
    from ante.training.numerics import torch_ops

    made.zero_grad()
    actions, *others = (torch.from_numpy(each) for each in batch)
    loss, _ = torch_ops.ppo(made.evaluate(rows, actions), *others, *WEIGHTS)
    loss.backward()
    return float(loss.detach()), [parameter.grad.clone() for parameter in made.parameters()]


@pytest.mark.parametrize("hidden", [[40], [48, 32], [32, 24, 16]])
def test_the_gradient_by_hand_equals_autograd_on_dense_vectors(hidden: list[int]) -> None:
    made = policy(hidden)
    rows = played(made)[1]
    batch = batch_of(made, rows)
    loss, wanted = dense_gradients(made, rows, batch)
    found, sums = made.ppo_gradient(made.stage(rows)[np.arange(len(rows))], batch, *WEIGHTS)
    assert float(sums[0] + WEIGHTS[1] * sums[1] - WEIGHTS[2] * sums[2]) == pytest.approx(loss, rel=1e-4, abs=1e-6)
    for (name, _), gradient, right in zip(made.named_parameters(), found, wanted, strict=True):
        assert gradient.shape == right.shape
        assert torch.allclose(gradient, right, atol=2e-4 * float(right.abs().max())), name


def test_a_minibatch_of_staged_rows_is_those_rows() -> None:
    made = policy()
    rows = played(made)[1]
    batch = batch_of(made, rows)
    which = np.random.default_rng(0).permutation(len(rows))[:100]
    part = tuple(each[which] for each in batch)
    wanted = dense_gradients(made, rows[which], part)[1]
    found, _ = made.ppo_gradient(made.stage(rows)[which], part, *WEIGHTS)
    for gradient, right in zip(found, wanted, strict=True):
        assert torch.allclose(gradient, right, atol=2e-4 * float(right.abs().max()))


def test_rows_are_judged_as_they_are_evaluated_after_a_change_that_leaves_no_trace_too() -> None:
    made = policy()
    rows = played(made)[1]
    actions = batch_of(made, rows)[0]
    for _ in range(2):
        with torch.no_grad():
            log_probs, _, values = made.evaluate(rows, actions)
        found = made.score_actions(rows, actions)
        np.testing.assert_allclose(found[0], log_probs.numpy(), atol=3e-5)
        np.testing.assert_allclose(found[1], values.numpy(), atol=3e-5)
        made.policy.weight.data.add_(0.1 * torch.randn_like(made.policy.weight))


def test_the_loss_for_other_devices_has_the_same_gradient() -> None:
    """Run the code for CUDA devices on a CPU."""
    from ante.training.policies.mlp_rows import DeviceRows

    made = policy()
    made.value.set_moments(np.array([10.0, 20.0, 130.0]))  # mean 2, standard deviation 3
    rows = played(made)[1]
    batch, which = batch_of(made, rows), np.arange(7, 150)
    part = tuple(each[which] for each in batch)
    by_hand, sums = made.ppo_gradient(made.stage(rows)[which], part, *WEIGHTS)
    staged = DeviceRows(rows, torch.device("cpu"))[which]
    assert made.ppo_gradient(staged, part, *WEIGHTS) is None
    made.zero_grad()
    loss, again = made.ppo_loss(staged, part, *WEIGHTS)
    loss.backward()
    np.testing.assert_allclose(again.numpy(), sums.numpy(), rtol=1e-3, atol=1e-5)
    for parameter, right in zip(made.parameters(), by_hand, strict=True):
        assert torch.allclose(parameter.grad, right, atol=2e-4 * float(right.abs().max()))


def test_bf16_points_the_same_way() -> None:
    from ante.training.numerics.precision import precision

    made = policy([64, 64])
    rows = played(made)[1]
    batch = batch_of(made, rows)
    wanted = torch.cat([each.flatten() for each in dense_gradients(made, rows, batch)[1]])
    with precision(True, "cpu"):
        gradients, _ = made.ppo_gradient(made.stage(rows)[np.arange(len(rows))], batch, *WEIGHTS)
    found = torch.cat([gradient.flatten() for gradient in gradients])
    assert found.dtype == torch.float32
    assert float(torch.nn.functional.cosine_similarity(found, wanted, dim=0)) > 0.995
    assert not torch.equal(found, wanted)


def test_what_acts_is_what_is_evaluated() -> None:
    made = policy()
    rows = played(made)[1]
    actions, log_probs, values = made.act(rows, torch.Generator().manual_seed(9))[:3]
    with torch.no_grad():
        again, entropies, found_values = made.evaluate(rows, actions)
    np.testing.assert_allclose(again.numpy(), log_probs, atol=2e-5)
    np.testing.assert_allclose(found_values.numpy(), values, atol=2e-5)
    assert ((entropies > 0).numpy() == (unpack(rows)[1].sum(axis=1) > 1)).all()


def test_new_weights_act_at_once() -> None:
    made = policy()
    rows = played(made, steps=2)[1]
    before = made.act(rows, torch.Generator().manual_seed(1))[2]
    state = made.get_state()
    state["value.bias"] = state["value.bias"] + 1.0
    state["trunk.2.weight"] = state["trunk.2.weight"] * 2.0
    made.set_state(state)
    after = made.act(rows, torch.Generator().manual_seed(1))[2]
    with torch.no_grad():
        np.testing.assert_allclose(after, made.evaluate(rows, np.zeros(len(rows), dtype=np.int64))[2], atol=2e-5)
    assert np.abs(after - before).min() > 0.1


def test_it_plays_games_to_the_end_without_an_illegal_action() -> None:
    made = policy()
    games, generator = Games(32, "b_plasma", 5, reorder="none", max_decisions=300), torch.Generator().manual_seed(2)
    games.reset()
    rows, ended = np.zeros(32, dtype=made.row_t), 0
    for _ in range(400):
        made.pack(games, rows)
        actions = made.act(rows, generator)[0]
        assert games.refused(actions) == -1
        games.step(actions)
        over = np.flatnonzero(games.outcome)
        ended += len(over)
        games.reset(over)
    assert ended > 32


def test_initial_layers_preserve_activations() -> None:
    """Orthogonal: gain sqrt(2) before SiLU, 1 for the value; all decisions are about equally likely."""
    from ante.training.policies.mlp_rows import PackedPolicy

    made = PackedPolicy(
        observation_space=masked_space(),
        action_space=gymnasium.spaces.Discrete(143),
        model_config={"hidden": [48, 32]},
    )
    layers = {made.trunk[0]: 2.0, made.trunk[2]: 2.0, made.value: 1.0, made.policy: 1e-4}
    for layer, square in layers.items():
        weight = layer.weight.detach()
        short = weight if weight.shape[0] <= weight.shape[1] else weight.T
        product = short @ short.T / square
        torch.testing.assert_close(product, torch.eye(len(product)), atol=1e-4, rtol=0)
        assert not layer.bias.any()
