"""Terminal interface: watch a player, or play with keys."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from string import ascii_lowercase

import numpy as np
from rich.console import Console
from rich.text import Text

from ante.engine.actions import DISCRETE, FIRST, Verb
from ante.env.games import Games, Outcome
from ante.env.text import action_name, describe, macro_name
from ante.watch.episode import Choose

CARD_KEYS = "1234567890"
FIXED_KEYS = {FIRST[Verb.PLAY]: "p", FIRST[Verb.DISCARD]: "x", FIRST[Verb.SELECT_BLIND]: "p"}
QUIT = "q"
FREE_KEYS = [key for key in ascii_lowercase + ascii_lowercase.upper() if key not in "pxqQ"]
REDUNDANT = (Verb.SELECT, Verb.CLEAR, Verb.MOVE_CARD)  # cards have separate keys


def watch(games: Games, choose: Choose, console: Console, pause: Callable[[], None]) -> None:
    """Show one game as text, a screen for each decision, until it ends."""
    s, playing = games.states[0], np.ones(1, dtype=np.bool_)
    show(console, describe(s), "")
    while games.outcome[0] == Outcome.PLAYING:
        action = choose(games, playing)
        number = int(action[0])
        said = action_name(s, number) if games.discrete else macro_name(s, number)
        games.step(action)
        pause()
        show(console, describe(s), said)
    console.print(ending(games))


def show(console: Console, text: str, said: str) -> None:
    """Show one screen: the last decision, and the game after it."""
    if console.is_terminal:
        console.clear()
    console.print(Text(f"\n> {said}" if said else ""), Text(text), sep="\n")


def ending(games: Games) -> str:
    """Return a sentence about how the game ended."""
    info = games.info()
    return (
        f"{info['outcome'][0]} in ante {info['ante'][0]} with {info['blinds'][0]} blinds beaten, seed {games.seeds[0]}"
    )


def menu(games: Games) -> dict[str, int]:
    """Return the discrete action of each key; card keys are not included."""
    keys: dict[str, int] = {}
    free = iter(FREE_KEYS)
    for number in np.flatnonzero(games.masks[0]):
        if Verb(int(DISCRETE[number, 0])) not in REDUNDANT:
            key = FIXED_KEYS.get(int(number)) or next(free, "")
            if key:
                keys[key] = int(number)
    return keys


def play_by_keys(games: Games, console: Console, keys: Iterator[str]) -> bool:
    """Let a person play one game of the discrete view; return whether it was finished.

    keys  one character each: 1 to 9 and 0 toggle a card, letters act, q quits
    """
    s = games.states[0]
    said = ""
    while games.outcome[0] == Outcome.PLAYING:
        choices = menu(games)
        lines = [f"  {key}  {action_name(s, number)}" for key, number in choices.items()]
        help_text = [
            "",
            *lines,
            f"  {CARD_KEYS[: min(10, int(s.n_hand))]}  select cards" if s.n_hand else "",
            "  q  leave",
        ]
        show(console, describe(s) + "\n".join(help_text), said)
        key = next(keys, QUIT)
        if key == QUIT:
            return False
        said = press(games, key, choices)
    show(console, describe(s), said)
    console.print(ending(games))
    return True


def press(games: Games, key: str, choices: dict[str, int]) -> str:
    """Apply one key, and return its effect or why it had none."""
    s = games.states[0]
    if key in choices:
        said = action_name(s, choices[key])
        games.step(np.array([choices[key]]))
        return said
    position = CARD_KEYS.find(key)
    if 0 <= position < s.n_hand:
        return toggle(games, position)
    return f"key {key!r} does nothing now"


def toggle(games: Games, position: int) -> str:
    """Toggle the selection of a card."""
    s = games.states[0]
    selected = int(s.selected)
    if not (selected >> position) & 1:
        if not games.masks[0, position]:
            return "five cards are selected: let one go first"
        games.step(np.array([position]))
        return f"selected card {position + 1}"
    if s.cards[s.hand[position]].forced:
        return "this card has to be played"
    games.step(np.array([FIRST[Verb.CLEAR]]))
    for other in range(int(s.n_hand)):
        if other != position and (selected >> other) & 1 and games.masks[0, other]:
            games.step(np.array([other]))
    return f"let card {position + 1} go"


@contextmanager
def keyboard() -> Iterator[Iterator[str]]:
    """Yield the keys of standard input one by one: immediately on a terminal, else line by line."""
    if not sys.stdin.isatty():
        yield (key for line in sys.stdin for key in line.strip())
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        yield iter(lambda: sys.stdin.read(1), "")
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
