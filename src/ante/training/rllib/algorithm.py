"""Base classes of the fast path's algorithms: `FastConfig` for settings, `FastAlgorithm` for the training loop.

The driver handles only references and metrics. An iteration samples one batch and learns from it. With a `lag`, that
many batches are sampled ahead, each with the weights current at its launch: the behaviour policy is `lag` updates old
when the learner uses its steps.
"""

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import ray
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.rllib.core import COMPONENT_LEARNER, COMPONENT_RL_MODULE, DEFAULT_MODULE_ID
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.utils.metrics import (
    ENV_RUNNER_RESULTS,
    LEARNER_RESULTS,
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
    WEIGHTS_SEQ_NO,
)

from ante.errors import BalatroError
from ante.recording.starts import starts_bytes
from ante.training.compat import metrics_of, state_of_metrics
from ante.training.failures import checked
from ante.training.learning.learner import FragmentLearner, share_cores
from ante.training.numerics.normalisation import SCALES
from ante.training.numerics.precision import uses_bf16
from ante.training.policies.mlp_rows import PackedPolicy
from ante.training.policies.registry import network_of, policy_class
from ante.training.rllib.run_settings import set_resources
from ante.training.sampling.callbacks import warn_of_unsupported
from ante.training.sampling.fragment import MEANS, GameWindow, Sampled
from ante.training.sampling.highlights import HIGHLIGHTS, BestGames, read_game
from ante.training.sampling.line_ups import LINE_UPS, LineUpSums, no_line_ups, read_line_ups
from ante.training.sampling.runner import ADVANTAGES, GLOBAL_STEPS, STAGE, BatchRunner
from ante.training.sampling.saved_fragments import read_fragment, save_fragment
from ante.training.sampling.saved_games import array_like
from ante.training.sampling.training_data import Fragments
from ante.training.settings.config import TrainConfig
from ante.training.spans import span

POLL_SECONDS = 0.05


class NoRunner(BalatroError, RuntimeError):
    """All env runners are lost."""


