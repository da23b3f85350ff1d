"""Ratings, intervals and orders, against scipy, simulation and hand-made cases."""

import numpy as np
import pytest
from scipy import optimize, stats

from ante.league.order import enough, kendall, order_report
from ante.league.ratings import CENTRE, ELO, PRIOR, bradley_terry, elos, matches, mean, paired


def test_the_interval_of_a_high_level_does_not_depend_on_the_samples_drawn() -> None:
    """With the 2,000 samples that 95 % need, the ends would differ by 0.5 standard errors."""
    values = np.random.default_rng(4).normal(size=100)
    error = values.std() / np.sqrt(len(values))
    level = 1 - 0.05 / 50
    lows = [mean(values, level, seed=seed).low for seed in range(8)]
    assert np.ptp(lows) < 0.25 * error
    assert np.mean(lows) == pytest.approx(values.mean() - stats.norm.ppf((1 + level) / 2) * error, abs=0.25 * error)


def test_elo_is_the_most_likely_one_by_another_optimiser() -> None:
    rng = np.random.default_rng(1)
    wins = rng.integers(0, 30, (5, 5)).astype(float)
    np.fill_diagonal(wins, 0.0)

    def unlikely(strength: np.ndarray) -> float:
        loss = 0.5 * strength.sum() ** 2
        for i in range(5):
            for j in range(5):
                if i != j:
                    loss += (wins[i, j] + PRIOR) * np.log1p(np.exp(strength[j] - strength[i]))
        return loss

    found = optimize.minimize(unlikely, np.zeros(5), method="BFGS", options={"gtol": 1e-9}).x
    assert bradley_terry(wins) == pytest.approx(CENTRE + ELO * (found - found.mean()), abs=0.01)


def test_two_players_differ_by_the_log_odds_of_their_matches() -> None:
    wins = np.array([[0.0, 75.0], [25.0, 0.0]])
    one, two = bradley_terry(wins)
    assert one - two == pytest.approx(400 * np.log10(75.5 / 25.5))
    assert (one + two) / 2 == pytest.approx(CENTRE)


def test_strengths_are_found_again_from_simulated_matches() -> None:
    truth = np.array([1300.0, 1450.0, 1500.0, 1750.0])
    chance = 1.0 / (1.0 + 10 ** ((truth[None, :] - truth[:, None]) / 400))
    rng = np.random.default_rng(2)
    wins = np.zeros((4, 4))
    for i in range(4):
        for j in range(i):
            wins[i, j] = rng.binomial(4000, chance[i, j])
            wins[j, i] = 4000 - wins[i, j]
    assert bradley_terry(wins) == pytest.approx(truth, abs=20)


def test_many_fits_at_once_are_each_that_fit() -> None:
    wins = np.random.default_rng(3).integers(0, 9, (6, 3, 3)).astype(float) * (1 - np.eye(3))
    assert bradley_terry(wins) == pytest.approx(np.stack([bradley_terry(each) for each in wins]))


def test_who_never_wins_has_a_finite_rating_below_all_others() -> None:
    reach = np.stack([np.zeros(50, int), np.arange(50) % 3 + 1, np.arange(50) % 4 + 1])
    found = elos(reach, samples=100)
    assert all(np.isfinite([each.value, each.low, each.high]).all() for each in found)
    assert found[0].high < min(found[1].low, found[2].low)


def test_matches_are_counted_seed_by_seed() -> None:
    found = matches(np.array([[5, 1, 2], [3, 1, 9]]))
    assert found[:, 0, 1].tolist() == [1.0, 0.5, 0.0]
    assert found[:, 1, 0].tolist() == [0.0, 0.5, 1.0]
    assert (found[:, [0, 1], [0, 1]] == 0).all()


def test_equal_players_have_equal_ratings_whatever_the_seeds_are_like() -> None:
    same = np.random.default_rng(4).integers(0, 24, 100)
    one, two = elos(np.stack([same, same]), samples=50)
    assert one == two
    assert one.low == one.high == pytest.approx(CENTRE)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(5)
    held = 0
    for trial in range(300):
        found = mean(rng.exponential(2.0, 80), samples=400, seed=trial)
        held += found.low <= 2.0 <= found.high
    assert 0.89 < held / 300 < 0.98


def test_a_paired_difference_is_sharper_than_the_luck_of_the_seeds() -> None:
    rng = np.random.default_rng(6)
    luck = rng.integers(0, 20, 200)
    other, one = luck, luck + rng.integers(0, 3, 200)
    found = paired(one, other)
    assert found.low > 0.8 and found.high < 1.2
    assert found.value == pytest.approx((one - other).mean())
    assert paired(one, other, 0.99).low < found.low
    assert mean(one.astype(float)).high - mean(one.astype(float)).low > 5 * (found.high - found.low)


@pytest.mark.parametrize("seed", range(5))
def test_tau_is_that_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 6, 9).astype(float), rng.integers(0, 6, 9).astype(float)
    assert kendall(one, other) == pytest.approx(stats.kendalltau(one, other).statistic)


def test_tau_of_no_order_is_nought() -> None:
    assert kendall(np.ones(4), np.arange(4.0)) == 0.0


def test_an_order_needs_fewer_games_on_the_same_seeds() -> None:
    rng = np.random.default_rng(7)
    luck = rng.normal(0, 4, 400)
    scores = luck + np.arange(6)[:, None] * 0.5 + rng.normal(0, 1, (6, 400))
    found = order_report("abcdef", [1, 2, 3, 4, 5, 6], scores)
    assert found.tau.value == 1.0
    assert [row.games for row in found.sizes] == [10, 25, 50, 100, 200, 400]
    assert all(row.shared > row.independent for row in found.sizes)
    assert found.shared is not None and found.shared <= 50
    assert found.independent is None or found.independent > found.shared
    assert enough(found.sizes, "shared") == found.shared
    back = order_report("abcdef", [6, 5, 4, 3, 2, 1], scores)
    assert back.tau.value == -1.0
