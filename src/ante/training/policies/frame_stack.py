"""Frame stacking for batched games: each frame is rendered once, and stacks refer to frames by index.

One frame per step and game is stored and sent, for every stack size.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.env.games import Games
from ante.training.policies.protocol import GameState

LEAST_ROOM = 64  # frames


class FrameStacks(GameState):
    """The frames of n games, and the frame indices of each game's current stack.

    frames   (used, channels, height, width) uint8, in rendering order
    numbers  (n, stack) int32, indices into `frames`, oldest first; a game's first frame fills its stack
    """

    def __init__(self, n: int, stack: int, size: tuple[int, int], colour: bool) -> None:
        self.numbers = np.zeros((n, stack), dtype=np.int32)
        self._size, self._colour = size, colour
        self._fresh, self._moved = np.ones(n, dtype=np.bool_), np.ones(n, dtype=np.bool_)
        self._buffer, self._used = self._blank(LEAST_ROOM), 0

    @property
    def frames(self) -> NDArray[np.uint8]:
        """The frames rendered since `begin_fragment`; a view, which stays valid."""
        return self._buffer[: self._used]

    def begin(self, which: NDArray[np.int64]) -> None:
        """Reset the stacks of these games; the next frame fills them."""
        self._fresh[which] = self._moved[which] = True

    def begin_fragment(self, rows: int) -> None:
        """Start a new array that begins with the frames of the current stacks; views of the old array stay valid."""
        if not rows and self._used <= 4 * self.numbers.size:
            return
        kept, places = np.unique(self.numbers, return_inverse=True)
        kept = kept[kept < self._used]
        now = np.concatenate([self._buffer[kept], self._blank(max(rows, LEAST_ROOM))])
        self.numbers[:] = places.reshape(self.numbers.shape)
        self._buffer, self._used = now, len(kept)

    def observe(self, games: Games, rows: NDArray[Any]) -> None:
        """Render the games that have changed since their last frame, and write the stacks into rows (n,)."""
        for i in np.flatnonzero(self._moved):
            self._add(int(i), games.states[i])
        self._moved[:] = False
        rows["frames"] = self.numbers

    def advance(self, which: NDArray[np.int64], carry: Any) -> None:
        """Mark these games as changed: the next `observe` renders them."""
        self._moved[which] = True

    def saved(self) -> dict[str, Any]:
        """See GameState; with the frames of the current stacks only."""
        kept, places = np.unique(self.numbers, return_inverse=True)
        numbers = places.reshape(self.numbers.shape).astype(np.int32)
        return {"frames": self._buffer[kept], "numbers": numbers, "fresh": self._fresh, "moved": self._moved}

    def restore(self, saved: dict[str, Any]) -> None:
        """See GameState."""
        frames, numbers = saved["frames"], saved["numbers"]
        fits = frames.dtype == np.uint8 and frames.shape[1:] == self._buffer.shape[1:]
        fits = fits and (numbers.dtype, numbers.shape) == (self.numbers.dtype, self.numbers.shape)
        if not fits or numbers.min() < 0 or numbers.max() >= len(frames):
            raise ValueError("the frames do not fit this policy")
        self._buffer, self._used = frames.copy(), len(frames)
        self.numbers = numbers.copy()
        for mine, theirs in ((self._fresh, saved["fresh"]), (self._moved, saved["moved"])):
            mine[:] = theirs

    def _add(self, i: int, s: Any) -> None:
        """Append a frame rendered from the record `s` to the stack of game i."""
        from ante.watch.render.pixels import look

        if self._used == len(self._buffer):
            self._buffer = np.concatenate([self._buffer, self._blank(len(self._buffer))])
        self._buffer[self._used] = look(s, self._size, self._colour)
        if self._fresh[i]:
            self.numbers[i] = self._used
        else:
            self.numbers[i, :-1] = self.numbers[i, 1:]
            self.numbers[i, -1] = self._used
        self._fresh[i] = False
        self._used += 1

    def _blank(self, n: int) -> NDArray[np.uint8]:
        return np.zeros((n, 3 if self._colour else 1, *self._size), dtype=np.uint8)
