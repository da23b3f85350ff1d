"""Ranges and choices: samples, bounds, perturbations and positions."""

import numpy as np
import pytest

from ante.training.sweeps.space import FACTORS, Choice, Range


def test_draws_lie_within_the_bounds_and_are_even_in_the_logarithm() -> None:
    rng = np.random.default_rng(0)
    even, log = Range(low=1.0, high=100.0), Range(low=1.0, high=100.0, log=True)
    for of, median in ((even, 50.5), (log, 10.0)):
        draws = [of.draw(rng) for _ in range(4000)]
        assert min(draws) >= 1.0 and max(draws) <= 100.0
        assert np.median(draws) == pytest.approx(median, rel=0.15)


def test_a_perturbed_value_moves_by_a_factor_within_the_bounds() -> None:
    rng, of = np.random.default_rng(1), Range(low=1e-4, high=1e-2, log=True)
    assert {round(of.perturbed(1e-3, rng) / 1e-3, 6) for _ in range(40)} == set(FACTORS)
    narrow = Range(low=0.9, high=0.999)
    assert {narrow.perturbed(0.95, rng) for _ in range(40)} == {0.9, 0.999}


def test_positions_and_values_are_inverse() -> None:
    for of in (Range(low=2.0, high=8.0), Range(low=2.0, high=8.0, log=True)):
        assert [of.position(of.value_at(share)) for share in (0.0, 0.3, 1.0)] == pytest.approx([0.0, 0.3, 1.0])
    assert Range(low=2.0, high=8.0, log=True).value_at(0.5) == pytest.approx(4.0)


def test_choices_are_drawn_evenly_and_perturbed_to_a_neighbour() -> None:
    rng, of = np.random.default_rng(2), Choice(choices=[[16], [16, 16], "x", None])
    draws = [str(of.draw(rng)) for _ in range(4000)]
    assert all(draws.count(str(each)) == pytest.approx(1000, rel=0.15) for each in of.choices)
    assert [of.perturbed("x", rng) in ([16, 16], None) for _ in range(20)] == [True] * 20
    assert {str(of.perturbed([16], rng)) for _ in range(20)} == {"[16]", "[16, 16]"}
    assert (of.position([16]), of.position(None)) == (0.0, 1.0)
    assert of.contains([16, 16]) and not of.contains([17])
