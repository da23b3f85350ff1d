"""Write and read an algorithm as the files of a checkpoint, without pickles.

RLlib's `save_to_path` and `restore_from_path` are not used: they pickle the state and constructor arguments; loading
a pickle can execute code. `get_state()` returns the same state as plain values: weights, optimiser, counters, metrics,
the learner's additions (normalisation moments; DQN's replay buffer and target network) and the runner's stage. On the
fast path the games in progress are added (`FastAlgorithm.sampling_state`). Files:

    config.yaml               the settings, from which algorithm and policy are rebuilt
    weights.npz               the policy, which players read on its own
    state.json, state.npz     everything else (run_store.state_files)

and `set_state()` of a new algorithm restores them. Ray's processes exchange states in memory, as usual.
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
from ante.training.rllib.algorithm import FastAlgorithm
from ante.training.run_store.manifest import BadCheckpoint
from ante.training.run_store.state_files import read_state, write_state
from ante.training.run_store.weights import write_weights
from ante.training.settings.config import TrainConfig

SAMPLING = "sampling"  # key of the games in state.json


def write_algorithm(algorithm: Any, config: TrainConfig, folder: Path) -> None:
    """Write the algorithm's state into an empty folder. Raises NotFinite if the policy's weights are not finite."""
    state = algorithm.get_state()
    if isinstance(algorithm, FastAlgorithm):
        state[SAMPLING] = algorithm.sampling_state()
    weights = modules_of(state).pop(DEFAULT_MODULE_ID)
    write_weights({name: np.asarray(value) for name, value in weights.items()}, folder)  # RLlib makes () a float
    write_text(folder / SETTINGS, config.to_yaml())
    write_state(folder, state)


def restore_algorithm(algorithm: Any, folder: Path, games: bool = True) -> str:
    """Restore an algorithm from a verified checkpoint. Raises BadCheckpoint if the state does not fit.

    Args:
        algorithm: A new algorithm with the same settings; the number of games and of env runners may differ.
        folder: The checkpoint.
        games: Whether to continue the games of the checkpoint.

    Returns:
        Why games begin again, or an empty string if all continue.
    """
    weights = {name: value.numpy() for name, value in read_policy(folder).state_dict().items()}
    state = read_state(folder)
    sampling = state.pop(SAMPLING, None)
    try:
        modules_of(state)[DEFAULT_MODULE_ID] = weights
        if not isinstance(algorithm, ExternalAlgorithm):
            algorithm.learner_group.set_weights({DEFAULT_MODULE_ID: weights})  # a learner with later weights keeps them
        algorithm.set_state(state)
        if not games:
            return "as requested"
        if isinstance(algorithm, FastAlgorithm):
            return algorithm.restore_sampling(sampling)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise BadCheckpoint(
            f"the state in {folder} does not fit this run ({type(error).__name__}: {error}): use another checkpoint"
        ) from error
    return "this algorithm does not save games"


def modules_of(state: dict[str, Any]) -> dict[str, Any]:
    """Return the weights by module from an algorithm's state."""
    modules: dict[str, Any] = state[COMPONENT_LEARNER_GROUP][COMPONENT_LEARNER][COMPONENT_RL_MODULE]
    return modules
