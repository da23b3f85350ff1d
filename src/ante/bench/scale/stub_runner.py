"""A stub of an env runner that sends a recorded fragment again and again. Imports neither torch nor RLlib.

A process of it has some 60 MB instead of 600, so that a machine holds dozens.
"""

import pickle
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import ray


class Parcel:
    """A fragment as plain arrays, which becomes a `Rollout` in the process that reads it."""

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self.columns = dict(columns)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[dict[str, Any]]]:
        """Pickle the arrays, which Ray shares without copying, and the function that unpacks them."""
        return unpacked, (self.columns,)


def unpacked(columns: dict[str, Any]) -> Any:
    """Return the fragment of these columns."""
    from ante.training.sampling.fragment import Rollout

    return Rollout(**columns)


class Reply:
    """What an env runner returns to the driver for a fragment: its reference, and the rest as pickled bytes."""

    def __init__(self, reference: Any, rest: bytes) -> None:
        self.reference, self.rest = reference, rest

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, bytes]]:
        """Pickle the parts; the driver's process puts them together."""
        return sampled, (self.reference, self.rest)


def sampled(reference: Any, rest: bytes) -> Any:
    """Return the `Sampled` of a reply."""
    from ante.training.sampling.fragment import Sampled

    return Sampled(reference, *pickle.loads(rest))


class StubRunner:
    """An actor with the methods of an env runner that the driver calls during training.

    columns  of the fragment to send
    rest     the other fields of `Sampled`, pickled
    """

    def __init__(self, columns: Mapping[str, Any], rest: bytes) -> None:
        self.columns = {
            name: np.array(each) if isinstance(each, np.ndarray) else each for name, each in columns.items()
        }
        self.rest = rest

    def attempt(self, method: str, **arguments: Any) -> Any:
        """Return the result of a method."""
        return getattr(self, method)(**arguments)

    def fragment(self) -> Reply:
        """Put the fragment into the object store, as a copy that this process owns."""
        return Reply(ray.put(Parcel(self.columns)), self.rest)

    def set_state(self, state: Any) -> None:
        """Receive weights."""

    def ping(self) -> str:
        """Answer a health check."""
        return "pong"

    def apply(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function with this runner; RLlib names the argument."""
        return func(self, *args, **kwargs)
