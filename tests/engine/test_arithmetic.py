"""Logarithms from basic operations, and the requirement of each ante, against the C library and the catalogue."""

import math

import numpy as np
import pytest

from ante.catalog.blinds import ante_base as catalog_base
from ante.engine.blinds import ante_base
from ante.engine.core.arithmetic import log2_of, log10_of

NUMBERS = np.random.default_rng(1)


@pytest.mark.parametrize(("ours", "theirs"), [(log10_of, math.log10), (log2_of, math.log2)])
def test_logarithms_are_those_of_the_c_library_to_the_last_places(ours, theirs) -> None:
    everywhere = 10.0 ** NUMBERS.uniform(-300, 308, 2000)
    near_one = 1.0 + 10.0 ** NUMBERS.uniform(-12, 3, 2000)
    for x in np.concatenate([everywhere, near_one, np.arange(1.0, 2000.0)]).tolist():
        assert ours(x) == pytest.approx(theirs(x), rel=1e-15, abs=0.0)


def test_logarithms_of_powers_of_two_and_ten_are_whole() -> None:
    assert [log2_of(2.0**k) for k in range(-1000, 1001, 50)] == list(range(-1000, 1001, 50))
    assert [log10_of(10.0**k) for k in range(6)] == list(range(6))


def test_logarithms_of_what_is_not_finite_stay_so() -> None:
    assert log10_of(math.inf) == math.inf
    assert math.isnan(log10_of(math.nan))


@pytest.mark.parametrize("scaling", [1, 2, 3])
def test_every_ante_asks_for_what_the_catalogue_says(scaling: int) -> None:
    ours = [ante_base(ante, scaling) for ante in range(-3, 80)]
    assert np.array_equal(ours, [catalog_base(ante, scaling) for ante in range(-3, 80)], equal_nan=True)
    assert math.isfinite(ours[38 + 3])
    assert math.isnan(ours[39 + 3])
