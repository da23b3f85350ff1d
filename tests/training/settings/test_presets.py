"""The files of configs/: each gives an RLlib configuration with the file's values, without starting Ray."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
FILES = sorted(Path("configs").glob("*.yaml"))


def made(file: Path) -> tuple[Any, Any]:
    """Return our configuration and RLlib's, validated by RLlib."""
    from ray.tune.registry import register_env

    from ante.training.rllib.build import ENV, make_env, rllib_config
    from ante.training.settings.config import read_config

    register_env(ENV, make_env)
    config = read_config(file)
    found = rllib_config(config)
    found.validate()
    return config, found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_file_makes_an_rllib_configuration(file: Path) -> None:
    config, found = made(file)
    assert (found.num_env_runners, found.num_envs_per_env_runner) == (
        config.resources.runners,
        config.resources.games_per_runner,
    )
    assert (found.num_learners, found.num_gpus_per_learner) == (
        config.resources.learners,
        config.resources.learner_gpus,
    )
    assert (found.num_cpus_per_env_runner, found.num_gpus_per_env_runner) == (
        config.resources.runner_cpus,
        config.resources.runner_gpus,
    )
    assert found.total_train_batch_size == config.algo.batch
    assert found.minibatch_size * max(1, config.resources.learners) == config.algo.minibatch
    runners = range(1, config.resources.runners + 1) if config.resources.runners else [0]
    steps = sum(found.get_rollout_fragment_length(worker_index=i) * config.resources.games_per_runner for i in runners)
    assert (
        config.algo.batch
        <= steps
        < config.algo.batch + config.resources.games_per_runner * max(1, config.resources.runners)
    )


def test_jimbot_has_the_values_of_the_plan() -> None:
    found = made(Path("configs/jimbot.yaml"))[1]
    assert (found.num_env_runners, found.num_envs_per_env_runner, found.truncate_every) == (2, 4, 200)
    assert (found.train_batch_size_per_learner, found.minibatch_size, found.num_epochs) == (4000, 128, 30)
    assert (found.lr, found.gamma, found.lambda_, found.entropy_coeff) == (5e-5, 0.99, 0.95, 0.01)
    assert (found.clip_param, found.vf_clip_param, found.grad_clip, found.kl_stop) == (0.2, 10, 0.5, 0.02)


def test_cluster_puts_three_groups_of_games_on_each_of_three_gpus() -> None:
    found = made(Path("configs/cluster.yaml"))[1]
    assert (found.num_env_runners, found.total_train_batch_size, found.minibatch_size) == (9, 4096, 512)
    assert found.num_epochs == 10
    each, learner = found.num_gpus_per_env_runner, found.num_gpus_per_learner
    assert 3 * each + learner <= 1 < 4 * each
