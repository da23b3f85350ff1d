"""One frame as a file's bytes."""

from typing import Any

import cv2

from ante.watch.draw import draw


def png_of(s: Any) -> bytes:
    """The frame of one record as PNG. It shows the seed that the record tells."""
    return bytes(cv2.imencode(".png", draw(s)[:, :, ::-1])[1])
