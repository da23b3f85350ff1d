"""Files of saved positions, extracted from replays, from which games can start.

A file is the gzipped concatenation of games saved by `engine.core.state.save_state`. A saved game contains its random
streams, so later draws, shops and bosses are those of its seed.
"""

import gzip
import io
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.engine.core.records import as_records
from ante.engine.core.state import Phase, copy_states, load_state, new_states, save_state, state_t
from ante.engine.validation import validate_states
from ante.env.games import Games, observe_games
from ante.env.text import seed_of
from ante.errors import BalatroError, shown
from ante.files import Unreadable, read_bytes, write_gzip
from ante.watch.episode import Episode

WAY_OUT = "write one with ante replay states"
LARGEST_STARTS = 1 << 28  # bytes of a file
MOST_STARTS = 50_000  # games of a file, 430 MB
MARKS: dict[str, Callable[[Any, int, int], bool]] = {  # predicates of positions: (record, number, decisions)
    "ante": lambda s, number, _: s.phase == Phase.BLIND_SELECT and s.ante >= number,
    "round": lambda s, number, _: s.round_number >= number,
    "decision": lambda _s, number, decisions: decisions >= number,
}


class BadStarts(BalatroError, ValueError):
    """An invalid file of saved games."""


@dataclass(frozen=True)
class Mark:
    """A position of a game: the first one before a blind of this ante, in this round, or after this many decisions."""

    kind: str
    number: int

    @classmethod
    def read(cls, text: str) -> "Mark":
        """Parse a mark such as ante=4. Raises BadStarts."""
        kind, _, number = text.partition("=")
        if kind not in MARKS or not number.isascii() or not number.isdecimal() or len(number) > 9:
            raise BadStarts(f"{shown(text)} is not a position such as {', '.join(f'{kind}=4' for kind in MARKS)}")
        return cls(kind, int(number))


def positions(episode: Episode, marks: Iterable[Mark]) -> list[np.recarray]:
    """Return the first position of each mark, in the order of the game, (1,) each, without marks that are not reached.

    Final positions of finished games are left out. Raises RefusedDecision.
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
    """Return a copy of a record, (1,), made field by field, so that equal games have equal bytes (padding is 0)."""
    states = new_states(1)
    states[0] = s
    return states


def over(s: Any) -> str:
    """Return `lost` or `won` for a finished game, else an empty string."""
    return "lost" if s.phase == Phase.OVER else "won" if s.won else ""


def write_starts(file: Path, games: Iterable[np.recarray]) -> None:
    """Write these games, (1,) each, to the file. Raises OSError."""
    head = save_state(new_states(1)[0])[: -state_t.itemsize]
    write_gzip(file, b"".join(head + states.view(np.uint8).tobytes() for states in games))


def read_starts(file: Path) -> np.recarray:
    """Return the games of a file, (n,). Raises BadStarts."""
    return parse_starts(starts_bytes(file), file)


def starts_bytes(file: Path) -> bytes:
    """Return the contents of the file. Raises BadStarts."""
    try:
        return read_bytes(file, LARGEST_STARTS)
    except Unreadable as error:
        raise BadStarts(f"{error}; {WAY_OUT}") from None


def parse_starts(data: bytes, file: Path | str = "start states") -> np.recarray:
    """Return the games in the bytes of a file, (n,), all of them in progress. Raises BadStarts."""
    stream = gzip.GzipFile(fileobj=io.BytesIO(data)) if data[:2] == b"\x1f\x8b" else io.BytesIO(data)
    each = len(save_state(new_states(1)[0]))
    states: list[np.recarray] = []
    try:
        while record := stream.read(each):
            where = f"{file}, game {1 + len(states)}"
            if len(states) == MOST_STARTS:
                raise BadStarts(f"{file} contains more than the limit of {MOST_STARTS:,} games")
            states.append(parse_start(record, where))
    except (OSError, EOFError, zlib.error) as error:
        raise BadStarts(f"{file} is incomplete or damaged: {error}; {WAY_OUT}") from None
    if not states:
        raise BadStarts(f"{file} contains no games: {WAY_OUT}")
    found = new_states(len(states))
    found.view(np.uint8)[:] = np.concatenate([one.view(np.uint8) for one in states])
    return found


def parse_start(record: bytes, where: str) -> np.recarray:
    """Return one saved game in progress, (1,). Raises BadStarts, which names its file."""
    try:
        states = copied(load_state(record))
        validate_states(states)
    except ValueError as error:
        raise BadStarts(f"{where}: {error}; {WAY_OUT}") from None
    if how := over(states[0]):
        raise BadStarts(f"{where} (seed {seed_of(states[0])}) is over, {how}: choose a game in progress")
    return states


def stand(games: Games, which: NDArray[np.int64], states: NDArray[Any]) -> None:
    """Replace newly started games with saved ones.

    which  (k,) indices; states (k,) state_t, which are copied
    """
    saved = copy_states(as_records(states))
    games.states.view(np.uint8).reshape(games.n, -1)[which] = saved.view(np.uint8).reshape(len(which), -1)
    games.seeds[which] = [seed_of(s) for s in saved]
    games.steps[which] = 0
    observe_games(games.states, which, games.reorder, games.observations, games.flat)
