"""A game on a terminal, or by lines of keys."""

import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import TextIO

from rich.console import Console, Group
from rich.text import Text

from ante.errors import BalatroError
from ante.messages import printable
from ante.stopping import TERMINATIONS, leave_terminal
from ante.terminal.faces import symbols_for
from ante.terminal.game import Game
from ante.terminal.reading import line_keys, terminal_keys, unbuffered
from ante.terminal.saving import how_to_continue, save
from ante.terminal.screen import screen
from ante.terminal.sections import Look, ending

LEAST_WIDTH, LEAST_HEIGHT = 40, 16  # below them the screen is drawn as if it had this size, and cut


class GameConsole(Console):
    """A console that raises BrokenPipeError when the reader of its output has gone; rich would exit at once."""

    def on_broken_pipe(self) -> None:
        """Raise the error that is handled now."""
        raise


def play_on_terminal(game: Game, console: Console, stream: TextIO) -> None:
    """Play with single keys on the whole screen, until the player quits or the input ends."""
    with unbuffered(stream), console.screen(hide_cursor=True) as whole:
        whole.update(drawn(game, console))
        for keys in terminal_keys(stream):
            game.said = []
            if "h" in keys and not game.adviser.ready:  # it takes seconds
                game.said = [f"loading {game.adviser.name} ..."]
                whole.update(drawn(game, console))
                game.said = []
            for key in keys:
                game.press(key)
            if game.ended:
                return
            whole.update(drawn(game, console))


def play_by_lines(game: Game, console: Console, lines: Iterable[str]) -> None:
    """Play with one sequence of keys a line, and print the screen after each, until the player quits or they end."""
    show(game, console)
    for keys in line_keys(lines):
        game.said = []
        console.print(Text(f"\n> {printable(''.join(keys))}"), no_wrap=True, crop=True)
        for key in keys:
            if not game.ended:
                game.press(key)
        if game.ended:
            return
        show(game, console)


def drawn(game: Game, console: Console) -> Group:
    """Return the screen as one renderable of the terminal's size."""
    size = console.size
    look = Look(max(LEAST_WIDTH, size.width), symbols_for(console.encoding))
    lines = screen(game, look, max(LEAST_HEIGHT, size.height))
    for line in lines:
        line.no_wrap, line.overflow = True, "crop"
    return Group(*lines)


def show(game: Game, console: Console) -> None:
    """Print the screen without a limit of its height."""
    for line in screen(game, Look(max(LEAST_WIDTH, console.width), symbols_for(console.encoding))):
        console.print(line, no_wrap=True, overflow="crop", crop=True)


def play(game: Game, console: Console, stream: TextIO, lines: Iterable[str]) -> None:
    """Play until the player quits, presses Ctrl-C, or the terminal or a pipe closes; then save and print how to continue.

    stream  standard input, used if it and the console are terminals
    lines   its lines, used otherwise
    """
    whole = console.is_terminal and not console.is_dumb_terminal and stream.isatty()
    target: TextIO | None = None
    try:
        with terminations() if whole else nullcontext():
            if whole:
                play_on_terminal(game, console, stream)
            else:
                play_by_lines(game, console, lines)
    except BrokenPipeError:
        target = sys.stderr
        raise
    finally:
        words = farewell(game)
        print(words, file=target or console.file)


@contextmanager
def terminations() -> Iterator[None]:
    """Treat a termination and a closed terminal like Ctrl-C, so that the terminal is restored and the game is saved."""

    def interrupt(number: int, _: FrameType | None) -> None:
        if number == signal.SIGHUP:
            leave_terminal()
        raise KeyboardInterrupt

    old = {number: signal.signal(number, interrupt) for number in TERMINATIONS}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def farewell(game: Game) -> str:
    """Save the game if it has a file, and return its result so far and how to continue it."""
    session = game.session
    words = f"{ending(session.s)}."
    if not session.actions:
        return f"{words} No decision was taken, nothing is saved."
    if game.file is None:
        return f"{words} Not saved: --save FILE saves a game."
    try:
        save(session, game.file)
    except (BalatroError, OSError) as error:
        return f"{words} Not saved: {error}."
    if session.over:
        return f"{words} Saved: ante replay show {game.file}"
    return f"{words} Saved: {how_to_continue(session, game.file)} continues it."
