"""Where the engine and a recording part."""

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Difference:
    """One field that is not as recorded.

    field   what differs
    got     what the engine makes of it
    wanted  what was recorded
    where   which recording, and where in it
    """

    field: str
    got: Any
    wanted: Any
    where: str = ""

    def at(self, where: str) -> "Difference":
        """The same difference with its place."""
        return replace(self, where=where)

    def __str__(self) -> str:
        return f"{self.where}: {self.field}: got {self.got}, wanted {self.wanted}"
