"""PPO of RLlib, and its kin on the fast path, on the native vector environment, made from a TrainConfig."""

import logging
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # Ray asks for a choice at every start otherwise

import gymnasium
import ray
import torch
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.tune.registry import register_env

from ante.env.vector import BalatroVectorEnv
from ante.errors import BalatroError
from ante.recording.starts import starts_bytes
from ante.training.config import TrainConfig
from ante.training.dqn import FastDQNConfig, QPlan
from ante.training.fast import FastAPPOConfig, FastPPOConfig
from ante.training.games import env_config
from ante.training.policies import choice_of
from ante.training.quiet import be_quiet
from ante.training.rollout import WINDOW

ENV = "ante-balatro"
STARTS = 4  # times that Ray is tried
ALGORITHMS = {"ppo": FastPPOConfig, "appo": FastAPPOConfig, "a2c": FastPPOConfig, "dqn": FastDQNConfig}


class NoGpu(BalatroError):
    """There is less of a GPU than the run asks for."""

    def __init__(self, wanted: float, where: str, found: float) -> None:
        super().__init__(
            f"the run asks for {wanted:g} GPUs {where} and finds {found:g}: leave runner_gpus and learner_gpus at 0, or "
            "begin where `nvidia-smi` lists enough of them"
        )


class GameMetrics(RLlibCallback):  # type: ignore[misc]
    """Ante, blinds and win of each game that ends."""

    def on_episode_end(self, *, episode: Any, metrics_logger: Any, **_: Any) -> None:
        """Log the last info of the game."""
        info = episode.get_infos(-1)
        metrics_logger.log_value("ante", float(info["ante"]), window=WINDOW)
        metrics_logger.log_value("blinds", float(info["blinds"]), window=WINDOW)
        metrics_logger.log_value("win_rate", float(info["outcome"] == "won"), window=WINDOW)


def make_env(context: Any) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """The native vector environment, as RLlib's runner asks for it."""
    options = dict(context)
    return BalatroVectorEnv(num_envs=options.pop("num_envs", 1), observation="masked", **options)


def start_ray(config: TrainConfig | None = None) -> None:
    """A local Ray runs in this process, quietly; an address in RAY_ADDRESS is joined instead, one that runs is kept.

    With a configuration the local one has an object store of its size, which spills into the run's folder (the
    system's folder for temporary files may lie in memory), and a core for each process that it asks for.
    """
    be_quiet()
    own: dict[str, Any] = {}
    if config is not None and not os.environ.get("RAY_ADDRESS") and not ray.is_initialized():
        config.spill_folder.mkdir(parents=True, exist_ok=True)
        own = {
            "address": "local",
            "object_store_memory": int(config.object_store_gb * 2**30),
            "object_spilling_directory": str(config.spill_folder.resolve()),
            "num_cpus": max(os.cpu_count() or 1, math.ceil(config.runners * config.runner_cpus) + config.learners + 1),
        }
    init_ray(ignore_reinit_error=True, logging_level=logging.ERROR, **own)


def check_gpus(config: TrainConfig) -> None:
    """What the run takes of GPUs in this process, and in others of a Ray on this machine alone, is there. Raises NoGpu.

    A cluster may grow: there Ray waits for what it does not have yet.
    """
    here = (0 if config.runners else config.runner_gpus) + (0 if config.learners else config.learner_gpus)
    if here and not torch.cuda.is_available():
        raise NoGpu(here, "in its own process", 0)
    beside = config.runners * config.runner_gpus + config.learners * config.learner_gpus
    if beside and not os.environ.get("RAY_ADDRESS"):
        found = ray.cluster_resources().get("GPU", 0.0)
        if found < beside:
            raise NoGpu(beside, "in processes of its own", found)


def init_ray(**options: Any) -> None:
    """Ray is there, without its dashboard. Raises what Ray says of its last start.

    Tried several times: its daemon gives up where its helpers, which import for seconds, are not ready after 15 s.
    """
    for left in reversed(range(STARTS)):
        try:
            ray.init(include_dashboard=False, log_to_driver=False, **options)
            return
        except Exception as error:  # Ray has no class for it
            if not left or "timed out during startup" not in str(error):
                raise


@contextmanager
def ray_of_our_own(**options: Any) -> Iterator[None]:
    """A Ray runs; one that was started for this, with these options of `ray.init`, is ended. One that ran already stays."""
    be_quiet()
    own = not ray.is_initialized()
    if own:
        init_ray(**options)
    try:
        yield
    finally:
        if own:
            ray.shutdown()


