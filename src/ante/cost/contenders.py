"""Who takes part in `ante bench train`: ways to train the same network on the same games with the same settings."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import torch
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.tune.registry import register_env

from ante.training.algorithm import ENV, fast_config, make_env, start_ray, stock_config
from ante.training.config import TrainConfig
from ante.training.policy import MaskedPolicy
from ante.training.precision import has_bf16
from ante.training.single_file import SingleFilePPO

STOCK, STOCK_BF16, STOCK_TWO = "stock RLlib", "stock RLlib, bf16 by hand", "stock RLlib, 2 runner processes"
FLOAT, BF16 = "fast path, float32", "fast path, bf16"
OVERLAP, OVERLAP_TWO = "fast path, overlap", "fast path, overlap, 2 runner processes"
SB3, SINGLE = "SB3 MaskablePPO", "single-file PPO"
RUNNERS = 2


@dataclass(frozen=True)
class Contender:
    """One way to train.

    iterate    plays one batch and learns from it; answers its steps and how many games ended
    algorithm  the RLlib algorithm behind it, if there is one
    """

    iterate: Callable[[], tuple[int, int]]
    algorithm: Any = None

    def stop(self) -> None:
        """Its processes end."""
        if self.algorithm is not None:
            self.algorithm.stop()


class Bf16Policy(MaskedPolicy):
    """MaskedPolicy as a user of stock RLlib would tune it: its forward passes under bf16 autocast."""

    def _outputs(self, batch: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits, features = super()._outputs(batch)
        return logits.float(), features.float()


def contenders(config: TrainConfig, without: tuple[str, ...] = ()) -> dict[str, Contender]:
    """Everyone who can take part here: those in bf16 where the machine has it, SB3 where it is installed."""
    config = config.model_copy(update={"bf16": "auto", "overlap": False, "runners": 0})
    two = {"runners": RUNNERS}
    made = {
        STOCK: partial(stock, config),
        STOCK_BF16: partial(stock, config, policy=Bf16Policy),
        STOCK_TWO: partial(stock, config.model_copy(update=two)),
        FLOAT: partial(fast, config.model_copy(update={"bf16": "off"})),
        BF16: partial(fast, config),
        OVERLAP: partial(fast, config.model_copy(update={"overlap": True})),
        OVERLAP_TWO: partial(fast, config.model_copy(update={"overlap": True, **two})),
        SB3: partial(maskable, config),
        SINGLE: partial(single_file, config),
    }
    absent = [*without, *([] if has_bf16("cpu") else [STOCK_BF16, BF16])]
    absent += [] if find_spec("sb3_contrib") else [SB3]
    return {name: make() for name, make in made.items() if name not in absent}


def stock(config: TrainConfig, policy: type[MaskedPolicy] = MaskedPolicy) -> Contender:
    """RLlib as it comes."""
    made = stock_config(config)
    made.rl_module(rl_module_spec=RLModuleSpec(policy, model_config={"hidden": list(config.hidden)}))
    return rllib(made)


def fast(config: TrainConfig) -> Contender:
    """Our path."""
    return rllib(fast_config(config))


def rllib(made: Any) -> Contender:
    """An algorithm of RLlib; its runners ask for next to no cores of Ray, since contenders take turns."""
    start_ray()
    register_env(ENV, make_env)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Overriding environment")  # RLlib registers its own one each time
        algorithm = made.env_runners(num_cpus_per_env_runner=0.1).build_algo()
    return Contender(partial(trained, algorithm), algorithm)


def trained(algorithm: Any) -> tuple[int, int]:
    """One `train()`; steps, and games that ended. What is played ahead is waited for: nobody else's turn may pay for it."""
    played = algorithm.train()["env_runners"]
    if hasattr(algorithm, "play_ahead"):
        algorithm.play_ahead()
    return int(played["num_env_steps_sampled"]), int(played.get("num_episodes", 0))


def maskable(config: TrainConfig) -> Contender:
    """SB3's MaskablePPO on its own VecEnv interface."""
    from ante.training.sb3 import maskable_ppo

    made = maskable_ppo(config)

    def iterate() -> tuple[int, int]:
        steps, ended = made.num_timesteps, made.env.ended
        made.learn(made.n_steps * made.n_envs, log_interval=None, reset_num_timesteps=False)
        return made.num_timesteps - steps, made.env.ended - ended

    return Contender(iterate)


def single_file(config: TrainConfig) -> Contender:
    """One loop by hand in plain torch."""
    made = SingleFilePPO(config)

    def iterate() -> tuple[int, int]:
        ended = made.ended
        return made.iterate(), made.ended - ended

    return Contender(iterate)
