"""Practice: a share of the games starts from positions that earlier games of this runner have reached.

Late antes are rare until a policy is good, and training on them makes it better. At each first blind of an ante the
game's record (8.6 KB) is copied, and some of the new games continue from such a record with another seed, which makes
the future random. These games count for learning, but not for the statistics.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.catalog.constants import WIN_ANTE
from ante.engine.core.state import Phase, new_states
from ante.engine.validation import validate_states
from ante.env.games import Games
from ante.training.numerics.packed_rows import octets_of
from ante.training.sampling.hooks import RunnerHook
from ante.training.sampling.saved_games import array_like, read_generators, read_records, save_generators, save_records

KEPT = 64  # positions kept per ante; the oldest are overwritten first


class Practice(RunnerHook):
    """Keeps reached positions by ante and starts a share of the games from them."""

    def dealt(self, seeds: np.random.SeedSequence, before: Games | None) -> None:
        """See RunnerHook. Positions are kept if the new stage could reach them: same deck and stake, goal not lower."""
        games = self.games
        self._antes = np.ones(games.n, dtype=np.int64)
        same = before is not None and (before.deck, before.stake) == (games.deck, games.stake)
        if same and before is not None and before.goal <= games.goal:
            self.renewed(np.arange(games.n))
            return
        self._rng = np.random.default_rng(int(seeds.generate_state(1)[0]))
        self._kept = new_states(KEPT * WIN_ANTE)
        self._counts = np.zeros(WIN_ANTE, dtype=np.int64)  # number kept so far, by ante - 1

    def stepped(self, t: int) -> None:
        """Keep the positions of games that have just reached the first blind of a new ante."""
        states = self.games.states.view(np.ndarray)
        antes = states["ante"]
        for i in np.flatnonzero((antes > self._antes) & (states["phase"] == Phase.BLIND_SELECT)):
            self._antes[i] = antes[i]
            if antes[i] <= WIN_ANTE:
                row = int(antes[i]) - 1
                self._keep(KEPT * row + self._counts[row] % KEPT, self.games.states[i : i + 1])
                self._counts[row] += 1

    def _keep(self, at: int, state: NDArray[Any]) -> None:
        """Copy one record bytewise."""
        self._kept[at : at + 1].view(np.uint8)[:] = state.view(np.uint8)

    def renewed(self, which: NDArray[np.int64]) -> None:
        """Replace some of these newly reset games by a kept position: an ante is sampled, then one of its positions."""
        self._antes[which] = 1
        antes = np.flatnonzero(self._counts)
        if len(antes) == 0:
            return
        chosen = which[self._rng.random(len(which)) < self.runner.config.practice]
        if len(chosen) == 0:
            return
        rows = self._rng.choice(antes, len(chosen))
        places = self._rng.integers(0, np.minimum(self._counts[rows], KEPT))
        self.games.put(chosen, self._kept[KEPT * rows + places], trusted=True)
        self._antes[chosen] = rows + 1
        self.runner.begun[chosen] = True

    def saved(self) -> dict[str, Any]:
        """See RunnerHook."""
        return {
            "antes": self._antes.copy(),
            "counts": self._counts.copy(),
            "kept": save_records(self._kept[self._filled()]),
            "rng": save_generators([self._rng]),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """See RunnerHook."""
        self._antes = array_like(saved["antes"], np.empty(self.games.n, dtype=np.int64), "antes").copy()
        self._counts = array_like(saved["counts"], np.empty(WIN_ANTE, dtype=np.int64), "counts").copy()
        if (self._counts < 0).any():
            raise ValueError(f"the counts of kept positions are {self._counts.tolist()}: none can be negative")
        filled = self._filled()
        kept = read_records(saved["kept"], len(filled))
        validate_states(kept)
        self._kept = new_states(KEPT * WIN_ANTE)
        octets_of(self._kept)[filled] = octets_of(kept)
        (self._rng,) = read_generators(saved["rng"], 1)

    def _filled(self) -> NDArray[np.int64]:
        """Return the places of all kept positions, in order."""
        return np.concatenate([KEPT * row + np.arange(min(count, KEPT)) for row, count in enumerate(self._counts)])
