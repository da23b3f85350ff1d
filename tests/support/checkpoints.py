"""Checkpoints for tests: of a policy alone, and of an algorithm without a run."""

from pathlib import Path
from typing import Any

from ante.training.settings.config import TrainConfig


def write_policy(policy: Any, config: TrainConfig, folder: Path) -> None:
    """Write a policy to the folder, in the form of a checkpoint."""
    from ante.training.run_store.weights import write_weights

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(config.to_yaml())
    write_weights({name: value.numpy() for name, value in policy.state_dict().items()}, folder)


def save(algorithm: Any, config: TrainConfig, folder: Path) -> None:
    """Write the algorithm's state to a new folder."""
    from ante.training.rllib.checkpoint import write_algorithm

    folder.mkdir(parents=True)
    write_algorithm(algorithm, config, folder)


def restore(algorithm: Any, folder: Path) -> None:
    """Restore the algorithm's state from the folder."""
    from ante.training.rllib.checkpoint import restore_algorithm

    restore_algorithm(algorithm, folder)
