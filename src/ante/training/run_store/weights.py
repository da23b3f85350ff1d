"""The weights of a policy as a file: float32 in checkpoints, float16 in releases. Imports neither Ray nor torch."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.arrays import Arrays, write_arrays
from ante.training.run_store.manifest import BadCheckpoint
from ante.training.run_store.state_files import read_arrays

WEIGHTS = "weights.npz"


class NotFinite(BadCheckpoint):
    """Weights with infinity or NaN."""


def check_finite(weights: Mapping[str, NDArray[Any]], where: object) -> None:
    """Raise NotFinite if a weight is infinite or NaN."""
    for name, value in weights.items():
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            raise NotFinite(
                f"weight {name} of {where} is infinite or NaN: use an earlier checkpoint, and "
                "continue with a lower algo.lr or algo.grad_clip"
            )


def write_weights(weights: Mapping[str, NDArray[Any]], folder: Path, compressed: bool = False) -> None:
    """Write weights by their names in the policy's state. Raises NotFinite, before anything is written."""
    check_finite(weights, folder)
    write_arrays(folder / WEIGHTS, weights, compressed)


def read_weights(folder: Path, like: Mapping[str, NDArray[Any]], optional: Collection[str] = ()) -> Arrays:
    """Return the weights in a checkpoint or a release. Raises BadCheckpoint, NotFinite.

    Args:
        folder: A checkpoint or release whose files have been verified.
        like: Arrays with the expected names, shapes and types.
        optional: Names of those that may be missing, because earlier versions had none; returned as in `like`.
    """
    file = folder / WEIGHTS
    found = dict(like) | read_arrays(file, {name: value.shape for name, value in like.items()}, optional)
    check_finite(found, file)
    for name, value in like.items():
        if (value.dtype.kind == "f") != (found[name].dtype.kind == "f"):
            raise BadCheckpoint(f"{name} in {file} has dtype {found[name].dtype}, not {value.dtype}")
    return {name: found[name].astype(value.dtype, copy=False) for name, value in like.items()}
