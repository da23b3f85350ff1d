"""Games for tests of the terminal, and the keys of decisions."""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from ante.engine.actions import Verb, cards_of, target_of, to_of, verb_of
from ante.engine.core.state import Phase, new_states
from ante.engine.drivers.random_play import fuzz
from ante.env.replay import Heading
from ante.terminal.advice import RULES, Adviser
from ante.terminal.bindings import BINDINGS, CARDS, LEFT, RIGHT, SLOTS, SPACE
from ante.terminal.faces import UNICODE
from ante.terminal.game import Game
from ante.terminal.screen import screen
from ante.terminal.sections import Look
from ante.terminal.session import Session, start_of

WIDTH, HEIGHT = 80, 24
BY_VERB = {(each.verb, each.to): each for each in BINDINGS if each.verb is not None}


def no_player(name: str) -> Any:
    """Fail, since no test needs another player than the rules."""
    raise AssertionError(name)


def game_of(s: Any, file: Path | None = None) -> Game:
    """Return the game at this record, which is copied."""
    states = new_states(1)
    states[0] = s
    return Game(Session(states), Adviser(RULES, no_player), file)


def new_game(seed: str = "TESTSEED", file: Path | None = None) -> Game:
    """Return a new game."""
    heading = Heading(seed)
    return Game(Session(start_of(heading), heading), Adviser(RULES, no_player), file)


def random_games(n: int, seed: int, one_chip: bool) -> np.recarray:
    """Return games in progress of all decks, stakes and challenges, stopped at random steps."""
    states = new_states(n)
    fuzz(states, n * (20 + seed % 60), seed, int(one_chip), np.zeros(4, dtype=np.int64))
    return states[states.phase != Phase.OVER].view(np.recarray)


def drawn(game: Game, height: int | None = HEIGHT, width: int = WIDTH) -> list[str]:
    """Return the lines of the screen."""
    return [line.plain for line in screen(game, Look(width, UNICODE), height)]


def press(game: Game, keys: Iterable[str]) -> list[str]:
    """Press keys and return their messages."""
    game.said = []
    for key in keys:
        game.press(key)
    return game.said


def selection_keys(session: Session, cards: int) -> list[str]:
    """Return the keys that change the selection to these hand positions."""
    keys, cursor = [], session.cursor
    changed = [i for i in range(int(session.s.n_hand)) if ((cards ^ session.selected) >> i) & 1]
    for i in sorted(changed, key=lambda i: (cards >> i) & 1):  # let cards go first
        if i < len(CARDS):
            keys.append(CARDS[i])
        else:
            keys += [RIGHT if i > cursor else LEFT] * abs(i - cursor) + [SPACE]
        cursor = i
    return keys


def keys_of(session: Session, action: int) -> list[str]:
    """Return the keys that take a macro decision, without those that select its cards."""
    verb, slot, to = Verb(int(verb_of(action))), int(target_of(action)), int(to_of(action))
    if verb == Verb.MOVE_JOKER:
        binding = BY_VERB[verb, 1 if to > slot else -1]
    else:
        binding = BY_VERB[verb, to]
    return [binding.key, SLOTS[slot]] if binding.slot else [binding.key]


def press_decision(game: Game, action: int) -> list[str]:
    """Press the keys of a macro decision, and return their messages."""
    cards = int(cards_of(action))
    keys = selection_keys(game.session, cards) if cards or verb_of(action) <= Verb.DISCARD else []
    return press(game, [*keys, *keys_of(game.session, action)])


def printed(width: int = WIDTH) -> tuple[Console, io.StringIO]:
    """Return a console that is not a terminal, and what it prints."""
    text = io.StringIO()
    return Console(file=text, width=width), text
