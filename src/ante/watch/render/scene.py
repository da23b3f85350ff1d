"""A video frame: the game, the player's options and values, and the scoring of a hand."""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.env.text import macro_name
from ante.watch.notes import Note
from ante.watch.render.canvas import BOLD, Box, Canvas, Colour
from ante.watch.render.draw import (
    CARD_H,
    CARD_W,
    FELT,
    GOLD,
    GREEN,
    GREY,
    INK,
    PANEL,
    PLAIN,
    SUITS,
    WHITE,
    WITH_STRIP,
    Layout,
    draw_card,
    draw_hand,
    draw_owned,
    draw_score,
    draw_table,
    places,
)

CARD = re.compile(r"\b([2-9TJQKA])([SHCD])\b")
BAR: Colour = (44, 74, 98)
SOFT: Colour = (206, 214, 212)
TAKEN: Colour = (150, 108, 24)
SUIT_TINTS: tuple[Colour, ...] = ((150, 176, 255), (255, 120, 128), (110, 220, 150), (255, 176, 90))  # on dark
ROWS = 3  # options in the strip


@dataclass(frozen=True)
class Thought:
    """Contents of the strip below the game.

    options  text and probability of each, and whether it is taken
    values   value estimates of this game, the current one last; empty if the player has none
    hint     the player's hint or plan
    """

    options: tuple[tuple[str, float, bool], ...]
    values: tuple[float, ...]
    hint: str = ""


@dataclass(frozen=True)
class Scored:
    """A played hand at one moment of its scoring.

    cards   records of the played cards, left to right, each with whether it scores
    name    name of the poker hand
    total   score of the hand, empty while chips and mult rise
    """

    cards: tuple[tuple[Any, bool], ...]
    name: str
    chips: str
    mult: str
    total: str


def draw_scene(
    s: Any,
    size: tuple[int, int],
    caption: str = "",
    about: str = "",
    thought: Thought | None = None,
    scored: Scored | None = None,
) -> NDArray[np.uint8]:
    """Return a frame, uint8 (height, width, 3), RGB; size is width and height.

    caption  text below the score, such as the decision
    about    text above deck and seed, such as the checkpoint
    thought  contents of the strip; a scoring hand replaces the middle of the table
    """
    canvas = Canvas(*size, FELT)
    value = None if scored is None else (scored.name, scored.chips, scored.mult)
    draw_score(canvas, s, caption, about, value)
    draw_owned(canvas, s)
    layout = PLAIN if thought is None else WITH_STRIP
    if scored is None:
        draw_table(canvas, s, layout)
    else:
        draw_scored(canvas, layout.table, scored)
        draw_hand(canvas, s, layout.hand)
    if thought is not None:
        draw_thought(canvas, layout, thought)
    return canvas.image


def draw_scored(canvas: Canvas, table: Box, scored: Scored) -> None:
    """Draw the played cards in the middle, with scoring cards raised, and their score."""
    left = Box(table.x, table.y, table.w - 120, table.h)
    top = table.y + (table.h - CARD_H) / 2
    for (card, scores), x in zip(scored.cards, places(left, len(scored.cards), CARD_W, CARD_W + 8), strict=True):
        box = Box(x, top - (7 if scores else 0), CARD_W, CARD_H)
        draw_card(canvas, card, box)
        if not scores:
            canvas.shade(box, 0.35)
    if scored.total:
        middle = table.y + table.h / 2
        canvas.fitted(f"+{scored.total}", Box(table.right - 116, middle - 16, 108, 30), 28, GOLD, BOLD)


def draw_thought(canvas: Canvas, layout: Layout, thought: Thought) -> None:
    """Draw the strip: bars of the most likely options, the value over time, the hint."""
    box = layout.below
    assert box is not None
    canvas.fill(box, PANEL, 6)
    rows = ROWS if not thought.hint else ROWS - 1
    pitch = (box.h - 4) / ROWS
    for i, (words, chance, taken) in enumerate(thought.options[:rows]):
        draw_option(canvas, Box(box.x + 4, box.y + 3 + i * pitch, 336, pitch - 2), words, chance, taken)
    if thought.hint:
        line = Box(box.x + 6, box.bottom - pitch - 1, 330, pitch - 2)
        canvas.text(short(canvas, thought.hint, line.w, 8.5), line.x, line.y + 10, 8.5, GREEN)
    if thought.values:
        draw_value(canvas, Box(box.x + 346, box.y + 3, box.w - 352, box.h - 6), thought.values)


