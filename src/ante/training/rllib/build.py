"""Builds the algorithm of a TrainConfig from the implementation that its kind names."""

from typing import Any

from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.tune.registry import register_env

from ante.training.baselines.external import ExternalAlgorithm
from ante.training.compat import leave_home_alone
from ante.training.policies.registry import implementation_of
from ante.training.rllib.algorithm import FastConfig
from ante.training.rllib.cluster import check_resources, start_ray
from ante.training.rllib.run_settings import ENV
from ante.training.rllib.stock import make_env
from ante.training.settings.config import TrainConfig


def rllib_config(config: TrainConfig) -> AlgorithmConfig:
    """Return the RLlib configuration of a run, without starting anything."""
    return implementation_of(config.algo, AlgorithmConfig)().configure(config)


def fast_config(config: TrainConfig) -> FastConfig:
    """As `rllib_config`, for algorithms on the fast path."""
    made = rllib_config(config)
    assert isinstance(made, FastConfig)
    return made


def build(config: TrainConfig) -> Algorithm | ExternalAlgorithm:
    """Return the algorithm of a configuration. Starts Ray unless the algorithm is from another library.

    Raises NoRay, NoGpu, TooFewResources, NotImplementedHere, or ModuleNotFoundError if that library is missing.
    """
    if config.algo.external:
        external: ExternalAlgorithm = implementation_of(config.algo, ExternalAlgorithm)(config)
        return external
    start_ray()
    leave_home_alone()
    check_resources(config)
    register_env(ENV, make_env)
    made: Any = rllib_config(config)
    if config.hints.source == "off":
        return made.build_algo()
    from ante.training.advice.broker import start_broker

    broker = start_broker(config, made.hints.broker)
    algorithm = made.build_algo()
    algorithm.hint_broker = broker  # the actor lives as long as this handle
    return algorithm
