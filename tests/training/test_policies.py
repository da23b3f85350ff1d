"""Every policy by name: trained, repeated, put back and played the same way."""

import os
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

torch = pytest.importorskip("torch")
slow_uncompiled = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
SMALL: dict[str, Any] = {
    "games": 8, "batch": 128, "minibatch": 64, "epochs": 1, "width": 16, "layers": 1, "heads": 2, "trunk": 16,
    "hidden": (16,), "max_decisions": 40, "lr": 1e-2, "eval_games": 2, "pixel_size": (36, 48), "channels": (4, 4, 4),
}  # fmt: skip


def test_the_configuration_names_every_policy() -> None:
    from ante.training.config import TrainConfig
    from ante.training.policies import POLICIES

    assert set(get_args(TrainConfig.model_fields["policy"].annotation)) == set(POLICIES)


def test_every_policy_is_made_from_the_configuration() -> None:
    from ante.training.config import TrainConfig
    from ante.training.policies import POLICIES, make_player

    sizes = {}
    for name, choice in POLICIES.items():
        for settings in ({}, {"hidden": (16,), "width": 16, "trunk": 32}):
            config = TrainConfig(policy=name, **settings)
            seen, answered = choice.fast.spaces()
            made = choice.fast(observation_space=seen, action_space=answered, model_config=choice.settings(config))
            sizes[name, bool(settings)] = sum(parameter.numel() for parameter in made.parameters())
            player = make_player(made, "x")
            assert (player.name, player.discrete) == ("x", made.discrete)
        assert sizes[name, True] < sizes[name, False]


@pytest.mark.ray
@slow_uncompiled
@pytest.mark.parametrize("policy", ["mlp", "entities", "shortlist", "lstm", "cnn-fused", "planner"])
def test_a_policy_trains_repeats_itself_goes_on_and_plays(policy: str, local_ray: None, tmp_path: Path) -> None:
    from ante.training.algorithm import build
    from ante.training.budget import Sizes
    from ante.training.config import TrainConfig
    from ante.training.evaluate import evaluate_run
    from ante.training.films import keep_games, write_best
    from ante.training.policies import POLICIES
    from ante.training.train import Progressed, begin, row_of, save

    config = TrainConfig(policy=policy, runs=str(tmp_path), **SMALL)
    made, twin = (build(config) for _ in range(2))
    first = made.learner_group._learner.module["default_policy"].unwrapped()
    assert type(first) is POLICIES[policy].fast
    before = {name: value.copy() for name, value in first.get_state().items()}
    done, losses = Progressed(sizes=Sizes(config.minibatch, config.games)), []
    for each in (made, twin):
        rows = [row_of(each.train(), Progressed(), 1.0) for _ in range(2)]
        losses.append([(row["policy_loss"], row["entropy"], row["steps"]) for row in rows])
    assert losses[0] == losses[1], "the same seed gives the same curve"
    done.row, done.steps, done.iteration = rows[-1], 256, 1
    learned = {name: value.copy() for name, value in first.get_state().items()}
    assert any(not np.array_equal(learned[name], value) for name, value in before.items())
    save(config, made, done)
    again, went_on = begin(config, resume=True)
    assert went_on.steps == 256
    module = again.env_runner.module
    assert all(np.array_equal(learned[name], value) for name, value in module.get_state().items())
    again.train()
    player, report = evaluate_run(config, lambda _: None)[0]
    assert (report.player, report.games) == (config.name, 2)
    kept = keep_games(config, player, report, 256, final=True)
    assert write_best(config, kept)[0].stat().st_size > 5000
    for each in (made, twin, again):
        each.stop()
