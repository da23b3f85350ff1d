"""Combinations of policies, algorithms and hooks: supported, unsupported, and with classes from other packages."""

import os
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ante.hints.broker import Broker  # noqa: E402
from ante.training.settings.config import BadConfig, make_config  # noqa: E402
from tests.training.advice.test_hooks import Direct  # noqa: E402
from tests.training.learning.test_updates import learned, made  # noqa: E402

slow_uncompiled = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")


@pytest.mark.slow
@slow_uncompiled
def test_an_lstm_learns_from_hints_and_keeps_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows contain the same memory as without hints, and hints are imitated with the memory of their position."""
    from ante.training.advice import hooks

    broker = Broker(None, {})
    monkeypatch.setattr(hooks, "ActorMailbox", lambda *_: Direct(broker))
    settings = {"policy.kind": "lstm", "policy.memory": 8, "policy.sequence": 8, "hints.source": "rules"}
    runner, learner = made(**{**settings, "hints.confidence": 1.0, "hints.share": 0.5, "hints.imitation": 1.0})
    metrics: dict[str, Any] = {}
    for _ in range(4):
        (rollout,) = runner.sample()
        _, metrics = learned(learner, rollout)
    assert float(metrics["imitation_loss"]) > 0
    (term,) = learner.terms
    assert len(term.rows) > 16 and any(row["memory"].any() for row in term.rows)
    policy = learner._policy()
    runner.module.set_state(policy.get_state())
    (rollout,) = runner.sample()
    log_probs = policy.evaluate(rollout.rows, rollout.actions)[0].detach().numpy()
    np.testing.assert_allclose(log_probs, rollout.log_probs, atol=2e-5, err_msg="unrolling equals sampling")
    assert (rollout.rows["move"].reshape(32, -1)[0] > 0).any(), "games continue from the previous fragment"


@pytest.mark.slow
def test_an_lstm_with_an_advisor_plays_as_without_where_nobody_may_be_asked() -> None:
    from ante.env.games import Games
    from ante.training.acting.player import make_player
    from ante.training.players.advised import AdvisedPlayer

    policy = made(**{"policy.kind": "lstm", "policy.memory": 8})[0].module
    with torch.no_grad():
        policy.policy.weight.mul_(100.0)
    found = []
    for player in (
        AdvisedPlayer(policy, "x", None, share=0.0, likeliest=True),
        make_player(policy, "x", likeliest=True),
    ):
        games, chosen = Games(3, reorder="none"), []
        games.reset(options={"seed": ["ABCDEFGH", "TESTSEED", "HGFEDCBA"]})
        for _ in range(25):
            chosen.append(player.choose(games, games.outcome == 0).tolist())
            games.step(np.maximum(chosen[-1], 0))
        found.append(chosen)
    assert found[0] == found[1]


@slow_uncompiled
@pytest.mark.parametrize("settings", [{}, {"policy.kind": "lstm"}, {"policy.kind": "planner"}, {"algo.kind": "dqn"}])
def test_greedy_sampling_takes_the_likeliest_actions(settings: dict[str, Any]) -> None:
    """`sample(explore=False)` of two runners with different seeds plays the same game identically."""
    found = []
    for seed in (1, 2):
        torch.manual_seed(0)
        runner, _ = made(**settings, seed=seed)
        torch.manual_seed(0)
        for parameter in runner.module.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
        runner.games.fixed_seed = "TESTSEED"
        (fragment,) = runner.sample(num_timesteps=16 * 40, explore=False, force_reset=True)
        actions = fragment.actions.reshape(40, 16)
        assert (actions == actions[:, :1]).all(), "equal games have equal decisions"
        found.append(actions[:, 0])
    assert np.array_equal(*found)
    explored = runner.sample(num_timesteps=16 * 40, force_reset=True)[0].actions.reshape(40, 16)
    assert not (explored == explored[:, :1]).all()


@slow_uncompiled
@pytest.mark.parametrize("kind", ["mlp", "lstm", "planner", "cnn"])
def test_a_copied_state_continues_like_the_original(kind: str) -> None:
    small = {"policy.size": (36, 48)} if kind == "cnn" else {}
    runner, _ = made(
        **{"policy.kind": kind, "resources.games_per_runner": 4, "algo.batch": 64, "algo.minibatch": 64, **small}
    )
    runner.sample(num_timesteps=40)
    copied = runner.state.copy()
    rows = [np.zeros(4, dtype=runner.module.row_t) for _ in range(2)]
    for state, row in zip((runner.state, copied), rows, strict=True):
        runner.module.pack(runner.games, row)
        state.observe(runner.games, row)
    assert rows[0].tobytes() == rows[1].tobytes()
    carry = runner.module.act(copied.view(rows[1]), torch.Generator().manual_seed(0)).carry
    copied.advance(np.arange(4), carry)
    copied.begin(np.arange(4))
    again = np.zeros(4, dtype=runner.module.row_t)
    runner.module.pack(runner.games, again)
    runner.state.observe(runner.games, again)
    assert again.tobytes() == rows[0].tobytes(), "the original is unchanged"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"policy.kind": "cnn", "hints.source": "rules"},
            "hints.source rules is not supported with policy.kind cnn; use policy",
        ),
        (
            {"policy.kind": "planner", "hints.source": "rules"},
            "policy.kind mlp, shortlist or lstm|mlp.*shortlist.*lstm",
        ),
        ({"algo.kind": "dqn", "hints.source": "rules"}, "hints.source rules is not supported with algo.kind dqn"),
        ({"algo.kind": "dqn", "policy.kind": "lstm"}, "algo.kind dqn is not supported with policy.kind lstm"),
        (
            {"games.practice": 0.5, "resources.games_on": "gpu", "resources.runner_gpus": 1.0},
            "games.practice 0.5 is not",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_with_the_way_out(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(BadConfig, match=words):
        make_config(settings)


@pytest.mark.parametrize("settings", [{"policy.kind": "planner"}, {"algo.kind": "dqn"}, {"policy.kind": "lstm"}])
def test_games_on_a_gpu_are_open_to_every_policy_and_to_dqn(settings: dict[str, Any]) -> None:
    config = make_config({**settings, "resources.games_on": "gpu", "resources.runner_gpus": 1.0})
    assert config.resources.games_on == "gpu"


@slow_uncompiled
@pytest.mark.parametrize(
    "kinds",
    [
        {"policy.kind": "examples.policy:Linear"},
        {"algo.kind": "examples.algorithm:Reinforce"},
        {"algo.kind": "examples.algorithm:Reinforce", "policy.kind": "examples.policy:Linear"},
    ],
)
def test_policies_and_algorithms_from_outside_play_and_learn(kinds: dict[str, str]) -> None:
    runner, learner = made(**kinds)
    before = {name: np.array(value) for name, value in learner._policy().get_state().items()}
    (fragment,) = runner.sample()
    after, metrics = learned(learner, fragment)
    assert any(not np.array_equal(before[name], value) for name, value in after.items())
    assert np.isfinite(float(metrics["vf_loss"]))


def test_an_implementation_that_cannot_be_found_is_named() -> None:
    from typing import ClassVar

    from ante.training.policies.protocol import GamePolicy
    from ante.training.policies.registry import NotImplementedHere, implementation_of
    from ante.training.settings.policies import PolicySettings

    class Lost(PolicySettings):
        implementation: ClassVar[str] = "nowhere:Policy"
        kind: str = "lost"

    with pytest.raises(NotImplementedHere, match=r"Lost.implementation 'nowhere:Policy' cannot be imported"):
        implementation_of(Lost(), GamePolicy)
