"""PNG encoding of one frame."""

from typing import Any

import cv2

from ante.watch.render.draw import draw


def png_of(s: Any) -> bytes:
    """Return the frame of one record as PNG, including its seed."""
    return bytes(cv2.imencode(".png", draw(s)[:, :, ::-1])[1])
