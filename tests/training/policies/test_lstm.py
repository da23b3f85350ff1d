"""The LSTM policy: unrolling equals playing step by step, and it solves a task that requires memory."""

import os
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")


from ante.env.games import Games  # noqa: E402
from ante.training.learning.ppo import shuffled_parts  # noqa: E402
from ante.training.numerics import torch_ops  # noqa: E402
from ante.training.numerics.distributions import OFF  # noqa: E402
from ante.training.policies.lstm import Memory, sequences, unrolled  # noqa: E402
from ante.training.settings.config import BadConfig, make_config  # noqa: E402
from tests.support.recall_probe import RecallGames  # noqa: E402
from tests.support.side_by_side import choices  # noqa: E402
from tests.support.tiny import fitting  # noqa: E402
from tests.training.learning.test_updates import learned, made  # noqa: E402

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
SMALL: dict[str, Any] = {
    "policy.kind": "lstm",
    "policy.hidden": (24,),
    "policy.memory": 8,
    "resources.games_per_runner": 6,
    "algo.batch": 240,
    "algo.minibatch": 120,
}


def test_sequences_are_parts_of_one_game_of_limited_length() -> None:
    rng = np.random.default_rng(0)
    game, move = np.repeat([7, 3, 9], [13, 1, 40]), np.r_[0:13, 5, 2:42]
    kept = rng.permutation(np.flatnonzero(rng.random(54) < 0.9))
    game, move = game[kept].astype(np.uint64), move[kept].astype(np.uint64)
    order, starts = sequences(game, move, 8)
    found = np.split(order, starts[1:])
    assert sorted(np.concatenate(found)) == list(range(len(kept)))
    for part in found:
        assert len(set(game[part])) == 1
        assert (np.diff(move[part].astype(int)) == 1).all()
        assert len(set(move[part] // np.uint64(8))) == 1
    for one, two in pairwise(found):
        joins = game[one[-1]] == game[two[0]] and move[one[-1]] + 1 == move[two[0]]
        assert not joins or move[two[0]] % np.uint64(8) == 0, "cut only at multiples of the length"
    laid = unrolled(game, move, 8)
    slots: list[list[int]] = [[] for _ in range(len(found))]
    at = 0
    for count in laid.counts:
        for slot in range(count):
            slots[slot].append(int(laid.rows[at + slot]))
        at += count
    assert sorted(slots) == sorted(list(map(int, part)) for part in found)
    assert [slot[0] for slot in slots] == laid.first.tolist()


def test_what_is_remembered_ends_with_its_game() -> None:
    recall = Memory(3, 2, first=10)
    recall.advance(np.arange(3), np.ones((3, 2, 2), dtype=np.float32))
    recall.begin(np.array([1]))
    assert recall.memory.any(axis=(1, 2)).tolist() == [True, False, True]
    assert recall.game.tolist() == [10, 13, 12] and recall.move.tolist() == [1, 0, 1]


def slowly(policy: Any, rollout: Any, length: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return log-probabilities, entropies and values, game by game and step by step, by the LSTM's definition.

    The memory lasts for a whole game; gradients are truncated every `length` decisions, and at the first row.
    """
    n = len(rollout)
    logs, entropies, values = [None] * n, [None] * n, [None] * n
    weight = dict(policy.cell.named_parameters())
    dense = torch_ops.unpack_octets(torch.from_numpy(rollout.rows["seen"].copy().view(np.uint8).reshape(n, -1)))
    legal = torch_ops.legal_of(torch.from_numpy(rollout.rows["seen"].copy().view(np.uint8).reshape(n, -1)))
    for game in np.unique(rollout.rows["game"]):
        rows = np.flatnonzero(rollout.rows["game"] == game)
        rows = rows[np.argsort(rollout.rows["move"][rows])]
        hidden, cell = (torch.from_numpy(rollout.rows["memory"][rows[0], k].copy()) for k in range(2))
        for row in rows:
            if int(rollout.rows["move"][row]) % length == 0:
                hidden, cell = hidden.detach(), cell.detach()
            features = policy.trunk(policy.first(dense[row : row + 1]))[0]
            sums = weight["weight_ih_l0"] @ features + weight["bias_ih_l0"]
            sums = sums + weight["weight_hh_l0"] @ hidden + weight["bias_hh_l0"]
            let_in, keep, new, out = sums.chunk(4)
            cell = keep.sigmoid() * cell + let_in.sigmoid() * new.tanh()
            hidden = out.sigmoid() * cell.tanh()
            both = torch.cat([features, hidden])
            log = policy.policy(both).masked_fill(~legal[row], OFF).log_softmax(dim=0)
            logs[row] = log[int(rollout.actions[row])]
            entropies[row] = -(log.exp() * log).masked_fill(~legal[row], 0.0).sum()
            values[row] = policy.value(both)[0]
    return torch.stack(logs), torch.stack(entropies), torch.stack(values)


@pytest.mark.parametrize("length", [5, 64])
def test_unrolled_sequences_are_games_played_step_by_step(length: int) -> None:
    """Games end and start within the fragment, and continue from the previous one; minibatches are whole sequences."""
    runner, learner = made(
        **SMALL,
        **{"games.max_decisions": 25, "policy.sequence": length, "algo.lr": 1e-2},
    )
    runner.sample()
    (rollout,) = runner.sample()
    policy = learner._policy()
    assert len(np.unique(rollout.rows["game"])) > 6 and (rollout.rows["memory"][rollout.rows["move"] == 0] == 0).all()
    assert (rollout.rows["move"].reshape(40, 6)[0] > 0).any(), "some games continue"
    found, wanted = policy.evaluate(rollout.rows, rollout.actions), slowly(policy, rollout, length)
    for one, two in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one.detach().numpy(), two.detach().numpy(), atol=2e-5)
    np.testing.assert_allclose(found[0].detach().numpy(), rollout.log_probs, atol=2e-5, err_msg="equal to acting")
    batch = [torch.from_numpy(each) for each in (rollout.log_probs - 0.05, rollout.advantages, rollout.targets)]
    gradients = []
    for answers in (found, wanted):
        loss, _ = torch_ops.ppo(answers, *batch, 0.2, 0.5, 0.01)
        gradients.append(torch.autograd.grad(loss, list(policy.parameters())))
    for one, two in zip(*gradients, strict=True):
        np.testing.assert_allclose(one.numpy(), two.numpy(), atol=1e-5 + 1e-3 * float(two.abs().max()))
    units = policy.sequences(rollout.rows)
    parts = shuffled_parts(units, np.random.default_rng(0), 4)
    assert sorted(np.concatenate(parts)) == list(range(240)) and min(map(len, parts)) > 0
    chosen = policy.stage(rollout.rows)[parts[0]]
    halves = policy.evaluate(chosen, rollout.actions[parts[0]])
    np.testing.assert_allclose(halves[2].detach().numpy(), wanted[2].detach().numpy()[parts[0]], atol=2e-4)


def test_an_update_uses_whole_sequences_and_learns() -> None:
    runner, learner = made(
        **SMALL,
        **{"games.max_decisions": 25, "policy.sequence": 16, "algo.lr": 1e-2},
    )
    (rollout,) = runner.sample()
    seen: list[Any] = []
    evaluate = learner._policy().evaluate
    learner._policy().evaluate = lambda rows, actions: (seen.append(rows), evaluate(rows, actions))[1]
    before = {name: np.array(value) for name, value in learner._policy().get_state().items()}
    after, metrics = learned(learner, rollout)
    assert len(seen) == 4 and sum(map(len, seen)) == 480, "two epochs of two minibatches"
    whole = len(learner._policy().sequences(rollout.rows))
    for epoch in (seen[:2], seen[2:]):
        assert sum(len(unrolled(part.game, part.move, 16).first) for part in epoch) == whole
    weights = dict(learner._policy().named_parameters())
    assert all(not np.array_equal(before[name], after[name]) for name in weights)
    assert float(metrics["epochs"]) == 2


def test_a_player_keeps_the_memory_of_games_separate_and_can_be_queried_twice() -> None:
    """In parallel, alone, and with every query repeated: the same games."""
    from ante.training.acting.player import make_player

    torch.manual_seed(0)
    policy = made(**SMALL)[0].module
    with torch.no_grad():
        policy.policy.weight.mul_(100.0)
    seeds = ["ABCDEFGH", "TESTSEED", "HGFEDCBA"]

    def chosen(seeds: list[str], times: int) -> list[list[int]]:
        return choices(make_player(policy, "x", likeliest=True), seeds, 30, times)

    together = chosen(seeds, 1)
    assert together == chosen(seeds, 2)
    assert [row[:1] for row in together] == chosen(seeds[:1], 1)
    recall = make_player(policy, "x", likeliest=True)
    games = Games(1, discrete=True, reorder="none")
    games.reset(options={"seed": "TESTSEED"})
    for _ in range(4):
        games.step(recall.choose(games, np.ones(1, dtype=np.bool_)))
    row = recall.played(games).rows()
    assert row["move"][0] == 4 and row["memory"].any()
    games.reset(options={"seed": "TESTSEED"})
    assert not recall.played(games).rows()["memory"].any(), "a new game in the same place"


def test_notes_follow_the_game_as_the_player_does() -> None:
    """The memory is the same if cards were selected from left to right."""
    from ante.engine.actions import Verb, pack_action, to_macro
    from ante.env.replay import Heading
    from ante.training.acting.player import make_player
    from ante.watch.episode import Episode, annotate, begin

    torch.manual_seed(0)
    policy = made(**SMALL)[0].module
    heading = Heading("TESTSEED", "b_red", 1, None)
    cards = 0b10110
    decisions = [pack_action(Verb.SELECT_BLIND, 0, 0, 0), pack_action(Verb.PLAY, 0, 0, cards)]
    decisions.append(pack_action(Verb.DISCARD, 0, 0, 0b1))
    episode = Episode(begin(heading), tuple(map(int, decisions)))
    teller, player = make_player(policy, "x"), make_player(policy, "x")
    notes = annotate(episode, teller)
    games = Games(1, discrete=True, reorder="none")
    games.reset(options={"seed": "TESTSEED"})
    wanted = []
    selects = [(), (1, 2, 4), (0,)]
    for decision, places in zip(decisions, selects, strict=True):
        path = [int(pack_action(Verb.SELECT, place, 0, 0)) for place in places] + [int(decision)]
        for macro in path:
            row_values = None
            player.choose(games, np.ones(1, dtype=np.bool_))
            row_values = policy.ahead(player.played(games).rows())[2]
            numbers = np.flatnonzero(games.masks[0])
            macros = [int(to_macro(games.states[0], number)) for number in numbers]
            games.step(numbers[[macros.index(macro)]])
        wanted.append(float(row_values[0]))
    assert [note.value for note in notes] == pytest.approx(wanted, abs=1e-3)


def test_a_new_memory_has_orthogonal_gates_and_forgets_slowly() -> None:
    from ante.training.policies.registry import new_policy

    torch.manual_seed(0)
    settings = fitting("lstm", {"hidden": (24,), "memory": 16, "sequence": 8})
    cell = new_policy(make_config(settings)).cell
    for weights in (cell.weight_ih_l0, cell.weight_hh_l0):
        for gate in weights.detach().view(4, 16, -1):
            np.testing.assert_allclose(gate @ gate.T, np.eye(16), atol=1e-5)
    zeros, start = torch.zeros(10, 1, 24), (torch.zeros(1, 1, 16), torch.ones(1, 1, 16))
    with torch.no_grad():
        cell.weight_hh_l0.zero_()  # the biases alone
        left = cell(zeros, start)[1][1]
    np.testing.assert_allclose(left, (1 / (1 + np.exp(-1.0))) ** 10 * np.ones((1, 1, 16)), rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "least", "most"), [("lstm", 0.95, 1.0), ("mlp", 0.3, 0.7)])
def test_only_a_memory_wins_the_game_of_recall(policy: str, least: float, most: float) -> None:
    """Runner, rows, learner and loss are those of real training; only the games differ."""
    torch.manual_seed(0)
    sizes = {"resources.games_per_runner": 32, "algo.batch": 1024, "algo.minibatch": 256}
    runner, learner = made(
        **fitting(policy, {"hidden": (32,), "memory": 16, "sequence": 16}),
        **{"algo.epochs": 4, "algo.lr": 5e-3, "algo.gamma": 0.95, "algo.entropy": 0.001},
        **sizes,
    )
    runner.make_env = lambda: make_probe(runner)
    runner.make_env()
    wins = []
    for _ in range(100):
        (rollout,) = runner.sample()
        wins.append(runner.tally.means()["win_rate"])
        if policy == "lstm" and wins[-1] > 0.99:
            break
        learned(learner, rollout)
        runner.set_state(learner.get_state())
    assert least <= wins[-1] <= most


def make_probe(runner: Any) -> None:
    """Replace the runner's games by those of recall."""
    from ante.training.sampling.fragment import EpisodeTally

    runner.games, runner.tally = RecallGames(32, delay=6), EpisodeTally(np.zeros(32))
    runner.hooks = []  # recall has no records for highlights
    runner._discounted, runner._dealt, runner._current_stage = np.zeros(32), False, runner.stage


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"algo.kind": "rllib-ppo"}, "algo.kind rllib-ppo is not supported with policy.kind lstm"),
        ({"hints.shaping": 0.1}, "hints.shaping 0.1 is not supported with policy.kind lstm; use policy.kind shortlist"),
        ({"policy.sequence": 2000}, "policy.sequence 2000 is longer than each learner's share of algo.minibatch, 1024"),
        ({"algo.kind": "dqn"}, "algo.kind dqn is not supported with policy.kind lstm; use policy.kind mlp"),
    ],
)
def test_what_the_lstm_cannot_do_is_refused_in_a_sentence(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(BadConfig, match=words):
        make_config({"policy.kind": "lstm", **settings})
