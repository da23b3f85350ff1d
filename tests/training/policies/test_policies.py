"""Every policy by name: trained reproducibly, restored and played."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ante.training.settings.config import make_config
from tests.support.tiny import tiny_network

torch = pytest.importorskip("torch")
slow_uncompiled = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
SMALL: dict[str, Any] = {
    "resources.games_per_runner": 8, "algo.batch": 128, "algo.minibatch": 64, "algo.epochs": 1, "algo.lr": 1e-2,
    "games.max_decisions": 40, "evaluation.games": 2,
}  # fmt: skip


def test_every_policy_is_made_from_the_configuration() -> None:
    from ante.training.acting.player import make_player
    from ante.training.policies.registry import new_policy
    from ante.training.settings.policies import POLICIES

    sizes = {}
    for name, kind in POLICIES.known.items():
        small = {"hidden": (16,), "width": 16, "trunk": 32}
        for settings in ({}, {key: value for key, value in small.items() if key in kind.model_fields}):
            made = new_policy(make_config({"policy": {"kind": name, **settings}}))
            sizes[name, bool(settings)] = sum(parameter.numel() for parameter in made.parameters())
            player = make_player(made, "x")
            assert (player.name, player.discrete) == ("x", made.discrete)
        assert sizes[name, True] < sizes[name, False]


def test_values_are_not_rounded_to_bf16() -> None:
    from ante.training.policies.registry import new_policy
    from ante.training.settings.policies import POLICIES

    features = torch.linspace(0.0, 20.0, 1000).unsqueeze(1)
    for name in POLICIES.known:
        head = new_policy(make_config({"policy.kind": name})).value
        assert head.out_features == 1
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            weight = torch.zeros(1, head.in_features)
            weight[0, 0] = 1.0
            head.weight.copy_(weight)
            head.bias.zero_()
            values = head(torch.nn.functional.pad(features, (0, head.in_features - 1)))
        assert values.dtype == torch.float32 and torch.equal(values, features), name


@pytest.mark.ray
@slow_uncompiled
@pytest.mark.parametrize("policy", ["mlp", "entities", "shortlist", "lstm", "cnn-fused", "planner"])
def test_a_policy_trains_reproducibly_continues_and_plays(policy: str, local_ray: None, tmp_path: Path) -> None:
    from ante.training.policies.registry import policy_class
    from ante.training.rllib.build import build
    from ante.training.run.evaluate import evaluate_run
    from ante.training.run.loop import Progressed, begin, row_of, save
    from ante.training.run.memory_budget import Sizes
    from ante.training.run.videos import keep_games, write_best

    config = make_config({**tiny_network(policy), "runs": str(tmp_path), **SMALL})
    made, second = (build(config) for _ in range(2))
    assert not Path(made.logdir).is_relative_to(Path.home() / "ray_results"), "home may be read-only"
    first = made.learner_group._learner.module["default_policy"].unwrapped()
    assert type(first) is policy_class(config)
    before = {name: value.copy() for name, value in first.get_state().items()}
    done, losses = Progressed(sizes=Sizes(config.algo.minibatch, config.resources.games_per_runner)), []
    for each in (made, second):
        rows = [row_of(each.train(), Progressed(), 1.0) for _ in range(2)]
        losses.append([(row["policy_loss"], row["entropy"], row["steps"]) for row in rows])
    assert losses[0] == losses[1], "the same seed gives the same curve"
    done.row, done.steps, done.iteration = rows[-1], 256, 1
    learned = {name: value.copy() for name, value in first.get_state().items()}
    assert any(not np.array_equal(learned[name], value) for name, value in before.items())
    config.folder.mkdir()
    save(config, made, done)
    again, went_on = begin(config, True, lambda stage: None)
    assert went_on.steps == 256
    module = again.env_runner.module
    assert all(np.array_equal(learned[name], value) for name, value in module.get_state().items())
    again.train()
    evaluated = evaluate_run(config, lambda _: None)
    assert [each.name for each, _ in evaluated] == [config.name, "random", "greedy", "rules"]
    player, report = evaluated[0]
    assert (report.player, report.games) == (config.name, 2)
    kept = keep_games(config, player, report, 256, final=True)
    assert write_best(config, kept)[0].stat().st_size > 5000
    for each in (made, second, again):
        each.stop()
