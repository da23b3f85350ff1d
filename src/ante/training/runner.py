"""The env runner of the fast path: one batch of games, stepped in place, sent away as one blob a fragment."""

import time
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import ray
import torch
from numpy.typing import NDArray
from ray.rllib.callbacks.utils import make_callback
from ray.rllib.core import COMPONENT_RL_MODULE, DEFAULT_MODULE_ID
from ray.rllib.env import INPUT_ENV_SINGLE_SPACES, INPUT_ENV_SPACES
from ray.rllib.env.env_runner import EnvRunner
from ray.rllib.utils import force_list
from ray.rllib.utils.checkpoints import Checkpointable
from ray.rllib.utils.metrics import (
    NUM_ENV_STEPS_SAMPLED,
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
    NUM_EPISODES,
    WEIGHTS_SEQ_NO,
)

from ante.env.games import Games, Outcome
from ante.recording.starts import parse_starts, stand
from ante.training import kernels
from ante.training.episodes import ended_games, hears
from ante.training.estimates import values_after
from ante.training.practice import Practice
from ante.training.precision import precision
from ante.training.rollout import Labelled, Rollout, Tally, Trace, end_to_end, on_host
from ante.training.scales import SCALES, Scales, discounted, nothing

STAGE = "stage"  # in the states and metrics of runners


class Played(NamedTuple):
    """A fragment of t steps in n games: arrays as in `Trace`, and values (t, n) float32 as the policy gave them."""

    rows: NDArray[Any]
    actions: NDArray[np.int64]
    log_probs: NDArray[np.float32]
    values: NDArray[np.float32]
    rewards: NDArray[np.float32]
    cut: NDArray[np.bool_]
    terminal: NDArray[np.bool_]
    extra: NDArray[Any]
    places: NDArray[np.int64]


