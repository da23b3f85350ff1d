"""Vectors of jokers, such as embeddings of measured effects, as a part of the observation."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.core import ActType
from numpy.typing import ArrayLike, NDArray

from ante.catalog.jokers import JOKERS
from ante.checks import BadValue
from ante.engine.core.state import MAX_JOKERS
from ante.env.layout import JOKER


class JokerVectors(
    gymnasium.ObservationWrapper[dict[str, Any], ActType, dict[str, Any]], gymnasium.utils.RecordConstructorArgs
):
    """Add `joker_vectors` to the observation: float32 (16, d), the vector of the joker in each row of `jokers`.

    Rows without a joker are 0.

    vectors (150, d): one vector for each joker, in the order of the catalogue, as `ante know embed` writes them

    Raises BadValue.
    """

    def __init__(self, env: gymnasium.Env[dict[str, Any], ActType], vectors: ArrayLike) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self, vectors=vectors)
        gymnasium.ObservationWrapper.__init__(self, env)
        known = env.observation_space
        if not isinstance(known, spaces.Dict) or "jokers" not in known.spaces:
            raise BadValue("env", known, "make the environment with observation='dict'")
        given = matrix(vectors)
        self._vectors = np.vstack([np.zeros((1, given.shape[1]), dtype=np.float32), given])
        low, high = float(self._vectors.min()), float(self._vectors.max())
        added = spaces.Box(low, high, (MAX_JOKERS, given.shape[1]), np.float32)
        self.observation_space = spaces.Dict({**known.spaces, "joker_vectors": added})

    def observation(self, observation: dict[str, Any]) -> dict[str, Any]:
        """Return the observation with the vectors of the jokers in play."""
        found: NDArray[np.float32] = self._vectors[observation["jokers"][:, JOKER.id]]
        return {**observation, "joker_vectors": found}


def matrix(vectors: ArrayLike) -> NDArray[np.float32]:
    """Return a copy of the vectors as float32. Raises BadValue."""
    wanted = f"use finite numbers, one row for each of {len(JOKERS) - 1} jokers"
    try:
        found = np.array(vectors, dtype=np.float32)
    except (TypeError, ValueError):
        raise BadValue("vectors", vectors, wanted) from None
    if found.ndim != 2 or len(found) != len(JOKERS) - 1 or not found.size or not np.isfinite(found).all():
        raise BadValue("vectors", vectors, wanted)
    return found
