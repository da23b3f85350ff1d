"""The implementations compared by `ante bench train`: same network, games and settings."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import torch
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.tune.registry import register_env

from ante.training.baselines.single_file import SingleFilePPO
from ante.training.numerics.precision import has_bf16
from ante.training.policies.mlp import MaskedPolicy
from ante.training.rllib.build import fast_config
from ante.training.rllib.cluster import start_ray
from ante.training.rllib.run_settings import ENV
from ante.training.rllib.stock import StockPPOConfig, make_env
from ante.training.settings.config import TrainConfig

STOCK, STOCK_BF16, STOCK_TWO = "stock RLlib", "stock RLlib, bf16 by hand", "stock RLlib, 2 runner processes"
FLOAT, BF16 = "fast path, float32", "fast path, bf16"
OVERLAP, OVERLAP_TWO = "fast path, overlap", "fast path, overlap, 2 runner processes"
SB3, SINGLE = "SB3 MaskablePPO", "single-file PPO"
RUNNERS = 2


@dataclass(frozen=True)
class Contender:
    """One implementation of training.

    iterate    samples one batch and learns from it; returns steps and number of finished games
    algorithm  the underlying RLlib algorithm, if any
    """

    iterate: Callable[[], tuple[int, int]]
    algorithm: Any = None

    def stop(self) -> None:
        """Stop its processes."""
        if self.algorithm is not None:
            self.algorithm.stop()


class Bf16Policy(MaskedPolicy):
    """MaskedPolicy with forward passes under bf16 autocast, a typical optimisation by users of stock RLlib."""

    def _outputs(self, batch: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits, features = super()._outputs(batch)
        return logits.float(), features.float()


def contenders(config: TrainConfig, without: tuple[str, ...] = ()) -> dict[str, Contender]:
    """Return the available contenders: bf16 requires support by the machine, SB3 must be installed."""
    config = config.with_changes({"resources.bf16": "auto", "algo.overlap": False, "resources.runners": 0})
    two = {"resources.runners": RUNNERS}
    made = {
        STOCK: partial(stock, config),
        STOCK_BF16: partial(stock, config, policy=Bf16Policy),
        STOCK_TWO: partial(stock, config.with_changes(two)),
        FLOAT: partial(fast, config.with_changes({"resources.bf16": "off"})),
        BF16: partial(fast, config),
        OVERLAP: partial(fast, config.with_changes({"algo.overlap": True})),
        OVERLAP_TWO: partial(fast, config.with_changes({"algo.overlap": True, **two})),
        SB3: partial(maskable, config.with_changes({"algo.kind": "sb3-maskable-ppo"})),
        SINGLE: partial(single_file, config),
    }
    absent = [*without, *([] if has_bf16("cpu") else [STOCK_BF16, BF16])]
    absent += [] if find_spec("sb3_contrib") else [SB3]
    return {name: make() for name, make in made.items() if name not in absent}


def stock(config: TrainConfig, policy: type[MaskedPolicy] = MaskedPolicy) -> Contender:
    """Return RLlib's own PPO."""
    made = StockPPOConfig().configure(config)
    made.rl_module(rl_module_spec=RLModuleSpec(policy, model_config=config.policy.network()))
    return rllib(made)


def fast(config: TrainConfig) -> Contender:
    """Return Ante's fast path."""
    return rllib(fast_config(config))


def rllib(made: Any) -> Contender:
    """Build an RLlib algorithm. Its runners request few CPUs of Ray, because contenders run in turns."""
    start_ray()
    register_env(ENV, make_env)
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message=".*Overriding environment"
        )  # RLlib registers its environment each time
        algorithm = made.env_runners(num_cpus_per_env_runner=0.1).build_algo()
    return Contender(partial(trained, algorithm), algorithm)


def trained(algorithm: Any) -> tuple[int, int]:
    """Run one `train()` and wait for sampling ahead; return steps and finished games."""
    played = algorithm.train()["env_runners"]
    if hasattr(algorithm, "play_ahead"):
        algorithm.play_ahead()
    return int(played["num_env_steps_sampled"]), int(played.get("num_episodes", 0))


def maskable(config: TrainConfig) -> Contender:
    """Return SB3's MaskablePPO on its VecEnv interface."""
    from ante.training.baselines.sb3 import maskable_ppo

    made = maskable_ppo(config)

    def iterate() -> tuple[int, int]:
        steps, ended = made.num_timesteps, made.env.ended
        made.learn(made.n_steps * made.n_envs, log_interval=None, reset_num_timesteps=False)
        return made.num_timesteps - steps, made.env.ended - ended

    return Contender(iterate)


def single_file(config: TrainConfig) -> Contender:
    """Return the single-file training loop in plain torch."""
    made = SingleFilePPO(config)

    def iterate() -> tuple[int, int]:
        ended = made.ended
        return made.iterate(), made.ended - ended

    return Contender(iterate)
