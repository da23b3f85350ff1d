"""Transport of fragments from the env runners to the learners."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import ray

from ante.training.compat import TrainingData
from ante.training.sampling.fragment import Rollout


@dataclass(frozen=True)
class Share:
    """A fragment, or a reference to one, and the part of its rows to learn from: from low to high, in 1/of."""

    fragment: Any
    low: int = 0
    high: int = 1
    of: int = 1

    def rows(self, rollout: Rollout) -> Rollout:
        """Return this part of the fragment's rows."""
        if self.high - self.low == self.of:
            return rollout
        low, high = (len(rollout) * end // self.of for end in (self.low, self.high))
        return rollout.part(slice(low, high))


class Fragments(TrainingData):  # type: ignore[misc]
    """The learners' training data: fragments, or references to them.

    Learners get whole fragments, the same number each, since they synchronise after every minibatch. They share the
    rows of the remainder, for which a learner fetches at most two fragments. So the loss of a runner does not multiply
    the traffic.
    """

    def __init__(self, fragments: Iterable[Any]) -> None:
        super().__init__()
        self.shares = [each if isinstance(each, Share) else Share(each) for each in fragments]

    def validate(self) -> None:
        """Accept anything: nothing needs validation."""

    def solve_refs(self) -> None:
        """Do nothing: references are resolved one by one in `rollouts`, since any of them may be lost."""

    def shard(self, num_shards: int, **_: Any) -> list[tuple["Fragments", dict[str, Any]]]:
        """Return one part per learner."""
        each, left = divmod(len(self.shares), num_shards)
        whole, shared = self.shares[: each * num_shards], self.shares[each * num_shards :]
        return [
            (Fragments([*whole[i::num_shards], *parts_of(shared, i * left, (i + 1) * left, num_shards)]), {})
            for i in range(num_shards)
        ]

    def rollouts(self, estimated: Callable[[Any], Rollout]) -> tuple[list[Rollout], int]:
        """Return the available rollouts, and how many were lost with their process.

        estimated  converts a fragment to a rollout
        """
        found, lost = [], 0
        for share in self.shares:
            try:
                played = ray.get(share.fragment) if isinstance(share.fragment, ray.ObjectRef) else share.fragment
            except (ray.exceptions.ObjectLostError, ray.exceptions.GetTimeoutError):
                lost += 1
                continue
            found.append(share.rows(estimated(played)))
        return found, lost


def parts_of(shares: list[Share], low: int, high: int, of: int) -> Iterator[Share]:
    """Yield the parts of whole fragments, laid end to end, between two marks; a fragment has the length `of`."""
    for i, share in enumerate(shares):
        begin, end = max(low - i * of, 0), min(high - i * of, of)
        if begin < end:
            yield Share(share.fragment, begin, end, of)
