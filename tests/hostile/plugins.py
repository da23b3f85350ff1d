"""Players and modules of another package that fail in odd ways."""

from typing import Any

import numpy as np


class Player:
    name, discrete, reorder = "odd", False, "none"

    def choose(self, games: Any, playing: Any) -> Any:
        return np.full(games.n, -1)


class WithArguments(Player):
    def __init__(self, games: int) -> None:
        self.games = games


class Raises(Player):
    def __init__(self) -> None:
        raise RuntimeError("no\nlicence")


class Unnamed(Player):
    name = None  # type: ignore[assignment]


class NeitherTrueNorFalse(Player):
    discrete = "yes"  # type: ignore[assignment]


class ReordersOddly(Player):
    reorder = "sideways"


class RaisesOnAccess(Player):
    @property
    def choose(self) -> Any:
        raise RuntimeError("not now")


class ChoosesNothing(Player):
    def choose(self, games: Any, playing: Any) -> Any:
        return None


class ChoosesTooFew(Player):
    def choose(self, games: Any, playing: Any) -> Any:
        return np.zeros(1, dtype=np.int64)


class ChoosesFloats(Player):
    def choose(self, games: Any, playing: Any) -> Any:
        return np.full(games.n, np.nan)


class ChoosesText(Player):
    def choose(self, games: Any, playing: Any) -> Any:
        return ["x"] * games.n


class ChoosesHuge(Player):
    def choose(self, games: Any, playing: Any) -> Any:
        return np.full(games.n, 2**62)


def function() -> int:
    return 3


number = 7