class BatchRunner(EnvRunner, Checkpointable):  # type: ignore[misc]
    """Plays `num_envs_per_env_runner` games side by side with one forward pass a step.

    A game that ends is dealt anew in the same step, so that every row of a fragment is a decision. The policy's packed
    rows, actions, log-probabilities and values are written in place into (steps, games) arrays; advantages are worked
    out here, and what leaves is one `Rollout`.
    """

    _practice: Practice

    def __init__(self, *, config: Any, **kwargs: Any) -> None:
        super().__init__(config=config, **kwargs)
        self._index = int(self.worker_index or 0)
        if self._index > 0:
            torch.set_num_threads(1)  # SPEED: one runner a core; threads that wait for each other cost more
        self._callbacks = [made() for made in force_list(self.config.callbacks_class)]
        self._tells_ends = hears("on_episode_end", self.config.callbacks_class, self.config.callbacks_on_episode_end)
        self.module: Any = None
        self.games: Games | None = None
        self._weights_seq_no = 0
        self.stage = self._dealt_stage = 1  # of the curriculum: what is to be played, and what is being played
        self.scales = Scales()
        # Evaluations play whole games.
        self._starts = (
            parse_starts(self.config.starts) if self.config.starts and not self.config.in_evaluation else None
        )
        self.num_env_steps_sampled_lifetime: int = 0
        self.make_module()
        if self._index > 0 or self.config.num_env_runners == 0 or self.config.create_env_on_local_worker:
            self.make_env()

    def make_module(self) -> None:
        """The policy is built."""
        spec = self.config.get_rl_module_spec(spaces=self.get_spaces(), inference_only=True)
        self.module = spec.build()
        self._device = "cuda" if self.config.num_gpus_per_env_runner > 0 else "cpu"
        self.module.to(self._device)

    def make_env(self) -> None:
        """The games are made, not yet dealt."""
        n = self.config.num_envs_per_env_runner
        self._make_games(n, {**self.config.env_config, **self._rules})
        self._dealt_stage = self.stage
        self._tally = Tally(np.zeros(n))
        self._discounted = np.zeros(n)
        self._dealt = False

    def _make_games(self, n: int, options: dict[str, Any]) -> None:
        """`games` are n new ones of these options."""
        self.games = Games(n, **options, flat=self.module.flat, discrete=self.module.discrete)

    @property
    def _rules(self) -> dict[str, Any]:
        """What makes the games of this stage; runners that evaluate play the run's own game, the last stage's."""
        rules: dict[str, Any] = self.config.stages[-1 if self.config.in_evaluation else self.stage - 1]
        return rules

    def _begin_stage(self) -> None:
        """All games are dealt anew, by the rules of the stage that is to be played; statistics begin anew.

        Positions to practise from stay if the new stage could have led to them: same deck, same stake, no lower goal.
        """
        before, kept = self.games, self._practice if self._dealt else None
        self.make_env()
        self.deal()
        games = self.games
        assert before is not None and games is not None
        if kept is not None and (before.deck, before.stake) == (games.deck, games.stake) and before.goal <= games.goal:
            self._practice = kept
            kept.deal(games, np.arange(games.n))

    @property
    def _entropy(self) -> tuple[int, int, int]:
        """What chance follows from: the run's seed, this runner and the weights it begins with.

        So a fresh run repeats itself, while one that goes on, or a runner that was replaced, meets other games.
        """
        return self.config.seed or 0, self._index, self._weights_seq_no

    def deal(self) -> None:
        """All games begin."""
        mother = np.random.SeedSequence(self._entropy)
        self._rng = torch.Generator(self._device).manual_seed(int(mother.generate_state(1, np.uint64)[0] >> 1))
        self._deal_games(mother)
        self._tally.returns[:] = self._discounted[:] = 0.0
        self._dealt = True

    def _deal_games(self, mother: np.random.SeedSequence) -> None:
        """All games begin, with seeds that follow from `mother`."""
        assert self.games is not None
        self.games.rngs = [np.random.default_rng(child) for child in mother.spawn(self.games.n)]
        self.games.reset()
        self._practice = Practice(self.games, self.config.practice, int(mother.generate_state(1)[0]))
        self._starts_rng = np.random.default_rng((*self._entropy, 1))
        self._begin_saved(self.games, np.arange(self.games.n))

    def _begin_saved(self, games: Games, which: NDArray[np.int64]) -> None:
        """These games, which were just dealt, begin from saved ones instead, where the run has some to begin from."""
        if self._starts is not None:
            stand(games, which, self._starts[self._starts_rng.integers(len(self._starts), size=len(which))])

    def sample(
        self,
        *,
        num_timesteps: int | None = None,
        num_episodes: int | None = None,
        explore: bool | None = None,
        force_reset: bool = False,
        **_: Any,
    ) -> list[Rollout | Trace]:
        """Play on, and answer fragments of steps x games rows.

        num_timesteps  rows wanted, at least; one fragment of the configuration's length by default
        num_episodes   games to end, at least: fragments follow each other until they have
        force_reset    begin all games anew first
        """
        assert self.games is not None, "this runner has no games"
        if self._dealt_stage != self.stage:
            self._begin_stage()
        if force_reset or not self._dealt:
            self.deal()
        steps = int(self.config.get_rollout_fragment_length(worker_index=self._index))
        if num_timesteps is not None:
            steps = -(-num_timesteps // self.games.n)
        begin, ended = time.perf_counter(), self._tally.games
        rollouts = [self._play(steps)]
        while num_episodes is not None and self._tally.games - ended < num_episodes:
            rollouts.append(self._play(steps))
        self._log(rollouts, time.perf_counter() - begin)
        make_callback(
            "on_sample_end",
            callbacks_objects=self._callbacks,
            callbacks_functions=self.config.callbacks_on_sample_end,
            kwargs={"env_runner": self, "metrics_logger": self.metrics, "samples": rollouts},
        )
        return rollouts

    def fragment(self) -> tuple[Any, dict[str, Any]]:
        """One fragment as a reference to the object store, and the metrics. Only these two pass through the driver."""
        (rollout,) = self.sample()
        return ray.put(rollout), self.get_metrics()

    def _play(self, steps: int) -> Rollout | Trace:
        """Play `steps` steps in every game, and make of them what is sent away."""
        with precision(self.config.bf16, self._device):
            return self._made(self._played(steps))

    def _played(self, steps: int) -> Played:
        """Play `steps` steps in every game."""
        games, policy = self.games, self.module
        assert games is not None
        shape = (steps, games.n)
        rows = np.zeros(shape, dtype=policy.row_t)
        actions = np.empty(shape, dtype=np.int64)
        log_probs, values, rewards = (np.empty(shape, dtype=np.float32) for _ in range(3))
        cut = np.zeros(shape, dtype=np.bool_)
        terminal = np.zeros(shape, dtype=np.bool_)
        places: list[int] = []  # games cut off: step and game, and what was seen last
        sights: list[NDArray[Any]] = []
        for t in range(steps):
            self._see(games, rows[t])
            actions[t], log_probs[t], values[t] = self._acted(games, rows[t])
            games.step(policy.decisions(rows[t], actions[t]))
            rewards[t] = games.rewards
            self._stepped(games)
            ended = np.flatnonzero(games.outcome)
            if self._tells_ends and len(ended):
                self._tell_ends(games, ended[~self._practice.begun[ended]])
            self._tally.add(games, ended, self._practice.begun)
            self._practice.watch(games)
            if len(ended):
                self._over(games, ended)
                cut[t, ended] = True
                off = ended[games.outcome[ended] == Outcome.TRUNCATED]
                terminal[t] = games.terminated
                if len(off):
                    places += (t * games.n + off).tolist()
                    sights.append(self._rows_now()[off])
                games.reset(ended)
                self._renewed(games, ended)
        extra = end_to_end([self._rows_now(), *sights])
        at = np.array(places, dtype=np.int64)
        return Played(rows, actions, log_probs, values, rewards, cut, terminal, extra, at)

    def _made(self, played: Played) -> Rollout | Trace:
        """What is sent away of a fragment: as it was played, or with advantages."""
        rows, actions, log_probs, values, rewards, cut, terminal, extra, places = played
        rewards, returns = self._scaled(self._shaped(rewards, rows, extra, places, terminal), cut)
        if self.config.piece:
            cut[self.config.piece - 1 :: self.config.piece] = True
        told = self._weights_seq_no, self._labelled()
        trace = Trace(
            rows, actions, log_probs, rewards, cut, terminal, extra, places, returns, *told, frames=self._filmed()
        )
        self.num_env_steps_sampled_lifetime += len(trace)
        return trace if self.config.vtrace else self._estimated(trace, self._meant(values))

    def _see(self, games: Games, out: NDArray[Any]) -> None:
        """What the policy is shown of all games: out (n,) row_t, overwritten."""
        self.module.pack(games, out)

    def _acted(self, games: Games, rows: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """Actions, their log-probabilities and values of all games, (n,) each; `rows` (n,) is what they see."""
        actions, log_probs, values = map(on_host, self.module.act(rows, self._rng))
        return actions, log_probs, values

    def _stepped(self, games: Games) -> None:
        """All games have taken a step; those that are over have not been dealt anew."""

    def _over(self, games: Games, ended: NDArray[np.int64]) -> None:
        """The games at `ended` are over and have not been dealt anew."""

    def _renewed(self, games: Games, which: NDArray[np.int64]) -> None:
        """These games have just been dealt; some go on from elsewhere."""
        self._begin_saved(games, which)
        self._practice.deal(games, which)

    def _shaped(
        self,
        rewards: NDArray[np.float32],
        rows: NDArray[Any],
        extra: NDArray[Any],
        places: NDArray[np.int64],
        terminal: NDArray[np.bool_],
    ) -> NDArray[np.float32]:
        """Rewards of a fragment (t, n), with whatever is paid besides; the others as in `Trace`."""
        return rewards

    def _labelled(self) -> Labelled | None:
        """Hints that came since the last fragment."""
        return None

    def _filmed(self) -> NDArray[np.uint8] | None:
        """The frames that rows of this fragment name; None where they name none."""
        return None

    def _estimated(self, trace: Trace, values: NDArray[np.float32]) -> Rollout:
        """What is learned from: advantages and targets of the policy that played, whose values (t, n) these are."""
        after = values_after(values, self._values_of(trace.extra), trace.places, trace.terminal)
        advantages, targets = np.empty_like(values), np.empty_like(values)
        weights = self.config.gamma, self.config.lambda_
        kernels.gae(trace.rewards, values, after, trace.cut, *weights, advantages, targets)
        return trace.rollout(advantages, targets)

    def _scaled(
        self, rewards: NDArray[np.float32], cut: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Rewards as they are learned from (t, n), and the moments of their discounted returns (3,)."""
        if not self.config.normalise_rewards:
            return rewards, nothing()
        own = discounted(rewards, cut, self.config.gamma, self._discounted)
        return self.scales.rewards(rewards, own), own

    def _tell_ends(self, games: Games, ended: NDArray[np.int64]) -> None:
        """Callbacks hear of the games at `ended`, which have not been dealt anew."""
        returns = self._tally.returns + games.rewards
        for i, game in ended_games(games.info(), ended, games.steps, returns, games.truncated):
            make_callback(
                "on_episode_end",
                callbacks_objects=self._callbacks,
                callbacks_functions=self.config.callbacks_on_episode_end,
                kwargs={
                    "episode": game,
                    "env_runner": self,
                    "metrics_logger": self.metrics,
                    "env": None,
                    "env_index": i,
                    "rl_module": self.module,
                },
            )

    def _rows_now(self) -> NDArray[Any]:
        """The packed rows of all games as they stand, (n,)."""
        assert self.games is not None
        rows = np.zeros(self.games.n, dtype=self.module.row_t)
        self._see(self.games, rows)
        return rows

    def _values_of(self, rows: NDArray[Any]) -> NDArray[np.float32]:
        """Values of packed rows, (n,)."""
        aside = torch.Generator(self._device).manual_seed(0)  # the stream of actions stays as it is
        return self._meant(on_host(self.module.act(rows, aside)[2]))

    def _meant(self, outputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """The values that outputs of the value head mean, same shape."""
        return self.scales.values(outputs) if self.config.normalise_values else outputs

    def _log(self, rollouts: list[Rollout | Trace], seconds: float) -> None:
        """Metrics since the last `get_metrics`."""
        steps = sum(len(rollout) for rollout in rollouts)
        self.metrics.log_value(NUM_ENV_STEPS_SAMPLED, steps, reduce="sum")
        self.metrics.log_value(NUM_ENV_STEPS_SAMPLED_LIFETIME, steps, reduce="lifetime_sum")
        self.metrics.log_value(NUM_EPISODES, self._tally.games, reduce="sum")
        self.metrics.log_value("sample_seconds", seconds, window=1)
        self.metrics.log_value("bytes_per_step", sum(r.nbytes for r in rollouts) / steps, window=1)
        for name, mean in self._tally.means().items():
            self.metrics.log_value(name, mean, window=1)
        self.metrics.log_value("games_counted", len(self._tally.last), window=1)
        if len(self.config.stages) > 1:
            self.metrics.log_value(STAGE, self._dealt_stage, window=1)
        self._tally.games = 0

    def get_metrics(self) -> dict[str, Any]:
        """Metrics since the last call."""
        return dict(self.metrics.reduce())

    def get_spaces(self) -> dict[str, tuple[gymnasium.Space[Any], gymnasium.Space[Any]]]:
        """Spaces of what the policy sees and answers."""
        single = self.config.rl_module_spec.module_class.spaces()
        return {INPUT_ENV_SPACES: single, INPUT_ENV_SINGLE_SPACES: single, DEFAULT_MODULE_ID: single}

    def get_state(self, components: Any = None, *, not_components: Any = None, **kwargs: Any) -> dict[str, Any]:
        """Counters and the stage, and the weights where they are asked for."""
        state: dict[str, Any] = {
            NUM_ENV_STEPS_SAMPLED_LIFETIME: self.num_env_steps_sampled_lifetime,
            STAGE: self.stage,
        }
        if self._check_component(COMPONENT_RL_MODULE, components, not_components):
            state[COMPONENT_RL_MODULE] = self.module.get_state(**kwargs)
            state[WEIGHTS_SEQ_NO] = self._weights_seq_no
            state[SCALES] = self.scales.state()
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Take over weights and counters; the last weights given always hold, older ones too (a run put back).

        Another stage begins with the next fragment: this may be called while one is being played.
        """
        if COMPONENT_RL_MODULE in state:
            weights = state[COMPONENT_RL_MODULE]
            weights = ray.get(weights) if isinstance(weights, ray.ObjectRef) else weights
            self.module.set_state(weights.get(DEFAULT_MODULE_ID, weights))
            self._weights_seq_no = int(state.get(WEIGHTS_SEQ_NO, 0))
        self.stage = int(state.get(STAGE, self.stage))
        if SCALES in state:
            self.scales.restore(state[SCALES])
        self.num_env_steps_sampled_lifetime = state.get(
            NUM_ENV_STEPS_SAMPLED_LIFETIME, self.num_env_steps_sampled_lifetime
        )

    def get_ctor_args_and_kwargs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What this runner is made from."""
        return (), {"config": self.config}

    def get_checkpointable_components(self) -> list[tuple[str, Any]]:
        """The policy."""
        return [(COMPONENT_RL_MODULE, self.module)]

    def assert_healthy(self) -> None:
        """The policy stands."""
        assert self.module is not None

    def stop(self) -> None:
        """Nothing is held that must be let go."""
