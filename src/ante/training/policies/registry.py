"""Maps settings to policies: implementation classes and checkpoints."""

from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from ray.rllib.core.rl_module.torch import TorchRLModule

from ante.errors import BalatroError
from ante.training.compat import be_quiet
from ante.training.policies.protocol import GamePolicy
from ante.training.run_store.checkpoints import find_checkpoint
from ante.training.run_store.weights import read_weights
from ante.training.settings.config import TrainConfig, read_config

SETTINGS = "config.yaml"  # file name in a run, its checkpoints and a release


class NotImplementedHere(BalatroError, ValueError):
    """The implementation in the settings cannot be used."""


def implementation_of(settings: Any, base: type, path: str | None = None) -> Any:
    """Return the class, derived from `base`, that implements a kind of policy or algorithm. Raises NotImplementedHere.

    Args:
        settings: Of the kind, which names the class in its class-level `implementation`.
        base: What the class must derive from.
        path: Another name of the class, as module:Class.
    """
    path = type(settings).implementation if path is None else path
    module, _, name = path.partition(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise NotImplementedHere(
            f"{type(settings).__name__}.implementation {path!r} cannot be imported: {error}; name it as module:Class"
        ) from None
    if not (isinstance(found, type) and issubclass(found, base)):
        raise NotImplementedHere(
            f"{type(settings).__name__}.implementation {path!r} is not a class derived from {base.__name__}"
        )
    return found


def policy_class(config: TrainConfig) -> type[Any]:
    """Return the policy class of this configuration, a GamePolicy and TorchRLModule."""
    found: type[Any] = implementation_of(config.policy, GamePolicy, config.algo.network(config.policy)[0])
    return found


def network_of(config: TrainConfig) -> dict[str, Any]:
    """Return the model_config of this configuration's policy."""
    return config.algo.network(config.policy)[1]


def new_policy(config: TrainConfig) -> Any:
    """Return a policy of this configuration with initial weights."""
    be_quiet()
    kind = policy_class(config)
    seen, answered = kind.spaces()
    return kind(observation_space=seen, action_space=answered, model_config=network_of(config))


def load_policy(run: Path, pointer: str = "best") -> tuple[TorchRLModule, dict[str, Any]]:
    """Return the policy of a run's checkpoint and the checkpoint's metadata. Raises BadCheckpoint."""
    checkpoint, metadata = find_checkpoint(run / "checkpoints", pointer)
    return read_policy(checkpoint), metadata


def read_policy(folder: Path, config: TrainConfig | None = None) -> TorchRLModule:
    """Return the policy of the settings and weights in a checkpoint or release. Raises BadCheckpoint, BadConfig.

    Args:
        folder: A checkpoint or release whose files have been verified.
        config: The settings, if they have been read already.
    """
    config = config or read_config(folder / SETTINGS)
    policy = new_policy(config)
    own = {name: value.numpy() for name, value in policy.state_dict().items()}
    added = [name for name, _ in policy.named_buffers() if name.startswith("value.")]  # not in earlier versions
    found = read_weights(folder, own, added)
    policy.load_state_dict({name: torch.from_numpy(value) for name, value in found.items()})
    read: TorchRLModule = policy
    return read
