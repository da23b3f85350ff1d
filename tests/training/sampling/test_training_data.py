"""Fragments are dealt to learners: every row once, equal shares, and little traffic."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
from ante.training.sampling.fragment import Rollout
from ante.training.sampling.training_data import Fragments

ROWS = 60  # of a fragment; divisible by the numbers of learners below


def fragment(number: int) -> Rollout:
    """Return a rollout whose actions number its rows among all fragments."""
    zeros = np.zeros(ROWS, dtype=np.float32)
    rows = np.zeros(ROWS, dtype=[("byte", "u1", 100)])
    return Rollout(rows, number * ROWS + np.arange(ROWS), zeros, zeros, zeros, np.array([ROWS, 0.0, 0.0]), 1)


@pytest.mark.parametrize("learners", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("fragments", [0, 1, 2, 3, 7, 8, 63])
def test_every_row_has_one_learner_and_all_learners_have_as_many(fragments: int, learners: int) -> None:
    shards = [shard for shard, _ in Fragments([fragment(i) for i in range(fragments)]).shard(learners)]
    dealt = [shard.rollouts(lambda played: played)[0] for shard in shards]
    rows = [np.concatenate([np.zeros(0, np.int64), *(each.actions for each in part)]) for part in dealt]
    assert [len(each) for each in rows] == [fragments * ROWS // learners] * learners
    assert sorted(np.concatenate(rows)) == list(range(fragments * ROWS))
    assert sum(each.returns[0] for part in dealt for each in part) == pytest.approx(fragments * ROWS)
    for shard in shards:
        assert sum(share.high - share.low < share.of for share in shard.shares) <= 2


def test_a_lost_runner_does_not_multiply_the_traffic() -> None:
    def fetched(fragments: int) -> int:
        """Return the most bytes that one of four learners fetches."""
        whole: list[Any] = [fragment(i) for i in range(fragments)]
        return max(sum(share.fragment.nbytes for share in shard.shares) for shard, _ in Fragments(whole).shard(4))

    assert [fetched(left) <= 1.1 * fetched(64) for left in (63, 62, 54)] == [True] * 3
