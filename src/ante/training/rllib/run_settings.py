"""Settings common to all RLlib algorithms of a run, on the fast path and on RLlib's own."""

from typing import Any

from ante.training.sampling.fragment import WINDOW
from ante.training.sampling.games import env_config
from ante.training.settings.config import TrainConfig

ENV = "ante-balatro"


def set_resources(made: Any, run: TrainConfig) -> None:
    """Copy the number of games, processes and the seed of a run to RLlib's configuration."""
    machine = run.resources
    made.environment(ENV, env_config=env_config(run))
    made.env_runners(
        num_env_runners=machine.runners,
        num_envs_per_env_runner=machine.games_per_runner,
        num_cpus_per_env_runner=machine.runner_cpus,
        num_gpus_per_env_runner=machine.runner_gpus,
        custom_resources_per_env_runner={machine.runner_resource: 1} if machine.runner_resource else {},
    )
    made.learners(
        num_learners=machine.learners,
        num_cpus_per_learner="auto" if machine.learner_cpus is None else machine.learner_cpus,
        num_gpus_per_learner=machine.learner_gpus,
        custom_resources_per_learner={machine.learner_resource: 1} if machine.learner_resource else {},
    )
    made.reporting(metrics_num_episodes_for_smoothing=WINDOW)
    made.debugging(seed=run.seed, log_level="ERROR")
