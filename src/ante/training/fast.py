"""PPO and APPO of RLlib on the fast path: `FastPPO`, `FastAPPO` and their configurations.

The driver moves references and metrics, never steps. An iteration plays one batch and learns from it. With a `lag` so
many batches are played ahead, each with the weights of its time: the policy that played is `lag` updates old when its
steps are learned from. APPO corrects for that with V-trace, worked out by the learner.
"""

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from functools import partial
from typing import Any

import ray
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core import COMPONENT_LEARNER, COMPONENT_RL_MODULE
from ray.rllib.utils.metrics import (
    ENV_RUNNER_RESULTS,
    LEARNER_RESULTS,
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
    WEIGHTS_SEQ_NO,
)

from ante.errors import BalatroError
from ante.training.episodes import warn_of_silence
from ante.training.fragments import Fragments
from ante.training.learner import BatchLearner, share_cores
from ante.training.runner import STAGE, BatchRunner
from ante.training.scales import SCALES

Fragment = tuple[Any, dict[str, Any]]  # a rollout or a reference to one, and its runner's metrics
POLL_SECONDS = 0.05


class NoRunner(BalatroError, RuntimeError):
    """All env runners are lost."""


class FastPPOConfig(PPOConfig):  # type: ignore[misc]
    """PPOConfig with the runner and learner of the fast path, and a few settings more (`fast_path`)."""

    def __init__(self, algo_class: Any = None) -> None:
        self.bf16 = "auto"
        self.lag = 0
        self.practice = 0.0
        self.starts: bytes | None = None
        self.stages: tuple[dict[str, Any], ...] = ({},)
        self.vtrace = False
        self.piece: int | None = None
        self.accumulate = 1
        self.kl_stop: float | None = None
        self.normalise_rewards = False
        self.normalise_values = False
        self.hints: Any = None
        self.q: Any = None
        super().__init__(algo_class=algo_class or FastPPO)
        self.env_runners(
            env_runner_cls=BatchRunner,
            add_default_connectors_to_env_to_module_pipeline=False,
            add_default_connectors_to_module_to_env_pipeline=False,
            merge_env_runner_states=False,
            broadcast_env_runner_states=False,
        )
        self.training(learner_class=BatchLearner, add_default_connectors_to_learner_pipeline=False, use_kl_loss=False)

    def fast_path(self, **settings: Any) -> "FastPPOConfig":
        """Set what only the fast path has. Raises TypeError for anything else.

        bf16               auto, on or off: products of networks in bf16; auto asks the machine
        lag                batches that are played ahead while one is learned from
        piece              steps of a game after which advantages begin anew from the value; None for the batch's own
        practice           share of the games that begin in the middle (practice.py)
        starts             saved games that all games begin from, as recording.starts writes them; None for new ones
        stages             options of `Games` by stage (curriculum.py); the last one is the game that evaluation plays
        accumulate         minibatches whose gradients are averaged for one step
        kl_stop            an update ends once a minibatch's KL to the old policy is 1.5 times this; None for never
        normalise_rewards  rewards in units of the spread of discounted returns
        normalise_values   value targets in units of their own mean and spread
        hints              hinting.HintPlan, which needs the runner and the learner of hinted.py; None for no hints
        q                  dqn.QPlan, for FastDQN only
        """
        known = (
            "bf16",
            "lag",
            "piece",
            "practice",
            "starts",
            "stages",
            "accumulate",
            "kl_stop",
            "normalise_rewards",
            "normalise_values",
            "hints",
            "q",
        )
        for name, value in settings.items():
            if name not in known:
                raise TypeError(f"the fast path has no setting {name!r}: it has {', '.join(known)}")
            setattr(self, name, value)
        return self


class FastAPPOConfig(FastPPOConfig):
    """FastPPOConfig for FastAPPO: fragments travel as they were played, and what they are worth the learner says."""

    def __init__(self, algo_class: Any = None) -> None:
        super().__init__(algo_class=algo_class or FastAPPO)
        self.lag, self.vtrace = 1, True


