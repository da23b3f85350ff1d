"""DQN on the fast path: masked, double, duelling, n-step, with prioritised replay of packed rows.

Runners send fragments as for APPO. The learner adds each to its replay buffer and then takes as many gradient steps as
`epochs` passes over the batch would take. Replay buffer, target network and counters are part of its state, so that
a resumed run continues with them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.core import COMPONENT_RL_MODULE, DEFAULT_MODULE_ID
from torch.nn import functional

from ante.training.compat import advance_weights_version, includes_component, weights_version
from ante.training.learning.learner import FragmentLearner, Gradients, added
from ante.training.learning.replay_buffer import Replay, ReplaySample
from ante.training.sampling.fragment import Trajectory
from ante.training.sampling.training_data import Fragments
from ante.training.settings.config import TrainConfig
from ante.training.settings.schedule import Schedule, value_at
from ante.training.spans import span

TARGET, REPLAY, UPDATES = "target", "replay", "updates"  # in the learner's state


@dataclass(frozen=True)
class QPlan:
    """The settings of algo.kind dqn that the learner uses."""

    replay: int
    replay_after: int
    n_step: int
    epsilon: Schedule
    target_every: int
    double: bool
    priority: float
    priority_correction: Schedule
    boss_weight: float
    joker_weight: float
    accumulate: int

    @classmethod
    def of(cls, config: TrainConfig) -> "QPlan":
        """Return the plan of a configuration."""
        return cls(**{name: getattr(config.algo, name) for name in cls.__dataclass_fields__})


@dataclass(frozen=True)
class Values:
    """Action values of sampled steps.

    every   (m, actions) with gradient; OFF where an action is illegal
    taken   (m,) with gradient, of the actions that were taken
    wanted  (m,) their Bellman targets
    """

    every: torch.Tensor
    taken: torch.Tensor
    wanted: torch.Tensor


def values_of(policy: Any, target: Any, drawn: ReplaySample, double: bool) -> Values:
    """Return the action values of a sample; `double`: the policy selects the next action, the target network values it."""
    returns, weights, actions = (
        torch.from_numpy(each).to(policy.device) for each in (drawn.returns, drawn.weights, drawn.actions)
    )
    with torch.no_grad():
        nexts = policy.stage(drawn.nexts)
        target_values = target.q_values(nexts)
        best = (policy.q_values(nexts) if double else target_values).argmax(dim=1, keepdim=True)
        wanted = returns + weights * target_values.gather(1, best)[:, 0]
    every = policy.q_values(policy.stage(drawn.rows))
    return Values(every, every.gather(1, actions[:, None])[:, 0], wanted)


class QLearner(FragmentLearner):
    """DQN on fragments; optimizer, gradient norm and metrics are those of the fast path."""

    def build(self) -> None:
        """See FragmentLearner; also create an empty replay buffer and the target network."""
        super().build()
        policy, plan = self._policy(), self.config.q
        self._target = type(policy)(
            observation_space=policy.observation_space,
            action_space=policy.action_space,
            model_config=policy.model_config,
        ).to(self.device)
        self._update_target()
        self.replay = Replay(
            plan.replay,
            policy.row_t,
            plan.n_step,
            self.config.gamma,
            plan.priority,
            plan.boss_weight,
            plan.joker_weight,
            int(policy.action_space.n),
        )
        self.updates = 0

    def _update_target(self) -> None:
        """Copy the online network to the target network."""
        self._target.load_state_dict(self._policy().state_dict())

    def _learn_from(self, fragments: Fragments, before: int, epochs: int, minibatch: int | None) -> int:
        """Add the fragments to the replay buffer, then train on sampled steps."""
        traces, lost = fragments.rollouts(lambda played: played)
        played = sum(map(len, traces))
        lag = weights_version(self) - min((trace.version for trace in traces), default=weights_version(self))
        for trace in traces:
            assert isinstance(trace, Trajectory)
            self.replay.add(trace)
        size = (minibatch or played) * self.config.q.accumulate
        steps = epochs * played // size if before + played >= self.config.q.replay_after else 0
        self._log_steps(self._train_on_samples(steps, size, before), lag, steps * size / max(1, played), steps * size)
        advance_weights_version(self)
        chance = value_at(self.config.q.epsilon, before + played)
        self._policy().explore.fill_(chance)
        self.metrics.log_value((DEFAULT_MODULE_ID, "epsilon"), chance, window=1)
        return lost

    def _train_on_samples(self, steps: int, size: int, before: int) -> NDArray[np.float64]:
        """Take a number of gradient steps on `size` steps each; return the mean loss and action value (NaN if none).

        The steps of one gradient step are sampled together and processed in `accumulate` parts.
        """
        rng = np.random.default_rng((self.config.seed or 0, weights_version(self)))
        correction, sums = value_at(self.config.q.priority_correction, before), np.zeros(2)
        for _ in range(steps):
            drawn = self.replay.draw(size, rng, correction)
            with span("gradient"):
                gradients, errors, means = self._gradients(drawn)
            with span("optimizer"):
                self.apply_gradients(self.postprocess_gradients(gradients))
            self.replay.update_priorities(drawn.places, errors)
            self.updates += 1
            if self.updates % self.config.q.target_every == 0:
                self._update_target()
            sums += means
        return sums / steps if steps else np.full(2, np.nan)

    def _gradients(self, drawn: ReplaySample) -> tuple[Gradients, NDArray[np.float32], NDArray[np.float64]]:
        """Return the gradient of the mean loss of a sample, its TD errors (m,), mean loss and mean action value."""
        total: Gradients = {}
        errors, means = [], np.zeros(2)
        for part in np.array_split(np.arange(len(drawn.places)), self.config.q.accumulate):
            share = len(part) / len(drawn.places)
            loss, found, q_mean = self._loss(drawn.part(part) if share < 1.0 else drawn)
            gradients = self.compute_gradients({DEFAULT_MODULE_ID: share * loss})
            total = added(total, gradients)
            errors.append(found)
            means += share * np.array([float(loss.detach()), q_mean])
        return total, np.concatenate(errors), means

    def _loss(self, drawn: ReplaySample) -> tuple[torch.Tensor, NDArray[np.float32], float]:
        """Return the loss () of sampled steps with gradient, their TD errors (m,), and the mean action value."""
        found = values_of(self._policy(), self._target, drawn, self.config.q.double)
        corrections = torch.from_numpy(drawn.corrections).to(self.device)
        loss = (corrections * functional.smooth_l1_loss(found.taken, found.wanted, reduction="none")).mean()
        errors = (found.wanted - found.taken.detach()).cpu().numpy()
        return loss, errors, float(found.taken.detach().mean())

    def _log_steps(self, means: NDArray[np.float64], lag: int, epochs: float, rows: int) -> None:
        """Log one line of metrics."""
        lines = (
            ("vf_loss", means[0]),
            ("q_mean", means[1]),
            ("policy_lag", lag),
            ("epochs", epochs),
            ("replay_steps", len(self.replay)),
            (UPDATES, self.updates),
        )
        for name, value in lines:
            self.metrics.log_value((DEFAULT_MODULE_ID, name), float(value), window=1)
        self._log_trained(rows)

    def get_state(self, components: Any = None, *, not_components: Any = None, **kwargs: Any) -> dict[str, Any]:
        """Return the learner's state, with replay buffer, target network and gradient step count if requested."""
        state = super().get_state(components, not_components=not_components, **kwargs)
        if includes_component(self, TARGET, components, not_components):
            state[TARGET] = {name: value.cpu().numpy() for name, value in self._target.state_dict().items()}
        if includes_component(self, REPLAY, components, not_components):
            state |= {REPLAY: self.replay.state(), UPDATES: self.updates}
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore what `get_state` returned; with weights alone, the target network equals the online network."""
        super().set_state(state)
        if TARGET in state:
            saved = {name: torch.from_numpy(value) for name, value in state[TARGET].items()}
            self._target.load_state_dict(self._target.state_dict() | saved)  # earlier versions lack the value's scale
        elif COMPONENT_RL_MODULE in state:  # weights alone, at a warm start
            self._update_target()
        if REPLAY in state:
            self.replay.restore(state[REPLAY])
            self.updates = state[UPDATES]
