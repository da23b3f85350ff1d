"""Playing cards, symbols and colours of the terminal."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from ante.catalog.cards import EDITIONS, ENHANCEMENTS, RANK_LETTERS, SEALS, SUIT_LETTERS, Enhancement
from ante.env.text import FACE_DOWN

STONE = Enhancement.STONE
SUIT_STYLES = ("bold", "bold bright_red", "bold green", "bold bright_blue")  # by Suit
SHORT_EDITIONS = ("", "Foil", "Holo", "Poly", "Neg")  # by Edition
MONEY, GOOD, BAD, DIM, TITLE, KEY = "yellow", "green", "red", "dim", "bold", "bold cyan"
WIDEST = 7  # columns of a card
CARD = re.compile(r"\b([2-9TJQKA])([SHCD])\b")


@dataclass(frozen=True)
class Symbols:
    """The characters of one kind of terminal.

    suits    by Suit
    corners  top left, top right, bottom left, bottom right
    """

    suits: str
    corners: tuple[str, str, str, str]
    across: str
    down: str
    full: str
    empty: str
    cut: str


UNICODE = Symbols("♠♥♣♦", ("╭", "╮", "╰", "╯"), "─", "│", "█", "░", "…")
ASCII = Symbols(SUIT_LETTERS, ("+", "+", "+", "+"), "-", "|", "#", ".", "~")


def symbols_for(encoding: str | None) -> Symbols:
    """Return the symbols that a terminal or a file of this encoding can show."""
    try:
        "".join((UNICODE.suits, *UNICODE.corners, UNICODE.full, UNICODE.empty, UNICODE.cut)).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def pretty(words: str, symbols: Symbols) -> str:
    """Return a text with the cards `TS` written as on their faces, `10♠`."""
    return CARD.sub(
        lambda card: rank_text(RANK_LETTERS.index(card[1])) + symbols.suits[SUIT_LETTERS.index(card[2])], words
    )


def cut(line: Text, width: int, symbols: Symbols) -> Text:
    """Return a line that is at most this wide; a longer one ends with the symbol of a cut."""
    if line.cell_len <= width:
        return line
    short = line.copy()
    short.truncate(width - 1)
    return short.append(symbols.cut)


def flow(entries: Iterable[Text], width: int, between: int = 3) -> list[Text]:
    """Return entries in lines of at most this width, with spaces between them."""
    lines = [Text()]
    for entry in entries:
        if len(lines[-1]) and len(lines[-1]) + between + len(entry) > width:
            lines.append(Text())
        lines[-1].append_text(Text.assemble(" " * between if len(lines[-1]) else "", entry))
    return lines


def rank_text(rank: int) -> str:
    """Return a rank as on a card: `10`, `K`."""
    return "10" if rank == 10 else RANK_LETTERS[rank]


def card_text(card: Any, symbols: Symbols) -> Text:
    """Return a playing card with all its properties on one line: `K♥ Glass, Foil, Red seal`."""
    if is_hidden(card):
        return Text(FACE_DOWN, "dim")
    front = front_text(card, symbols)
    extras = properties(card)
    return Text.assemble(front, (f" {', '.join(extras)}" if extras else "", DIM))


def front_text(card: Any, symbols: Symbols) -> Text:
    """Return rank and suit of a card that is face up."""
    if card.enhancement == STONE:
        return Text("Stone", "bold")
    return Text(rank_text(int(card.rank)) + symbols.suits[card.suit], SUIT_STYLES[card.suit])


def properties(card: Any) -> list[str]:
    """Return enhancement, edition, seal, additional chips and debuff of a card as words."""
    found = []
    if card.enhancement and card.enhancement != STONE:
        found.append(ENHANCEMENTS[card.enhancement].name.removesuffix(" Card"))
    if card.edition:
        found.append(EDITIONS[card.edition].key.capitalize())
    if card.seal:
        found.append(f"{SEALS[card.seal].key} seal")
    if has(card, "bonus"):
        found.append(f"+{card.bonus} chips")
    if has(card, "debuffed"):
        found.append("debuffed")
    return found


def has(card: Any, field: str) -> bool:
    """Return whether a card has this field, unlike cards for sale, and it is not 0."""
    return field in card.dtype.names and bool(card[field])


def is_hidden(card: Any) -> bool:
    """Return whether a card is face down."""
    return has(card, "face_down")


def card_effects(card: Any) -> list[str]:
    """Return the texts of the properties of a card, `Glass Card: X2 Mult when scored ...`."""
    found = []
    if card.enhancement:
        row = ENHANCEMENTS[card.enhancement]
        found.append(f"{row.name}: {row.effect}")
    if card.edition:
        found.append(f"{EDITIONS[card.edition].key.capitalize()}: {EDITIONS[card.edition].effect}")
    if card.seal:
        found.append(f"{SEALS[card.seal].key} seal: {SEALS[card.seal].effect}")
    return found


def face_lines(card: Any, symbols: Symbols) -> list[Text]:
    """Return the lines inside a card's frame, the first with rank and suit; at most five columns each."""
    if is_hidden(card):
        return [Text("?????", DIM), Text("")]
    marks = ("!" if has(card, "debuffed") else "") + ("*" if has(card, "forced") else "")
    front = Text.assemble(front_text(card, symbols), (marks, BAD))
    enhanced = ENHANCEMENTS[card.enhancement].name.removesuffix(" Card") if card.enhancement != STONE else ""
    third = f"{SHORT_EDITIONS[card.edition]}{SEALS[card.seal].key[:1].lower()}"
    if not third and has(card, "bonus"):
        third = f"+{card.bonus}"
    return [front, Text(enhanced, "magenta")] + ([Text(third, "cyan")] if third else [])


