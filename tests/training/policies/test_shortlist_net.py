"""The shortlist network without autograd against autograd: outputs, gradients, and actions."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("gymnasium")

from ante.env.games import Games  # noqa: E402
from ante.lookahead.candidates import CandidateLister  # noqa: E402
from ante.lookahead.records import candidates_t  # noqa: E402
from ante.training.numerics import torch_ops  # noqa: E402
from ante.training.numerics.precision import precision  # noqa: E402
from ante.training.policies.shortlist import ListedRows, ShortlistPolicy  # noqa: E402
from ante.training.policies.shortlist_net import FEW, ShortlistNet  # noqa: E402
from tests.support.lists import small  # noqa: E402

WEIGHTS = 0.2, 0.5, 0.01, 30.0
INVARIANT = "score.bias"  # adds the same to all scores of a row, so its gradient is 0 up to rounding


@pytest.fixture(scope="module")
def policy() -> ShortlistPolicy:
    found: ShortlistPolicy = small(ShortlistPolicy)
    with torch.no_grad():
        for parameter in found.parameters():  # no output is close to 0, no bias is 0
            parameter += 0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(parameter.numel()))
        found.value.spread.fill_(2.5)
        found.value.mean.fill_(-1.0)
    return found


@pytest.fixture(scope="module")
def rows(policy: ShortlistPolicy) -> np.ndarray:
    """Positions of all phases; the list of the first row is empty, as that of a finished game."""
    games, rng = Games(24, discrete=False, reorder="jokers", reward="blinds"), np.random.default_rng(3)
    games.reset()
    found = np.zeros((60, games.n), dtype=policy.row_t)
    for t in range(len(found)):
        policy.pack(games, found[t])
        legal = (found[t]["list"]["entries"]["flag_bits"] & 1) * rng.random((games.n, 25))
        games.step(policy.decisions(found[t], legal.argmax(axis=1)))
        games.reset(np.flatnonzero(games.outcome))
    kept = found.reshape(-1)
    kept["list"]["n"][0] = 0
    return kept


def batch_of(policy: ShortlistPolicy, rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return actions, log-probabilities, advantages and targets, such that some ratios are clipped."""
    rng = np.random.default_rng(8)
    with torch.no_grad():
        logits, _ = policy.heads(ListedRows(rows))
        actions = torch.distributions.Categorical(logits=logits).sample()
        logs = logits.log_softmax(dim=1).gather(1, actions[:, None])[:, 0].numpy()
    off = rng.normal(0.0, 0.2, len(rows)).astype(np.float32)
    advantages, targets = rng.normal(size=(2, len(rows))).astype(np.float32)
    return actions.numpy(), logs + off, advantages, 5.0 * targets


@pytest.mark.parametrize("which", [slice(None), slice(3, 900, 7), slice(5, 6)])
def test_outputs_are_those_of_the_layers(policy: ShortlistPolicy, rows: np.ndarray, which: slice) -> None:
    staged = policy.stage(rows)[np.arange(len(rows))[which]]
    out = ShortlistNet(policy, torch.float32).passed(staged)
    with torch.no_grad():
        logits, values = policy.heads(staged)
    assert torch.allclose(out.logits, logits, atol=1e-4, rtol=1e-5)
    assert torch.allclose(out.values, values, atol=1e-4, rtol=1e-5)
    legal = np.unpackbits(out.legal, axis=1, bitorder="little")[:, : logits.shape[1]]
    assert (legal == (logits.numpy() > -1e8)).all()


