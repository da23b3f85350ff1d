"""Policies on frames: each frame is rendered and stored once, and stacks never cross games."""

import os
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ante.engine.core.state import copy_states  # noqa: E402
from ante.env.games import Games  # noqa: E402
from ante.training.numerics import torch_ops  # noqa: E402
from ante.training.policies.protocol import Framed  # noqa: E402
from ante.training.sampling.fragment import joined  # noqa: E402
from ante.training.settings.config import BadConfig, make_config  # noqa: E402
from ante.watch.render.pixels import look  # noqa: E402
from tests.support.side_by_side import choices  # noqa: E402
from tests.training.learning.test_updates import learned, made  # noqa: E402

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
SIZE = 36, 48
SMALL: dict[str, Any] = {
    "policy.kind": "cnn-fused", "policy.hidden": (24,), "policy.channels": (6, 8, 8), "policy.size": SIZE, "policy.stack": 3,
    "resources.games_per_runner": 5, "algo.batch": 100, "algo.minibatch": 50, "games.max_decisions": 13,
}  # fmt: skip


class Watched:
    """Stores each game's observation and index at every call of the runner's policy."""

    def __init__(self, runner: Any) -> None:
        self.states: list[Any] = []
        self.steps: list[Any] = []
        choose = runner._choose

        def watch(rows: Any, hooks: Any) -> Any:
            self.states.append(copy_states(runner.games.states))
            self.steps.append(runner.games.steps.copy())
            return choose(rows, hooks)

        runner._choose = watch

    def stacks(self, length: int, colour: bool) -> np.ndarray:
        """Return stacks (steps, games, stack * channels, height, width), built game by game and step by step."""
        found: list[list[np.ndarray]] = [[] for _ in self.states]
        for i in range(len(self.states[0])):
            seen: list[np.ndarray] = []
            for t, states in enumerate(self.states):
                if self.steps[t][i] == 0:
                    seen = []
                seen.append(look(states[i], SIZE, colour))
                last = seen[-length:]
                found[t].append(np.concatenate([seen[0]] * (length - len(last)) + last))
        return np.stack([np.stack(row) for row in found])


@pytest.mark.slow
@pytest.mark.parametrize(("colour", "practice"), [(False, 0.0), (True, 0.5)])
def test_stacks_are_the_last_frames_of_their_own_game(colour: bool, practice: float) -> None:
    """Games end and are truncated within fragments, start in the middle, and continue from the previous fragment."""
    runner, _ = made(
        **SMALL,
        **{"policy.colour": colour, "games.practice": practice},
    )
    watched = Watched(runner)
    rollouts = [runner.sample()[0] for _ in range(3)]
    wanted = watched.stacks(3, colour)
    assert (np.diff(np.stack(watched.steps), axis=0) < 0).sum() > 10, "games have ended"
    for k, rollout in enumerate(rollouts):
        got = rollout.frames[rollout.rows["frames"]].reshape(20, 5, *wanted.shape[2:])
        np.testing.assert_array_equal(got, wanted[20 * k : 20 * k + 20])
        ends = len(rollout.frames) - 20 * 5
        assert ends <= 3 * 5 + 5 + 5 * 3, "one frame per step and game, initial stacks, and final observations"
        assert rollout.rows.nbytes < 600 * 100 and rollout.nbytes >= rollout.frames.nbytes


