"""A trained policy as something to keep and to share: a small folder of plain files, without Ray and without pickles.

weights.npz   the parameters as float16, by name
policy.json   which policy it is, its settings, what it was trained on, the digest of weights.npz
config.yaml   the whole configuration of the run
README.md     the model card, for people; written once, then kept by hand
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ray.rllib.core.rl_module.torch import TorchRLModule

from ante.agents.evaluate import Player
from ante.files import write_text
from ante.training.checkpoints import BadCheckpoint
from ante.training.config import TrainConfig, read_config
from ante.training.policies import choice_of, load_policy, make_player
from ante.training.quiet import be_quiet

WEIGHTS, ABOUT = "weights.npz", "policy.json"
LARGEST = 65504.0  # float16 holds no more


class BadRelease(BadCheckpoint):
    """A released policy that is missing or not whole, or one that cannot be released."""


def is_release(folder: Path) -> bool:
    """Whether this folder holds a released policy rather than a run."""
    return (folder / ABOUT).is_file()


def write_release(run: Path, folder: Path, pointer: str = "best") -> Path:
    """The policy of a run's checkpoint stands in `folder`; answers it. An existing model card is left as it is.

    Raises BadCheckpoint, and BadRelease where a weight does not fit into float16.
    """
    policy, metadata = load_policy(run, pointer)
    kept = ("timesteps", "games", "seconds", "iteration", "timestamp")
    return write_policy(policy, read_config(run / "config.yaml"), {name: metadata[name] for name in kept}, folder)


def write_policy(
    policy: TorchRLModule, config: TrainConfig, trained: dict[str, Any], folder: Path, how: str = "PPO"
) -> Path:
    """A policy stands in `folder` as a release; answers it. An existing model card is left as it is.

    trained  timesteps, games and seconds that it learned from, and whatever else is to be kept
    how      for the model card: what taught it

    Raises BadRelease where a weight does not fit into float16.
    """
    weights = {name: value.numpy() for name, value in policy.state_dict().items()}
    for name, value in weights.items():
        if value.dtype.kind == "f" and not np.abs(value).max(initial=0.0) <= LARGEST:
            raise BadRelease(f"weight {name} of {config.name} holds what float16 cannot: choose another checkpoint")
    folder.mkdir(parents=True, exist_ok=True)
    packed = {name: value.astype(np.float16) if value.dtype.kind == "f" else value for name, value in weights.items()}
    write_arrays(folder / WEIGHTS, packed)
    about = {
        "policy": config.policy,
        "parameters": int(sum(value.size for value in weights.values())),
        "trained": trained,
        "sha256": digest(folder / WEIGHTS),
    }
    write_text(folder / "config.yaml", config.model_copy(update={"name": folder.name, "runs": "runs"}).to_yaml())
    if not (folder / "README.md").exists():
        write_text(folder / "README.md", card(folder.name, config, about, how))
    write_text(folder / ABOUT, json.dumps(about, indent=1) + "\n")  # last: what is not whole is no release
    return folder


def write_arrays(file: Path, arrays: dict[str, np.ndarray]) -> None:
    """The arrays stand in an npz file, written aside first."""
    aside = file.with_name(f".{file.name}.part")
    with aside.open("wb") as stream:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
        stream.flush()
        os.fsync(stream.fileno())
    aside.replace(file)


def digest(file: Path) -> str:
    """SHA-256 of a file, in hex."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def read_release(folder: Path) -> tuple[TorchRLModule, dict[str, Any]]:
    """The released policy and what policy.json says of it. Raises BadRelease, saying what is wrong."""
    try:
        about = json.loads((folder / ABOUT).read_text())
        if digest(folder / WEIGHTS) != about["sha256"]:
            raise BadRelease(f"{folder / WEIGHTS} is not the file that {ABOUT} names: its digest differs; get it again")
        config = read_config(folder / "config.yaml")
        choice = choice_of(config.model_copy(update={"policy": about["policy"]}))
        with np.load(folder / WEIGHTS, allow_pickle=False) as arrays:
            weights = {name: torch.from_numpy(arrays[name].copy()) for name in arrays.files}
    except (OSError, ValueError, KeyError) as error:
        if isinstance(error, BadRelease):
            raise
        raise BadRelease(f"no released policy in {folder}: {error}") from None
    be_quiet()
    seen, answered = choice.fast.spaces()
    policy = choice.fast(observation_space=seen, action_space=answered, model_config=choice.settings(config))
    try:
        policy.load_state_dict(
            {name: value.float() if value.is_floating_point() else value for name, value in weights.items()}
        )
    except RuntimeError as error:
        raise BadRelease(
            f"the weights in {folder} do not fit this version's {about['policy']} policy: {error}"
        ) from None
    return policy, about


def policy_from(folder: Path, checkpoint: str = "best") -> TorchRLModule:
    """The policy of a run's checkpoint or a released one. Raises BadCheckpoint, BadConfig."""
    return (read_release(folder) if is_release(folder) else load_policy(folder, checkpoint))[0]


def player_from(folder: Path, checkpoint: str = "best", likeliest: bool = False) -> Player:
    """The player of a run's checkpoint (best, latest or by name) or of a release. Raises BadCheckpoint, BadConfig."""
    policy = policy_from(folder, checkpoint)
    return make_player(policy, folder.name, likeliest, reorder=read_config(folder / "config.yaml").reorder)


def card(name: str, config: TrainConfig, about: dict[str, Any], how: str) -> str:
    """The beginning of a model card; how well it plays is for a person to add."""
    trained = about["trained"]
    return f"""# {name}

A `{about["policy"]}` policy for Balatro, {about["parameters"]:,} parameters, float16.

| | |
| --- | --- |
| trained on | {config.deck}, stake {config.stake}, {trained["timesteps"]:,} decisions, {trained["games"]:,} games, {trained["seconds"] / 60:.0f} minutes |
| how | {how}, settings in `config.yaml` |
| use | `ante eval {name} --panel`, `ante play {name}` with the path of this folder |

## How well it plays

Not written yet: `ante eval` this folder on the seed panel and put the table here.
"""
