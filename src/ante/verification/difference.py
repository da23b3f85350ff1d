"""Differences between the engine and a recording."""

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Difference:
    """One field that is not as recorded.

    field   what differs
    got     value in the engine
    wanted  recorded value
    where   recording and position in it
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
