"""The LSTM policy: its recurrent state during sampling, and its unrolling over sequences in learning.

A packed row holds the recurrent state before it (h and c), a game number and the index of the decision in that game.
Consecutive rows are therefore unrolled together, starting from the state in the first one. A sequence never crosses the
end of a game or a multiple of `length` decisions, where gradients are truncated (truncated backpropagation through
time).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import nn
from torch.nn.utils.rnn import PackedSequence

from ante.engine.actions import N_DISCRETE
from ante.env.games import Games
from ante.env.layout import FLAT_SIZE, masked_space
from ante.training.numerics import torch_ops
from ante.training.numerics.distributions import OFF, log_softmax
from ante.training.numerics.packed_rows import flat_row_t, pack_flat
from ante.training.policies.layers import heads, orthogonal, recurrent, shared_layers
from ante.training.policies.mlp_rows import DeviceRows, FilledRows, FirstLayer
from ante.training.policies.protocol import Choice, GamePolicy, GameState

GAMES_OF_A_STREAM = 1 << 40  # range of game numbers per stream


def with_memory(seen: np.dtype[Any], width: int) -> np.dtype[Any]:
    """Return the dtype `seen` extended by h and c, the game number and the decision's index in the game."""
    return np.dtype([("seen", seen), ("memory", "<f4", (2, width)), ("game", "<u8"), ("move", "<u8")])


class Memory(GameState):
    """The recurrent states of n games played in a batch.

    memory  (n, 2, width) float32; zeros at the start of a game
    game    (n,) uint64, unique per game; move (n,) uint64, decisions observed in it
    """

    def __init__(self, n: int, width: int, first: int = 0) -> None:
        self.memory = np.zeros((n, 2, width), dtype=np.float32)
        self.game, self.move = np.arange(first, first + n, dtype=np.uint64), np.zeros(n, dtype=np.uint64)
        self._next = first + n

    def begin(self, which: NDArray[np.int64]) -> None:
        """Zero the states of these games and assign new game numbers."""
        self.memory[which], self.move[which] = 0.0, 0
        self.game[which] = np.arange(self._next, self._next + len(which))
        self._next += len(which)

    def observe(self, games: Games, rows: NDArray[Any]) -> None:
        """Write the recurrent states before the current decisions into rows (n,)."""
        rows["memory"], rows["game"], rows["move"] = self.memory, self.game, self.move

    def advance(self, which: NDArray[np.int64], carry: NDArray[np.float32]) -> None:
        """Set the states of these games (k,) to `carry` (k, 2, width)."""
        self.memory[which] = carry
        self.move[which] += np.uint64(1)


@dataclass(frozen=True)
class Unrolled:
    """Sequences of m rows, longest first, in the time-major layout of PyTorch's PackedSequence.

    rows    (m,) int64: the first decisions of all sequences, then the second decisions of those that have one, ...
    counts  (longest,) int64: number of sequences that reach each time step
    first   (sequences,) int64: the first row of each sequence
    """

    rows: NDArray[np.int64]
    counts: NDArray[np.int64]
    first: NDArray[np.int64]


def sequences(game: NDArray[np.uint64], move: NDArray[np.uint64], length: int) -> tuple[NDArray[np.int64], ...]:
    """Return rows (m,) sorted by game and decision, and the start of each sequence in that order; both int64."""
    order = np.lexsort((move, game))
    game, move = game[order], move[order]
    follows = (game[1:] == game[:-1]) & (move[1:] == move[:-1] + np.uint64(1)) & (move[1:] % np.uint64(length) != 0)
    return order, np.flatnonzero(np.concatenate([[True], ~follows]))


def unrolled(game: NDArray[np.uint64], move: NDArray[np.uint64], length: int) -> Unrolled:
    """Return the sequences of at least one row in PackedSequence layout."""
    order, starts = sequences(game, move, length)
    sizes = np.diff(starts, append=len(order))
    longest = np.argsort(-sizes, kind="stable")
    rank = np.empty(len(starts), dtype=np.int64)
    rank[longest] = np.arange(len(starts))
    of = np.repeat(np.arange(len(starts)), sizes)
    depth = np.arange(len(order)) - starts[of]
    laid = np.lexsort((rank[of], depth))
    return Unrolled(order[laid], np.bincount(depth), order[starts[longest]])


