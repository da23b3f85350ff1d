"""Loss terms that are added to an algorithm's own loss in every gradient step."""

from typing import Any, ClassVar

import torch

from ante.training.sampling.fragment import Rollout


class LossTerm:
    """A term of the loss with its own weight. It is created from a configuration's `loss_terms`.

    name    of its mean loss in the metrics
    weight  set by `schedule`; a term of weight 0 is not computed
    """

    name: ClassVar[str]

    def __init__(self, config: Any) -> None:
        self.config, self.weight = config, 1.0

    def schedule(self, steps: int) -> None:
        """Set the weight for an update after this many environment steps."""

    def begin(self, rollout: Rollout, rows: int) -> None:
        """Prepare for an update on this rollout with gradient steps on this many rows."""

    def loss(self, policy: Any) -> torch.Tensor | None:
        """Return the loss () of one gradient step, with gradient and without the weight, or None."""
        raise NotImplementedError

    def saved(self) -> dict[str, Any]:
        """Return the term's state between two updates as plain values, for checkpoints; nothing by default."""
        return {}

    def restore(self, saved: dict[str, Any]) -> None:
        """Set the state to what `saved` returned. Raises ValueError, KeyError or TypeError if it does not fit."""
