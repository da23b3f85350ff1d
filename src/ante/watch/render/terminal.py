"""Watching a player in the terminal."""

from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.text import Text

from ante.env.games import Games, Outcome
from ante.env.text import action_name, describe, macro_name
from ante.messages import number_of
from ante.watch.episode import Choose


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
        f"{info['outcome'][0]} in ante {info['ante'][0]} with {number_of(info['blinds'][0], 'blind')} beaten, "
        f"seed {games.seeds[0]}"
    )
