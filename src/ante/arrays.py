"""Numeric arrays in npz files without pickles.

The archives contain `.npy` files, as `numpy.savez` writes them. The reader checks each header before it allocates memory: an
array cannot exceed the file's size, or has exactly the shape that the caller expects (`shapes`; only then may it be
compressed).
"""

import math
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ante.files import Unreadable, opened, whole

HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
LONGEST_TEXT = 4096  # bytes
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
    """Return the arrays of an npz file by name. Raises Unreadable, NoFile.

    Args:
        file: A file written by `write_arrays` or `numpy.savez`.
        shapes: The shapes of exactly the expected arrays; required to read compressed arrays.
        optional: Names of those that may be missing.
        text: Names of those that contain a short text instead of numbers.
    """
    try:
        with opened(file) as stream, zipfile.ZipFile(stream) as archive:
            members = archive.infolist()
            if len({each.filename for each in members}) < len(members):
                raise ValueError("two arrays have the same name")
            room = os.fstat(stream.fileno()).st_size
            found = {}
            for member in members:
                name, array = read_member(archive, member, shapes, room, text)
                found[name] = array
                room -= array.nbytes if member.compress_type == zipfile.ZIP_STORED else 0
    except Unreadable:
        raise
    except BROKEN as error:
        raise Unreadable(f"{file} cannot be read: {error}") from None
    if shapes is not None and (missing := sorted(shapes.keys() - found.keys() - set(optional))):
        raise Unreadable(f"{file} cannot be read: {missing[0]} is missing")
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
        if not (dtype.kind in NUMBERS or (name in text and is_short_text(dtype, shape))):
            raise ValueError(f"{name} has dtype {dtype}, which is not numeric")
        if shapes is not None and shapes.get(name) != shape:
            raise ValueError(f"{name} has shape {shape}; expected: {shapes.get(name, 'no such array')}")
        count = math.prod(shape)
        if stored and count * dtype.itemsize > room:
            raise ValueError(f"{name} declares {count:,} values, more than the file contains")
        array = np.empty(count, dtype=dtype)
        fill(stream, array, name)
    return name, array.reshape(shape, order="F" if fortran else "C")


def is_short_text(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bool:
    """Return whether this is the type of one text of at most LONGEST_TEXT bytes."""
    return dtype.kind == "U" and shape == () and dtype.itemsize <= LONGEST_TEXT


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
