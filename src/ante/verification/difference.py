"""Differences between the engine and a recording."""

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Difference:
    """A field whose value differs from the recorded one.

    field   name of the field
    got     the engine's value
    wanted  the recorded value
    where   the recording and the position in it
    """

    field: str
    got: Any
    wanted: Any
    where: str = ""

    def at(self, where: str) -> "Difference":
        """Return the same difference with its position."""
        return replace(self, where=where)

    def __str__(self) -> str:
        return f"{self.where}: {self.field}: got {self.got}, wanted {self.wanted}"
