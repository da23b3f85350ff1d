"""Compressed arrays in the states of runners and learners."""

from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray

CODEC = "zstd"


def compressed(array: NDArray[Any]) -> bytes:
    """Return the bytes of an array, compressed."""
    return bytes(pyarrow.compress(array.tobytes(), CODEC, asbytes=True))


def decompressed(what: str, packed: object, like: NDArray[Any]) -> NDArray[Any]:
    """Return a compressed array with the type and shape of `like`.

    Args:
        what: The name of the array in errors, a plural.
        packed: The result of `compressed`.
        like: An array of the expected type and shape, so that no more memory is allocated than expected.

    Raises:
        ValueError: If the bytes are not such an array.
    """
    try:
        plain = pyarrow.decompress(packed, like.nbytes, CODEC, asbytes=True)
    except (OSError, TypeError, pyarrow.ArrowException) as error:
        raise ValueError(f"the {what} cannot be decompressed: {error}") from None
    if len(plain) != like.nbytes:
        raise ValueError(f"the {what} have {len(plain)} bytes instead of {like.nbytes}")
    return np.frombuffer(plain, dtype=like.dtype).reshape(like.shape)