@dataclass(frozen=True)
class Staged:
    """Rows prepared for the network; indexing returns a minibatch.

    seen    input of the encoder, indexable
    memory, game, move  as in the rows
    """

    seen: Any
    memory: NDArray[np.float32]
    game: NDArray[np.uint64]
    move: NDArray[np.uint64]

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.game)

    def __getitem__(self, which: NDArray[np.int64]) -> "Staged":
        """Return the rows at these indices."""
        return Staged(self.seen[which], self.memory[which], self.game[which], self.move[which])


class RecurrentPolicy(GamePolicy, TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]
    """Base of policies with an LSTM between an encoder and the heads.

    A subclass defines `setup`, which calls `build`, and the encoder: `look`, `encoded` and `legal`.
    """

    def build(self, features: int, memory: int, actions: int, length: int) -> None:
        """Create the LSTM and the heads. The heads see the encoder's features concatenated with the LSTM's output.

        features  width of the encoder; memory  width of the LSTM; length  truncation length of backpropagation through
                  time
        """
        self.cell = recurrent(nn.LSTM(features, memory))
        self.policy, self.value = heads(features + memory, actions)
        self.width, self.length = memory, length

    def look(self, rows: NDArray[Any]) -> Any:
        """Return the encoder's input for rows (n,), indexable by int64 arrays."""
        raise NotImplementedError

    def encoded(self, seen: Any) -> torch.Tensor:
        """Return features (m, features) float32 of indexed encoder inputs, with gradient."""
        raise NotImplementedError

    def legal(self, seen: Any) -> torch.Tensor:
        """Return which actions are legal, (m, actions) bool."""
        raise NotImplementedError

    def make_state(self, n: int, stream: int = 0) -> Memory:
        """Return zero states for n games, numbered within the range of `stream`."""
        return Memory(n, self.width, stream * GAMES_OF_A_STREAM)

    def stage(self, rows: NDArray[Any]) -> Staged:
        """Prepare all rows of an update once; index the result for a minibatch."""
        return Staged(self.look(rows), rows["memory"].copy(), rows["game"].copy(), rows["move"].copy())

    def sequences(self, rows: NDArray[Any]) -> list[NDArray[np.int64]]:
        """Return the row indices of each sequence, in order; a minibatch contains whole sequences."""
        order, starts = sequences(rows["game"], rows["move"], self.length)
        return np.split(order, starts[1:])

    def heads(self, features: torch.Tensor, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (m, actions) and values (m,) float32."""
        both = torch.cat([features, hidden], dim=1)
        return self.policy(both).float(), self.value(both).squeeze(1)

    def _states(self, memory: NDArray[np.float32]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the LSTM's states h and c (1, m, width) of memories (m, 2, width)."""
        both = torch.from_numpy(np.ascontiguousarray(memory.swapaxes(0, 1))).to(self.device)
        return both[:1], both[1:]

    def evaluate(self, rows: Any, actions: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return log-probabilities of these actions, entropies and values, (m,) each with gradient, by unrolling."""
        staged = rows if isinstance(rows, Staged) else self.stage(rows)[np.arange(len(rows))]
        laid = unrolled(staged.game, staged.move, self.length)
        features, at = self.encoded(staged.seen), torch.from_numpy(laid.rows).to(self.device)
        packed = PackedSequence(features[at], torch.from_numpy(laid.counts))
        after, _ = self.cell(packed, self._states(staged.memory[laid.first]))
        hidden = torch.empty_like(after.data).index_copy(0, at, after.data)
        logits, values = self.heads(features, hidden)
        chosen = torch.as_tensor(actions, device=self.device)
        return (*torch_ops.masked_stats(logits, self.legal(staged.seen), chosen), values)

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def ahead(self, rows: NDArray[Any]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, NDArray[np.float32]]:
        """Run one step from each row's stored state.

        Returns logits and legality (n, actions), values (n,) and new states (n, 2, width).
        """
        staged = self.stage(rows)[np.arange(len(rows))]
        features = self.encoded(staged.seen)
        hidden, states = self.cell(features[None], self._states(staged.memory))
        logits, values = self.heads(features, hidden[0])
        return logits, self.legal(staged.seen), values, torch.cat(states).swapaxes(0, 1).float().cpu().numpy()

    def act(
        self,
        seen: Any,
        rng: torch.Generator | None,
        likeliest: bool = False,
        uniforms: NDArray[np.float32] | None = None,
    ) -> Choice:
        """See GamePolicy; each row uses its stored state. The carry holds the new states (n, 2, width)."""
        logits, legal, values, memories = self.ahead(seen)
        if likeliest:
            found = log_softmax(logits, legal).max(dim=1)
            return Choice(found.indices, found.values, values, memories)
        drawn = torch.rand(len(seen), generator=rng, device=self.device)
        return Choice(*torch_ops.sample(logits, legal, drawn), values, memories)

    def action_log_probs(self, seen: NDArray[Any]) -> tuple[torch.Tensor, torch.Tensor, NDArray[np.float32]]:
        """See GamePolicy; each row uses its stored state."""
        logits, legal, values, memories = self.ahead(seen)
        return log_softmax(logits, legal), values, memories


class LstmPolicy(RecurrentPolicy):
    """The shared layers of the mlp policy, an LSTM, and heads on both.

    model_config: hidden, widths of the shared layers; memory, width of the LSTM; sequence, truncation length of
    backpropagation through time.
    """

    discrete = True
    flat = True

    @staticmethod
    def spaces() -> tuple[spaces.Space[Any], spaces.Space[Any]]:
        """Return the spaces of observations and actions, those of the mlp policy."""
        return masked_space(), spaces.Discrete(N_DISCRETE)

    def setup(self) -> None:
        """Build the layers from model_config."""
        first, *later = self.model_config["hidden"]
        self.first = orthogonal(FirstLayer(FLAT_SIZE, first))
        self.trunk = nn.Sequential(nn.SiLU(), *shared_layers(first, later))
        self.build(
            self.model_config["hidden"][-1], self.model_config["memory"], N_DISCRETE, self.model_config["sequence"]
        )
        self.row_t = with_memory(flat_row_t, self.width)

    def pack(self, games: Games, out: NDArray[Any]) -> None:
        """Write the observations of all games: out (n,) row_t, overwritten, with zero recurrent states."""
        pack_flat(games.flat, games.masks, out)

    def look(self, rows: NDArray[Any]) -> FilledRows | DeviceRows:
        """Return the nonzero columns, or on CUDA the rows' bytes on the device."""
        return FilledRows(rows) if self.device.type == "cpu" else DeviceRows(rows, self.device)

    def encoded(self, seen: FilledRows | torch.Tensor) -> torch.Tensor:
        """Return the output of the last shared layer, (m, features)."""
        if isinstance(seen, FilledRows):
            return self.trunk(self.first.sparse(seen)).float()
        return self.trunk(self.first(torch_ops.unpack_octets(seen))).float()

    def legal(self, seen: FilledRows | torch.Tensor) -> torch.Tensor:
        """Return the masks of the rows, (m, actions)."""
        if isinstance(seen, FilledRows):
            return torch_ops.bits_of(torch.from_numpy(seen.legal), N_DISCRETE)
        return torch_ops.legal_of(seen)

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, torch.Tensor]:
        """Return logits of dense observations, with a zero recurrent state."""
        observation = batch[Columns.OBS]
        features = self.trunk(self.first(observation["observations"].float()))
        logits, _ = self.heads(features, self.cell(features[None])[0][0])
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(observation["action_mask"] == 0, OFF)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Return values of dense observations (n,), with a zero recurrent state."""
        features = self.trunk(self.first(batch[Columns.OBS]["observations"].float()))
        return self.heads(features, self.cell(features[None])[0][0])[1]