@dataclass(frozen=True)
class Hand:
    """What is drawn of a hand.

    cards     from the left
    keys      the key of each card
    selected  as bits
    cursor    position of the cursor
    """

    cards: Sequence[Any]
    keys: Sequence[str]
    selected: int
    cursor: int


def hand_lines(hand: Hand, width: int, symbols: Symbols) -> list[Text]:
    """Return the hand: framed cards, selected ones one line higher, with their keys below; as a list if it is large."""
    if not hand.cards:
        return []
    wide = min(WIDEST, width // len(hand.cards))
    if wide < WIDEST - 1:
        return hand_list(hand, width, symbols)
    faces = [face_lines(card, symbols) for card in hand.cards]
    inside = max(map(len, faces))
    rows = [Text() for _ in range(inside + 4)]
    for i, face in enumerate(faces):
        raised = (hand.selected >> i) & 1
        column = [Text(" " * wide)] * (1 - raised) + framed(face, inside, wide, symbols) + [Text(" " * wide)] * raised
        for row, part in zip(rows, [*column, key_text(hand, i, wide)], strict=True):
            row.append_text(part)
    return rows


def framed(face: Sequence[Text], inside: int, wide: int, symbols: Symbols) -> list[Text]:
    """Return the lines of one card with its frame."""
    a, b, c, d = symbols.corners
    lines = [Text(f"{a}{symbols.across * (wide - 2)}{b}")]
    for k in range(inside):
        line = face[k].copy() if k < len(face) else Text()
        line.truncate(wide - 2, pad=True)
        lines.append(Text.assemble(symbols.down, line, symbols.down))
    return [*lines, Text(f"{c}{symbols.across * (wide - 2)}{d}")]


def key_text(hand: Hand, i: int, wide: int) -> Text:
    """Return the key of a card, marked if the card is selected or the cursor is on it."""
    name = f"[{hand.keys[i]}]" if (hand.selected >> i) & 1 else hand.keys[i]
    name = f">{name}<" if i == hand.cursor else name
    return Text(name.center(wide), KEY if i == hand.cursor else "")


def hand_list(hand: Hand, width: int, symbols: Symbols) -> list[Text]:
    """Return a large hand as a list of cards in several lines."""
    lines = [Text()]
    for i, card in enumerate(hand.cards):
        entry = Text.assemble(key_text(hand, i, 5), " ", card_text(card, symbols), "  ")
        if len(lines[-1]) + len(entry) > width and len(lines[-1]):
            lines.append(Text())
        lines[-1].append_text(entry)
    return lines
