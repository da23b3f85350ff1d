"""Row kernels against reference implementations: torch autograd, a slow loop, exact probabilities."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

ACTIONS = 143


def masks(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random masks with at least one legal action, as bool (n, ACTIONS) and as bytes."""
    legal = rng.random((n, ACTIONS)) < rng.choice([0.02, 0.1, 0.5], size=(n, 1))
    legal[np.arange(n), rng.integers(ACTIONS, size=n)] = True
    return legal, np.packbits(legal, axis=1, bitorder="little")


def some_actions(rng: np.random.Generator, legal: np.ndarray) -> np.ndarray:
    return np.argmax(rng.random(legal.shape) * legal, axis=1).astype(np.int64)


@pytest.mark.parametrize("value_error_limit", [float("inf"), 1.0])
def test_the_fused_loss_and_its_gradient_equal_autograd(value_error_limit: float) -> None:
    from ante.training.numerics import row_kernels, torch_ops

    rng, n = np.random.default_rng(1), 200
    legal, octets = masks(rng, n)
    actions = some_actions(rng, legal)
    logits = torch.tensor(rng.normal(scale=2.0, size=(n, ACTIONS)), dtype=torch.float32, requires_grad=True)
    values = torch.tensor(rng.normal(size=n), dtype=torch.float32, requires_grad=True)
    log_probs, entropies = torch_ops.masked_stats(logits, torch.from_numpy(legal), torch.from_numpy(actions))
    old = (log_probs.detach().numpy() + rng.normal(scale=0.4, size=n)).astype(np.float32)
    gains, targets = (rng.normal(size=n).astype(np.float32) for _ in range(2))
    weights = 0.2, 0.7, 0.03, value_error_limit
    others = torch.from_numpy(old), torch.from_numpy(gains), torch.from_numpy(targets)
    loss, sums = torch_ops.ppo((log_probs, entropies, values), *others, *weights)
    loss.backward()
    slopes = np.full((n, ACTIONS), np.nan, dtype=np.float32), np.full(n, np.nan, dtype=np.float32)
    found = np.zeros(row_kernels.LOSS_MEANS)
    batch = actions, old, gains, targets
    row_kernels.ppo_loss(logits.detach().numpy(), values.detach().numpy(), octets, *batch, *weights, *slopes, found)
    np.testing.assert_allclose(found, sums.numpy(), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(slopes[0], logits.grad.numpy(), rtol=1e-3, atol=1e-7)
    np.testing.assert_allclose(slopes[1], values.grad.numpy(), rtol=1e-4, atol=1e-7)
    assert 0.2 < found[4] < 0.9, "some rows are clipped"
    assert (slopes[0][~legal] == 0).all()
    far = (values.detach().numpy() - targets) ** 2 > value_error_limit
    assert (slopes[1][far] == 0).all() and (slopes[1][~far] != 0).all()
    assert 0.1 < far.mean() < 0.9 or value_error_limit == float("inf")
    assert found[3] > 0.05, "the KL of noisy log-probabilities"
    ratios = [math.exp(float(new) - float(before)) for new, before in zip(log_probs.detach(), old, strict=True)]
    assert found[5] == pytest.approx(sum(abs(ratio - 1.0) for ratio in ratios) / n, rel=1e-4)
    assert found[4] == pytest.approx(sum(abs(ratio - 1.0) > weights[0] for ratio in ratios) / n)


def test_advantages_equal_the_sum_of_the_definition() -> None:
    from ante.training.numerics import row_kernels
    from tests.support import estimates

    rng, shape = np.random.default_rng(2), (37, 5)
    rewards, values, after = (rng.normal(size=shape).astype(np.float32) for _ in range(3))
    cut = rng.random(shape) < 0.15
    advantages, targets = (np.full(shape, np.nan, dtype=np.float32) for _ in range(2))
    row_kernels.gae(rewards, values, after, cut, 0.97, 0.9, advantages, targets)
    slow = estimates.gae(rewards, values, after, cut, 0.97, 0.9)
    np.testing.assert_allclose(advantages, slow[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(targets, slow[1], rtol=1e-4, atol=1e-5)


def sampled(logits: np.ndarray, octets: np.ndarray, uniforms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from ante.training.numerics import row_kernels

    actions, log_probs = np.full(len(logits), -1, dtype=np.int64), np.full(len(logits), np.nan, dtype=np.float32)
    row_kernels.sample_masked(logits, octets, uniforms, actions, log_probs)
    return actions, log_probs


@pytest.mark.parametrize("scale", [1.0, 400.0])
def test_a_draw_is_where_the_cumulative_distribution_exceeds_it(scale: float) -> None:
    from ante.training.numerics import row_kernels, torch_ops

    rng, n = np.random.default_rng(6), 60
    legal, octets = masks(rng, n)
    logits, uniforms = rng.normal(scale=scale, size=(n, ACTIONS)).astype(np.float32), rng.random(n, dtype=np.float32)
    wide = np.where(legal, logits.astype(np.float64), -np.inf)
    logs = wide - np.logaddexp.reduce(wide, axis=1, keepdims=True)
    wanted = (np.exp(logs).cumsum(axis=1) > uniforms[:, None]).argmax(axis=1)
    of_wanted = logs[np.arange(n), wanted]
    again = torch_ops.sample(torch.from_numpy(logits), torch.from_numpy(legal), torch.from_numpy(uniforms))
    for actions, log_probs in (sampled(logits, octets, uniforms), tuple(each.numpy() for each in again)):
        assert np.array_equal(actions, wanted)
        np.testing.assert_allclose(log_probs, of_wanted, atol=1e-4)
    found, any_legal = np.full(n, np.nan, dtype=np.float32), some_actions(rng, legal)
    row_kernels.masked_log_probs(logits, octets, any_legal, found)
    np.testing.assert_allclose(found, logs[np.arange(n), any_legal], rtol=1e-5, atol=1e-4)


def test_the_gumbel_max_trick_samples_the_softmax() -> None:
    from ante.training.numerics.distributions import sample_logits

    shares = torch.tensor([0.05, 0.25, 0.0, 0.7])
    drawn = sample_logits(shares.log().expand(40_000, 4), torch.Generator().manual_seed(1))
    np.testing.assert_allclose(torch.bincount(drawn, minlength=4) / 40_000, shares, atol=0.01)


def test_a_draw_close_to_1_is_the_last_legal_action() -> None:
    from ante.training.numerics import torch_ops

    legal = torch.tensor([[True, True, False, True, False]])
    logits, uniform = torch.tensor([[0.0, 0.0, 9.0, -90.0, 9.0]]), torch.tensor([1.0])
    assert torch_ops.sample(logits, legal, uniform)[0].tolist() == [3]


def test_sampling_follows_the_softmax_of_the_legal_logits() -> None:
    rng, draws = np.random.default_rng(3), 40_000
    legal, octets = masks(rng, 6)
    logits = rng.normal(scale=1.5, size=(6, ACTIONS)).astype(np.float32)
    for row in range(6):
        probabilities = np.where(legal[row], np.exp(logits[row].astype(np.float64)), 0.0)
        probabilities /= probabilities.sum()
        many = np.repeat(logits[row : row + 1], draws, axis=0), np.repeat(octets[row : row + 1], draws, axis=0)
        actions, log_probs = sampled(*many, rng.random(draws, dtype=np.float32))
        assert legal[row, actions].all()
        np.testing.assert_allclose(log_probs, np.log(probabilities[actions]), atol=1e-5)
        counts, wanted = np.bincount(actions, minlength=ACTIONS), draws * probabilities
        common = wanted >= 5
        chi = ((counts - wanted)[common] ** 2 / wanted[common]).sum()
        freedom = max(1, common.sum() - 1)
        assert chi < freedom + 4.5 * np.sqrt(2.0 * freedom), (row, chi, freedom)


def test_no_draw_is_illegal_whatever_the_logits_and_the_uniforms() -> None:
    rng, n = np.random.default_rng(4), 20_000
    legal, octets = masks(rng, n)
    logits = (rng.normal(size=(n, ACTIONS)) * rng.choice([0.1, 30.0, 1e4], size=(n, 1))).astype(np.float32)
    uniforms = rng.choice(np.array([0.0, 0.5, np.nextafter(np.float32(1), np.float32(0))], dtype=np.float32), size=n)
    actions, log_probs = sampled(logits, octets, uniforms)
    assert legal[np.arange(n), actions].all()
    assert np.isfinite(log_probs).all() and (log_probs <= 1e-6).all()


def csr(dense: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return starts, columns and values of the nonzero entries of each row."""
    rows, columns = np.nonzero(dense)
    starts = np.searchsorted(rows, np.arange(len(dense) + 1))
    return starts, columns.astype(np.int32), dense[rows, columns]


@pytest.mark.parametrize("columns", [21, 24])
def test_the_columns_of_flat_observations_are_listed(columns: int) -> None:
    from ante.training.numerics import row_kernels

    flat = np.concatenate([np.eye(columns), np.zeros((2, columns)), np.full((1, columns), 0.25)]).astype(np.float32)
    full = np.array([4, 17])
    listed = ~np.isin(np.arange(columns), full)
    starts, matrix = np.empty(len(flat) + 1, dtype=np.int64), np.empty((len(flat), 2), dtype=np.float32)
    places, values = np.empty(flat.size + 1, dtype=np.int32), np.empty(flat.size + 1, dtype=np.float32)
    row_kernels.list_flat(flat, flat.view(np.int32), full, listed, starts, places, values, matrix)
    for found, wanted in zip((starts, places[: starts[-1]], values[: starts[-1]]), csr(flat * listed), strict=True):
        assert np.array_equal(found, wanted)
    assert np.array_equal(matrix, flat[:, full])


def test_sparse_layers_equal_dense_ones() -> None:
    from ante.training.numerics import row_kernels

    rng = np.random.default_rng(7)
    dense = (rng.normal(size=(12, 15)) * (np.arange(15) < np.arange(12)[:, None])).astype(np.float32)  # 0 to 11 entries
    which = rng.permutation(12)[:9]
    weight, slope = (rng.normal(size=(n, 3)).astype(np.float32) for n in (15, len(which)))
    out, weight_slope = np.ones((len(which), 3), dtype=np.float32), np.ones((15, 3), dtype=np.float32)
    row_kernels.sparse_forward(*csr(dense), which, weight, out)
    np.testing.assert_allclose(out, 1 + dense[which] @ weight, rtol=1e-4, atol=1e-5)
    row_kernels.sparse_backward(*csr(dense), which, slope, weight_slope)
    np.testing.assert_allclose(weight_slope, 1 + dense[which].T @ slope, rtol=1e-4, atol=1e-5)


def test_the_torch_version_samples_the_same_actions() -> None:
    from ante.training.numerics import torch_ops

    rng, n = np.random.default_rng(5), 5_000
    legal, octets = masks(rng, n)
    logits, uniforms = rng.normal(size=(n, ACTIONS)).astype(np.float32), rng.random(n, dtype=np.float32)
    actions, log_probs = sampled(logits, octets, uniforms)
    again = torch_ops.sample(torch.from_numpy(logits), torch.from_numpy(legal), torch.from_numpy(uniforms))
    same = again[0].numpy() == actions
    assert same.mean() > 0.999, "samples at the boundary of two probabilities may differ"
    np.testing.assert_allclose(again[1].numpy()[same], log_probs[same], atol=1e-5)
