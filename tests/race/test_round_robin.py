"""A round robin of races: the share of races won and its interval."""

import numpy as np
import pytest

from ante.agents.evaluate import wilson
from ante.race.round_robin import share_won


def test_races_on_the_same_seed_are_no_independent_evidence() -> None:
    """A player whose four races on a seed are all won or all lost is known as well as by one race a seed."""
    once = (np.arange(60) % 3 == 0).astype(np.int64)
    share, same, independent = share_won(4 * once, 4), wilson(20, 60), wilson(80, 240)
    assert (share.hits, share.trials, share.rate) == (80, 240, pytest.approx(1 / 3))
    assert share.high - share.low == pytest.approx(same.high - same.low, rel=0.05)
    assert share.high - share.low > 1.8 * (independent.high - independent.low)


def test_a_share_is_never_known_better_than_from_independent_races() -> None:
    balanced = np.full(50, 2, dtype=np.int64)  # exactly half of the races on every seed
    share, independent = share_won(balanced, 4), wilson(100, 200)
    assert (share.low, share.high) == (independent.low, independent.high)


@pytest.mark.parametrize("won", [0, 3])
def test_races_that_all_end_alike_count_once_a_seed(won: int) -> None:
    share, once = share_won(np.full(20, won), 3), wilson(20 if won else 0, 20)
    assert (share.hits, share.trials) == (20 * won, 60)
    assert (share.low, share.high) == (once.low, once.high)
