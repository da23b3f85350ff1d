"""A tree of plain values as JSON, with its arrays as npz: a training state without pickles.

RLlib's `save_to_path` writes pickles, and loading a pickle can execute any code. Here the algorithm's `get_state()`,
which consists of dictionaries, lists, numbers and arrays, is written as

    state.json   the tree; values outside JSON are objects with the key "~": a tuple, a dictionary with non-string keys,
                 bytes, a NumPy scalar, an array by its name in state.npz
    state.npz    the arrays, uncompressed `.npy` files in a zip archive

and read back equal, including types. Imports neither Ray nor torch.
"""

import json
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.arrays import NUMBERS, Arrays, Shapes, write_arrays
from ante.arrays import read_arrays as read_npz
from ante.files import Unreadable, read_bytes, write_text
from ante.training.run_store.manifest import BadCheckpoint

TREE, ARRAYS = "state.json", "state.npz"
MOST = 256 << 20  # maximum bytes of state.json
TAG = "~"


def read_arrays(file: Path, shapes: Shapes | None = None, optional: Collection[str] = ()) -> Arrays:
    """Return the arrays of a checkpoint's file by name; see `ante.arrays`. Raises BadCheckpoint."""
    try:
        return read_npz(file, shapes, optional)
    except Unreadable as error:
        raise BadCheckpoint(str(error)) from None


def write_state(folder: Path, state: Any) -> None:
    """Write a tree of plain values. Raises TypeError, with the path, for a value that is not plain."""
    arrays: Arrays = {}
    tree = encoded(state, "", arrays)
    write_arrays(folder / ARRAYS, arrays)
    write_text(folder / TREE, json.dumps(tree, indent=1) + "\n")


def encoded(value: Any, path: str, arrays: Arrays) -> Any:
    """Return a value as JSON, and add its arrays to `arrays` under their paths."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.ndarray):
        return {TAG: "array", "name": keep(value, path, arrays)}
    if isinstance(value, np.generic) and value.dtype.kind in NUMBERS:
        return {TAG: "scalar", "dtype": value.dtype.name, "value": value.item()}
    if isinstance(value, bytes):
        return {TAG: "bytes", "name": keep(np.frombuffer(value, dtype=np.uint8), path, arrays)}
    if isinstance(value, list | tuple):
        items = [encoded(each, f"{path}/{i}", arrays) for i, each in enumerate(value)]
        return items if isinstance(value, list) else {TAG: "tuple", "items": items}
    if isinstance(value, dict):
        if all(type(key) is str for key in value) and TAG not in value:
            return {key: encoded(each, f"{path}/{key}", arrays) for key, each in value.items()}
        pairs = [[encoded(key, path, arrays), encoded(each, f"{path}/{key}", arrays)] for key, each in value.items()]
        return {TAG: "dict", "items": pairs}
    raise TypeError(f"{path} of the state is a {type(value).__name__}, which cannot be stored without a pickle")


def keep(array: NDArray[Any], path: str, arrays: Arrays) -> str:
    """Add an array to `arrays` and return its name."""
    name = path.strip("/") or "state"
    while name in arrays:
        name += "+"
    arrays[name] = array
    return name


def read_state(folder: Path) -> Any:
    """Return the tree that `write_state` wrote. Raises BadCheckpoint."""
    file = folder / TREE
    try:
        tree = json.loads(read_bytes(file, MOST))
        return decoded(tree, read_arrays(folder / ARRAYS))
    except BadCheckpoint:
        raise
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadCheckpoint(f"{file} cannot be read: {type(error).__name__}: {error}") from None


def decoded(value: Any, arrays: Arrays) -> Any:
    """Return the value that `encoded` received."""
    if isinstance(value, list):
        return [decoded(each, arrays) for each in value]
    if not isinstance(value, dict):
        return value
    if TAG not in value:
        return {key: decoded(each, arrays) for key, each in value.items()}
    return DECODERS[value[TAG]](value, arrays)


def scalar(value: dict[str, Any], _: Arrays) -> Any:
    """Return a NumPy number."""
    dtype = np.dtype(str(value["dtype"]))
    if dtype.kind not in NUMBERS:
        raise ValueError(f"{dtype} is not numeric")
    return dtype.type(value["value"])


def items_of(value: dict[str, Any], arrays: Arrays) -> Iterator[Any]:
    """Return the items of a tuple or a dictionary, lazily."""
    return (decoded(each, arrays) for each in value["items"])


DECODERS: dict[str, Callable[[dict[str, Any], Arrays], Any]] = {
    "array": lambda value, arrays: arrays[value["name"]],
    "bytes": lambda value, arrays: arrays[value["name"]].tobytes(),
    "scalar": scalar,
    "tuple": lambda value, arrays: tuple(items_of(value, arrays)),
    "dict": lambda value, arrays: {key: each for key, each in items_of(value, arrays)},
}
