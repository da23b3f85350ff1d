"""The runner and the learner of the fast path in a run with hints; without hints neither is used.

prior      a game that begins from a hinted position follows the hint with a chance that falls over time. The chance of
           what is taken is that of the mixture, so that importance ratios are exact.
shaping    a potential learned from outlooks pays for what improves them (potential.py)
imitation  the learner raises the chance of what was advised, on the hinted positions themselves
"""

import math
from collections import deque
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.utils.metrics import NUM_ENV_STEPS_SAMPLED_LIFETIME

from ante.env.games import REORDERS, Games
from ante.hints.potential import potential_of
from ante.training.chances import drawn
from ante.training.config import value_at
from ante.training.estimates import values_after
from ante.training.hinting import Hinting
from ante.training.learner import BatchLearner, Gradients
from ante.training.mailbox import ActorMailbox
from ante.training.precision import precision
from ante.training.rollout import Labelled, Rollout, end_to_end
from ante.training.runner import BatchRunner

BANK = 4096  # hinted positions that are imitated, the last ones
LEAST_BANK = 16  # before there are so many, nothing is imitated
PART = 32  # a gradient step imitates one hinted position for so many rows of its minibatch


class HintedRunner(BatchRunner):
    """BatchRunner that asks for hints and makes use of them."""

    hinting: Hinting | None = None

    def make_env(self) -> None:
        """As BatchRunner; asks go on."""
        super().make_env()
        assert self.games is not None
        if self.hinting is None:
            reorder = next(name for name, number in REORDERS.items() if number == self.games.reorder)
            mailbox = ActorMailbox(self.config.hints.broker, self._index)
            self.hinting = Hinting(self.config.hints, self._index, self.module, reorder, mailbox)
        self.hinting.begin(self.games, (self.config.seed or 0) + self._index)
        self.hinting.exchange()

    @property
    def _asks(self) -> Hinting:
        assert self.hinting is not None
        return self.hinting

    def _acted(self, games: Games, rows: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        logs, values = self.module.chances(rows)
        confidences = logs.amax(dim=1).exp().cpu().numpy()
        if self._prior > 0.0:
            logs = mixed(logs, self._asks.followed, self._prior)
        chosen = drawn(logs, self._rng)
        log_probs = logs.gather(1, chosen[:, None])[:, 0].cpu().numpy()
        actions = chosen.cpu().numpy()
        self._asks.followed[:] = -1
        if not self.config.in_evaluation:
            self._asks.look(games, rows, confidences, actions)
        return actions, log_probs, values.cpu().numpy()

    @property
    def _prior(self) -> float:
        """Chance of following a hint at these steps of the run."""
        steps = self.num_env_steps_sampled_lifetime * max(1, self.config.num_env_runners)
        return value_at(self.config.hints.prior, steps)

    def _over(self, games: Games, ended: NDArray[np.int64]) -> None:
        self._asks.over(games, ended)

    def _renewed(self, games: Games, which: NDArray[np.int64]) -> None:
        super()._renewed(games, which)
        if self._prior > 0.0 and not self.config.in_evaluation:
            self._asks.renew(games, which, self._practice.begun)

    def _shaped(
        self,
        rewards: NDArray[np.float32],
        rows: NDArray[Any],
        extra: NDArray[Any],
        places: NDArray[np.int64],
        terminal: NDArray[np.bool_],
    ) -> NDArray[np.float32]:
        weights, scale = self._asks.potential, self.config.hints.shaping
        if scale == 0.0 or weights is None or self.config.in_evaluation:
            return rewards
        before = potential_of(rows["list"], weights).reshape(rewards.shape)
        after = values_after(before, potential_of(extra["list"], weights), places, terminal)
        return rewards + np.float32(scale) * (np.float32(self.config.gamma) * after - before)

    def _labelled(self) -> Labelled | None:
        self._asks.exchange()
        return self._asks.labelled()


def mixed(logs: torch.Tensor, followed: NDArray[np.int64], chance: float) -> torch.Tensor:
    """Log-probabilities (n, actions) of a mixture: an action is followed with this chance, else drawn as `logs` say.

    followed  (n,) the action, -1 where none is followed: such rows stay as they are
    """
    places = np.flatnonzero(followed >= 0)
    if len(places) == 0:
        return logs
    which = torch.from_numpy(places).to(logs.device)
    actions = torch.from_numpy(followed[places]).to(logs.device)
    out = logs.clone()
    out[which] += math.log1p(-chance) if chance < 1.0 else -math.inf
    both = torch.logaddexp(out[which, actions], torch.full_like(out[which, actions], math.log(chance)))
    out[which, actions] = both
    return out


class HintedLearner(BatchLearner):
    """BatchLearner that imitates hints besides: cross-entropy on a few hinted positions in every gradient step."""

    def build(self) -> None:
        """As BatchLearner, with no hint yet."""
        super().build()
        self._rows: deque[NDArray[Any]] = deque(maxlen=BANK)
        self._numbers: deque[int] = deque(maxlen=BANK)
        self._losses: list[float] = []
        self._weight, self._draws = 0.0, np.random.default_rng(self.config.seed or 0)

    def before_gradient_based_update(self, *, timesteps: dict[str, Any]) -> None:
        """As BatchLearner; the weight stands where the steps put it."""
        super().before_gradient_based_update(timesteps=timesteps)
        self._weight = value_at(self.config.hints.imitation, timesteps.get(NUM_ENV_STEPS_SAMPLED_LIFETIME, 0))

    def _learn(self, rollout: Rollout, rows: int, epochs: int, minibatch: int) -> None:
        if rollout.labelled is not None:
            for k, number in enumerate(rollout.labelled.actions):
                self._rows.append(rollout.labelled.rows[k : k + 1])
                self._numbers.append(int(number))
        self._few = max(1, minibatch // PART)
        super()._learn(rollout, rows, epochs, minibatch)
        if self._losses:
            self.metrics.log_value((DEFAULT_MODULE_ID, "imitation_loss"), float(np.mean(self._losses)), window=1)
        self._losses = []

    def _besides(self, policy: Any, gradients: Gradients) -> Gradients:
        if self._weight == 0.0 or len(self._rows) < LEAST_BANK:
            return gradients
        chosen = self._draws.integers(0, len(self._rows), self._few)
        rows = end_to_end([self._rows[k] for k in chosen])
        numbers = np.array([self._numbers[k] for k in chosen])
        with precision(self.config.bf16, self._device.type):
            loss = -policy.evaluate(rows, numbers)[0].mean()
        self._losses.append(loss.item())
        own = self.compute_gradients({DEFAULT_MODULE_ID: self._weight * loss})
        return {key: each if own.get(key) is None else each + own[key] for key, each in gradients.items()}
