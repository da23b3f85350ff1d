"""Pictures of games that are played side by side: each is drawn once, and stacks name the frames they are made of.

So one frame a step and game is kept and travels, however many frames a policy sees together.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.env.games import Games

LEAST_ROOM = 64  # frames


class Film:
    """The frames of n games, and which of them each game's present stack is made of.

    frames   (used, channels, height, width) uint8, in the order in which they were drawn
    numbers  (n, stack) int32, places in `frames`, the oldest first; a game's first frame fills its stack
    """

    def __init__(self, n: int, stack: int, size: tuple[int, int], colour: bool) -> None:
        self.numbers = np.zeros((n, stack), dtype=np.int32)
        self._size, self._colour = size, colour
        self._drawn = np.full(n, -1, dtype=np.int64)  # steps of each game when it was drawn last
        self._seeds: NDArray[np.object_] = np.full(n, "", dtype=object)
        self._fresh = np.ones(n, dtype=np.bool_)
        self._room, self._used = self._blank(LEAST_ROOM), 0

    @property
    def frames(self) -> NDArray[np.uint8]:
        """What was drawn, a view that stays as it is."""
        return self._room[: self._used]

    def begin(self, which: NDArray[np.int64]) -> None:
        """Other games stand at these indices: their stacks begin anew with the next frame."""
        self._fresh[which] = True

    def look(self, games: Games, which: NDArray[np.int64] | None = None) -> None:
        """Draw the games at these indices, all by default, that have gone on or begun since they were drawn."""
        which = np.arange(games.n) if which is None else which
        steps, before = games.steps[which], self._drawn[which]
        self._fresh[which] |= (steps < before) | (games.seeds[which] != self._seeds[which])
        for i in which[(steps != before) | self._fresh[which]]:
            self.add(int(i), games.states[i])
        self._drawn[which], self._seeds[which] = steps, games.seeds[which]

    def up_to_date(self, games: Games, i: int) -> bool:
        """Whether game i is as it was drawn last."""
        return bool(games.steps[i] == self._drawn[i] and games.seeds[i] == self._seeds[i] and not self._fresh[i])

    def add(self, i: int, s: Any) -> None:
        """The record `s` is the next frame of game i."""
        from ante.watch.pixels import look

        if self._used == len(self._room):
            self._room = np.concatenate([self._room, self._blank(len(self._room))])
        self._room[self._used] = look(s, self._size, self._colour)
        if self._fresh[i]:
            self.numbers[i] = self._used
        else:
            self.numbers[i, :-1] = self.numbers[i, 1:]
            self.numbers[i, -1] = self._used
        self._fresh[i] = False
        self._used += 1

    def cut(self, room: int = LEAST_ROOM) -> None:
        """Begin a new array, for so many frames more, with what present stacks are made of. Views of the old one stay."""
        kept, places = np.unique(self.numbers, return_inverse=True)
        kept = kept[kept < self._used]
        now = np.concatenate([self._room[kept], self._blank(room)])
        self.numbers[:] = places.reshape(self.numbers.shape)
        self._room, self._used = now, len(kept)

    def _blank(self, n: int) -> NDArray[np.uint8]:
        return np.zeros((n, 3 if self._colour else 1, *self._size), dtype=np.uint8)
