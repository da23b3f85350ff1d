"""Hints in sampling and learning: a runner hook and a loss term, used only if hints are enabled.

prior      a game that starts from a hinted position follows the hint with an annealed probability. The
           log-probability of the action is that of the mixture, so importance ratios are exact.
shaping    a potential learned from the advisor's outlooks yields shaping rewards (potential.py)
imitation  the learner increases the probability of the advised action at the hinted positions
"""

import math
from collections import deque
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ante.env.games import REORDERS
from ante.hints.potential import potential_of
from ante.training.advice.asks import HintRequester
from ante.training.advice.mailbox import ActorMailbox
from ante.training.learning.loss_terms import LossTerm
from ante.training.numerics.distributions import sample_logits
from ante.training.policies.protocol import Choice
from ante.training.sampling.fragment import Rollout, Trajectory, end_to_end
from ante.training.sampling.hooks import RunnerHook, shaped
from ante.training.sampling.runner import BatchRunner
from ante.training.sampling.saved_fragments import read_rows, save_rows
from ante.training.sampling.saved_games import read_generators, save_generators
from ante.training.settings.schedule import value_at

BANK = 4096  # most recent hinted positions, used for imitation
LEAST_BANK = 16  # minimum number of positions for imitation
PART = 32  # rows per hinted position in a gradient step


class AskForHints(RunnerHook):
    """Requests hints where the policy is uncertain, and applies the responses."""

    def __init__(self, runner: BatchRunner) -> None:
        super().__init__(runner)
        self.hinting: HintRequester | None = None

    @property
    def _asks(self) -> HintRequester:
        assert self.hinting is not None
        return self.hinting

    def games_made(self) -> None:
        """See RunnerHook. Pending requests are kept."""
        runner, plan = self.runner, self.runner.config.hints
        if self.hinting is None:
            reorder = next(name for name, number in REORDERS.items() if number == self.games.reorder)
            self.hinting = HintRequester(
                plan, runner.index, runner.module, reorder, ActorMailbox(plan.broker, runner.index)
            )
        self.hinting.begin(self.games, (runner.config.seed or 0) + runner.index)
        self.hinting.exchange()

    def choose(self, seen: Any, rows: NDArray[Any]) -> Choice:
        """See RunnerHook: samples from the policy, except where hints are followed."""
        logs, values, carry = self.runner.module.action_log_probs(seen)
        confidences = logs.amax(dim=1).exp().cpu().numpy()
        if self.prior > 0.0:
            logs = mixed(logs, self._asks.followed, self.prior)
        chosen = sample_logits(logs, self.runner._rng)
        log_probs = logs.gather(1, chosen[:, None])[:, 0].cpu().numpy()
        actions = chosen.cpu().numpy()
        self._asks.followed[:] = -1
        if not self.runner.config.in_evaluation:
            self._asks.observe(self.games, rows, confidences, actions)
        return Choice(actions, log_probs, values, carry)

    @property
    def prior(self) -> float:
        """The current probability of following a hint, by the steps of the run when the weights were sent."""
        return value_at(self.runner.config.hints.prior, self.runner.global_steps)

    def ended(self, which: NDArray[np.int64]) -> None:
        """See RunnerHook."""
        self._asks.ended(self.games, which)

    def renewed(self, which: NDArray[np.int64]) -> None:
        """See RunnerHook."""
        if self.prior > 0.0 and not self.runner.config.in_evaluation:
            self._asks.renew(self.games, which, self.runner.begun)

    def paid(self, trajectory: Trajectory) -> NDArray[np.float32]:
        """See RunnerHook."""
        weights, scale = self._asks.potential, self.runner.config.hints.shaping
        if scale == 0.0 or weights is None or self.runner.config.in_evaluation:
            return trajectory.rewards
        potentials = potential_of(trajectory.rows["list"], weights).reshape(trajectory.rewards.shape)
        last = potential_of(trajectory.extra["list"], weights)
        return trajectory.rewards + np.float32(scale) * shaped(trajectory, potentials, last, self.runner.config.gamma)

    def saved(self) -> dict[str, Any]:
        """See RunnerHook; the hinted positions from which games may start, without pending requests."""
        return self._asks.saved()

    def restore(self, saved: dict[str, Any]) -> None:
        """See RunnerHook."""
        self._asks.restore(saved)

    def finish(self, trajectory: Trajectory) -> None:
        """See RunnerHook."""
        self._asks.exchange()
        trajectory.labelled = self._asks.labelled()


def mixed(logs: torch.Tensor, followed: NDArray[np.int64], chance: float) -> torch.Tensor:
    """Return log-probabilities (n, actions) of a mixture: with probability `chance` the hint, else `logs`.

    followed  (n,) the hinted action, -1 for rows without one, which stay unchanged
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


class Imitation(LossTerm):
    """Cross-entropy on a few hinted positions in every gradient step."""

    name = "imitation_loss"

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.rows: deque[NDArray[Any]] = deque(maxlen=BANK)
        self.actions: deque[int] = deque(maxlen=BANK)
        self.few = 1
        self._draws = np.random.default_rng(config.seed or 0)
        self._bank: dict[str, Any] | None = None  # restored positions, read once the dtype of the rows is known

    def schedule(self, steps: int) -> None:
        """See LossTerm."""
        self.weight = value_at(self.config.hints.imitation, steps)

    def begin(self, rollout: Rollout, rows: int) -> None:
        """See LossTerm."""
        if self._bank and self._bank["rows"] is not None:
            self._add(read_rows(self._bank["rows"], rollout.rows.dtype, BANK), self._bank["actions"])
        self._bank = None
        if rollout.labelled is not None:
            self._add(rollout.labelled.rows, rollout.labelled.actions)
        self.few = max(1, rows // PART)

    def saved(self) -> dict[str, Any]:
        """See LossTerm; the hinted positions and the generator of the samples."""
        rows = save_rows(end_to_end(list(self.rows))) if self.rows else None
        bank = self._bank or {"rows": rows, "actions": np.array(self.actions, dtype=np.int64)}
        return {"bank": bank, "rng": save_generators([self._draws])}

    def restore(self, saved: dict[str, Any]) -> None:
        """See LossTerm."""
        (self._draws,) = read_generators(saved["rng"], 1)
        self._bank = saved["bank"]

    def _add(self, rows: NDArray[Any], actions: NDArray[np.int64]) -> None:
        """Add hinted positions (k,)."""
        self.rows.extend(rows[k : k + 1] for k in range(len(actions)))
        self.actions.extend(map(int, actions))

    def loss(self, policy: Any) -> torch.Tensor | None:
        """See LossTerm."""
        if len(self.rows) < LEAST_BANK:
            return None
        chosen = self._draws.integers(0, len(self.rows), self.few)
        rows = end_to_end([self.rows[k] for k in chosen])
        actions = np.array([self.actions[k] for k in chosen])
        return -policy.evaluate(rows, actions)[0].mean()
