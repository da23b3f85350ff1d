"""Replay fidelity: write games as text, read and replay them, and compare their final bytes."""

import gzip
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ante.checks import BadValue
from ante.engine.core.state import state_t
from ante.engine.run import new_run
from ante.engine.step import step
from ante.env.replay import read_replay
from ante.recording.games import Recording


@dataclass(frozen=True)
class Mismatch:
    """A game whose replay ends in a different state, and the fields that differ."""

    seed: str
    fields: tuple[str, ...]


@dataclass(frozen=True)
class Fidelity:
    """Results of replaying many recorded games.

    text_bytes, gzip_bytes    mean and largest size of a replay, as text and gzipped
    action_bytes              mean gzipped size of a game's seed and decisions, with eight bytes per decision
    seconds                   time to read and replay all games
    """

    games: int
    decisions: int
    differences: tuple[Mismatch, ...]
    state_bytes: int
    text_bytes: float
    text_bytes_most: int
    gzip_bytes: float
    gzip_bytes_most: int
    action_bytes: float
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return all fields as plain data."""
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
    """Write, read and replay all games. `keep` is called with each game and its text; `words` adds comments.

    Raises BadValue if there are no games.
    """
    texts, packed, bare, decisions, seconds = [], [], [], 0, 0.0
    differences = []
    for game in games:
        text = game.replay(words)
        keep(game, text)
        begin = time.perf_counter()
        found = differing(game.final, final_state(text).tobytes())
        seconds += time.perf_counter() - begin
        if found:
            differences.append(Mismatch(game.heading.seed, found))
        texts.append(len(text.encode()))
        packed.append(len(gzip.compress(text.encode(), mtime=0)))
        bare.append(len(gzip.compress(game.heading.seed.encode() + np.array(game.decisions).tobytes(), mtime=0)))
        decisions += len(game.decisions)
    if not texts:
        raise BadValue("games", [], "use one or more recorded games")
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
