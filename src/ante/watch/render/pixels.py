"""Pixel observations: Ante's rendered frame, downscaled, in grey or colour."""

from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ante.errors import BalatroError
from ante.files import whole
from ante.watch.render.draw import draw

DRAWN = 320, 180  # SPEED: width and height before downscaling; drawing takes a third of the time of 640 x 360


def look(s: Any, size: tuple[int, int], colour: bool = False) -> NDArray[np.uint8]:
    """Return the pixel observation of one game, uint8 (1 or 3, height, width): grey or RGB.

    size  height and width; other aspect ratios than 16:9 are distorted

    Seed and deck are not drawn: a policy must not identify games by their seed.
    """
    height, width = size
    picture = draw(s, max(DRAWN[0], width), max(DRAWN[1], height), seed=False)
    if not colour:
        picture = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    small = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
    return np.ascontiguousarray(np.atleast_3d(small).transpose(2, 0, 1))


def beside(s: Any, size: tuple[int, int], colour: bool = False) -> NDArray[np.uint8]:
    """Return the frame of a game next to its enlarged pixel observation: uint8 (h, w, 3), RGB."""
    frame, small = draw(s, 640, 360, seed=False), look(s, size, colour).transpose(1, 2, 0)
    times = max(1, frame.shape[0] // size[0])
    squares = np.repeat(np.repeat(np.broadcast_to(small, (*size, 3)), times, axis=0), times, axis=1)
    height = max(frame.shape[0], squares.shape[0])
    sheet = np.full((height, frame.shape[1] + 12 + squares.shape[1], 3), 255, dtype=np.uint8)
    sheet[: frame.shape[0], : frame.shape[1]] = frame
    sheet[: squares.shape[0], frame.shape[1] + 12 :] = squares
    return sheet


def write_picture(file: Path, picture: NDArray[np.uint8]) -> None:
    """Write the image, (h, w, 3) RGB, as PNG. Raises BalatroError, OSError."""
    if file.suffix != ".png":
        raise BalatroError(f"cannot write {file}: images are PNG, choose a file name that ends in .png")
    _, data = cv2.imencode(".png", picture[..., ::-1])
    with whole(file) as aside:
        aside.write_bytes(data.tobytes())
