"""A game as the small picture that a network looks at: our own frame, made smaller by area, grey or in colour."""

from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ante.errors import BalatroError
from ante.files import whole
from ante.watch.draw import draw

DRAWN = 320, 180  # SPEED: width and height before the picture is made smaller; a third of the time of 640 x 360


def look(s: Any, size: tuple[int, int], colour: bool = False) -> NDArray[np.uint8]:
    """What a network sees of one game, uint8 (1 or 3, height, width): grey, or red, green and blue.

    size  height and width, by which the frame is squeezed where its sides are not 9 to 16

    Neither seed nor deck is written on it: a network must not know games by their seed.
    """
    height, width = size
    picture = draw(s, max(DRAWN[0], width), max(DRAWN[1], height), seed=False)
    if not colour:
        picture = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    small = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
    return np.ascontiguousarray(np.atleast_3d(small).transpose(2, 0, 1))


def beside(s: Any, size: tuple[int, int], colour: bool = False) -> NDArray[np.uint8]:
    """The frame of a game, and beside it what a network sees of it, every pixel a square: uint8 (h, w, 3), RGB."""
    frame, small = draw(s, 640, 360, seed=False), look(s, size, colour).transpose(1, 2, 0)
    times = max(1, frame.shape[0] // size[0])
    squares = np.repeat(np.repeat(np.broadcast_to(small, (*size, 3)), times, axis=0), times, axis=1)
    height = max(frame.shape[0], squares.shape[0])
    sheet = np.full((height, frame.shape[1] + 12 + squares.shape[1], 3), 255, dtype=np.uint8)
    sheet[: frame.shape[0], : frame.shape[1]] = frame
    sheet[: squares.shape[0], frame.shape[1] + 12 :] = squares
    return sheet


def write_picture(file: Path, picture: NDArray[np.uint8]) -> None:
    """The file holds the picture, (h, w, 3) RGB, as PNG. Raises BalatroError, OSError."""
    if file.suffix != ".png":
        raise BalatroError(f"cannot write {file}: pictures are PNG, name a file that ends in .png")
    _, data = cv2.imencode(".png", picture[..., ::-1])
    with whole(file) as aside:
        aside.write_bytes(data.tobytes())
