"""Line-ups: which jokers each game of training held when ante ANTE began, and whether the game was won.

The hook of each runner reports its finished games with the fragment in which they ended; the driver sums them
(`LineUpSums`), and its sums are part of checkpoints. A game is therefore counted once, with the fragment that the learner
received, for any number of runners and also after a resume; games of fragments that were lost with a process are not
counted. `ante.training.run.knowledge` writes the sums to a graph.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from ante.catalog.constants import WIN_ANTE
from ante.env.games import Games, Outcome
from ante.knowledge.observing.counts import ANTE, N, add_games, empty_counts
from ante.training.sampling.hooks import RunnerHook
from ante.training.sampling.saved_games import array_like

if TYPE_CHECKING:
    from ante.training.sampling.runner import BatchRunner

LINE_UPS = "line_ups"  # key in the metrics of runners, and in checkpoints


@dataclass(frozen=True)
class LineUps:
    """Finished games that reached ANTE.

    held  (k, N) bool, the jokers by number
    won   (k,) bool
    """

    held: NDArray[np.bool_]
    won: NDArray[np.bool_]

    def saved(self) -> dict[str, Any]:
        """Return the games as plain values, for checkpoints."""
        return dict(vars(self))


def read_line_ups(saved: dict[str, Any]) -> LineUps:
    """Return what `LineUps.saved` returned. Raises ValueError, KeyError or TypeError."""
    k = len(saved["won"])
    held = array_like(saved["held"], np.empty((k, N), dtype=np.bool_), "line-ups")
    return LineUps(held, array_like(saved["won"], np.empty(k, dtype=np.bool_), "results of line-ups"))


def no_line_ups() -> LineUps:
    """Return no games."""
    return LineUps(np.zeros((0, N), dtype=np.bool_), np.zeros(0, dtype=np.bool_))


class LineUpSums:
    """The sums of a run.

    key     identifies the run in graphs, also after it was resumed
    counts  (2, N, N) int64, see `ante.knowledge.observing.counts`
    """

    def __init__(self) -> None:
        self.key, self.counts = uuid4().hex, empty_counts()

    def add(self, found: LineUps) -> None:
        """Add finished games."""
        add_games(self.counts, found.held, found.won)

    def saved(self) -> dict[str, Any]:
        """Return the sums as plain values, for checkpoints."""
        return {"key": self.key, "counts": self.counts.copy()}

    def restore(self, saved: dict[str, Any]) -> None:
        """Set the sums to what `saved` returned. Raises ValueError, KeyError or TypeError."""
        self.counts = array_like(saved["counts"], self.counts, "counts of line-ups").copy()
        self.key = str(saved["key"])


class RecordLineUps(RunnerHook):
    """Records the line-up of each game when ANTE begins. It does not affect the games.

    Games that started from a saved position are left out, and so are those of stages with an earlier goal than the
    last ante, which are won more easily.
    """

    def __init__(self, runner: "BatchRunner") -> None:
        super().__init__(runner)
        self._ended: list[LineUps] = []
        self._held: NDArray[np.bool_]
        self._reached: NDArray[np.bool_]

    def dealt(self, seeds: np.random.SeedSequence, before: Games | None) -> None:
        """See RunnerHook."""
        self._prepare()

    def _prepare(self) -> None:
        self._held = np.zeros((self.games.n, N), dtype=np.bool_)
        self._reached = np.zeros(self.games.n, dtype=np.bool_)

    def saved(self) -> dict[str, Any]:
        """See RunnerHook: the line-ups of the games in progress."""
        return {"held": self._held.copy(), "reached": self._reached.copy()}

    def restore(self, saved: dict[str, Any]) -> None:
        """See RunnerHook."""
        self._prepare()
        self._held = array_like(saved["held"], self._held, "line-ups").copy()
        self._reached = array_like(saved["reached"], self._reached, "games with a line-up").copy()

    def fragment_begins(self, steps: int) -> None:
        """See RunnerHook."""
        self._states = self.games.states.view(np.ndarray)  # SPEED: a view of recarrays takes longer than the comparison
        self._antes = self._states["ante"]

    def stepped(self, t: int) -> None:
        """See RunnerHook."""
        for i in np.flatnonzero((self._antes >= ANTE) & ~self._reached):
            s = self._states[i]
            self._held[i, s["jokers"]["id"][: int(s["n_jokers"])]] = True
            self._reached[i] = True

    def ended(self, which: NDArray[np.int64]) -> None:
        """See RunnerHook."""
        counted = which[self._reached[which] & ~self.runner.begun[which]]
        if self.games.goal == WIN_ANTE and len(counted):
            self._ended.append(LineUps(self._held[counted], self.games.outcome[counted] == Outcome.WON))

    def renewed(self, which: NDArray[np.int64]) -> None:
        """See RunnerHook."""
        self._held[which] = self._reached[which] = False

    def metrics(self) -> dict[str, Any]:
        """See RunnerHook."""
        ended, self._ended = [no_line_ups(), *self._ended], []
        return {
            LINE_UPS: LineUps(
                np.concatenate([each.held for each in ended]), np.concatenate([each.won for each in ended])
            )
        }