class FastPPO(PPO):  # type: ignore[misc]
    """PPO whose batches are packed arrays from the engine to the gradient."""

    @classmethod
    def get_default_config(cls) -> FastPPOConfig:
        """The configuration to begin from."""
        return FastPPOConfig()

    def setup(self, config: Any) -> None:
        """As PPO; nothing is being played yet."""
        warn_of_silence(config)
        share_cores(config)  # now: the number of threads shows in the last digits of the first weights
        self._stage = 1
        self._ahead: deque[Callable[[], list[Fragment]]] = deque()
        self._launched = 0
        self._thread: ThreadPoolExecutor | None = None
        self._for_thread: dict[str, Any] | None = None  # weights of the next fragment played in the thread
        super().setup(config)

    def training_step(self) -> None:
        """Play (or take what was played meanwhile), learn, hand the weights on."""
        begin = time.perf_counter()
        while len(self._ahead) < max(1, self.config.lag):
            self._ahead.append(self._launch())
        ready = self._ahead.popleft()() or self._asked_again()
        if self.config.lag:
            self._hand_on_weights()
            self._ahead.append(self._launch())
        self.metrics.log_value("wait_seconds", time.perf_counter() - begin, window=1)
        steps = self.metrics.peek((ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME), default=0)
        self.metrics.aggregate([metrics for _, metrics in ready], key=ENV_RUNNER_RESULTS)
        learned = self.learner_group.update(
            training_data=Fragments([fragment for fragment, _ in ready]),
            timesteps={NUM_ENV_STEPS_SAMPLED_LIFETIME: steps},
            num_epochs=self.config.num_epochs,
            minibatch_size=self.config.minibatch_size,
        )
        self.metrics.aggregate(learned, key=LEARNER_RESULTS)
        if not self.config.lag:
            self._hand_on_weights()

    def _asked_again(self) -> list[Fragment]:
        """Fragments of the first runners that come back after all have failed. Raises NoRunner after the time limit."""
        deadline = time.monotonic() + self.config.sample_timeout_s
        while time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
            if self.restore_env_runners(self.env_runner_group) and (ready := self._launch()()):
                return ready
        raise NoRunner(
            f"none of {self.config.num_env_runners} env runners answered within {self.config.sample_timeout_s} s: "
            "look into their logs, then go on with --resume"
        )

    def _launch(self) -> Callable[[], list[Fragment]]:
        """All runners begin a fragment, after those asked for before; call what this answers to have the fragments."""
        if self.config.num_env_runners == 0:
            return self._launch_here()
        tag = self._tag("fragment")
        self._launched += 1
        self.env_runner_group.foreach_env_runner_async("fragment", tag=tag)
        return lambda: self._gathered(tag)

    def _tag(self, what: str) -> str:
        """A name for the next launch: RLlib has one request of a name under way per runner, and drops others."""
        return f"{what}{self._launched % max(1, self.config.lag)}"

    def _launch_here(self) -> Callable[[], list[Fragment]]:
        """The same in this process: at once, or in a thread beside the learner (compiled code lets go of the GIL)."""
        runner = self.env_runner_group.local_env_runner
        weights, self._for_thread = self._for_thread, None

        def play() -> Fragment:
            if weights is not None:
                runner.set_state(weights)
            return runner.fragment() if self.config.num_learners > 0 else (runner.sample()[0], runner.get_metrics())

        if not self.config.lag:
            return lambda: [play()]
        self._thread = self._thread or ThreadPoolExecutor(1, "sampling")
        playing: Future[Fragment] = self._thread.submit(play)
        return lambda: [playing.result()]

    def _gathered(self, tag: str) -> list[Fragment]:
        """Fragments of the runners that are well, in the runners' order; a runner that died costs its fragment."""
        group, found = self.env_runner_group, []
        deadline = time.monotonic() + self.config.sample_timeout_s
        while group.num_in_flight_async_reqs(tag) > 0 and time.monotonic() < deadline:
            found += group.fetch_ready_async_reqs(tags=tag, timeout_seconds=POLL_SECONDS)
        return [fragment for _, fragment in sorted(found, key=lambda pair: pair[0])]

    def set_stage(self, stage: int) -> None:
        """Fragments that are launched from now on are of this stage, a number from 1 on.

        A thread that plays ahead is told with the next weights: what is launched already is of the stage before.
        """
        self._stage = stage
        group = self.env_runner_group
        playing_ahead = self._thread is not None and bool(self._ahead)
        if group.local_env_runner is not None and not playing_ahead:
            group.local_env_runner.set_state({STAGE: stage})
        if self.config.num_env_runners > 0:
            group.fetch_ready_async_reqs(tags=STAGE)
            group.foreach_env_runner_async("set_state", tag=STAGE, kwargs={"state": {STAGE: stage}})

    def _hand_on_weights(self) -> None:
        """All runners have the learner's weights, and the stage, before they begin the next fragment that is launched."""
        state = self.learner_group.get_state(
            components=f"{COMPONENT_LEARNER}/{COMPONENT_RL_MODULE}", inference_only=True
        )[COMPONENT_LEARNER]
        weights = {key: state[key] for key in (COMPONENT_RL_MODULE, WEIGHTS_SEQ_NO, SCALES)} | {STAGE: self._stage}
        group = self.env_runner_group
        if self._thread is not None and self._ahead:
            self._for_thread = deepcopy(weights)  # the learner goes on in the same memory
        elif group.local_env_runner is not None:
            group.local_env_runner.set_state(weights)
        if self.config.num_env_runners > 0:
            tag = self._tag("weights")
            group.fetch_ready_async_reqs(tags=tag)  # errors of runners that are gone are taken note of
            group.foreach_env_runner_async("set_state", tag=tag, kwargs={"state": ray.put(weights)})

    def restore_from_path(self, path: Any, *args: Any, **kwargs: Any) -> None:
        """As PPO; and all runners have the restored weights, wherever the checkpoint lies."""
        self._drop_ahead()
        super().restore_from_path(path, *args, **kwargs)
        self._hand_on_weights()

    def play_ahead(self) -> None:
        """What is played ahead has been played."""
        ready = [gather() for gather in self._ahead]
        self._ahead = deque(partial(list, fragments) for fragments in ready)

    def _drop_ahead(self) -> None:
        """What was played ahead is forgotten."""
        self.play_ahead()
        self._ahead.clear()
        self._for_thread = None

    def cleanup(self) -> None:
        """Everything ends, the thread too."""
        if self._thread is not None:
            self._thread.shutdown(wait=True)
        super().cleanup()


class FastAPPO(FastPPO):
    """FastPPO that learns from an older policy's steps: behaviour log-probabilities, V-trace targets, clipped surrogate."""

    @classmethod
    def get_default_config(cls) -> FastAPPOConfig:
        """The configuration to begin from."""
        return FastAPPOConfig()
