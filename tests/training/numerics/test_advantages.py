"""V-trace and n-step returns: compiled, in torch and by definition, and their on-policy values."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
SHAPE = (33, 5)


def fragment(seed: int) -> tuple[np.ndarray, ...]:
    """Return rewards, values, next values and cuts."""
    rng = np.random.default_rng(seed)
    rewards, values, after = (rng.normal(size=SHAPE).astype(np.float32) for _ in range(3))
    return rewards, values, after, rng.random(SHAPE) < 0.15


def compiled(*given: object) -> tuple[np.ndarray, np.ndarray]:
    from ante.training.numerics.advantages import vtrace

    advantages, targets = (np.full(SHAPE, np.nan, dtype=np.float32) for _ in range(2))
    vtrace(*given, advantages, targets)
    return advantages, targets


@pytest.mark.parametrize(("decay", "rho_top", "c_top"), [(0.9, 1.0, 1.0), (1.0, 2.0, 0.7), (0.0, 1.0, 1.0)])
def test_vtrace_is_the_sum_of_the_definition_and_so_is_its_twin(decay: float, rho_top: float, c_top: float) -> None:
    from tests.support import estimates

    given = fragment(1)
    ratios = np.exp(np.random.default_rng(2).normal(scale=0.7, size=SHAPE)).astype(np.float32)
    tops = 0.97, decay, rho_top, c_top
    found, slow = compiled(*given, ratios, *tops), estimates.vtrace(*given, ratios, *tops)
    on_torch = estimates.vtrace_in_torch(*map(torch.from_numpy, given), torch.from_numpy(ratios), *tops)
    for one, two, three in zip(found, slow, on_torch, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(three.numpy(), two, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("decay", [0.0, 0.9, 1.0])
def test_on_policy_vtrace_is_generalised_advantage_estimation(decay: float) -> None:
    from ante.training.numerics import row_kernels

    rewards, values, after, cut = fragment(3)
    found = compiled(rewards, values, after, cut, np.ones(SHAPE, dtype=np.float32), 0.97, decay, 1.0, 1.0)
    wanted = tuple(np.empty(SHAPE, dtype=np.float32) for _ in range(2))
    row_kernels.gae(rewards, values, after, cut, 0.97, decay, *wanted)
    for one, two in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-5)


def returns_of(rewards: np.ndarray, after: np.ndarray, cut: np.ndarray, length: int) -> np.ndarray:
    from ante.training.numerics.advantages import nstep

    sums, weights = (np.full(SHAPE, np.nan, dtype=np.float32) for _ in range(2))
    lasts = np.full(SHAPE, -1)
    nstep(rewards, cut, length, 0.97, sums, weights, lasts)
    return sums + weights * after[lasts, np.arange(SHAPE[1])]


def test_on_policy_vtrace_with_lambda_1_gives_n_step_returns() -> None:
    rewards, values, _, cut = fragment(4)
    after = np.concatenate([values[1:], values[:1]])  # each row leads to the next row
    after[cut] = np.random.default_rng(5).normal(size=int(cut.sum()))
    ones = np.ones(SHAPE, dtype=np.float32)
    advantages, targets = compiled(rewards, values, after, cut, ones, 0.97, 1.0, 1.0, 1.0)
    wanted = returns_of(rewards, after, cut, SHAPE[0])
    np.testing.assert_allclose(targets, wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(advantages, wanted - values, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("length", [1, 3, 100])
def test_n_step_returns_are_the_sum_of_the_definition_and_so_is_their_twin(length: int) -> None:
    from tests.support import estimates

    rewards, _, after, cut = fragment(6)
    slow = np.zeros(SHAPE)
    for t, i in np.ndindex(SHAPE):
        ends = [at for at in range(t, SHAPE[0]) if cut[at, i]]
        last = min([t + length - 1, SHAPE[0] - 1, *ends[:1]])
        slow[t, i] = sum(0.97 ** (at - t) * rewards[at, i] for at in range(t, last + 1))
        slow[t, i] += 0.97 ** (last + 1 - t) * after[last, i]
    np.testing.assert_allclose(returns_of(rewards, after, cut, length), slow, rtol=1e-4, atol=1e-5)
    on_torch = estimates.nstep_in_torch(*map(torch.from_numpy, (rewards, after, cut)), length, 0.97)
    np.testing.assert_allclose(on_torch.numpy(), slow, rtol=1e-4, atol=1e-5)


def test_what_a_step_leads_to() -> None:
    from ante.training.numerics.advantages import values_after

    values = np.arange(6, dtype=np.float32).reshape(3, 2)
    terminal = np.zeros((3, 2), dtype=bool)
    terminal[0, 1] = True
    extra = np.array([10, 11, 70, 80], dtype=np.float32)  # after the last step; of games truncated at (1, 0), (2, 1)
    found = values_after(values, extra, np.array([2, 5]), terminal)
    assert found.tolist() == [[2, 0], [70, 5], [10, 80]]
