"""Transport of fragments from the env runners to the learners."""

from collections.abc import Callable
from typing import Any

import ray

from ante.training.compat import TrainingData
from ante.training.sampling.fragment import Rollout


class Fragments(TrainingData):  # type: ignore[misc]
    """The learners' training data: rollouts, or references to them.

    Several learners each get the same number of fragments if divisible; otherwise each gets all of them and uses its
    part of the rows. Parts must be equal, since learners synchronise after every minibatch.
    """

    def __init__(self, fragments: list[Any], share: tuple[int, int] = (0, 1)) -> None:
        super().__init__()
        self.fragments, self.share = fragments, share

    def validate(self) -> None:
        """Accept anything: nothing needs validation."""

    def solve_refs(self) -> None:
        """Do nothing: references are resolved one by one in `rollouts`, since any of them may be lost."""

    def shard(self, num_shards: int, **_: Any) -> list[tuple["Fragments", dict[str, Any]]]:
        """Return one part per learner."""
        if len(self.fragments) % num_shards == 0:
            return [(Fragments(self.fragments[i::num_shards]), {}) for i in range(num_shards)]
        return [(Fragments(self.fragments, (i, num_shards)), {}) for i in range(num_shards)]

    def rollouts(self, estimated: Callable[[Any], Rollout]) -> tuple[list[Rollout], int]:
        """Return the available rollouts, and how many were lost with their process.

        estimated  converts a fragment to a rollout
        """
        found, lost = [], 0
        for fragment in self.fragments:
            try:
                played = ray.get(fragment) if isinstance(fragment, ray.ObjectRef) else fragment
            except (ray.exceptions.ObjectLostError, ray.exceptions.GetTimeoutError):
                lost += 1
                continue
            rollout, (number, parts) = estimated(played), self.share
            each = len(rollout) // parts
            found.append(rollout.part(slice(number * each, (number + 1) * each)) if parts > 1 else rollout)
        return found, lost
