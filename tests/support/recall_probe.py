"""A game that requires memory: the right action is shown once at the start and required at the end."""

from typing import Any

import numpy as np

from ante.engine.actions import N_DISCRETE
from ante.engine.core.state import new_states
from ante.env.games import Outcome
from ante.env.layout import FLAT_SIZE
from ante.training.numerics.packed_rows import BITS


class RecallGames:
    """n parallel games with the interface of `ante.env.games.Games`.

    A game starts with a signal, 0 or 1, then has `delay` empty positions, then a question for which the action equal to
    the signal has reward 1 and the other one 0. Both actions are always legal. The games start at different positions,
    so that ends occur anywhere in a fragment.
    """

    deck = stake = 0
    goal = 1

    def __init__(self, n: int, delay: int) -> None:
        self.n, self.delay = n, delay
        self.states = new_states(n)
        self.flat, self.masks = np.zeros((n, FLAT_SIZE), dtype=np.float32), np.zeros((n, N_DISCRETE), dtype=np.int8)
        self.masks[:, :2] = 1
        self.rewards, self.outcome = np.zeros(n), np.zeros(n, dtype=np.uint8)
        self.steps, self.signals = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        self.rngs: list[Any] = [np.random.default_rng(i) for i in range(n)]

    def reset(self, which: np.ndarray | None = None) -> None:
        """Reset the games."""
        which = np.arange(self.n) if which is None else which
        for i in which:
            self.signals[i] = self.rngs[i].integers(2)
        self.steps[which], self.outcome[which], self.rewards[which] = 0, Outcome.PLAYING, 0.0
        self._observe()

    def _observe(self) -> None:
        self.flat[:] = 0.0
        first, asked = np.flatnonzero(self.steps == 0), np.flatnonzero(self.steps == self.delay + 1)
        self.flat[first, BITS[0] + 0 * first] = 1.0
        self.flat[first, BITS[1 + self.signals[first]]] = 1.0
        self.flat[asked, BITS[3]] = 1.0

    def step(self, actions: np.ndarray) -> None:
        """Play one action in every game."""
        over = self.steps == self.delay + 1
        self.rewards[:] = over & (actions == self.signals)
        self.outcome[:] = np.where(over, np.where(self.rewards > 0, Outcome.WON, Outcome.LOST), Outcome.PLAYING)
        self.steps += 1
        self._observe()

    @property
    def terminated(self) -> np.ndarray:
        """Return which games have just ended."""
        return self.outcome != Outcome.PLAYING
