"""Policies with a memory: how it is kept while games are played, and how it is unrolled where it is learned.

A packed row carries what the policy remembered before it (the LSTM's two states), a number of its game and of the
decision in it. So rows explain themselves: wherever some of them follow each other they are unrolled together, from the
memory that stands in the first one. Such a sequence never crosses the end of a game, nor a multiple of `length`
decisions: that is where gradients are cut off (truncated backpropagation through time).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import nn
from torch.nn.utils.rnn import PackedSequence

from ante.training import twins
from ante.training.chances import log_softmax
from ante.training.layers import heads


def remembering(seen: np.dtype[Any], width: int) -> np.dtype[Any]:
    """Rows of what is seen, with what is remembered: the states h and c, the game's number, the decision's in it."""
    return np.dtype([("seen", seen), ("memory", "<f4", (2, width)), ("game", "<u8"), ("move", "<u8")])


class Recall:
    """What a policy remembers of n games that are played side by side.

    memory  (n, 2, width) float32; zeros where a game begins
    game    (n,) uint64, another number for every game; move (n,) uint64, decisions seen in it
    """

    def __init__(self, n: int, width: int, first: int = 0) -> None:
        self.memory = np.zeros((n, 2, width), dtype=np.float32)
        self.game, self.move = np.arange(first, first + n, dtype=np.uint64), np.zeros(n, dtype=np.uint64)
        self._next = first + n

    def begin(self, which: NDArray[np.int64]) -> None:
        """Other games stand at these indices: nothing is remembered of them."""
        self.memory[which], self.move[which] = 0.0, 0
        self.game[which] = np.arange(self._next, self._next + len(which))
        self._next += len(which)

    def write(self, rows: NDArray[Any]) -> None:
        """The rows (n,) say what is remembered before them."""
        rows["memory"], rows["game"], rows["move"] = self.memory, self.game, self.move

    def saw(self, which: NDArray[np.int64], memories: NDArray[np.float32]) -> None:
        """The games at these indices (k,) have been looked at: memories (k, 2, width) from now on."""
        self.memory[which] = memories
        self.move[which] += np.uint64(1)


@dataclass(frozen=True)
class Unrolled:
    """Sequences of m rows, the longest first, laid out decision by decision as PyTorch's PackedSequence wants them.

    rows    (m,) int64: the first decisions of all sequences, then the second ones of those that have one ...
    counts  (longest,) int64: how many sequences have so many decisions
    first   (sequences,) int64: the row that each begins with
    """

    rows: NDArray[np.int64]
    counts: NDArray[np.int64]
    first: NDArray[np.int64]


def sequences(game: NDArray[np.uint64], move: NDArray[np.uint64], length: int) -> tuple[NDArray[np.int64], ...]:
    """Rows (m,) in the order of their games and decisions, and where in it each sequence begins; int64 both."""
    order = np.lexsort((move, game))
    game, move = game[order], move[order]
    follows = (game[1:] == game[:-1]) & (move[1:] == move[:-1] + np.uint64(1)) & (move[1:] % np.uint64(length) != 0)
    return order, np.flatnonzero(np.concatenate([[True], ~follows]))


def unrolled(game: NDArray[np.uint64], move: NDArray[np.uint64], length: int) -> Unrolled:
    """The sequences of these rows, laid out. At least one row."""
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
    """Rows made ready for the network; indexing answers a minibatch.

    seen    for the encoder, indexable
    memory, game, move  as in the rows
    """

    seen: Any
    memory: NDArray[np.float32]
    game: NDArray[np.uint64]
    move: NDArray[np.uint64]

    def __len__(self) -> int:
        """Rows."""
        return len(self.game)

    def __getitem__(self, which: NDArray[np.int64]) -> "Staged":
        """The rows at these indices."""
        return Staged(self.seen[which], self.memory[which], self.game[which], self.move[which])


class RecurrentPolicy(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]
    """An LSTM between an encoder and the heads: a `RolloutPolicy`, whatever its rows show.

    A policy of its own has `setup`, which calls `build`, and says what rows show: `look`, `encoded`, `legal`.
    """

    row_t: np.dtype[Any]

    def build(self, features: int, memory: int, actions: int, length: int) -> None:
        """LSTM and heads. Heads see the encoder's features beside what is remembered: what needs no memory needs none.

        features  width of the encoder; memory  width of the LSTM; length  decisions through which gradients go back
        """
        self.cell = nn.LSTM(features, memory)
        self.policy, self.value = heads(features + memory, actions)
        self.width, self.length = memory, length

    def look(self, rows: NDArray[Any]) -> Any:
        """What the encoder reads of rows (n,), indexable by int64 arrays."""
        raise NotImplementedError

    def encoded(self, seen: Any) -> torch.Tensor:
        """Features (m, features) float32 of an indexed look, with gradient."""
        raise NotImplementedError

    def legal(self, seen: Any) -> torch.Tensor:
        """Which actions are legal, (m, actions) bool."""
        raise NotImplementedError

    @property
    def device(self) -> torch.device:
        """Where the weights lie."""
        return self.value.weight.device

    def stage(self, rows: NDArray[Any]) -> Staged:
        """All rows of an update, made ready once; index it for a minibatch."""
        return Staged(self.look(rows), rows["memory"].copy(), rows["game"].copy(), rows["move"].copy())

    def sequences(self, rows: NDArray[Any]) -> list[NDArray[np.int64]]:
        """The rows of each sequence, in order: what a minibatch takes whole."""
        order, starts = sequences(rows["game"], rows["move"], self.length)
        return np.split(order, starts[1:])

    def heads(self, features: torch.Tensor, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits (m, actions) and values (m,) float32."""
        both = torch.cat([features, hidden], dim=1)
        return self.policy(both).float(), self.value(both).float().squeeze(1)

    def _states(self, memory: NDArray[np.float32]) -> tuple[torch.Tensor, torch.Tensor]:
        """The LSTM's states (1, m, width) each of memories (m, 2, width)."""
        both = torch.from_numpy(np.ascontiguousarray(memory.swapaxes(0, 1))).to(self.device)
        return both[:1], both[1:]

    def evaluate(self, rows: Any, actions: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Log-probabilities of these actions, entropies and values, (m,) each with gradient; sequences are unrolled."""
        staged = rows if isinstance(rows, Staged) else self.stage(rows)[np.arange(len(rows))]
        laid = unrolled(staged.game, staged.move, self.length)
        features, at = self.encoded(staged.seen), torch.from_numpy(laid.rows).to(self.device)
        packed = PackedSequence(features[at], torch.from_numpy(laid.counts))
        after, _ = self.cell(packed, self._states(staged.memory[laid.first]))
        hidden = torch.empty_like(after.data).index_copy(0, at, after.data)
        logits, values = self.heads(features, hidden)
        chosen = torch.as_tensor(actions, device=self.device)
        return (*twins.masked_stats(logits, self.legal(staged.seen), chosen), values)

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def ahead(self, rows: NDArray[Any]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, NDArray[np.float32]]:
        """One decision on from each row's own memory: logits and legality (n, actions), values (n,), memories
        (n, 2, width).
        """
        staged = self.stage(rows)[np.arange(len(rows))]
        features = self.encoded(staged.seen)
        hidden, states = self.cell(features[None], self._states(staged.memory))
        logits, values = self.heads(features, hidden[0])
        return logits, self.legal(staged.seen), values, torch.cat(states).swapaxes(0, 1).float().cpu().numpy()

    def drawn(
        self, rows: NDArray[Any], rng: torch.Generator | None, likeliest: bool = False
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, NDArray[np.float32]]:
        """Actions drawn or the likeliest, log-probabilities, values (n,), and memories (n, 2, width) after them."""
        logits, legal, values, memories = self.ahead(rows)
        if likeliest:
            found = log_softmax(logits, legal).max(dim=1)
            return found.indices, found.values, values, memories
        uniforms = torch.rand(len(rows), generator=rng, device=self.device)
        return (*twins.sample(logits, legal, uniforms), values, memories)

    def act(self, rows: NDArray[Any], rng: torch.Generator) -> tuple[Any, Any, Any]:
        """As `RolloutPolicy.act`, each row from its own memory."""
        return self.drawn(rows, rng)[:3]

    def chances(self, rows: NDArray[Any]) -> tuple[torch.Tensor, torch.Tensor]:
        """As `RolloutPolicy.chances`, each row from its own memory."""
        logits, legal, values, _ = self.ahead(rows)
        return log_softmax(logits, legal), values
