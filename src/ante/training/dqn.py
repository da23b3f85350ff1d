"""DQN on the fast path: double, duelling, n-step, with prioritised replay of packed rows; never an illegal decision.

The runners play and send their fragments as for APPO; the learner keeps them, and after each fragment makes as many
gradient steps as `epochs` passes over a batch would take. Replay, target network and counters are part of the learner's
state, so that a resumed run goes on with all of them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.core import DEFAULT_MODULE_ID
from torch.nn import functional

from ante.engine.state import Phase
from ante.env.games import Games, Outcome
from ante.training.config import Schedule, TrainConfig, value_at
from ante.training.fast import FastPPO, FastPPOConfig
from ante.training.fragments import Fragments
from ante.training.learner import BatchLearner
from ante.training.replay import BOSS, JOKER, Drawn, Replay
from ante.training.rollout import Trace
from ante.training.runner import BatchRunner

TARGET, REPLAY, UPDATES = "target", "replay", "updates"  # in the learner's state


@dataclass(frozen=True)
class QPlan:
    """What DQN needs to know: the fields of TrainConfig of these names."""

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

    @classmethod
    def of(cls, config: TrainConfig) -> "QPlan":
        """The plan of a configuration."""
        return cls(**{name: getattr(config, name) for name in cls.__dataclass_fields__})


class QRunner(BatchRunner):
    """A BatchRunner that marks rare steps: a boss beaten, a joker gained."""

    def _play(self, steps: int) -> Any:
        """Play `steps` steps in every game."""
        self._marks: list[NDArray[np.uint8]] = []
        trace = super()._play(steps)
        assert isinstance(trace, Trace)  # FastDQNConfig asks for them
        trace.marks = np.stack(self._marks)
        return trace

    def _acted(self, games: Games, rows: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """As any runner; what the step is going to change is remembered."""
        states = games.states.view(np.ndarray)
        self._before = states["phase"].copy(), states["n_jokers"].copy()
        return super()._acted(games, rows)

    def _stepped(self, games: Games) -> None:
        """Mark what was rare about this step."""
        states, (phase, jokers) = games.states.view(np.ndarray), self._before
        beaten = (phase == Phase.PLAY) & (states["phase"] == Phase.ROUND_END) & (states["beat_boss"] != 0)
        beaten |= games.outcome == Outcome.WON
        self._marks.append((BOSS * beaten + JOKER * (states["n_jokers"] > jokers)).astype(np.uint8))


class QLearner(BatchLearner):
    """DQN on fragments; the optimizer, the norm of gradients and the metrics stay those of the fast path."""

    def build(self) -> None:
        """As any learner; with an empty replay, and a target network like the one that learns."""
        super().build()
        policy, plan = self._policy(), self.config.q
        self._target = type(policy)(
            observation_space=policy.observation_space,
            action_space=policy.action_space,
            model_config=policy.model_config,
        ).to(self._device)
        self._follow()
        self.replay = Replay(
            plan.replay,
            policy.row_t,
            plan.n_step,
            self.config.gamma,
            plan.priority,
            plan.boss_weight,
            plan.joker_weight,
        )
        self.updates = 0

    def _follow(self) -> None:
        """The target network is the present one."""
        self._target.load_state_dict(self._policy().state_dict())

    def _learn_from(self, fragments: Fragments, before: int, epochs: int, minibatch: int | None) -> int:
        """Keep the fragments, then learn from steps drawn from all that are kept."""
        traces, lost = fragments.rollouts(lambda played: played)
        played = sum(map(len, traces))
        lag = self._weights_seq_no - min((trace.version for trace in traces), default=self._weights_seq_no)
        for trace in traces:
            assert isinstance(trace, Trace)
            self.replay.add(trace)
        size = minibatch or played
        steps = epochs * played // size if before + played >= self.config.q.replay_after else 0
        self._tell_steps(self._learn_again(steps, size, before), lag, steps * size / max(1, played), steps * size)
        self._weights_seq_no += 1
        chance = value_at(self.config.q.epsilon, before + played)
        self._policy().explore.fill_(chance)
        self.metrics.log_value((DEFAULT_MODULE_ID, "epsilon"), chance, window=1)
        return lost

    def _learn_again(self, steps: int, size: int, before: int) -> NDArray[np.float64]:
        """So many gradient steps on `size` steps each; answers the mean loss and worth, no numbers where there were none."""
        rng = np.random.default_rng((self.config.seed or 0, self._weights_seq_no))
        correction, sums = value_at(self.config.q.priority_correction, before), np.zeros(2)
        for _ in range(steps):
            drawn = self.replay.draw(size, rng, correction)
            loss, errors, worth = self._loss(drawn)
            gradients = self.compute_gradients({DEFAULT_MODULE_ID: loss})
            self.apply_gradients(self.postprocess_gradients(gradients))
            self.replay.surprised(drawn.places, errors)
            self.updates += 1
            if self.updates % self.config.q.target_every == 0:
                self._follow()
            sums += float(loss.detach()), worth
        return sums / steps if steps else np.full(2, np.nan)

    def _loss(self, drawn: Drawn) -> tuple[torch.Tensor, NDArray[np.float32], float]:
        """The loss () of drawn steps with gradient, their errors (m,), and the mean worth of what was done."""
        policy, device = self._policy(), self._device
        returns, weights, corrections, actions = (
            torch.from_numpy(each).to(device)
            for each in (drawn.returns, drawn.weights, drawn.corrections, drawn.actions)
        )
        with torch.no_grad():
            nexts = policy.stage(drawn.nexts)
            worths = self._target.worths(nexts)
            best = (policy.worths(nexts) if self.config.q.double else worths).argmax(dim=1, keepdim=True)
            wanted = returns + weights * worths.gather(1, best)[:, 0]
        found = policy.worths(policy.stage(drawn.rows)).gather(1, actions[:, None])[:, 0]
        loss = (corrections * functional.smooth_l1_loss(found, wanted, reduction="none")).mean()
        errors = (wanted - found.detach()).cpu().numpy()
        return loss, errors, float(found.detach().mean())

    def _tell_steps(self, means: NDArray[np.float64], lag: int, epochs: float, rows: int) -> None:
        """One line of metrics."""
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
        self._tell_trained(rows)

    def get_state(self, components: Any = None, *, not_components: Any = None, **kwargs: Any) -> dict[str, Any]:
        """As any learner; with replay, target network and the count of gradient steps, where all of it is asked for."""
        state = super().get_state(components, not_components=not_components, **kwargs)
        if self._check_component(TARGET, components, not_components):
            state[TARGET] = {name: value.cpu().numpy() for name, value in self._target.state_dict().items()}
        if self._check_component(REPLAY, components, not_components):
            state |= {REPLAY: self.replay.state(), UPDATES: self.updates}
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """As any learner; with what `get_state` adds."""
        super().set_state(state)
        if TARGET in state:
            self._target.load_state_dict({name: torch.from_numpy(value) for name, value in state[TARGET].items()})
        if REPLAY in state:
            self.replay.restore(state[REPLAY])
            self.updates = state[UPDATES]


class FastDQNConfig(FastPPOConfig):
    """FastPPOConfig for FastDQN: fragments travel as they were played, and stay with the learner."""

    def __init__(self, algo_class: Any = None) -> None:
        super().__init__(algo_class=algo_class or FastDQN)
        self.vtrace = True
        self.env_runners(env_runner_cls=QRunner)
        self.training(learner_class=QLearner)


class FastDQN(FastPPO):
    """FastPPO's way of playing, with steps that are learned from many times."""

    @classmethod
    def get_default_config(cls) -> FastDQNConfig:
        """The configuration to begin from."""
        return FastDQNConfig()
