"""Games saved in the middle, many in one file: written from replays, and begun from again with the same future.

A file is the saved games of `engine.state.save_state`, one after the other, compressed with gzip. A saved game holds its
random streams, so that what comes later (draws, shops, bosses) is what its seed says.
"""

import gzip
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.engine.state import Phase, copy_states, load_state, new_states, save_state, state_t
from ante.env.games import Games, observe_games
from ante.env.text import seed_of
from ante.errors import BalatroError
from ante.files import whole
from ante.watch.episode import Episode

WAY_OUT = "write one with ante replay states"
MARKS: dict[str, Callable[[Any, int, int], bool]] = {  # what a position is asked for by: (record, number, decisions)
    "ante": lambda s, number, _: s.phase == Phase.BLIND_SELECT and s.ante >= number,
    "round": lambda s, number, _: s.round_number >= number,
    "decision": lambda _s, number, decisions: decisions >= number,
}


class BadStarts(BalatroError, ValueError):
    """A file of saved games that cannot be begun from."""


@dataclass(frozen=True)
class Mark:
    """A position of a game: the first one before a blind of this ante, in this round, or after so many decisions."""

    kind: str
    number: int

    @classmethod
    def read(cls, text: str) -> "Mark":
        """Such as ante=4. Raises BadStarts."""
        kind, _, number = text.partition("=")
        if kind not in MARKS or not number.isdecimal():
            raise BadStarts(f"{text!r} is no position: write {', '.join(f'{kind}=4' for kind in MARKS)} or the like")
        return cls(kind, int(number))


def positions(episode: Episode, marks: Iterable[Mark]) -> list[np.recarray]:
    """The first position of each kind, in the order of the game, (1,) each; one that is never reached is left out.

    Where the game is over there is nothing to begin from. Raises RefusedDecision.
    """
    open_marks, found = set(marks), []
    last = episode.start[0]
    for decisions, (before, _, after) in enumerate(episode.walk()):
        last = after
        here = {mark for mark in open_marks if MARKS[mark.kind](before, mark.number, decisions)}
        if here:
            found.append(copied(before))
            open_marks -= here
    here = {mark for mark in open_marks if MARKS[mark.kind](last, mark.number, len(episode.actions))}
    return found + ([copied(last)] if here and not over(last) else [])


def copied(s: Any) -> np.recarray:
    """A record of its own, (1,); field by field, so that equal games are equal bytes (padding is 0)."""
    states = new_states(1)
    states[0] = s
    return states


def over(s: Any) -> str:
    """How a game is over, `lost` or `won`; empty while it is played."""
    return "lost" if s.phase == Phase.OVER else "won" if s.won else ""


def write_starts(file: Path, games: Iterable[np.recarray]) -> None:
    """The file holds these games, (1,) each. Raises OSError."""
    head = save_state(new_states(1)[0])[: -state_t.itemsize]
    data = b"".join(head + states.view(np.uint8).tobytes() for states in games)
    with whole(file) as aside:
        aside.write_bytes(gzip.compress(data, mtime=0))


def read_starts(file: Path) -> np.recarray:
    """The games of a file, (n,). Raises BadStarts."""
    return parse_starts(starts_bytes(file), file)


def starts_bytes(file: Path) -> bytes:
    """What the file holds. Raises BadStarts."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise BadStarts(f"cannot read saved games from {file}: {error.strerror}; {WAY_OUT}") from None


def parse_starts(data: bytes, file: Path | str = "start states") -> np.recarray:
    """The games in the bytes of a file, (n,), all of them still to be played. Raises BadStarts."""
    try:
        plain = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except (OSError, EOFError, zlib.error) as error:
        raise BadStarts(f"{file} is not whole: {error}; {WAY_OUT}") from None
    if not plain:
        raise BadStarts(f"{file} holds no game: {WAY_OUT}")
    states, each = [], len(save_state(new_states(1)[0]))
    for at in range(0, len(plain), each):
        try:
            states.append(copied(load_state(plain[at : at + each])))
        except ValueError as error:
            raise BadStarts(f"{file}, game {1 + at // each}: {error}; {WAY_OUT}") from None
        if how := over(states[-1][0]):
            raise BadStarts(
                f"{file}, game {1 + at // each} (seed {seed_of(states[-1][0])}) is over, {how}: only a game that goes on "
                "can be begun from"
            )
    found = new_states(len(states))
    found.view(np.uint8)[:] = np.concatenate([each.view(np.uint8) for each in states])
    return found


def stand(games: Games, which: NDArray[np.int64], states: Any) -> None:
    """Games that have just been dealt stand as saved ones instead, their future too.

    which  (k,) indices; states (k,) state_t, which are copied
    """
    saved = copy_states(states)
    games.states.view(np.uint8).reshape(games.n, -1)[which] = saved.view(np.uint8).reshape(len(which), -1)
    games.seeds[which] = [seed_of(s) for s in saved]
    games.steps[which] = 0
    observe_games(games.states, which, games.reorder, games.observations, games.flat)
