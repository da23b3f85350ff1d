"""The interface between search and the players that it improves."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ante.engine.core.records import as_records
from ante.engine.core.state import new_states
from ante.env.games import Games
from ante.env.layout import FLAT_SIZE, new_observations


@dataclass(frozen=True, slots=True)
class Positions:
    """Positions that a player evaluates; an array each, of the same length.

    states        (n,) state_t
    observations  (n,) observation_t
    flat          (n, FLAT_SIZE) float32
    reorder       allowed reordering, as in `env.observe.observe`
    """

    states: np.recarray
    observations: np.recarray
    flat: NDArray[np.float32]
    reorder: int

    @staticmethod
    def blank(n: int, reorder: int) -> "Positions":
        """Return n blank positions."""
        return Positions(new_states(n), new_observations(n), np.zeros((n, FLAT_SIZE), np.float32), reorder)

    @staticmethod
    def of(games: Games, which: NDArray[np.int64]) -> "Positions":
        """Return copies of the current positions of games (k,)."""
        return Positions(
            as_records(games.states, which), as_records(games.observations, which), games.flat[which], games.reorder
        )

    def first(self, n: int) -> "Positions":
        """Return the first n positions, as views."""
        return Positions(
            as_records(self.states, slice(n)), as_records(self.observations, slice(n)), self.flat[:n], self.reorder
        )


class Views(NamedTuple):
    """What a player thinks of n positions.

    decisions  (n, k) int64, macro decisions that it considers; -1 for none
    log_probs  (n, k) float32, their log-probabilities, very low for illegal ones
    ratings    (n,) float64, its estimate of winning from here; a higher one is better
    """

    decisions: NDArray[np.int64]
    log_probs: NDArray[np.float32]
    ratings: NDArray[np.float64]


class Thinker(Protocol):
    """What search needs of a player. Its methods depend on visible information only and keep no state."""

    def view(self, positions: Positions) -> Views:
        """Return the player's view of these positions."""

    def decide(self, positions: Positions) -> NDArray[np.int64]:
        """Return its likeliest decisions (n,) int64, -1 where none is legal."""

    def rate(self, positions: Positions) -> NDArray[np.float64]:
        """Return the ratings of `Views`, (n,)."""


@runtime_checkable
class Searchable(Protocol):
    """A player (`agents.evaluate.Player`) that search can improve."""

    name: str
    discrete: bool
    reorder: str

    def thinker(self) -> Thinker:
        """Return what search needs of this player. Raises BalatroError if its policy does not support search."""
