"""Games to learn from: won only with search, as replays, with the moments at which search changed most.

games/SEED.txt            a replay, for `ante watch` and `ante replay`
games/SEED.notes.json.gz  what was searched for each decision, which `ante watch` shows
games/moments.json        for each seed the budget, and the changes of which most was expected
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ante.env.games import Games
from ante.env.replay import Heading
from ante.files import read_object, write_text
from ante.search.player import Finding, finding_text
from ante.watch.episode import compact
from ante.watch.notes import Note, notes_beside, write_notes

FOLDER, MOMENTS = "games", "moments.json"
MOST_GAMES, MOST_MOMENTS = 10, 3


@dataclass(frozen=True)
class Moment:
    """A decision that search changed.

    decision  its number in the replay, from 1
    gain      expected gain in percent of wins
    """

    decision: int
    ante: int
    gain: float
    finding: str


class Story:
    """The decisions and changes of games that are played together."""

    def __init__(self, player: str, seeds: Sequence[str]) -> None:
        self.player, self.seeds = player, seeds
        self._actions: list[list[int]] = [[] for _ in seeds]
        self._moments: list[list[Moment]] = [[] for _ in seeds]
        self._notes: list[list[Note]] = [[] for _ in seeds]
        self._replays: dict[str, str] = {}

    def decided(
        self, games: Games, which: NDArray[np.int64], actions: NDArray[np.int64], found: Sequence[Finding]
    ) -> None:
        """Record decisions before they are played; found (len(which),), empty for a player without search."""
        for k, i in enumerate(which):
            self._actions[i].append(int(actions[i]))
            if not found:
                continue
            s, number, text = games.states[i], len(self._actions[i]), finding_text(games.states[i], found[k])
            self._notes[i].append(Note(None, (), None, search=text))
            if found[k].chosen:
                self._moments[i].append(Moment(number, int(s.ante), round(found[k].gain, 2), text))

    def ended(self, games: Games, i: int) -> None:
        """Store the replay of a game that has just ended."""
        self._replays[self.seeds[i]] = compact(Heading(self.seeds[i]), self._actions[i], games.states[i])

    def keep(self, out: Path, budget: str, seeds: Sequence[str]) -> None:
        """Write the games of these seeds to a campaign's folder, up to MOST_GAMES in all."""
        file = out / FOLDER / MOMENTS
        told = read_object(file) if file.exists() else {}
        for i, seed in enumerate(self.seeds):
            if seed in seeds and seed not in told and len(told) < MOST_GAMES:
                file.parent.mkdir(parents=True, exist_ok=True)
                best = sorted(self._moments[i], key=lambda each: -each.gain)[:MOST_MOMENTS]
                told[seed] = {"budget": budget, "moments": [asdict(each) for each in best]}
                replay = out / FOLDER / f"{seed}.txt"
                write_text(replay, self._replays[seed])
                write_notes(notes_beside(replay), self.player, self._notes[i])
                write_text(file, json.dumps(told, indent=1) + "\n")