def test_values_at_boundaries_use_the_stacks_of_their_game() -> None:
    """The values of truncated games and at the fragment's end use the games' own last frames."""
    runner, _ = made(**SMALL, **{"algo.kind": "appo"})
    watched = Watched(runner)
    (trace,) = runner.sample()
    runner.sample()
    wanted = watched.stacks(3, colour=False)
    assert len(trace.places) > 0
    got = trace.frames[trace.extra["frames"]].reshape(len(trace.extra), 3, *SIZE)
    goes_on = watched.steps[20] > 0
    np.testing.assert_array_equal(got[:5][goes_on], wanted[20][goes_on])
    assert goes_on.any()
    for place, stack in zip(trace.places, got[5:], strict=True):
        before = wanted[place // 5, place % 5]
        np.testing.assert_array_equal(stack[:2], before[1:], err_msg="the final stack continues the previous one")
        assert not np.array_equal(stack[2], before[2])


def test_joined_fragments_and_parts_show_the_same_pictures() -> None:
    runner, _ = made(**SMALL)
    one, two = (runner.sample()[0] for _ in range(2))
    stacks = [rollout.frames[rollout.rows["frames"]] for rollout in (one, two)]
    both = joined([one, two])
    np.testing.assert_array_equal(both.frames[both.rows["frames"]], np.concatenate(stacks))
    part = both.part(slice(90, 130))
    np.testing.assert_array_equal(part.frames[part.rows["frames"]], np.concatenate(stacks)[90:130])


@pytest.mark.parametrize("policy", ["cnn", "cnn-fused"])
def test_the_network_equals_its_definition(policy: str) -> None:
    """Log-probabilities, entropies and values equal those of plain operations on dense frames, and those of acting."""
    runner, learner = made(**{**SMALL, "policy.kind": policy, "policy.hidden": (24, 16)})
    (rollout,) = runner.sample()
    net = learner._policy()
    weight = dict(net.named_parameters())
    x = torch.from_numpy(rollout.frames[rollout.rows["frames"]].reshape(100, 3, *SIZE)).float() / 255
    for at, stride in ((0, 4), (2, 2), (4, 1)):
        names = (f"convolutions.{at}.{part}" for part in ("weight", "bias"))
        x = torch.nn.functional.conv2d(x, *(weight[name] for name in names), stride=stride).clamp(min=0)
    first = x.flatten(1) @ weight["looked.weight"].T + weight["looked.bias"]
    masks = np.unpackbits(rollout.rows["seen"]["mask"], axis=1, bitorder="little", count=143)
    if policy == "cnn-fused":
        octets = torch.from_numpy(rollout.rows["seen"].copy().view(np.uint8).reshape(100, -1))
        first = first + torch_ops.unpack_octets(octets) @ weight["first.weight"] + weight["first.bias"]
    else:
        assert "first.weight" not in weight and rollout.rows.dtype.itemsize < 40
    features = torch.nn.functional.silu(
        torch.nn.functional.silu(first) @ weight["trunk.1.weight"].T + weight["trunk.1.bias"]
    )
    logits = features @ weight["policy.weight"].T + weight["policy.bias"]
    logs = logits.masked_fill(torch.from_numpy(masks) == 0, -1e9).log_softmax(dim=1)
    values = (features @ weight["value.weight"].T)[:, 0] + weight["value.bias"]
    got = net.evaluate(rollout.seen, rollout.actions)
    chosen = logs[torch.arange(100), torch.from_numpy(rollout.actions)]
    np.testing.assert_allclose(got[0].detach().numpy(), chosen.detach().numpy(), atol=2e-5)
    np.testing.assert_allclose(got[0].detach().numpy(), rollout.log_probs, atol=2e-5)
    np.testing.assert_allclose(got[1].detach().numpy(), -(logs.exp() * logs).sum(1).detach().numpy(), atol=2e-5)
    np.testing.assert_allclose(got[2].detach().numpy(), values.detach().numpy(), atol=2e-5)
    assert masks[np.arange(100), rollout.actions].all(), "all actions are legal"


def test_a_cnn_learns_from_frames_alone_and_equal_seeds_give_equal_weights() -> None:
    """The gradient reaches every weight, including the first convolution's; two equal runs give equal weights."""
    ends = []
    for _ in range(2):
        torch.manual_seed(5)
        runner, learner = made(**{**SMALL, "policy.kind": "cnn"}, **{"algo.lr": 1e-2}, seed=3)
        before = {name: np.array(value) for name, value in learner._policy().get_state().items()}
        for _ in range(2):
            after, _metrics = learned(learner, runner.sample()[0])
            runner.set_state(learner.get_state())
        ends.append(after)
        weights = dict(learner._policy().named_parameters())
        assert all(not np.array_equal(before[name], after[name]) for name in weights)
    assert all(np.array_equal(ends[0][name], value) for name, value in ends[1].items())


def test_a_cnn_reads_its_frames() -> None:
    """It learns the number of selected cards from the frame alone, in the view that it plays with."""
    torch.manual_seed(0)
    _, learner = made(
        **{**SMALL, "policy.kind": "cnn", "policy.size": (60, 80), "policy.stack": 1, "policy.hidden": (32,)}
    )
    net, games = learner._policy(), Games(64, reorder="none", flat=False)
    games.reset()
    games.step(np.zeros(64, dtype=np.int64) + np.flatnonzero(games.masks[0])[0])
    rng = np.random.default_rng(0)
    games.states.selected[:] = [sum(1 << int(i) for i in rng.choice(8, n % 2 * 5, False)) for n in range(64)]
    frames = np.stack([look(s, (60, 80)) for s in games.states])
    rows = np.zeros(64, dtype=net.row_t)
    rows["seen"]["mask"], rows["frames"] = 255, np.arange(64)[:, None]
    some, others = np.arange(32), np.arange(32, 64)
    adam = torch.optim.Adam(net.parameters(), lr=2e-3)
    for _ in range(60):
        loss = -net.evaluate(Framed(rows[some], frames), some % 2)[0].mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    right = net.evaluate(Framed(rows[others], frames), others % 2)[0].exp()
    assert float(right.mean().detach()) > 0.9, "on games that were not in training"


def test_a_player_keeps_the_stacks_of_games_separate_and_can_be_queried_twice() -> None:
    """In parallel, alone, with every query repeated, and with games reset in the same place."""
    from ante.training.acting.player import make_player

    torch.manual_seed(0)
    policy = made(**SMALL)[0].module
    with torch.no_grad():
        policy.policy.weight.mul_(300.0)
    seeds = ["ABCDEFGH", "TESTSEED", "HGFEDCBA"]

    def chosen(seeds: list[str], times: int) -> list[list[int]]:
        return choices(make_player(policy, "x", likeliest=True), seeds, 24, times, max_decisions=9)

    together = chosen(seeds, 1)
    assert together == chosen(seeds, 2)
    assert [row[:1] for row in together] == chosen(seeds[:1], 1)
    assert [row[0] for row in together[:9]] == [row[0] for row in together[9:18]], "the same game from its start"


def test_notes_use_the_observations_of_the_player() -> None:
    """Values from a replay equal those of the game played card by card, selected from left to right."""
    from ante.engine.actions import Verb, pack_action, to_macro
    from ante.env.replay import Heading
    from ante.training.acting.player import make_player
    from ante.watch.episode import Episode, annotate, begin

    torch.manual_seed(0)
    policy = made(**SMALL)[0].module
    cards = (), (1, 2, 4), (0,)
    verbs = Verb.SELECT_BLIND, Verb.PLAY, Verb.DISCARD
    decisions = [int(pack_action(verb, 0, 0, sum(1 << i for i in of))) for verb, of in zip(verbs, cards, strict=True)]
    notes = annotate(Episode(begin(Heading("TESTSEED")), tuple(decisions)), make_player(policy, "x"))
    player, games = make_player(policy, "x"), Games(1, discrete=True, reorder="none")
    games.reset(options={"seed": "TESTSEED"})
    wanted = []
    for decision, of in zip(decisions, cards, strict=True):
        for macro in [*(int(pack_action(Verb.SELECT, i, 0, 0)) for i in of), decision]:
            player.choose(games, np.ones(1, dtype=np.bool_))
            followed = player.played(games)
            last = followed.state.view(followed.rows())
            numbers = np.flatnonzero(games.masks[0])
            games.step(numbers[[[int(to_macro(games.states[0], n)) for n in numbers].index(macro)]])
        wanted.append(float(policy.action_log_probs(last)[1][0]))
    assert [note.value for note in notes] == pytest.approx(wanted, abs=1e-3), "notes are rounded"
    assert all(abs(one - two) > 1e-2 for one, two in pairwise(wanted))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"algo.kind": "rllib-ppo"}, "algo.kind rllib-ppo is not supported with policy.kind cnn"),
        ({"hints.source": "rules"}, "hints.source rules is not supported with policy.kind cnn; use"),
        ({"algo.kind": "dqn"}, "algo.kind dqn is not supported with policy.kind cnn; use policy.kind mlp"),
        ({"policy.size": (20, 80)}, "policy.size: height and width are 36 to 720 pixels"),
        ({"policy.channels": (0, 1, 1)}, "policy.channels: set at least one width, each 1 or more"),
    ],
)
def test_what_a_cnn_cannot_do_is_refused_in_a_sentence(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(BadConfig, match=words):
        make_config({"policy.kind": "cnn", **settings})
