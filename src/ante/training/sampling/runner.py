"""The env runner of the fast path: steps one batch of games in place and sends each fragment as one object."""

import time
from collections.abc import Callable
from operator import index
from typing import Any, ClassVar

import gymnasium
import numpy as np
import ray
import torch
from numpy.typing import NDArray
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
from ante.errors import BalatroError
from ante.training.compat import includes_component, make_callback
from ante.training.failures import Failure
from ante.training.numerics import row_kernels
from ante.training.numerics.advantages import values_after
from ante.training.numerics.normalisation import SCALES, Scales, discounted, nothing
from ante.training.numerics.precision import precision
from ante.training.policies.protocol import Choice, on_host
from ante.training.sampling.callbacks import has_callback
from ante.training.sampling.fragment import EpisodeTally, Rollout, Sampled, Trajectory, end_to_end
from ante.training.sampling.highlights import Highlights
from ante.training.sampling.hooks import EpisodeEnds, RunnerHook, SavedStarts
from ante.training.sampling.line_ups import RecordLineUps
from ante.training.sampling.practice import Practice
from ante.training.sampling.saved_games import array_like, read_games, save_games
from ante.training.spans import span

STAGE = "stage"  # key in the states and metrics of runners
GLOBAL_STEPS = "global_steps"  # key in the states of runners
TRAJECTORY, ADVANTAGES = "trajectory", "advantages"  # kinds of fragments


