"""Reading keys: one by one from a terminal, line by line from anything else."""

import codecs
import os
import re
import select
import shutil
import termios
import tty
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO

from ante.terminal.bindings import DOWN, ESCAPE, LEFT, RESIZED, RIGHT, SPACE, UP

SEQUENCES = {
    **{
        f"{start}{letter}": key
        for start in ("[", "O")
        for letter, key in zip("ABCD", (UP, DOWN, RIGHT, LEFT), strict=True)
    },
    "[5~": UP,
    "[6~": DOWN,
}
REST_SECONDS = 0.05  # within which the rest of an escape sequence arrives
POLL_SECONDS = 0.25  # after which a change of the terminal's size is noticed
WRITTEN = re.compile(r"<[a-z]+>|\S")  # a key in a line: `<left>`, or one character
COMMENT = "#"


def keys_of_line(line: str) -> list[str]:
    """Return the keys of a line, without spaces; none for a comment."""
    return [] if line.lstrip().startswith(COMMENT) else WRITTEN.findall(line)


def line_keys(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield the keys of each line that has some."""
    for line in lines:
        keys = keys_of_line(line)
        if keys:
            yield keys


def terminal_keys(stream: TextIO) -> Iterator[list[str]]:
    """Yield keys as they are pressed, and RESIZED after a change of the terminal's size, until the input ends."""
    number, decoder = stream.fileno(), codecs.getincrementaldecoder("utf-8")("replace")
    size = shutil.get_terminal_size()
    while True:
        if not select.select([number], [], [], POLL_SECONDS)[0]:
            if size != shutil.get_terminal_size():
                size = shutil.get_terminal_size()
                yield [RESIZED]
            continue
        data = os.read(number, 1)
        if not data:
            return
        if data == b"\x1b":
            key = SEQUENCES.get(rest_of_sequence(number), ESCAPE)
        else:
            key = decoder.decode(data)
        if key:
            yield [SPACE if key == " " else key]


def rest_of_sequence(number: int) -> str:
    """Return the bytes that follow an escape at once, empty if the escape key was pressed alone."""
    rest = ""
    while select.select([number], [], [], REST_SECONDS)[0]:
        data = os.read(number, 1)
        rest += data.decode("latin-1")
        if not data or (len(rest) > 1 and (rest[-1].isalpha() or rest[-1] == "~")) or len(rest) > 16:
            break
    return rest


@contextmanager
def unbuffered(stream: TextIO) -> Iterator[None]:
    """Let a terminal deliver keys at once and without echo; restored afterwards."""
    before = termios.tcgetattr(stream)
    try:
        tty.setcbreak(stream, termios.TCSADRAIN)  # keys typed before are kept
        yield
    finally:
        termios.tcsetattr(stream, termios.TCSADRAIN, before)
