"""The shortlist policy against plain torch, and practice from the middle of games."""

from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
gymnasium = pytest.importorskip("gymnasium")

from ante.engine.actions import is_legal  # noqa: E402
from ante.engine.core.state import Phase  # noqa: E402
from ante.env.games import Games  # noqa: E402
from ante.env.layout import FLAT_SIZE  # noqa: E402
from ante.env.reward import blinds_beaten  # noqa: E402
from ante.lookahead.records import LEGAL  # noqa: E402
from ante.training.acting.player import PolicyPlayer  # noqa: E402
from ante.training.numerics.distributions import OFF  # noqa: E402
from ante.training.numerics.packed_rows import octets_of  # noqa: E402
from ante.training.numerics.torch_ops import unpack_octets  # noqa: E402
from ante.training.policies.mlp_rows import FilledRows, FirstLayer, SparseFirst  # noqa: E402
from ante.training.policies.shortlist import (  # noqa: E402
    ListedRows,
    ShortlistPolicy,
)
from ante.training.sampling.fragment import EpisodeTally  # noqa: E402
from ante.training.sampling.practice import KEPT, Practice  # noqa: E402
from tests.support.lists import small  # noqa: E402


@pytest.fixture(scope="module")
def policy() -> ShortlistPolicy:
    return small(ShortlistPolicy)  # type: ignore[no-any-return]