class FastConfig(AlgorithmConfig):  # type: ignore[misc]
    """The settings of a fast-path algorithm. A subclass sets its algorithm and learner and extends `configure`.

    Class-level data:
        algorithm      the FastAlgorithm class
        learner        its FragmentLearner class
        fragment_kind  what runners send: ADVANTAGES (`Rollout`) or TRAJECTORY (`Trajectory`)

    Attributes:
        bf16               whether network products are in bf16, in all processes
        lag                batches sampled ahead of the learner
        truncate_every     steps after which advantages are truncated and bootstrapped; None for the fragment length
        practice           share of games that start from saved positions (practice.py)
        starts             saved states from which all games start, from recording.starts; None for new games
        highlights         keep the first wins, best and oddest games (highlights.py); needs whole games on a CPU
        line_ups           count line-ups and wins of games (line_ups.py)
        stages             options of `Games` by stage (curriculum.py); evaluation uses the last one
        normalise_rewards  divide rewards by the standard deviation of discounted returns
        normalise_values   standardise value targets
        runner_hooks       factories of sampling hooks, `(runner) -> RunnerHook`
        loss_terms         factories of additional loss terms, `(config) -> LossTerm`
        hints              advice.asks.HintPlan if hints are used
    """

    algorithm: ClassVar[type[Algorithm]]
    learner: ClassVar[type[FragmentLearner]]
    fragment_kind: ClassVar[str] = ADVANTAGES

    def __init__(self, algo_class: Any = None) -> None:
        self.bf16 = False
        self.lag = 0
        self.truncate_every: int | None = None
        self.practice = 0.0
        self.starts: bytes | None = None
        self.highlights = False
        self.line_ups = False
        self.stages: tuple[dict[str, Any], ...] = ({},)
        self.normalise_rewards = False
        self.normalise_values = False
        self.runner_hooks: tuple[Callable[..., Any], ...] = ()
        self.loss_terms: tuple[Callable[..., Any], ...] = ()
        self.hints: Any = None
        super().__init__(algo_class=algo_class or self.algorithm)
        self.rollout_fragment_length = "auto"
        self.env_runners(
            env_runner_cls=BatchRunner,
            add_default_connectors_to_env_to_module_pipeline=False,
            add_default_connectors_to_module_to_env_pipeline=False,
            merge_env_runner_states=False,
            broadcast_env_runner_states=False,
        )
        self.learners(learner_class=self.learner, add_default_connectors_to_learner_pipeline=False)

    def get_default_rl_module_spec(self) -> RLModuleSpec:
        """See AlgorithmConfig: the policy with default settings, replaced by `configure`."""
        return RLModuleSpec(PackedPolicy)

    def configure(self, run: TrainConfig) -> "FastConfig":
        """Apply the settings of a run, and return this configuration. Failed runners are restarted."""
        policy, algo, resources = policy_class(run), run.algo, run.resources
        epochs = algo.update.epochs
        learners = max(1, resources.learners)
        set_resources(self, run)
        self.rl_module(rl_module_spec=RLModuleSpec(policy, model_config=network_of(run)))
        self.training(
            lr=algo.lr,
            gamma=algo.gamma,
            grad_clip=algo.grad_clip,
            train_batch_size_per_learner=algo.batch // learners,
            minibatch_size=algo.minibatch // learners,
            num_epochs=epochs,
        )
        self.fault_tolerance(restart_failed_env_runners=True, delay_between_env_runner_restarts_s=1.0)
        devices = {"cuda" if gpus else "cpu" for gpus in (resources.runner_gpus, resources.learner_gpus)}
        self.bf16 = (policy.bf16 or resources.bf16 != "auto") and uses_bf16(resources.bf16, devices)
        self.lag = algo.ahead
        self.truncate_every = getattr(algo, "fragment", None)
        self.practice = run.games.practice
        self.starts = starts_bytes(Path(run.games.start_states)) if run.games.start_states else None
        self.stages = tuple(stage.rules for stage in run.games.stages)
        self.highlights = resources.games_on == "cpu" and not self.starts
        self.line_ups = run.tracking.knowledge is not None
        if resources.games_on == "gpu":
            from ante.training.sampling.cuda_runner import DeviceRunner, MirrorRunner

            self.env_runners(env_runner_cls=DeviceRunner if policy.packs_on_device else MirrorRunner)
        if run.hints.source != "off":
            from ante.training.advice.broker import plan_of
            from ante.training.advice.hooks import AskForHints, Imitation

            self.hints = plan_of(run)
            self.runner_hooks += (AskForHints,)
            self.loss_terms += (Imitation,)
        return self


