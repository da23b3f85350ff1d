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


METADATA = {"timesteps": 1000, "games": 20, "seconds": 6.0, "iteration": 2, "timestamp": "2026-01-01T00:00:00Z"}


def make_run(folder: Path, settings: dict[str, Any], scale: float = 1.0) -> Path:
    """Return a run of these settings with one checkpoint of a new policy, as training writes it."""
    import torch

    from ante.training.policies.registry import new_policy
    from ante.training.run_store.checkpoints import save_checkpoint
    from ante.training.settings.config import make_config

    torch.manual_seed(3)
    config = make_config({"name": folder.name, "runs": str(folder.parent), **settings})
    policy = new_policy(config)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.mul_(scale)
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(config.to_yaml())
    save_checkpoint(folder / "checkpoints", 1000, lambda at: write_policy(policy, config, at), METADATA, best=True)
    return folder


def save(algorithm: Any, config: TrainConfig, folder: Path) -> None:
    """Write the algorithm's state to a new folder."""
    from ante.training.rllib.checkpoint import write_algorithm

    folder.mkdir(parents=True)
    write_algorithm(algorithm, config, folder)


def restore(algorithm: Any, folder: Path) -> None:
    """Restore the algorithm's state from the folder."""
    from ante.training.rllib.checkpoint import restore_algorithm

    restore_algorithm(algorithm, folder)
