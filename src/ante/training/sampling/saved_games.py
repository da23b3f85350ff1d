"""Games in progress and random generators as plain values, for checkpoints.

A record of a game is data alone (`engine.core.state`), so a copy of the records, the step counts and the generators of
future seeds is enough to continue a batch of games. Observations are computed again. A game takes about 350 bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.engine.core.state import new_states, state_t
from ante.engine.validation import validate_states
from ante.env.games import Games, observe_games
from ante.env.text import seed_of
from ante.training.numerics.compression import compressed, decompressed

WORD = (1 << 64) - 1


@dataclass(frozen=True)
class SavedGames:
    """The games of a batch, read from a checkpoint.

    states  (n,) state_t, valid
    steps   (n,) int64, steps taken in each game
    rngs    n generators of the seeds of the next games
    """

    states: np.recarray
    steps: NDArray[np.int64]
    rngs: list[np.random.Generator]

    def put(self, games: Games) -> None:
        """Replace all games of a batch by these."""
        games.states.view(np.uint8)[:] = self.states.view(np.uint8)
        games.steps[:], games.rngs = self.steps, self.rngs
        games.seeds[:] = [seed_of(s) for s in games.states]
        games.outcome[:], games.rewards[:] = 0, 0.0
        observe_games(games.states, np.arange(games.n), games.reorder, games.observations, games.flat)


def save_games(games: Games) -> dict[str, Any]:
    """Return the state of a batch of games. Games that are over must have been reset."""
    return {"records": save_records(games.states), "steps": games.steps.copy(), "rngs": save_generators(games.rngs)}


def read_games(state: dict[str, Any], games: Games) -> SavedGames:
    """Return what `save_games` saved of a batch of as many games. Raises ValueError, KeyError, TypeError, BadState."""
    states = read_records(state["records"], games.n)
    validate_states(states)
    steps = array_like(state["steps"], games.steps, "steps")
    if not ((steps >= 0) & (steps < games.limit)).all():
        raise ValueError(f"the games have {steps.min()} to {steps.max()} steps, expected 0 to {games.limit - 1}")
    return SavedGames(states, steps, read_generators(state["rngs"], games.n))


def save_records(states: NDArray[Any]) -> bytes:
    """Return records of games (n,) state_t, compressed. Padding is zeroed: compiled code leaves old memory there."""
    plain = np.zeros(len(states), dtype=state_t)
    plain[:] = states  # field by field
    return compressed(plain.view(np.uint8))


def read_records(packed: object, n: int) -> np.recarray:
    """Return n records of games, which are not yet validated. Raises ValueError."""
    states = new_states(n)
    states.view(np.uint8)[:] = decompressed("games", packed, np.empty(n * state_t.itemsize, dtype=np.uint8))
    return states


def save_generators(rngs: Sequence[np.random.Generator]) -> NDArray[np.uint64]:
    """Return the states of NumPy's default generators (PCG64), (n, 6)."""
    words = np.empty((len(rngs), 6), dtype=np.uint64)
    for row, rng in zip(words, rngs, strict=True):
        state: Any = rng.bit_generator.state
        inner = state["state"]
        row[:] = [word for name in ("state", "inc") for word in (inner[name] >> 64, inner[name] & WORD)] + [
            state["has_uint32"],
            state["uinteger"],
        ]
    return words


def read_generators(words: object, n: int) -> list[np.random.Generator]:
    """Return n generators with states from `save_generators`. Raises ValueError."""
    found = []
    for row in array_like(words, np.empty((n, 6), dtype=np.uint64), "generators").tolist():
        rng = np.random.default_rng(0)
        inner = {"state": row[0] << 64 | row[1], "inc": row[2] << 64 | row[3]}
        rng.bit_generator.state = {**rng.bit_generator.state, "state": inner, "has_uint32": row[4], "uinteger": row[5]}
        found.append(rng)
    return found


def array_like(value: object, like: NDArray[Any], what: str) -> NDArray[Any]:
    """Return an array with the type and shape of `like`. Raises ValueError.

    Args:
        value: Anything read from a checkpoint.
        like: An array of the expected type and shape.
        what: The name of the array in the error, a plural.
    """
    if not isinstance(value, np.ndarray) or (value.dtype, value.shape) != (like.dtype, like.shape):
        found = f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
        raise ValueError(f"the {what} are {found}, expected {like.dtype} {like.shape}")
    return value