def common(made: PPOConfig, config: TrainConfig, policy: type[TorchRLModule]) -> PPOConfig:
    """The settings that both paths share."""
    learners = max(1, config.learners)
    epochs, _, clip = config.update
    return (
        made.environment(ENV, env_config=env_config(config))
        .env_runners(
            num_env_runners=config.runners,
            num_envs_per_env_runner=config.games,
            num_cpus_per_env_runner=config.runner_cpus,
            num_gpus_per_env_runner=config.runner_gpus,
            custom_resources_per_env_runner={config.runner_resource: 1} if config.runner_resource else {},
        )
        .learners(
            num_learners=config.learners,
            num_gpus_per_learner=config.learner_gpus,
            custom_resources_per_learner={config.learner_resource: 1} if config.learner_resource else {},
        )
        .rl_module(rl_module_spec=RLModuleSpec(policy, model_config=choice_of(config).settings(config)))
        .training(
            lr=config.lr,
            gamma=config.gamma,
            lambda_=config.gae_lambda,
            clip_param=clip,
            entropy_coeff=config.entropy,
            train_batch_size_per_learner=config.batch // learners,
            minibatch_size=config.minibatch // learners,
            num_epochs=epochs,
            use_kl_loss=False,
            grad_clip=config.grad_clip,
            vf_loss_coeff=config.value_weight,
            vf_clip_param=config.value_clip or math.inf,
        )
        .reporting(metrics_num_episodes_for_smoothing=WINDOW)
        .debugging(seed=config.seed, log_level="ERROR")
    )


def fast_config(config: TrainConfig) -> FastPPOConfig:
    """The fast path; a runner that dies is started again after a second."""
    choice = choice_of(config)
    made = ALGORITHMS[config.algo]().fast_path(
        bf16=config.bf16 if choice.bf16 or config.bf16 != "auto" else "off",
        lag=config.ahead,
        piece=config.fragment,
        practice=config.practice,
        starts=starts_bytes(Path(config.start_states)) if config.start_states else None,
        stages=tuple(stage.rules for stage in config.stages),
        accumulate=config.update[1],
        kl_stop=config.kl_target,
        normalise_rewards=config.normalise_rewards,
        normalise_values=config.normalise_values,
        q=QPlan.of(config) if config.algo == "dqn" else None,
    )
    made.fault_tolerance(restart_failed_env_runners=True, delay_between_env_runner_restarts_s=1.0)
    if choice.runner is not None:
        made.env_runners(env_runner_cls=choice.runner)
    if config.games_on == "gpu":
        from ante.training.device_runner import DeviceRunner

        made.env_runners(env_runner_cls=DeviceRunner)
    common(made, config, choice.fast)
    if config.hints != "off":
        with_hints(made, config)
    return made


def with_hints(made: FastPPOConfig, config: TrainConfig) -> None:
    """Runners ask for hints and the learner imitates them; the broker itself is started by `build`."""
    from ante.training.brokerage import plan_of
    from ante.training.hinted import HintedLearner, HintedRunner

    made.fast_path(hints=plan_of(config))
    made.env_runners(env_runner_cls=HintedRunner)
    made.training(learner_class=HintedLearner)


def stock_config(config: TrainConfig) -> PPOConfig:
    """RLlib's own runner, connectors and learner on the native vector environment."""
    made = PPOConfig().env_runners(gym_env_vectorize_mode="vector_entry_point").callbacks(GameMetrics)
    if config.fragment:
        made.env_runners(rollout_fragment_length=config.fragment)
    stock = choice_of(config).stock
    assert stock is not None, "refused by TrainConfig"
    return common(made, config, stock)


def rllib_config(config: TrainConfig) -> PPOConfig:
    """What RLlib makes the algorithm from. Nothing is started."""
    return fast_config(config) if config.path == "fast" else stock_config(config)


def build(config: TrainConfig) -> PPO:
    """The algorithm of a configuration, with Ray started; that of another library needs none, and answers the same.

    Raises NoGpu, and ModuleNotFoundError without the extra of that library.
    """
    if config.external:
        from ante.training.sb3_run import Sb3Algorithm

        return Sb3Algorithm(config)
    start_ray()
    check_gpus(config)
    register_env(ENV, make_env)
    made = rllib_config(config)
    if config.hints == "off":
        return made.build_algo()  # type: ignore[no-any-return]
    from ante.training.brokerage import start_broker

    broker = start_broker(config, made.hints.broker)
    algorithm = made.build_algo()
    algorithm.hint_broker = broker  # which lives as long as this handle
    return algorithm  # type: ignore[no-any-return]
