"""Replay fidelity: games are written as text, read back, replayed, and compared by their final bytes."""

import gzip
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ante.engine.core.state import state_t
from ante.engine.run import new_run
from ante.engine.step import step
from ante.env.replay import read_replay
from ante.recording.games import Recording


@dataclass(frozen=True)
class Untrue:
    """A game whose replay ends in a different state: the fields that differ."""

    seed: str
    fields: tuple[str, ...]


@dataclass(frozen=True)
class Fidelity:
    """Results of replaying many recorded games.

    text_bytes, gzip_bytes    a replay, as text and compressed by itself: mean and largest
    action_bytes              a game's seed and decisions alone, eight bytes each, compressed: mean
    seconds                   to read and play all of them again
    """

    games: int
    decisions: int
    differences: tuple[Untrue, ...]
    state_bytes: int
    text_bytes: float
    text_bytes_most: int
    gzip_bytes: float
    gzip_bytes_most: int
    action_bytes: float
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        return asdict(self)


def final_state(text: str) -> np.record:
    """Return the record of a game after the last decision of its replay. Raises BadReplay."""
    heading, actions = read_replay(text)
    s = new_run(**asdict(heading))
    for action in actions:
        step(s, np.int64(action))
    return s


def differing(one: bytes, other: bytes) -> tuple[str, ...]:
    """Return the names of the fields in which two records differ."""
    if one == other:
        return ()
    a, b = (np.frombuffer(data, dtype=state_t)[0] for data in (one, other))
    return tuple(name for name in state_t.names or () if a[name].tobytes() != b[name].tobytes()) or ("padding",)


def check_fidelity(
    games: Iterable[Recording], keep: Callable[[Recording, str], None] = lambda _, __: None, words: bool = False
) -> Fidelity:
    """Write, read and replay every game. `keep` is given each with its text; `words` writes what happened too."""
    texts, packed, bare, decisions, seconds = [], [], [], 0, 0.0
    differences = []
    for game in games:
        text = game.replay(words)
        keep(game, text)
        begin = time.perf_counter()
        found = differing(game.final, final_state(text).tobytes())
        seconds += time.perf_counter() - begin
        if found:
            differences.append(Untrue(game.heading.seed, found))
        texts.append(len(text.encode()))
        packed.append(len(gzip.compress(text.encode(), mtime=0)))
        bare.append(len(gzip.compress(game.heading.seed.encode() + np.array(game.decisions).tobytes(), mtime=0)))
        decisions += len(game.decisions)
    return Fidelity(
        games=len(texts),
        decisions=decisions,
        differences=tuple(differences),
        state_bytes=state_t.itemsize,
        text_bytes=statistics.fmean(texts),
        text_bytes_most=max(texts),
        gzip_bytes=statistics.fmean(packed),
        gzip_bytes_most=max(packed),
        action_bytes=statistics.fmean(bare),
        seconds=seconds,
    )
