"""A game as the small picture that a network looks at: our own frame, made smaller by area, grey or in colour."""

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

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
