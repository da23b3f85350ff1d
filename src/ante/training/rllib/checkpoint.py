"""An algorithm in the files of a checkpoint, and back: no pickles.

RLlib's own `save_to_path` and `restore_from_path` are not used. They write pickles of state and of constructor arguments, and
reading those runs code. `get_state()` returns the same state as plain values: weights, optimiser, counters, metrics, what the
learner adds (moments of normalisation; replay and target network of DQN) and the runner's stage. It is written as

    config.yaml               the settings, from which the algorithm and the policy are rebuilt
    weights.npz               the policy, which players read without the rest
    state.json, state.npz     everything else (run_store.state_files)

and given to `set_state()` of a new algorithm. Processes of Ray exchange states in memory, as Ray does.
"""

from pathlib import Path
from typing import Any

import numpy as np
from ray.rllib.core import (
    COMPONENT_LEARNER,
    COMPONENT_LEARNER_GROUP,
    COMPONENT_RL_MODULE,
    DEFAULT_MODULE_ID,
)

from ante.files import write_text
from ante.training.baselines.external import ExternalAlgorithm
from ante.training.policies.registry import SETTINGS, read_policy
from ante.training.run_store.manifest import BadCheckpoint
from ante.training.run_store.state_files import read_state, write_state
from ante.training.run_store.weights import write_weights
from ante.training.settings.config import TrainConfig


def write_algorithm(algorithm: Any, config: TrainConfig, folder: Path) -> None:
    """Write the algorithm's state into an empty folder. Raises NotFinite where the policy's weights are not finite."""
    state = algorithm.get_state()
    weights = modules_of(state).pop(DEFAULT_MODULE_ID)
    write_weights({name: np.asarray(value) for name, value in weights.items()}, folder)  # RLlib makes () a float
    write_text(folder / SETTINGS, config.to_yaml())
    write_state(folder, state)


def restore_algorithm(algorithm: Any, folder: Path) -> None:
    """Give an algorithm the state in a verified checkpoint. Raises BadCheckpoint where it does not fit."""
    weights = {name: value.numpy() for name, value in read_policy(folder).state_dict().items()}
    state = read_state(folder)
    try:
        modules_of(state)[DEFAULT_MODULE_ID] = weights
        if not isinstance(algorithm, ExternalAlgorithm):
            algorithm.learner_group.set_weights({DEFAULT_MODULE_ID: weights})  # a learner with later weights keeps them
        algorithm.set_state(state)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise BadCheckpoint(
            f"the state in {folder} does not fit this run ({type(error).__name__}: {error}): take another checkpoint"
        ) from error


def modules_of(state: dict[str, Any]) -> dict[str, Any]:
    """Return the weights by module, in an algorithm's state."""
    modules: dict[str, Any] = state[COMPONENT_LEARNER_GROUP][COMPONENT_LEARNER][COMPONENT_RL_MODULE]
    return modules
