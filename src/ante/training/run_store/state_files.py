"""A tree of plain values as JSON, with its arrays as npz: a training state without pickles.

RLlib's `save_to_path` writes pickles, and loading a pickle can execute any code. Here the algorithm's `get_state()`,
which consists of dictionaries, lists, numbers and arrays, is written as

    state.json   the tree; values outside JSON are objects with the key "~": a tuple, a dictionary with non-string keys,
                 bytes, a NumPy scalar, an array by its name in state.npz
    state.npz    the arrays, uncompressed `.npy` files in a zip archive

and read back equal, including types. `numpy.load` can read the archive with `allow_pickle=False`. The reader here also
checks each header before it allocates memory: an array cannot exceed the file's size, or has exactly the shape that the
caller expects (`shapes`; only then may it be compressed). Imports neither Ray nor torch.
"""

import json
import math
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ante.files import whole, write_text
from ante.training.run_store.manifest import BadCheckpoint

TREE, ARRAYS = "state.json", "state.npz"
MOST = 256 << 20  # maximum bytes of state.json
TAG = "~"
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
NUMBERS = "biuf"  # kinds of dtype: booleans, integers, floats
BROKEN = (  # exceptions of zipfile, zlib and NumPy for invalid data
    OSError,
    EOFError,
    ValueError,
    TypeError,
    KeyError,
    ArithmeticError,
    RuntimeError,
    MemoryError,
    SyntaxError,
    tokenize.TokenError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
Arrays = dict[str, NDArray[Any]]
Shapes = Mapping[str, tuple[int, ...]]


def write_arrays(file: Path, arrays: Mapping[str, NDArray[Any]], compressed: bool = False) -> None:
    """Write numeric arrays by name to an npz file, completely or not at all. Equal arrays give equal files."""
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with whole(file) as aside, aside.open("wb") as stream:
        with zipfile.ZipFile(stream, "w", method) as archive:
            for name, array in arrays.items():
                if array.dtype.kind not in NUMBERS:
                    raise TypeError(f"{name} is an array of {array.dtype}, which is not numeric")
                member = zipfile.ZipInfo(f"{name}.npy")
                member.compress_type = method
                with archive.open(member, "w", force_zip64=True) as part:
                    npy.write_array(part, array, allow_pickle=False)  # type: ignore[no-untyped-call]
        stream.flush()
        os.fsync(stream.fileno())


def read_arrays(
    file: Path, shapes: Shapes | None = None, optional: Collection[str] = (), text: Collection[str] = ()
) -> Arrays:
    """Return the arrays of an npz file by name. Raises BadCheckpoint.

    Args:
        file: A file written by `write_arrays` or `numpy.savez`.
        shapes: The shapes of exactly the expected arrays; required to read compressed arrays.
        optional: Names of those that may be missing.
        text: Names of those that contain a short text instead of numbers.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if len({each.filename for each in members}) < len(members):
                raise ValueError("two arrays have the same name")
            room = file.stat().st_size
            found = {}
            for member in members:
                name, array = read_member(archive, member, shapes, room, text)
                found[name] = array
                room -= array.nbytes if member.compress_type == zipfile.ZIP_STORED else 0
    except BROKEN as error:
        raise BadCheckpoint(f"{file} cannot be read: {error}") from None
    if shapes is not None and (missing := sorted(shapes.keys() - found.keys() - set(optional))):
        raise BadCheckpoint(f"{file} cannot be read: {missing[0]} is missing")
    return found


def read_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, shapes: Shapes | None, room: int, text: Collection[str]
) -> tuple[str, NDArray[Any]]:
    """Return name and array of one member. Raises ValueError if it is larger than `room` or has another shape."""
    name = member.filename.removesuffix(".npy")
    stored = member.compress_type == zipfile.ZIP_STORED
    if name == member.filename or not (stored or (member.compress_type == zipfile.ZIP_DEFLATED and shapes)):
        raise ValueError(f"{member.filename} is not an array, or its compression is not supported")
    with archive.open(member) as stream:
        shape, fortran, dtype = HEADERS[npy.read_magic(stream)](stream)  # type: ignore[no-untyped-call]
        if not (dtype.kind in NUMBERS or (name in text and dtype.kind == "U" and shape == ())):
            raise ValueError(f"{name} has dtype {dtype}, which is not numeric")
        if shapes is not None and shapes.get(name) != shape:
            raise ValueError(f"{name} has shape {shape}; expected: {shapes.get(name, 'no such array')}")
        count = math.prod(shape)
        if stored and count * dtype.itemsize > room:
            raise ValueError(f"{name} declares {count:,} values, more than the file contains")
        array = np.empty(count, dtype=dtype)
        fill(stream, array, name)
    return name, array.reshape(shape, order="F" if fortran else "C")


def fill(stream: Any, array: NDArray[Any], name: str) -> None:
    """Read all values of an array; the stream must end after them. Raises ValueError."""
    rest: Any = array.view(np.uint8).data
    while rest:
        count = stream.readinto(rest[: 1 << 24])
        if not count:
            raise ValueError(f"{name} ends too early")
        rest = rest[count:]
    if stream.read(1):
        raise ValueError(f"{name} continues after its last value")


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
        if file.stat().st_size > MOST:
            raise ValueError(f"it is larger than {MOST:,} bytes")
        tree = json.loads(file.read_bytes())
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
