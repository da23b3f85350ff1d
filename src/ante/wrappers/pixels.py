"""Image observations: the last frames of Ante's renderer, downscaled."""

from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.core import ActType
from numpy.typing import NDArray

from ante.checks import BadValue, chosen, flag, whole_number
from ante.env.single import picture_of

MODES = ("alone", "fused")
LOOK = "ante.watch.render.pixels:look"  # a name, not an import: rendering needs additional packages
SMALLEST, LARGEST = 8, 2160  # height and width of an image
MOST_FRAMES = 64


class Pixels(gymnasium.Wrapper[Any, ActType, Any, ActType], gymnasium.utils.RecordConstructorArgs):
    """Observe images: uint8 (stack * channels, height, width), the oldest frame first.

    A game's first frame fills the whole stack. Masks remain available: action_masks() and info["action_mask"].

    mode    alone: the images are the observation; fused: a dict of `pixels` and the other observations (their fields if
            they are a dict; else as `observation`)
    size    height and width of an image
    colour  three channels per frame (red, green, blue) instead of one grey channel
    stack   number of frames, 1 or more

    Raises UnknownChoice, BadValue; NotInstalled if OpenCV is missing.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, ActType],
        mode: str = "alone",
        size: tuple[int, int] = (84, 112),
        colour: bool = False,
        stack: int = 4,
    ) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self, mode=mode, size=size, colour=colour, stack=stack)
        gymnasium.Wrapper.__init__(self, env)
        if not isinstance(size, (tuple, list)) or len(size) != 2:
            raise BadValue("size", size, "use height and width, such as (84, 112)")
        size = (
            whole_number("size[0]", size[0], SMALLEST, LARGEST),
            whole_number("size[1]", size[1], SMALLEST, LARGEST),
        )
        stack, colour = whole_number("stack", stack, 1, MOST_FRAMES), flag("colour", colour)
        self._fused = chosen("mode", mode, MODES) == "fused"
        self._look, self._size, self._colour = picture_of(LOOK), tuple(size), colour
        self._channels = 3 if colour else 1
        self._stack = np.zeros((stack * self._channels, *size), dtype=np.uint8)
        pictures = spaces.Box(0, 255, self._stack.shape, np.uint8)
        self.observation_space = spaces.Dict(self._beside(env.observation_space, pictures)) if self._fused else pictures

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a game; its first frame fills the stack."""
        seen, info = self.env.reset(seed=seed, options=options)
        self._stack.reshape(-1, self._channels, *self._size)[:] = self._frame()
        return self._observed(seen), info

    def step(self, action: ActType) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Take the action; the new frame replaces the oldest one."""
        seen, reward, terminated, truncated, info = self.env.step(action)
        self._stack[: -self._channels] = self._stack[self._channels :]
        self._stack[-self._channels :] = self._frame()
        return self._observed(seen), reward, terminated, truncated, info

    def _frame(self) -> NDArray[np.uint8]:
        """Return the current frame, (channels, height, width)."""
        base: Any = self.unwrapped
        frame: NDArray[np.uint8] = self._look(base.state, self._size, self._colour)
        return frame

    def _observed(self, seen: Any) -> Any:
        pictures = self._stack.copy()
        return self._beside(seen, pictures) if self._fused else pictures

    @staticmethod
    def _beside(seen: Any, pictures: Any) -> dict[str, Any]:
        """Return images combined with the other observations, or their spaces."""
        rest = dict(seen.items()) if isinstance(seen, (dict, spaces.Dict)) else {"observation": seen}
        return {"pixels": pictures, **rest}