def test_gradients_are_those_of_autograd(
    policy: ShortlistPolicy, rows: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ante.training.policies.shortlist_net.PART", 300)  # 700 rows are two parts and a smaller one
    which = np.random.default_rng(1).permutation(np.arange(1, len(rows)))[:700]
    batch = batch_of(policy, rows[which])
    staged = policy.stage(rows)
    found = policy.ppo_gradient(staged[which], batch, *WEIGHTS)
    assert found is not None
    policy.zero_grad()
    tensors = [torch.from_numpy(each) for each in batch]
    loss, sums = torch_ops.ppo(policy.evaluate(staged[which], tensors[0]), *tensors[1:], *WEIGHTS)
    loss.backward()
    assert found[1].numpy() == pytest.approx(sums.numpy(), abs=1e-4)
    assert sums[4] > 0.1
    for (name, parameter), gradient in zip(policy.named_parameters(), found[0], strict=True):
        assert gradient.shape == parameter.shape
        scale = float(parameter.grad.abs().max())
        assert scale > (0.0 if name == INVARIANT else 1e-6), name
        assert torch.allclose(gradient, parameter.grad, atol=max(1e-3 * scale, 1e-7), rtol=1e-3), name


def test_gradients_do_not_depend_on_the_order_in_which_threads_end(policy: ShortlistPolicy, rows: np.ndarray) -> None:
    batch, staged = batch_of(policy, rows[1:]), policy.stage(rows)[np.arange(1, len(rows))]
    first, *others = (policy.ppo_gradient(staged, batch, *WEIGHTS) for _ in range(5))
    for other in others:
        assert all(torch.equal(one, two) for one, two in zip(first[0], other[0], strict=True))
        assert torch.equal(first[1], other[1])


def test_gradients_in_bf16_are_close(policy: ShortlistPolicy, rows: np.ndarray) -> None:
    batch = batch_of(policy, rows[1:])
    staged = policy.stage(rows)[np.arange(1, len(rows))]
    exact, _ = policy.ppo_gradient(staged, batch, *WEIGHTS)  # type: ignore[misc]
    with precision("on", "cpu"):
        rounded, _ = policy.ppo_gradient(staged, batch, *WEIGHTS)  # type: ignore[misc]
    for (name, _), one, two in zip(policy.named_parameters(), exact, rounded, strict=True):
        assert one.dtype == two.dtype == torch.float32
        if name == INVARIANT:
            assert abs(float(two)) < 1e-4
            continue
        cosine = torch.nn.functional.cosine_similarity(one.flatten(), two.flatten(), dim=0)
        assert cosine > 0.99


def test_a_changed_weight_changes_the_next_action(policy: ShortlistPolicy, rows: np.ndarray) -> None:
    before = policy.act(rows[1:50], None, likeliest=True).values
    with torch.no_grad():
        policy.value.bias += 1.0
    after = policy.act(rows[1:50], None, likeliest=True).values
    with torch.no_grad():
        policy.value.bias -= 1.0
    assert torch.allclose(after, before + policy.value.spread, atol=1e-5)


@pytest.mark.parametrize("steps", [0, 7, 60])
def test_flat_observations_and_lists_give_the_outputs_of_the_policy(steps: int) -> None:
    policy = small(ShortlistPolicy)
    games = Games(24, discrete=False, reorder="jokers")
    games.reset()
    lister, lists = CandidateLister(), np.zeros(games.n, dtype=candidates_t).view(np.recarray)
    packed = np.zeros(games.n, dtype=policy.row_t)
    for _ in range(steps):
        policy.pack(games, packed)
        rng = torch.Generator().manual_seed(steps)
        games.step(policy.decisions(packed, policy.act(packed, rng).actions.numpy()))
        games.reset(np.flatnonzero(games.outcome))
    policy.pack(games, packed)
    lister.write(games, lists)
    with torch.no_grad():
        read = policy.read(ListedRows(packed))
        logits, values = policy.heads(ListedRows(packed))
    found = ShortlistNet(policy, torch.float32).passed(ListedRows.of_flat(games.flat, lists))
    assert torch.allclose(found.logits, logits, atol=2e-4)
    assert torch.allclose(found.values, values, atol=2e-4)
    assert torch.allclose(found.trunk, read.trunk, atol=2e-4)
    assert len(ShortlistNet(policy, torch.float32).passed(ListedRows.of_flat(games.flat[:0], lists[:0])).values) == 0


@pytest.mark.parametrize(
    ("n", "hidden"), [(1, (32, 24)), (7, (32, 24)), (FEW, (32, 24)), (7, (32,)), (7, (32, 24, 16))]
)
def test_a_few_rows_have_the_outputs_of_many(rows: np.ndarray, n: int, hidden: tuple[int, ...]) -> None:
    policy = small(ShortlistPolicy, hidden)
    policy.value.spread.fill_(2.5)
    net = ShortlistNet(policy, torch.float32)
    for first in range(0, 60, n):  # the list of row 0 is empty; illegal candidates have logits of -1e9
        some = ListedRows(rows[first : first + n])
        few, many = net.outputs(some), net.passed(some)
        for found, expected in zip(few, (many.trunk, many.logits, many.values), strict=True):
            assert np.allclose(found, expected.numpy(), atol=1e-4, rtol=1e-5)
    assert len(net.outputs(ListedRows(rows[:0])).values) == 0