def seen(policy: ShortlistPolicy, games: Games, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and actions of some steps of play, (steps * n,) each."""
    rng = torch.Generator().manual_seed(5)
    rows = np.zeros((steps, games.n), dtype=policy.row_t)
    actions = np.zeros((steps, games.n), dtype=np.int64)
    for t in range(steps):
        policy.pack(games, rows[t])
        actions[t] = policy.act(rows[t], rng)[0].numpy()
        games.step(policy.decisions(rows[t], actions[t]))
        games.reset(np.flatnonzero(games.outcome))
    return rows.reshape(-1), actions.reshape(-1)


@pytest.fixture(scope="module")
def played(policy: ShortlistPolicy) -> tuple[np.ndarray, np.ndarray]:
    games = Games(24, discrete=False, reorder="jokers", reward="blinds")
    games.reset()
    return seen(policy, games, 40)


def test_what_is_drawn_is_legal_and_rows_hold_what_was_seen(policy: ShortlistPolicy) -> None:
    games, rng = Games(16, discrete=False, reorder="jokers"), torch.Generator().manual_seed(2)
    games.reset()
    rows = np.zeros(16, dtype=policy.row_t)
    for _ in range(120):
        policy.pack(games, rows)
        flat = unpack_octets(torch.from_numpy(octets_of(rows)[:, : policy.row_t["flat"].itemsize].copy()))
        assert np.abs(flat.numpy() - games.flat).max() < 1e-3
        decisions = policy.decisions(rows, policy.act(rows, rng)[0].numpy())
        assert all(is_legal(games.states[i], int(decisions[i])) for i in range(16))
        games.step(decisions)
        games.reset(np.flatnonzero(games.outcome))


def test_probabilities_are_of_legal_entries_and_sum_to_one(policy: ShortlistPolicy, played: tuple) -> None:
    rows, _ = played
    with torch.no_grad():
        logits, _ = policy.heads(ListedRows(rows))
    legal = (rows["list"]["entries"]["flag_bits"] & LEGAL) != 0
    assert ((logits.numpy() > OFF / 2) == legal).all()
    total = np.zeros(len(rows))
    for k in range(legal.shape[1]):
        which = np.flatnonzero(legal[:, k])
        if len(which):
            with torch.no_grad():
                logs, entropies, _ = policy.evaluate(rows[which], np.full(len(which), k))
            total[which] += logs.exp().numpy()
            assert (entropies.numpy() <= np.log(legal[which].sum(axis=1)) + 1e-5).all()
    assert np.abs(total - 1.0).max() < 1e-5


def test_act_agrees_with_evaluate(policy: ShortlistPolicy, played: tuple) -> None:
    """Frequencies of 4,000 samples of one row equal its probabilities; log-probabilities and values agree."""
    rows, _ = played
    row = rows[np.argmax(((rows["list"]["entries"]["flag_bits"] & LEGAL) != 0).sum(axis=1))]
    many = np.repeat(row[None], 4000)
    drawn, logs, values = (each.numpy() for each in policy.act(many, torch.Generator().manual_seed(9))[:3])
    with torch.no_grad():
        again, _, also = policy.evaluate(many, drawn)
    assert np.allclose(again.numpy(), logs, atol=1e-5)
    assert np.allclose(also.numpy(), values, atol=1e-5)
    for k in np.unique(drawn):
        chance = float(np.exp(logs[drawn == k][0]))
        assert abs((drawn == k).mean() - chance) < 4 * np.sqrt(chance * (1 - chance) / 4000)


def test_rllib_sees_the_same_network(policy: ShortlistPolicy, played: tuple) -> None:
    rows = played[0][:50]
    batch = {"obs": torch.from_numpy(octets_of(rows).copy())}
    with torch.no_grad():
        logits, values = policy.heads(ListedRows(rows))
        assert torch.equal(policy.forward_inference(batch)["action_dist_inputs"], logits)
        assert torch.equal(policy.compute_values(batch), values)


def test_a_minibatch_is_its_rows(policy: ShortlistPolicy, played: tuple) -> None:
    rows, actions = played
    which = np.random.default_rng(0).permutation(len(rows))[:100]
    with torch.no_grad():
        for one, two in zip(
            policy.evaluate(policy.stage(rows)[which], actions[which]),
            policy.evaluate(rows[which], actions[which]),
            strict=True,
        ):
            assert torch.allclose(one, two, atol=1e-6)


def test_the_sparse_first_layer_is_the_dense_one(played: tuple) -> None:
    rows = played[0]
    layer = FirstLayer(FLAT_SIZE, 12)
    weights = torch.randn(len(rows), 12)
    out = SparseFirst.apply(layer.weight, layer.bias, FilledRows(rows), torch.float32)
    (out * weights).sum().backward()
    found = out.detach(), layer.weight.grad.clone(), layer.bias.grad.clone()
    layer.zero_grad()
    dense = unpack_octets(torch.from_numpy(octets_of(rows)[:, : rows.dtype["flat"].itemsize].copy()))
    wanted = layer(dense)
    (wanted * weights).sum().backward()
    for one, two in zip(found, (wanted.detach(), layer.weight.grad, layer.bias.grad), strict=True):
        assert torch.allclose(one, two, atol=1e-3, rtol=1e-4)


def test_the_device_path_is_the_sparse_one(policy: ShortlistPolicy, played: tuple) -> None:
    staged = policy.stage(played[0])[np.arange(0, len(played[0]), 7)]
    with torch.no_grad():
        assert torch.allclose(policy.table(staged), policy.dense_table(staged), atol=1e-4)


def test_gradients_are_those_of_small_changes(policy: ShortlistPolicy, played: tuple) -> None:
    rows, actions = (each[:200] for each in played)

    def loss() -> torch.Tensor:
        logs, entropies, values = policy.evaluate(rows, actions)
        return logs.mean() + 0.3 * entropies.mean() + values.square().mean()

    policy.zero_grad()
    loss().backward()
    rng = np.random.default_rng(4)
    for name, parameter in policy.named_parameters():
        direction = torch.from_numpy(rng.standard_normal(parameter.shape).astype(np.float32))
        slope = float((parameter.grad * direction).sum())
        size = 1e-2 / max(1.0, float(direction.norm()))
        with torch.no_grad():
            parameter += size * direction
            up = float(loss())
            parameter -= 2 * size * direction
            down = float(loss())
            parameter += size * direction
        assert slope == pytest.approx((up - down) / (2 * size), abs=2e-3 + 0.03 * abs(slope)), name


def test_the_player_takes_the_likeliest(policy: ShortlistPolicy) -> None:
    games = Games(6, discrete=False, reorder="jokers")
    games.reset()
    playing = np.array([True, True, False, True, True, True])
    one = PolicyPlayer(policy, "one", likeliest=True).choose(games, playing)
    two = PolicyPlayer(policy, "two", likeliest=True, seed=3).choose(games, playing)
    assert (one == two).all()
    assert one[2] == -1
    assert all(is_legal(games.states[i], int(one[i])) for i in np.flatnonzero(playing))


def test_practice_starts_from_reached_positions_and_is_counted_separately(policy: ShortlistPolicy) -> None:
    games = Games(32, discrete=False, reorder="jokers", reward="blinds")
    games.reset()
    games.states.one_chip_blinds[:] = 1  # every hand beats its blind, so antes are reached fast
    runner = SimpleNamespace(games=games, config=SimpleNamespace(practice=0.5), begun=np.zeros(32, dtype=np.bool_))
    practice, tally = Practice(runner), EpisodeTally(np.zeros(32))
    practice.dealt(np.random.SeedSequence(1), None)
    rows, rng = np.zeros(32, dtype=policy.row_t), torch.Generator().manual_seed(2)
    begun = 0
    for _ in range(400):
        policy.pack(games, rows)
        games.step(policy.decisions(rows, policy.act(rows, rng)[0].numpy()))
        over = np.flatnonzero(games.outcome)
        before = len(tally.last)
        tally.add(games, over, runner.begun)
        assert len(tally.last) - before == (~runner.begun[over]).sum() or len(tally.last) == tally.last.maxlen
        practice.stepped(0)
        games.reset(over)
        games.states.one_chip_blinds[over] = 1
        runner.begun[over] = False
        practice.renewed(over)
        middle = over[runner.begun[over]]
        begun += len(middle)
        for i in middle:
            s = games.states[i]
            assert s.phase == Phase.BLIND_SELECT
            assert s.ante > 1
            assert blinds_beaten(s) > 0
            assert games.steps[i] == 0
            assert s.n_streams == 0
        assert (games.states.ante[over[~runner.begun[over]]] == 1).all()
    assert begun > 5
    seeds = {str(seed) for seed in games.seeds}
    assert len(seeds) == 32
    assert KEPT > 1


def test_a_position_continues_with_another_future() -> None:
    """The same record with two seeds looks the same, but other cards are drawn."""
    games = Games(2, discrete=False, reorder="jokers")
    games.reset()
    games.put(np.array([0, 1]), games.states[[0, 0]])
    assert games.observations[0].tobytes() == games.observations[1].tobytes()
    assert games.seeds[0] != games.seeds[1]
    games.step(np.array([4, 4]))  # SELECT_BLIND
    hands = [[(int(s.cards[c].rank), int(s.cards[c].suit)) for c in s.hand[: s.n_hand]] for s in games.states]
    assert hands[0] != hands[1]