class FastAlgorithm(Algorithm):  # type: ignore[misc]
    """An algorithm whose batches stay packed arrays from sampling to the gradient.

    highlights  the best games of all runners, until they are taken
    line_ups    sums of the line-ups of all finished games, empty unless they are counted
    """

    def setup(self, config: Any) -> None:
        """See Algorithm; sampling starts with the first training step."""
        warn_of_unsupported(config)
        share_cores(config)  # before the weights are initialised: the number of threads affects their last digits
        self._stage = 1
        self.highlights, self.line_ups = BestGames(), LineUpSums()
        self._ahead: deque[Callable[[], list[Sampled]]] = deque()
        self._launched = 0
        self.window = GameWindow()
        self._thread: ThreadPoolExecutor | None = None
        self._for_thread: dict[str, Any] | None = None  # weights for the next fragment sampled in the thread
        super().setup(config)

    def training_step(self) -> None:
        """Sample a batch (or take one sampled ahead), learn from it, and synchronise weights."""
        begin = time.perf_counter()
        while len(self._ahead) < max(1, self.config.lag):
            self._ahead.append(self._launch())
        gather = self._ahead.popleft()
        ready = gather() or self._first_recovered(gather)
        if self.config.lag:
            with span("sync"):
                self._send_weights()
            self._ahead.append(self._launch())
        self.metrics.log_value("wait_seconds", time.perf_counter() - begin, window=1)
        steps = self.metrics.peek((ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME), default=0)
        for each in ready:
            self.highlights.add(each.metrics.pop(HIGHLIGHTS, ()))
            self.line_ups.add(each.metrics.pop(LINE_UPS, None) or no_line_ups())
        self._log_sampled(ready)
        learned = self.learner_group.update(
            training_data=Fragments([each.fragment for each in ready]),
            timesteps={NUM_ENV_STEPS_SAMPLED_LIFETIME: steps},
            num_epochs=self.config.num_epochs,
            minibatch_size=self.config.minibatch_size,
        )
        self.metrics.aggregate(learned, key=LEARNER_RESULTS)
        if not self.config.lag:
            with span("sync"):
                self._send_weights()

    def _log_sampled(self, ready: list[Sampled]) -> None:
        """Aggregate the metrics of fragments, and log means over the last games of all runners together."""
        for each in ready:
            self.window.add(each.ended, each.stage)
        self.metrics.aggregate([each.metrics for each in ready], key=ENV_RUNNER_RESULTS)
        for name, mean in self.window.means().items():
            self.metrics.log_value((ENV_RUNNER_RESULTS, name), mean, window=1)
        if len(self.config.stages) > 1:
            self.metrics.log_value((ENV_RUNNER_RESULTS, STAGE), self.window.stage, window=1)

    def _first_recovered(self, gather: Callable[[], list[Sampled]]) -> list[Sampled]:
        """Return late fragments of slow runners, or those of the first runners that recover after a total failure.

        gather  waits for the fragments that were not ready in time. Raises NoRunner at the limit.
        """
        deadline = time.monotonic() + self.config.sample_timeout_s
        while time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
            if late := gather():
                return late
            if self.restore_env_runners(self.env_runner_group) and (ready := self._launch()()):
                return ready
        raise NoRunner(
            f"none of {self.config.num_env_runners} env runners responded within {2 * self.config.sample_timeout_s:g} s: "
            "check their logs, or lower algo.batch if a fragment takes longer, then continue with --resume"
        )

    def _launch(self) -> Callable[[], list[Sampled]]:
        """Start a fragment in all runners, queued after earlier ones; the returned function waits for the fragments."""
        if self.config.num_env_runners == 0:
            return self._launch_here()
        tag = self._tag("fragment")
        self._launched += 1
        self._request("fragment", tag)
        return lambda: self._gathered(tag)

    def _request(self, method: str, tag: str, **arguments: Any) -> None:
        """Call a method of all healthy runners; `_fetched` returns the results."""
        kwargs = {"method": method, **arguments}
        self.env_runner_group.foreach_env_runner_async("attempt", tag=tag, kwargs=kwargs)

    def _fetched(self, tag: str, wait_seconds: float = 0.0) -> list[tuple[int, Any]]:
        """Return numbers of runners and the results of a request that are ready; those of lost runners are missing.

        Raises RunnerFailed if the code of a runner raised an error.
        """
        ready = self.env_runner_group.fetch_ready_async_reqs(tags=tag, timeout_seconds=wait_seconds)
        return [(number, checked(result)) for number, result in ready]

    def _tag(self, what: str) -> str:
        """Return the name of the next request: RLlib allows one pending request per name and runner."""
        return f"{what}{self._launched % max(1, self.config.lag)}"

    def _launch_here(self) -> Callable[[], list[Sampled]]:
        """`_launch` in this process: synchronous, or in a thread (compiled code releases the GIL)."""
        runner = self.env_runner_group.local_env_runner
        weights, self._for_thread = self._for_thread, None

        def play() -> Sampled:
            if weights is not None:
                runner.set_state(weights)
            return runner.fragment(by_reference=self.config.num_learners > 0)

        if not self.config.lag:
            return lambda: [play()]
        self._thread = self._thread or ThreadPoolExecutor(1, "sampling")
        playing: Future[Sampled] = self._thread.submit(play)
        return lambda: [playing.result()]

    def _gathered(self, tag: str) -> list[Sampled]:
        """Return fragments of the healthy runners, in the runners' order; the fragment of a lost runner is lost.

        Raises RunnerFailed at once if the code of a runner raised an error.
        """
        group, found = self.env_runner_group, []
        deadline = time.monotonic() + self.config.sample_timeout_s
        while group.num_in_flight_async_reqs(tag) > 0 and time.monotonic() < deadline:
            found += self._fetched(tag, POLL_SECONDS)
        return [fragment for _, fragment in sorted(found, key=lambda pair: pair[0])]

    def set_stage(self, stage: int) -> None:
        """Use this curriculum stage, counted from 1, for fragments launched from now on.

        With a sampling thread it takes effect with the next weights; fragments already launched use the previous stage.
        """
        self._stage = stage
        group = self.env_runner_group
        playing_ahead = self._thread is not None and bool(self._ahead)
        if group.local_env_runner is not None and not playing_ahead:
            group.local_env_runner.set_state({STAGE: stage})
        if self.config.num_env_runners > 0:
            self._fetched(STAGE)
            self._request("set_state", STAGE, state={STAGE: stage})

    def _send_weights(self) -> None:
        """Send the learner's weights, the stage and the steps so far to all runners, before their next fragment."""
        state = self.learner_group.get_state(
            components=f"{COMPONENT_LEARNER}/{COMPONENT_RL_MODULE}", inference_only=True
        )[COMPONENT_LEARNER]
        steps = self.metrics.peek((ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME), default=0)
        weights = {key: state[key] for key in (COMPONENT_RL_MODULE, WEIGHTS_SEQ_NO, SCALES)}
        weights |= {STAGE: self._stage, GLOBAL_STEPS: int(steps)}
        group = self.env_runner_group
        if self._thread is not None and self._ahead:
            self._for_thread = deepcopy(weights)  # the learner updates the originals in place
        elif group.local_env_runner is not None:
            group.local_env_runner.set_state(weights)
        if self.config.num_env_runners > 0:
            tag = self._tag("weights")
            self._fetched(tag)  # raises errors of earlier weights
            self._request("set_state", tag, state=ray.put(weights))

    def start_from(self, weights: dict[str, Any]) -> None:
        """Replace the initial weights of all learners and runners, before the first iteration."""
        self.learner_group.set_weights({DEFAULT_MODULE_ID: weights})
        self._send_weights()

    def set_state(self, state: dict[str, Any]) -> None:
        """See Algorithm; and send the restored weights to all runners."""
        self._drop_ahead()
        super().set_state(state)
        for name in (*MEANS, "games_counted", STAGE):  # in older checkpoints they are means over runners
            self.metrics.delete(ENV_RUNNER_RESULTS, name, key_error=False)
        self._send_weights()

    def play_ahead(self) -> None:
        """Wait for all sampling ahead to finish."""
        ready = [gather() for gather in self._ahead]
        self._ahead = deque(partial(list, fragments) for fragments in ready)

    def sampling_state(self) -> dict[str, Any]:
        """Return what sampling continues from as plain values: games of all runners, batches sampled ahead here.

        Batches that other processes have sampled ahead stay with them and are not part of it.
        """
        self.play_ahead()
        group, ahead = self.env_runner_group, []
        if self.config.num_env_runners > 0:
            found = self._attempted("sampler_state", timeout_seconds=self.config.sample_timeout_s)
        else:
            found = [group.local_env_runner.sampler_state()]
            ahead = [[save_sampled(each) for each in batch()] for batch in self._ahead]
        return {
            "runners": max(1, self.config.num_env_runners),
            "games": self.config.num_envs_per_env_runner,
            "states": [state for state in found if state is not None],
            "ahead": ahead,
            "window": self.window.saved(),
            LINE_UPS: self.line_ups.saved() if self.config.line_ups else None,
        }

    def restore_sampling(self, state: dict[str, Any] | None) -> str:
        """Continue with the games of `sampling_state`, after `set_state`.

        Returns why that is not possible, or not for all runners, or an empty string. The other games begin again.
        """
        shape = max(1, self.config.num_env_runners), self.config.num_envs_per_env_runner
        if state is None:
            return "the checkpoint contains no games"
        self.window.restore(state["window"])
        if counted := state.get(LINE_UPS):
            self.line_ups.restore(counted)
        if not state["states"]:
            return "the checkpoint contains no games"
        if (state["runners"], state["games"]) != shape:
            return "the checkpoint has {} x {} games, and this run {} x {}".format(
                state["runners"], state["games"], *shape
            )
        if self.config.num_env_runners == 0:
            return self._restore_here(state)
        return "; ".join(filter(None, self._attempted("restore_sampler", {"states": ray.put(state["states"])})))

    def _attempted(self, method: str, arguments: dict[str, Any] | None = None, **options: Any) -> list[Any]:
        """Call a method of all healthy runners and return the results. Raises RunnerFailed as `_fetched`."""
        kwargs = {"method": method, **(arguments or {})}
        group = self.env_runner_group
        found = group.foreach_env_runner("attempt", kwargs=kwargs, local_env_runner=False, **options)
        return [checked(result) for result in found]

    def _restore_here(self, state: dict[str, Any]) -> str:
        """`restore_sampling` with the games in this process."""
        runner = self.env_runner_group.local_env_runner
        try:
            ahead = [[self._read_ahead(each) for each in batch] for batch in state["ahead"]]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            return f"a batch sampled ahead does not fit this version ({type(error).__name__}: {error})"
        if len(ahead) != self.config.lag and ahead:
            return f"the checkpoint has {len(ahead)} batches sampled ahead, and this run samples {self.config.lag}"
        if not (why := runner.restore_sampler(state["states"])):
            self._ahead = deque(partial(list, batch) for batch in ahead)
        return str(why)

    def _read_ahead(self, saved: dict[str, Any]) -> Sampled:
        """Return what `save_sampled` was given."""
        runner = self.env_runner_group.local_env_runner
        most = int(self.config.get_rollout_fragment_length(worker_index=0)) * self.config.num_envs_per_env_runner
        fragment = read_fragment(saved["fragment"], runner.module.row_t, most)
        held = ray.put(fragment) if self.config.num_learners > 0 else fragment
        ended = array_like(saved["ended"], np.empty((len(saved["ended"]), len(MEANS))), "finished games")
        metrics = metrics_of(saved["metrics"]) | {HIGHLIGHTS: [read_game(each) for each in saved["highlights"]]}
        if counted := saved.get(LINE_UPS):
            metrics[LINE_UPS] = read_line_ups(counted)
        return Sampled(held, metrics, ended, int(saved["stage"]))

    def _drop_ahead(self) -> None:
        """Discard batches sampled ahead."""
        self.play_ahead()
        self._ahead.clear()
        self._for_thread = None

    def cleanup(self) -> None:
        """Release all resources, including the thread."""
        if self._thread is not None:
            self._thread.shutdown(wait=True)
        super().cleanup()


def save_sampled(sampled: Sampled) -> dict[str, Any]:
    """Return a fragment and what came with it as plain values."""
    held, counted = sampled.fragment, sampled.metrics.get(LINE_UPS)
    played = ray.get(held) if isinstance(held, ray.ObjectRef) else held
    return {
        "fragment": save_fragment(played),
        "highlights": [game.saved() for game in sampled.metrics.get(HIGHLIGHTS, ())],
        LINE_UPS: counted.saved() if counted else None,
        "metrics": state_of_metrics(
            {name: each for name, each in sampled.metrics.items() if name not in (HIGHLIGHTS, LINE_UPS)}
        ),
        "ended": sampled.ended,
        "stage": sampled.stage,
    }
