"""Means of finished games do not depend on the number of env runners, and hint schedules follow the steps of the run."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch")
from ante.training.sampling.fragment import MEANS, WINDOW, GameWindow


def ended(count: int, seed: int) -> np.ndarray:
    """Return rows of finished games."""
    return np.random.default_rng(seed).random((count, len(MEANS)))


@pytest.mark.parametrize("runners", [1, 4, 16])
def test_means_are_those_of_the_last_games_of_all_runners_together(runners: int) -> None:
    games, window = ended(480, 1), GameWindow()
    for iteration in np.split(games, 3):
        for part in np.split(iteration, runners):
            window.add(part, stage=1)
    found = window.means()
    assert found["games_counted"] == WINDOW
    np.testing.assert_allclose([found[name] for name in MEANS], games[-WINDOW:].mean(axis=0))


def test_a_new_stage_empties_the_window_and_games_of_the_stage_before_are_ignored() -> None:
    window = GameWindow()
    window.add(ended(150, 1), stage=1)
    window.add(ended(3, 2), stage=2)
    window.add(ended(5, 3), stage=1)  # of a slower runner
    assert (window.means()["games_counted"], window.stage) == (3, 2)
    again = GameWindow()
    again.restore(window.saved())
    assert (again.means(), again.stage) == (window.means(), 2)


def test_a_window_before_the_first_game_is_empty() -> None:
    means = GameWindow().means()
    assert means["games_counted"] == 0 and all(np.isnan(means[name]) for name in MEANS)


@pytest.mark.parametrize("runners", [0, 1, 16])
def test_the_hint_prior_follows_the_steps_of_the_run_whatever_a_runner_has_sampled(runners: int) -> None:
    from ante.training.advice.hooks import AskForHints

    config = SimpleNamespace(hints=SimpleNamespace(prior=((0, 1.0), (1000, 0.0))), num_env_runners=runners)
    new = SimpleNamespace(config=config, global_steps=750, num_env_steps_sampled_lifetime=0)
    assert AskForHints(new).prior == pytest.approx(0.25)
