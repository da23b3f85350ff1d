"""Recording of a player's games with their start, their decisions and their final record."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ante.agents.evaluate import GameRecord, Player, evaluate
from ante.engine.actions import Verb, to_macro, verb_of
from ante.engine.core.records import as_records
from ante.engine.core.state import state_t
from ante.env.games import Games
from ante.env.replay import Heading, write_replay
from ante.watch.episode import compact

BATCH = 64  # games per batch
MOST_DECISIONS = 5000  # steps after which a game is truncated


def replays_in(folder: Path) -> list[Path]:
    """Return the replays of a folder, plain and compressed."""
    return sorted((*folder.glob("*.txt"), *folder.glob("*.txt.gz")))


@dataclass(frozen=True)
class Recording:
    """One recorded game.

    actions  macro decisions, including SELECT and CLEAR if the player selects single cards
    record   the result; its actions are numbers of the player's action space
    final    bytes of the game's final record
    """

    heading: Heading
    actions: tuple[int, ...]
    record: GameRecord = field(repr=False)
    final: bytes = field(repr=False)

    def replay(self, words: bool = False) -> str:
        """Return the game as text, with `words` including comments on what happened."""
        if words:
            return write_replay(self.heading, self.actions)
        return compact(self.heading, self.decisions, as_records(np.frombuffer(self.final, dtype=state_t))[0])

    @property
    def decisions(self) -> tuple[int, ...]:
        """The macro decisions of a replay, without SELECT and CLEAR."""
        return tuple(action for action in self.actions if verb_of(action) > Verb.CLEAR)


class RecordingPlayer:
    """A wrapper of a player that records its macro decisions in each game."""

    def __init__(self, player: Player) -> None:
        self.name, self.discrete, self.reorder = player.name, player.discrete, player.reorder
        self._player = player
        self.games: Games | None = None
        self.actions: list[list[int]] = []

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the player's actions and record them."""
        if games is not self.games:
            self.games, self.actions = games, [[] for _ in range(games.n)]
        chosen = self._player.choose(games, playing)
        for i in np.flatnonzero(playing):
            self.actions[i].append(int(to_macro(games.states[i], chosen[i]) if self.discrete else chosen[i]))
        return chosen


def record_games(
    player: Player,
    seeds: Sequence[str],
    heading: Heading,
    batch: int = BATCH,
    advance: Callable[[int], None] = lambda _: None,
    max_decisions: int = MOST_DECISIONS,
) -> Iterator[list[Recording]]:
    """Play one game of each seed, `batch` at a time, with the heading's deck, stake and challenge.

    advance  called with the number of games that just ended
    """
    kind = {name: value for name, value in asdict(heading).items() if name != "seed"}
    for first in range(0, len(seeds), batch):
        wrapped = RecordingPlayer(player)
        part = seeds[first : first + batch]
        report = evaluate(wrapped, part, **kind, max_decisions=max_decisions, advance=advance)
        assert wrapped.games is not None
        yield [
            # Games that end early are not changed afterwards, so all of them keep their final state.
            Recording(Heading(record.seed, **kind), tuple(actions), record, state.tobytes())
            for record, actions, state in zip(report.records, wrapped.actions, wrapped.games.states, strict=True)
        ]