class BatchRunner(EnvRunner, Checkpointable):  # type: ignore[misc]
    """Plays `num_envs_per_env_runner` games in a batch, with one forward pass per step.

    A finished game is reset in the same step, so every row of a fragment is a decision. The policy's packed rows,
    actions, log-probabilities and values are written in place into (steps, games) arrays. The result is a `Trajectory`,
    or a `Rollout` with advantages, depending on the configuration's `fragment_kind`.

    games  the games; state the policy's state; begun (n,) bool: whether a game started from a saved position
    tally  statistics of games that started from the beginning
    decisions  (n,) int64, what the games played in the last step
    hooks  RunnerHooks (hooks.py): saved starts, practice, callbacks, highlights, line-ups, and the configuration's
           `runner_hooks`

    Class-level data:
        saves_games  whether a checkpoint can contain the games
    """

    saves_games: ClassVar[bool] = True

    def __init__(self, *, config: Any, **kwargs: Any) -> None:
        super().__init__(config=config, **kwargs)
        self.index = int(self.worker_index or 0)
        if self.index > 0:
            torch.set_num_threads(1)  # SPEED: one thread per runner; intra-op threads would compete for the cores
        self.callbacks = [made() for made in force_list(self.config.callbacks_class)]
        self.module: Any = None
        self.games: Games | None = None
        self._weights_seq_no = 0
        self._greedy = False
        self.stage = self._current_stage = 1  # curriculum stages: requested, and in play
        self.global_steps = 0  # of the whole run, when the weights were sent
        self.scales = Scales()
        self.num_env_steps_sampled_lifetime: int = 0
        self.make_module()
        self.hooks = self._make_hooks()
        if self.index > 0 or self.config.num_env_runners == 0 or self.config.create_env_on_local_worker:
            self.make_env()

    def make_module(self) -> None:
        """Build the policy."""
        spec = self.config.get_rl_module_spec(spaces=self.get_spaces(), inference_only=True)
        self.module = spec.build()
        self._device = "cuda" if self.config.num_gpus_per_env_runner > 0 else "cpu"
        self.module.to(self._device)

    def _make_hooks(self) -> list[RunnerHook]:
        """Create the sampling hooks. Evaluation runners use no practice, keep no highlights and count no line-ups."""
        config = self.config
        kinds: list[Callable[[BatchRunner], RunnerHook]] = []
        if config.starts and not config.in_evaluation:
            kinds.append(SavedStarts)
        if config.practice > 0.0 and not config.in_evaluation:
            kinds.append(Practice)
        if has_callback("on_episode_end", config.callbacks_class, config.callbacks_on_episode_end):
            kinds.append(EpisodeEnds)
        if config.highlights and not config.in_evaluation:
            kinds.append(Highlights)
        if config.line_ups and not config.in_evaluation:
            kinds.append(RecordLineUps)
        return [kind(self) for kind in (*kinds, *config.runner_hooks)]

    def _calls(self, moment: str) -> list[Callable[..., Any]]:
        """Return the methods of this name of all hooks that override it."""
        plain = getattr(RunnerHook, moment)
        return [getattr(hook, moment) for hook in self.hooks if getattr(type(hook), moment) is not plain]

    def make_env(self) -> None:
        """Create the games; they are reset later."""
        n = self.config.num_envs_per_env_runner
        self._make_games(n, {**self.config.env_config, **self._rules})
        self._current_stage = self.stage
        self.tally = EpisodeTally(np.zeros(n))
        self._discounted = np.zeros(n)
        self._dealt = False
        for call in self._calls("games_made"):
            call()

    def _make_games(self, n: int, options: dict[str, Any]) -> None:
        """Set `games` to n new games with these options."""
        self.games = Games(n, **options, flat=self.module.flat, discrete=self.module.discrete)

    def field(self, name: str) -> Any:
        """Return a field of all games' records, or their outcome, (n,): an array view, or a tensor on a device."""
        assert self.games is not None
        return self.games.outcome if name == "outcome" else self.games.states.view(np.ndarray)[name]

    @property
    def _rules(self) -> dict[str, Any]:
        """Return the options of this stage's games; evaluation runners always use the last stage."""
        rules: dict[str, Any] = self.config.stages[-1 if self.config.in_evaluation else self.stage - 1]
        return rules

    def _begin_stage(self) -> None:
        """Reset all games by the rules of the next stage, and reset the statistics."""
        before = self.games if self._dealt else None
        self.make_env()
        self.deal(before)

    @property
    def entropy(self) -> tuple[int, int, int]:
        """The seed material: the run's seed, this runner and the weights it started with.

        Fresh runs are reproducible, while resumed runs and restarted runners get different games.
        """
        return self.config.seed or 0, self.index, self._weights_seq_no

    def deal(self, before: Games | None = None) -> None:
        """Reset all games; `before` holds those of the previous stage when a stage begins."""
        seeds = np.random.SeedSequence(self.entropy)
        self._rng = torch.Generator(self._device).manual_seed(int(seeds.generate_state(1, np.uint64)[0] >> 1))
        n = self.config.num_envs_per_env_runner
        self.state, self.begun = self.module.make_state(n, self.index), np.zeros(n, dtype=np.bool_)
        self._deal_games(seeds)
        for call in self._calls("dealt"):
            call(seeds, before)
        self.tally.returns[:] = self._discounted[:] = 0.0
        self._dealt = True

    def _deal_games(self, seeds: np.random.SeedSequence) -> None:
        """Reset all games with seeds derived from `seeds`."""
        assert self.games is not None
        self.games.rngs = [np.random.default_rng(child) for child in seeds.spawn(self.games.n)]
        self.games.reset()

    def sample(
        self,
        *,
        num_timesteps: int | None = None,
        num_episodes: int | None = None,
        explore: bool | None = None,
        force_reset: bool = False,
        **_: Any,
    ) -> list[Rollout | Trajectory]:
        """Play and return fragments of steps x games rows.

        num_timesteps  minimum number of rows; by default one fragment of the configured length
        num_episodes   minimum number of finished games
        explore        whether to sample actions; otherwise take the most likely ones. By default as configured
        force_reset    reset all games first
        """
        assert self.games is not None, "this runner has no games"
        self._greedy = not (self.config.explore if explore is None else explore)
        if self._current_stage != self.stage:
            self._begin_stage()
        if force_reset or not self._dealt:
            self.deal()
        steps = int(self.config.get_rollout_fragment_length(worker_index=self.index))
        if num_timesteps is not None:
            steps = -(-num_timesteps // self.games.n)
        begin, ended = time.perf_counter(), self.tally.games
        fragments = [self._play(steps)]
        while num_episodes is not None and self.tally.games - ended < num_episodes:
            fragments.append(self._play(steps))
        self._log(fragments, time.perf_counter() - begin)
        make_callback(
            "on_sample_end",
            callbacks_objects=self.callbacks,
            callbacks_functions=self.config.callbacks_on_sample_end,
            kwargs={"env_runner": self, "metrics_logger": self.metrics, "samples": fragments},
        )
        return fragments

    def attempt(self, method: str, **arguments: Any) -> Any:
        """Return the result of a method, or the Failure of its code: RLlib would log the error and restart the runner."""
        try:
            return getattr(self, method)(**arguments)
        except ray.exceptions.RayError:
            raise
        except Exception as error:
            return Failure.of(error, f"env runner {self.index}")

    def fragment(self, by_reference: bool = True) -> Sampled:
        """Return one fragment with its metrics; as an object reference, so that no steps pass through the driver."""
        (fragment,) = self.sample()
        held = ray.put(fragment) if by_reference else fragment
        return Sampled(held, self._metrics(), self.tally.take(), self._current_stage)

    def _play(self, steps: int) -> Rollout | Trajectory:
        """Play `steps` steps in every game and return the fragment to send."""
        with span("copy"), precision(self.config.bf16, self._device):
            return self._made(*self._played(steps))

    def _played(self, steps: int) -> tuple[Trajectory, NDArray[np.float32]]:
        """Play `steps` steps in every game; return the trajectory and the policy's values (t, n)."""
        games, policy, state = self.games, self.module, self.state
        assert games is not None
        state.begin_fragment((steps + 1) * games.n)
        shape, everyone = (steps, games.n), np.arange(games.n)
        rows = np.zeros(shape, dtype=policy.row_t)
        actions = np.empty(shape, dtype=np.int64)
        log_probs, values, rewards = (np.empty(shape, dtype=np.float32) for _ in range(3))
        cut = np.zeros(shape, dtype=np.bool_)
        terminal = np.zeros(shape, dtype=np.bool_)
        places: list[int] = []  # truncated games: step and game, and their final observations
        finals: list[NDArray[Any]] = []
        for call in self._calls("fragment_begins"):
            call(steps)
        before_step, stepped, is_over, renewed = map(self._calls, ("before_step", "stepped", "ended", "renewed"))
        choosers = [] if self._greedy else self._calls("choose")
        for t in range(steps):
            self._observe(rows[t])
            choice = self._choose(rows[t], choosers)
            actions[t], log_probs[t], values[t] = map(on_host, choice[:3])
            state.advance(everyone, choice.carry)
            for call in before_step:
                call(t)
            self.decisions = policy.decisions(rows[t], actions[t])
            with span("env"):
                games.step(self.decisions)
            rewards[t] = games.rewards
            for call in stepped:
                call(t)
            ended = np.flatnonzero(games.outcome)
            for call in is_over if len(ended) else ():
                call(ended)
            self.tally.add(games, ended, self.begun)
            if len(ended):
                cut[t, ended] = True
                off = ended[games.outcome[ended] == Outcome.TRUNCATED]
                terminal[t] = games.terminated
                if len(off):
                    places += (t * games.n + off).tolist()
                    finals.append(self._rows_now()[off])
                with span("env"):
                    games.reset(ended)
                state.begin(ended)
                self.begun[ended] = False
                for call in renewed:
                    call(ended)
        extra = end_to_end([self._rows_now(), *finals])
        at = np.array(places, dtype=np.int64)
        version = self._weights_seq_no
        played = Trajectory(rows, actions, log_probs, rewards, cut, terminal, extra, at, nothing(), version)
        played.frames = state.frames
        return played, values

    def _choose(self, rows: NDArray[Any], choosers: list[Callable[..., Choice | None]]) -> Choice:
        """Choose actions in all games from `rows` (n,): by the first hook that chooses, else by the policy."""
        seen = self.state.view(rows)
        for call in choosers:
            choice: Choice | None = call(seen, rows)
            if choice is not None:
                return choice
        with span("forward"):
            chosen: Choice = self.module.act(seen, self._rng, self._greedy)
        return chosen

    def _made(self, played: Trajectory, values: NDArray[np.float32]) -> Rollout | Trajectory:
        """Return the fragment to send: the trajectory, or a rollout with advantages."""
        for call in self._calls("paid"):
            played.rewards = call(played)
        played.rewards, played.returns = self._scaled(played.rewards, played.cut)
        if self.config.truncate_every:
            played.cut[self.config.truncate_every - 1 :: self.config.truncate_every] = True
        for call in self._calls("finish"):
            call(played)
        self.num_env_steps_sampled_lifetime += len(played)
        return played if self.config.fragment_kind == TRAJECTORY else self._estimated(played, values)

    def _observe(self, out: NDArray[Any]) -> None:
        """Write the policy's observations of all games: out (n,) row_t, overwritten."""
        with span("pack"):
            self.module.pack(self.games, out)
        self.state.observe(self.games, out)

    def _estimated(self, played: Trajectory, values: NDArray[np.float32]) -> Rollout:
        """Return the rollout with advantages and targets computed from the acting policy's values (t, n)."""
        after = values_after(values, self._values_of(played.extra), played.places, played.terminal)
        advantages, targets = np.empty_like(values), np.empty_like(values)
        weights = self.config.gamma, self.config.lambda_
        with span("GAE"):
            row_kernels.gae(played.rewards, values, after, played.cut, *weights, advantages, targets)
        return played.rollout(advantages, targets)

    def _scaled(
        self, rewards: NDArray[np.float32], cut: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Return normalised rewards (t, n), and the moments of their discounted returns (3,)."""
        if not self.config.normalise_rewards:
            return rewards, nothing()
        own = discounted(rewards, cut, self.config.gamma, self._discounted)
        return self.scales.rewards(rewards, own), own

    def _rows_now(self) -> NDArray[Any]:
        """Return the packed rows of all games in their current state, (n,)."""
        rows = np.zeros(len(self.begun), dtype=self.module.row_t)
        self._observe(rows)
        return rows

    def _values_of(self, rows: NDArray[Any]) -> NDArray[np.float32]:
        """Return the values of packed rows of the current fragment, (n,)."""
        aside = torch.Generator(self._device).manual_seed(0)  # does not advance the generator of actions
        with span("forward"):
            values = on_host(self.module.act(self.state.view(rows), aside).values)
        return values

    def _log(self, fragments: list[Rollout | Trajectory], seconds: float) -> None:
        """Log metrics since the last `get_metrics`."""
        steps = sum(len(fragment) for fragment in fragments)
        self.metrics.log_value(NUM_ENV_STEPS_SAMPLED, steps, reduce="sum")
        self.metrics.log_value(NUM_ENV_STEPS_SAMPLED_LIFETIME, steps, reduce="lifetime_sum")
        self.metrics.log_value(NUM_EPISODES, self.tally.games, reduce="sum")
        self.metrics.log_value("sample_seconds", seconds, window=1)
        self.metrics.log_value("bytes_per_step", sum(each.nbytes for each in fragments) / steps, window=1)
        self.tally.games = 0

    def get_metrics(self) -> dict[str, Any]:
        """Return metrics since the last call, and means of this runner's last games, which RLlib's evaluation uses.

        Training computes means over the last games of all runners instead (`GameWindow`).
        """
        for name, mean in self.tally.means().items():
            self.metrics.log_value(name, mean, window=1)
        return self._metrics()

    def _metrics(self) -> dict[str, Any]:
        """Return metrics since the last call, and those of the hooks."""
        found = dict(self.metrics.reduce())
        for call in self._calls("metrics"):
            found |= call()
        return found

    def get_spaces(self) -> dict[str, tuple[gymnasium.Space[Any], gymnasium.Space[Any]]]:
        """Return the observation and action spaces of the policy."""
        single = self.config.rl_module_spec.module_class.spaces()
        return {INPUT_ENV_SPACES: single, INPUT_ENV_SINGLE_SPACES: single, DEFAULT_MODULE_ID: single}

    def get_state(self, components: Any = None, *, not_components: Any = None, **kwargs: Any) -> dict[str, Any]:
        """Return counters and the stage, and the weights if requested."""
        state: dict[str, Any] = {
            NUM_ENV_STEPS_SAMPLED_LIFETIME: self.num_env_steps_sampled_lifetime,
            STAGE: self.stage,
        }
        if includes_component(self, COMPONENT_RL_MODULE, components, not_components):
            state[COMPONENT_RL_MODULE] = self.module.get_state(**kwargs)
            state[WEIGHTS_SEQ_NO] = self._weights_seq_no
            state[SCALES] = self.scales.state()
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Set weights and counters; weights are always replaced, even by older ones (a restored run).

        A new stage begins with the next fragment, since this may be called during sampling.
        """
        if COMPONENT_RL_MODULE in state:
            weights = state[COMPONENT_RL_MODULE]
            weights = ray.get(weights) if isinstance(weights, ray.ObjectRef) else weights
            self.module.set_state(weights.get(DEFAULT_MODULE_ID, weights))
            self._weights_seq_no = int(state.get(WEIGHTS_SEQ_NO, 0))
        self.stage = int(state.get(STAGE, self.stage))
        self.global_steps = int(state.get(GLOBAL_STEPS, self.global_steps))
        if SCALES in state:
            self.scales.restore(state[SCALES])
        self.num_env_steps_sampled_lifetime = state.get(
            NUM_ENV_STEPS_SAMPLED_LIFETIME, self.num_env_steps_sampled_lifetime
        )

    def sampler_state(self) -> dict[str, Any] | None:
        """Return what sampling continues from after the last fragment, without weights and counters, as plain values.

        None if the games have not begun, or are on a device.
        """
        if not self._dealt or not self.saves_games:
            return None
        assert self.games is not None
        return {
            "index": self.index,
            "stage": self._current_stage,
            "games": save_games(self.games),
            "policy": self.state.saved(),
            "rng": self._rng.get_state().numpy(),
            "begun": self.begun.copy(),
            "tally": self.tally.saved(),
            "discounted": self._discounted.copy(),
            "hooks": [{"kind": type(hook).__name__, "state": hook.saved()} for hook in self.hooks],
            "metrics": self.metrics.get_state(),
        }

    def restore_sampler(self, states: Any) -> str:
        """Continue from this runner's own one of the `sampler_state`s of all runners.

        Returns why that is not possible, in which case all games begin again, or an empty string.
        """
        state = next((each for each in states if each["index"] == self.index), None)
        if state is None or not self.saves_games:
            return f"those of env runner {self.index} were not saved"
        try:
            self._restore_sampler(state)
        except (BalatroError, KeyError, TypeError, ValueError, RuntimeError, AttributeError, OverflowError) as error:
            self._dealt = False
            self.make_env()
            return f"those of env runner {self.index} do not fit this version ({type(error).__name__}: {error})"
        return ""

    def _restore_sampler(self, state: dict[str, Any]) -> None:
        """Restore a state of `sampler_state`. Raises many kinds of errors if it does not fit; see the caller."""
        wanted, self.stage = self.stage, index(state["stage"])
        try:
            if not 1 <= self.stage <= len(self.config.stages):
                raise ValueError(f"stage {self.stage} is not one of the {len(self.config.stages)} stages")
            self.make_env()
        finally:
            self.stage = wanted
        assert self.games is not None
        saved, n = read_games(state["games"], self.games), self.games.n
        self._rng = torch.Generator(self._device)
        self._rng.set_state(torch.from_numpy(state["rng"].copy()))
        self.state = self.module.make_state(n, self.index)
        self.state.restore(state["policy"])
        self.begun = array_like(state["begun"], np.empty(n, dtype=np.bool_), "games that started elsewhere").copy()
        self._discounted = array_like(state["discounted"], np.empty(n), "discounted returns").copy()
        self.tally.restore(state["tally"])
        saved.put(self.games)
        if [each["kind"] for each in state["hooks"]] != [type(hook).__name__ for hook in self.hooks]:
            raise ValueError(f"the hooks are not {', '.join(each['kind'] for each in state['hooks']) or 'none'}")
        for hook, each in zip(self.hooks, state["hooks"], strict=True):
            hook.restore(each["state"])
        self.metrics.set_state(state["metrics"])
        self._dealt = True

    def get_ctor_args_and_kwargs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the constructor arguments of this runner."""
        return (), {"config": self.config}

    def get_checkpointable_components(self) -> list[tuple[str, Any]]:
        """Return the policy."""
        return [(COMPONENT_RL_MODULE, self.module)]

    def assert_healthy(self) -> None:
        """Check that the policy exists."""
        assert self.module is not None

    def stop(self) -> None:
        """Release nothing: no resources are held."""