def draw_option(canvas: Canvas, box: Box, words: str, chance: float, taken: bool) -> None:
    """Draw one option: a bar proportional to its probability, gold if taken."""
    canvas.fill(box, INK, 3)
    if chance * box.w >= 2:
        canvas.fill(Box(box.x, box.y, box.w * chance, box.h), TAKEN if taken else BAR, 3)
    base = box.y + box.h / 2 + 3.3
    weight = BOLD if taken else 400
    x = box.x + 6
    for part in re.split(f"([{SUITS}])", short(canvas, words, box.w - 44, 9.0, weight)):
        tint = SUIT_TINTS[SUITS.index(part)] if part and part in SUITS else WHITE if taken else SOFT
        canvas.text(part, x, base, 9.0, tint, weight)
        x += canvas.text_width(part, 9.0, weight)
    canvas.text(percent(chance), box.right - 5, base, 9.0, GOLD if taken else GREY, weight, "right")


def draw_value(canvas: Canvas, box: Box, values: tuple[float, ...]) -> None:
    """Draw the current estimate as a number, and its history as a line."""
    canvas.text("value", box.x, box.y + 9, 8, GREY)
    canvas.text(f"{values[-1]:.2f}", box.right, box.y + 10, 11, WHITE, BOLD, "right")
    low, high = min(values), max(values)
    span = max(high - low, 1e-9)
    plot = Box(box.x, box.y + 15, box.w, box.h - 17)
    seen = values if len(values) <= 200 else tuple(values[i] for i in np.linspace(0, len(values) - 1, 200).astype(int))
    points = [
        (plot.x + plot.w * i / max(1, len(seen) - 1), plot.bottom - plot.h * (each - low) / span)
        for i, each in enumerate(seen)
    ]
    for (x0, y0), (x1, y1) in pairwise(points):
        canvas.line(x0, y0, x1, y1, GREEN, 1.0)
    canvas.disc(*points[-1], 2.0, WHITE)


def short(canvas: Canvas, text: str, width: float, size: float, weight: int = 400) -> str:
    """Return the text, truncated with dots if it is too wide."""
    if canvas.text_width(text, size, weight) <= width:
        return text
    while len(text) > 1 and canvas.text_width(text + "…", size, weight) > width:
        text = text[:-1]
    return text + "…"


def percent(chance: float) -> str:
    """Return a probability in readable form: `73 %`, `<1 %`."""
    return "<1 %" if 0 < chance < 0.01 else f"{100 * chance:.0f} %"


def thought_of(s: Any, action: int, note: Note, values: tuple[float, ...]) -> Thought | None:
    """Convert a Note to text: the options, and the decision taken even if it is not among them.

    Returns None for the Note of a player without estimates, such as a person.
    """
    if not note.options and note.chance is None and not (note.hint or note.plan or note.search):
        return None
    rows = [(pretty(macro_name(s, option)), chance, option == action) for option, chance in note.options[:ROWS]]
    if not any(taken for _, _, taken in rows):
        rows = [*rows[: ROWS - 1], (pretty(macro_name(s, action)), note.chance or 0.0, True)]
    said = [f"plan: {note.plan}"] if note.plan else []
    said += [f"hint: {pretty(note.hint)}"] if note.hint else []
    said += [f"search: {pretty(note.search)}"] if note.search else []
    return Thought(tuple(rows), values, "; ".join(said))


def pretty(words: str) -> str:
    """Replace suits by symbols: `AS TD` becomes `A♠ 10♦`."""
    return CARD.sub(lambda found: found[1].replace("T", "10") + SUITS["SHCD".index(found[2])], words)
