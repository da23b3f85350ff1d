"""Structured arrays with attribute access."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray


@cache
def record_type(plain: np.dtype[Any]) -> np.dtype[Any]:
    """Return a structured dtype whose single records have attributes; the same object for the same argument."""
    return np.dtype((np.record, plain))


def as_records(array: NDArray[Any], which: Any = slice(None)) -> Any:
    """Return the elements `which` of a structured array with attribute access; a view if `which` is a slice.

    SPEED: each `array.view(np.recarray)` and each slice of a recarray makes another dtype object, whose type Numba determines
    again at every call: 0.1 ms per argument.
    """
    found = array.view(np.ndarray)[which]
    if found.dtype.type is not np.record:
        found = found.view(record_type(found.dtype))
    return found.view(np.recarray)
