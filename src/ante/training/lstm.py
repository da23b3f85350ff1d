"""The LSTM policy on the flat observation: its rows, its runner, its player."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from ray.rllib.core.columns import Columns
from torch import nn

from ante.engine.actions import N_DISCRETE, Verb, pack_action
from ante.engine.state import MAX_HAND, restore_states
from ante.env.games import REORDERS, Games
from ante.env.layout import FLAT_SIZE, masked_space
from ante.training import twins
from ante.training.chances import OFF, log_softmax
from ante.training.layers import clear, shared_layers
from ante.training.packed import DeviceRows, FilledRows, FirstLayer
from ante.training.policy import note_on_numbers
from ante.training.recurrent import Recall, RecurrentPolicy, remembering
from ante.training.rollout import on_host
from ante.training.rows import flat_row_t, pack_flat
from ante.training.runner import BatchRunner
from ante.watch.notes import Note

GAMES_OF_A_RUNNER = 1 << 40  # numbers of games that are a runner's own


class LstmPolicy(RecurrentPolicy):
    """Shared layers as the mlp's, an LSTM, heads on both.

    model_config: hidden, widths of the shared layers; memory, width of the LSTM; sequence, decisions through which
    gradients go back.
    """

    discrete = True
    flat = True

    @staticmethod
    def spaces() -> tuple[spaces.Space[Any], spaces.Space[Any]]:
        """Of observations and actions, as the mlp's."""
        return masked_space(), spaces.Discrete(N_DISCRETE)

    def setup(self) -> None:
        """Build the layers from model_config."""
        first, *later = self.model_config["hidden"]
        self.first = clear(FirstLayer(FLAT_SIZE, first))
        self.trunk = nn.Sequential(nn.SiLU(), *shared_layers(first, later))
        self.build(
            self.model_config["hidden"][-1], self.model_config["memory"], N_DISCRETE, self.model_config["sequence"]
        )
        self.row_t = remembering(flat_row_t, self.width)

    def pack(self, games: Games, out: NDArray[Any]) -> None:
        """Write what the players of all games see: out (n,) row_t, overwritten; nothing is remembered yet."""
        pack_flat(games.flat, games.masks, out)

    def decisions(self, rows: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Actions are numbers of the discrete view already."""
        return actions

    def look(self, rows: NDArray[Any]) -> FilledRows | DeviceRows:
        """Columns that are filled, or on CUDA the rows' bytes on the device."""
        return FilledRows(rows) if self.device.type == "cpu" else DeviceRows(rows, self.device)

    def encoded(self, seen: FilledRows | torch.Tensor) -> torch.Tensor:
        """The last shared layer, (m, features)."""
        if isinstance(seen, FilledRows):
            return self.trunk(self.first.sparse(seen)).float()
        return self.trunk(self.first(twins.unpack_octets(seen))).float()

    def legal(self, seen: FilledRows | torch.Tensor) -> torch.Tensor:
        """Masks of the rows, (m, actions)."""
        if isinstance(seen, FilledRows):
            return twins.bits_of(torch.from_numpy(seen.legal), N_DISCRETE)
        return twins.legal_of(seen)

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, torch.Tensor]:
        """Logits of dense observations, as of games of which nothing is remembered."""
        observation = batch[Columns.OBS]
        features = self.trunk(self.first(observation["observations"].float()))
        logits, _ = self.heads(features, self.cell(features[None])[0][0])
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(observation["action_mask"] == 0, OFF)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Values of dense observations (n,), as of games of which nothing is remembered."""
        features = self.trunk(self.first(batch[Columns.OBS]["observations"].float()))
        return self.heads(features, self.cell(features[None])[0][0])[1]


class LstmRunner(BatchRunner):
    """A BatchRunner whose policy remembers: from decision to decision, and from one fragment to the next."""

    _recall: Recall

    def deal(self) -> None:
        """All games begin; nothing is remembered."""
        assert self.games is not None
        self._recall = Recall(self.games.n, self.module.width, self._index * GAMES_OF_A_RUNNER)
        super().deal()

    def _renewed(self, games: Games, which: NDArray[np.int64]) -> None:
        """These games have just been dealt: nothing is remembered of them."""
        super()._renewed(games, which)
        self._recall.begin(which)

    def _see(self, games: Games, out: NDArray[Any]) -> None:
        """What the policy sees and what it remembers: out (n,) row_t, overwritten."""
        super()._see(games, out)
        self._recall.write(out)

    def _acted(self, games: Games, rows: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """As any runner; what is remembered goes on."""
        *found, memories = self.module.drawn(rows, self._rng)
        self._recall.saw(np.arange(games.n), memories)
        actions, log_probs, values = map(on_host, found)
        return actions, log_probs, values


class Following:
    """What the policy remembers of games that somebody else steps: kept up with `games.steps`.

    A position may be asked about again: the memory goes on when the game has.
    """

    def __init__(self, policy: LstmPolicy, games: Games) -> None:
        self.games, self._policy = games, policy
        self._recall = Recall(games.n, policy.width)
        self._ahead, self._asked = self._recall.memory.copy(), np.full(games.n, -1, dtype=np.int64)

    def rows(self) -> NDArray[Any]:
        """What is seen and remembered of all games, (n,) row_t."""
        games = self.games
        gone_on = np.flatnonzero((self._asked >= 0) & (games.steps > self._asked))
        self._recall.saw(gone_on, self._ahead[gone_on])
        self._asked[gone_on] = -1
        self._recall.begin(np.flatnonzero((games.steps == 0) & (self._recall.move > 0)))
        rows = np.zeros(games.n, dtype=self._policy.row_t)
        self._policy.pack(games, rows)
        self._recall.write(rows)
        return rows

    def saw(self, which: NDArray[np.int64], memories: NDArray[np.float32]) -> None:
        """What will be remembered (k, 2, width) once the games at these indices (k,) have gone on."""
        self._ahead[which], self._asked[which] = memories, self.games.steps[which]


def unselected(games: Games, policy: LstmPolicy) -> Iterator[NDArray[Any]]:
    """Rows (1,) of the one game before each of its selected cards was selected, from left to right."""
    selected = int(games.states[0].selected)
    if not selected:
        return
    reorder = next(name for name, number in REORDERS.items() if number == games.reorder)
    aside = Games(1, reorder=reorder, discrete=False, endless=True)
    restore_states(aside.states, games.states)
    aside.step(np.array([pack_action(Verb.CLEAR, 0, 0, 0)]))
    for place in range(MAX_HAND):
        if (selected >> place) & 1:
            row = np.zeros(1, dtype=policy.row_t)
            policy.pack(aside, row)
            yield row
            aside.step(np.array([pack_action(Verb.SELECT, place, 0, 0)]))


class LstmPlayer:
    """A trained LSTM policy as evaluation and videos ask for it; what it remembers is kept for each game."""

    discrete = True
    reorder = "none"

    def __init__(self, policy: LstmPolicy, name: str, likeliest: bool = False, seed: int = 0) -> None:
        self.name, self._policy, self._likeliest = name, policy, likeliest
        self._generator = torch.Generator(policy.device).manual_seed(seed)
        self._playing: Following | None = None
        self._telling: Following | None = None

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """One number of the discrete view for each game (n,) int64, -1 where a game is not played any more."""
        if self._playing is None or self._playing.games is not games:
            self._playing = Following(self._policy, games)
        which, actions = np.flatnonzero(playing), np.full(games.n, -1, dtype=np.int64)
        chosen, _, _, memories = self._policy.drawn(self._playing.rows()[which], self._generator, self._likeliest)
        self._playing.saw(which, memories)
        actions[which] = on_host(chosen)
        return actions

    def explain(self, games: Games, taken: int) -> Note:
        """See `watch.notes.Explained`. Replays do not say in which order cards were selected: it is taken as from left
        to right, so what is remembered may differ a little from what it was.
        """
        if self._telling is None or self._telling.games is not games:
            self._telling = Following(self._policy, games)
        row = self._telling.rows()
        memory = row["memory"]
        for seen in unselected(games, self._policy):
            seen["memory"] = memory
            memory = self._policy.ahead(seen)[3]
        row["memory"] = memory
        logits, legal, values, memories = self._policy.ahead(row)
        self._telling.saw(np.arange(1), memories)
        return note_on_numbers(games, on_host(log_softmax(logits, legal)[0].exp()), taken, float(values[0]))
