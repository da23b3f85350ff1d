"""Reactions to a shortage of memory, on made-up readings."""

import pytest

from ante.training.run.memory_budget import LEAST_GAMES, LEAST_MINIBATCH, Budget, Sizes


def test_below_four_fifths_of_the_budget_nothing_happens() -> None:
    budget = Budget(8.0)
    for used in (0.0, 3.0, 6.39, 6.39):
        verdict = budget.judge(used, Sizes(1024, 64))
        assert (verdict.words, verdict.sizes) == (None, None)


def test_it_warns_once_and_then_halves_minibatch_and_games_down_to_their_floors() -> None:
    budget, sizes, said, way = Budget(8.0), Sizes(256, 32), [], []
    for _ in range(8):
        verdict = budget.judge(7.0, sizes)
        said.append(verdict.words)
        sizes = verdict.sizes or sizes
        way.append((sizes.minibatch, sizes.games))
    assert way == [(256, 32), (128, 32), (64, 32), (64, 16), (64, 8), (64, 8), (64, 8), (64, 8)]
    assert said[0] is not None and said[0].startswith("memory: 7.00 of 8 GB in use (88%); if it remains")
    assert said[1] is not None and said[1].endswith("minibatch reduced from 256 to 128")
    assert said[3] is not None and said[3].endswith("games per runner reduced from 32 to 16")
    assert said[5] is not None and "the run continues" in said[5]
    assert said[6:] == [None, None]


def test_a_single_high_reading_costs_a_warning_only() -> None:
    budget = Budget(8.0)
    assert budget.judge(6.4, Sizes(1024, 64)).sizes is None
    for _ in range(5):
        assert budget.judge(6.0, Sizes(1024, 64)).sizes is None
    assert budget.judge(7.9, Sizes(1024, 64)).sizes == Sizes(512, 64)


def test_without_a_budget_nothing_is_too_much() -> None:
    assert Budget(0.0).judge(500.0, Sizes(1024, 64)).words is None


@pytest.mark.parametrize("sizes", [Sizes(16, 4), Sizes(LEAST_MINIBATCH, LEAST_GAMES)])
def test_what_was_chosen_below_the_floors_stays(sizes: Sizes) -> None:
    assert sizes.smaller() is None


def test_an_odd_size_stops_at_the_floor() -> None:
    assert Sizes(100, 64).smaller() == Sizes(64, 64)


@pytest.mark.parametrize("kind", ["ppo", "appo", "a2c", "dqn", "rllib-ppo", "sb3-maskable-ppo"])
def test_smaller_minibatches_leave_the_gradient_steps_as_they_are_or_are_not_used(kind: str) -> None:
    """An algorithm that cannot accumulate gradients gets fewer games instead."""
    pytest.importorskip("torch")
    from ante.training.run.loop import fits, sized
    from ante.training.settings.algorithms import ALL_MINIBATCHES
    from ante.training.settings.config import make_config

    settings = {"policy.kind": "mlp", "algo.kind": kind, "algo.batch": 4096, "algo.minibatch": 1024}
    config = make_config({**settings, "resources.games_per_runner": 64})
    smaller = Sizes(1024, 64).smaller(lambda sizes: fits(config, sizes))
    if kind in ("rllib-ppo", "sb3-maskable-ppo"):
        assert smaller == Sizes(1024, 32)
        return
    assert smaller == Sizes(512, 64)
    for minibatch in (1024, 512, 64):
        algo = sized(config, Sizes(minibatch, 64)).algo
        assert algo.minibatch == minibatch
        assert algo.update.accumulate == (ALL_MINIBATCHES if kind == "a2c" else 1024 // minibatch)
    odd = make_config({**settings, "algo.minibatch": 96, "resources.games_per_runner": 64})
    assert Sizes(96, 64).smaller(lambda sizes: fits(odd, sizes)) == Sizes(96, 32)  # 64 is no part of 96
