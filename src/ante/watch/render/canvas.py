"""A canvas with rectangles, text and cards in units of a 640 x 360 frame, at any size."""

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Colour = tuple[int, int, int]  # red, green, blue, 0 to 255
BASE_WIDTH, BASE_HEIGHT = 640, 360
SANS = cv2.FontFace("sans")
REGULAR, BOLD = 400, 700


@dataclass(frozen=True)
class Box:
    """A rectangle in units of the base frame."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.x + self.w

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.y + self.h

    def inset(self, by: float) -> "Box":
        """The same rectangle, smaller on every side."""
        return Box(self.x + by, self.y + by, self.w - 2 * by, self.h - 2 * by)


class Canvas:
    """An RGB image of width x height pixels; the base frame is centred and scaled to fit."""

    def __init__(self, width: int, height: int, background: Colour) -> None:
        self.image: NDArray[np.uint8] = np.full((height, width, 3), background, dtype=np.uint8)
        self.scale = min(width / BASE_WIDTH, height / BASE_HEIGHT)
        self._left = (width - BASE_WIDTH * self.scale) / 2
        self._top = (height - BASE_HEIGHT * self.scale) / 2

    def point(self, x: float, y: float) -> tuple[int, int]:
        """Return the pixel of a point in the base frame."""
        return round(self._left + x * self.scale), round(self._top + y * self.scale)

    def fill(self, box: Box, colour: Colour, radius: float = 0.0) -> None:
        """Draw a filled rectangle with round corners."""
        (x0, y0), (x1, y1) = self.point(box.x, box.y), self.point(box.right, box.bottom)
        r = min(round(radius * self.scale), (x1 - x0) // 2, (y1 - y0) // 2)
        if r <= 0:
            cv2.rectangle(self.image, (x0, y0), (x1 - 1, y1 - 1), colour, -1)
            return
        cv2.rectangle(self.image, (x0 + r, y0), (x1 - r, y1), colour, -1)
        cv2.rectangle(self.image, (x0, y0 + r), (x1, y1 - r), colour, -1)
        for x in (x0 + r, x1 - r):
            for y in (y0 + r, y1 - r):
                cv2.circle(self.image, (x, y), r, colour, -1, cv2.LINE_AA)

    def frame(
        self, box: Box, colour: Colour, thickness: float = 1.5, radius: float = 0.0, inside: Colour = (0, 0, 0)
    ) -> None:
        """Draw a filled rectangle with a border of another colour."""
        self.fill(box, colour, radius)
        self.fill(box.inset(thickness), inside, max(0.0, radius - thickness))

    def disc(self, x: float, y: float, radius: float, colour: Colour) -> None:
        """Draw a filled circle."""
        cv2.circle(self.image, self.point(x, y), max(1, round(radius * self.scale)), colour, -1, cv2.LINE_AA)

    def line(self, x0: float, y0: float, x1: float, y1: float, colour: Colour, thickness: float = 1.0) -> None:
        """Draw a straight line."""
        pixels = max(1, round(thickness * self.scale))
        cv2.line(self.image, self.point(x0, y0), self.point(x1, y1), colour, pixels, cv2.LINE_AA)

    def shade(self, box: Box, strength: float) -> None:
        """Darken a rectangle by this share."""
        (x0, y0), (x1, y1) = self.point(box.x, box.y), self.point(box.right, box.bottom)
        part = self.image[y0:y1, x0:x1]
        part[:] = (part * (1.0 - strength)).astype(np.uint8)

    def text_width(self, text: str, size: float, weight: int = REGULAR) -> float:
        """Return the width of a text in units of the base frame."""
        found: Any = cv2.getTextSize((1, 1), text, (0, 0), SANS, self._pixels(size), weight)
        return float(found[0] + found[2]) / self.scale

    def text(
        self, text: str, x: float, y: float, size: float, colour: Colour, weight: int = REGULAR, align: str = "left"
    ) -> None:
        """Draw one line of text on the baseline y; align is the side of the text at x: left, middle, right."""
        if align != "left":
            width = self.text_width(text, size, weight)
            x -= width / 2 if align == "middle" else width
        cv2.putText(self.image, text, self.point(x, y), colour, SANS, self._pixels(size), weight)

    def fitted(
        self, text: str, box: Box, size: float, colour: Colour, weight: int = REGULAR, smallest: float = 6.0
    ) -> None:
        """Draw one line in the middle of a box, shrunk and then truncated to fit."""
        while size > smallest and self.text_width(text, size, weight) > box.w:
            size -= 0.5
        if self.text_width(text, size, weight) > box.w:
            while len(text) > 1 and self.text_width(text + "…", size, weight) > box.w:
                text = text[:-1]
            text += "…"
        self.text(text, box.x + box.w / 2, box.y + box.h / 2 + size * 0.36, size, colour, weight, "middle")

    def paragraph(
        self, text: str, box: Box, size: float, colour: Colour, weight: int = REGULAR, align: str = "middle"
    ) -> None:
        """Draw wrapped text from the top of a box, truncated to fit."""
        lines = self._wrap(text, box.w, size, weight)
        room = max(1, int(box.h // (size * 1.15)))
        if len(lines) > room:
            lines = [*lines[: room - 1], lines[room - 1] + "…"]
        for i, line in enumerate(lines):
            y = box.y + size * (0.95 + 1.15 * i)
            if align == "middle":
                self.fitted(line, Box(box.x, y - size * 0.86, box.w, size), size, colour, weight, size * 0.7)
            else:
                self.text(line, box.x, y, size, colour, weight)

    def _wrap(self, text: str, width: float, size: float, weight: int) -> list[str]:
        lines: list[str] = []
        for word in text.split():
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and self.text_width(longer, size, weight) <= width:
                lines[-1] = longer
            else:
                lines.append(word)
        return lines

    def _pixels(self, size: float) -> int:
        return max(5, round(size * self.scale))
