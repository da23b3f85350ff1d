"""Validation of single user-supplied values: each check returns the value or raises an error with its name and range."""

import math
import operator
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.errors import BalatroError, close_to, shown

INT64 = np.dtype(np.int64)
SEED_BITS = 128  # bits of a generator's seed, as many as NumPy uses for unseeded generators
LARGEST_FLOAT = sys.float_info.max
MOST = int(np.iinfo(INT64).max)


class BadValue(BalatroError, ValueError):
    """A value has the wrong type, or is out of range."""

    def __init__(self, name: str, value: object, wanted: str) -> None:
        super().__init__(f"{name}={shown(value)} is invalid: {wanted}")


class UnknownChoice(BalatroError, ValueError):
    """An option of the environment has an unknown value."""

    def __init__(self, option: str, value: object, known: Sequence[str]) -> None:
        super().__init__(f"{option}={shown(value)} is unknown: choose one of {', '.join(known)}")


class UnknownOption(BalatroError, ValueError):
    """An option of a reset does not exist."""

    def __init__(self, name: object, known: Sequence[str]) -> None:
        near = close_to(name, known)
        hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"
        super().__init__(f"reset has no option {shown(name)}: {hint}")


def chosen(option: str, value: str, known: Sequence[str]) -> str:
    """Return the value if it is known. Raises UnknownChoice."""
    if not isinstance(value, str) or value not in known:
        raise UnknownChoice(option, value, known)
    return value


def whole_number(name: str, value: Any, low: int, high: int = MOST) -> int:
    """Return an integer from low to high as int; floats, booleans and strings are rejected. Raises BadValue."""
    if not isinstance(value, bool):
        try:
            number = operator.index(value)
        except TypeError:
            pass
        else:
            if low <= number <= high:
                return number
    raise BadValue(name, value, f"use a whole number {span(low, high)}")


def seed_number(seed: int | None) -> int | None:
    """Return a generator's seed if it is valid; game seeds such as 2K9H9HN are rejected. Raises BadValue."""
    return None if seed is None else whole_number("seed", seed, 0, (1 << SEED_BITS) - 1)


def span(low: int, high: int) -> str:
    """Return a range as text; without an upper bound if it ends at the int64 maximum."""
    return f"of at least {low}" if high == MOST else f"from {low} to {high}"


def finite(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a finite number from low to high as float. Raises BadValue."""
    real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not real or not low <= value <= high or not -LARGEST_FLOAT <= value <= LARGEST_FLOAT:
        limits = "" if (low, high) == (-math.inf, math.inf) else f" from {low:g} to {high:g}".replace(" to inf", " up")
        raise BadValue(name, value, f"use a finite number{limits}")
    return float(value)


def flag(name: str, value: Any) -> bool:
    """Return True or False. Raises BadValue."""
    if not isinstance(value, (bool, np.bool_)):
        raise BadValue(name, value, "use True or False")
    return bool(value)


def is_list(value: object) -> bool:
    """Return whether this is a list, a tuple, a range or an array that has a length."""
    return isinstance(value, (list, tuple, range)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def whole_numbers(
    name: str, values: Any, shape: tuple[int, ...], low: int = -MOST - 1, high: int = MOST
) -> NDArray[np.int64]:
    """Return whole numbers as a contiguous, writable int64 array of this shape. Raises BadValue.

    SPEED: an array that already has this type costs two comparisons if low and high are omitted; compiled code would be
    recompiled for any other type.
    """
    if type(values) is not np.ndarray or values.dtype != INT64:
        values = integers(name, values, shape)
    if values.shape != shape:
        raise BadValue(name, values, f"use whole numbers of shape {shape}, got shape {values.shape}")
    if (low > -MOST - 1 or high < MOST) and values.size and not low <= values.min() <= values.max() <= high:
        raise BadValue(name, values, f"use whole numbers {span(low, high)}")
    flags = values.flags
    return values if flags.carray else np.array(values, order="C")


def integers(name: str, values: Any, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return an int64 array of integers of another type. Raises BadValue."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError):  # a ragged list, a tensor on a device
        raise BadValue(name, values, f"use an array of whole numbers of shape {shape}") from None
    mixed = isinstance(values, (list, tuple)) and any(isinstance(each, (bool, np.bool_)) for each in values)
    if mixed or array.dtype.kind not in "iu":
        raise BadValue(name, values, f"use whole numbers, not {'booleans' if mixed else array.dtype.name}")
    if array.dtype.kind == "u" and array.size and int(array.max()) > MOST:
        raise BadValue(name, values, "use whole numbers below 2^63")
    return array.astype(np.int64)
