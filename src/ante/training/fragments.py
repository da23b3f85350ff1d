"""Fragments on their way from the env runners to the learners."""

from collections.abc import Callable
from typing import Any

import ray
from ray.rllib.core.learner.training_data import TrainingData

from ante.training.rollout import Rollout


class Fragments(TrainingData):  # type: ignore[misc]
    """Fragments on their way to the learners: rollouts, or references to them.

    With several learners each gets the same number of fragments where that works out, else each gets all of them and
    takes its part of the rows: shares must be equal, since learners wait for each other at every minibatch.
    """

    def __init__(self, fragments: list[Any], share: tuple[int, int] = (0, 1)) -> None:
        super().__init__()
        self.fragments, self.share = fragments, share

    def validate(self) -> None:
        """Nothing can be wrong here."""

    def solve_refs(self) -> None:
        """References are resolved one by one in `rollouts`, since any of them may be lost."""

    def shard(self, num_shards: int, **_: Any) -> list[tuple["Fragments", dict[str, Any]]]:
        """One part for each learner."""
        if len(self.fragments) % num_shards == 0:
            return [(Fragments(self.fragments[i::num_shards]), {}) for i in range(num_shards)]
        return [(Fragments(self.fragments, (i, num_shards)), {}) for i in range(num_shards)]

    def rollouts(self, estimated: Callable[[Any], Rollout]) -> tuple[list[Rollout], int]:
        """What there is of them, and how many were lost with the process that held them.

        estimated  makes a rollout of a fragment
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
