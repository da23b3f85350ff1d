"""The shortlist policy: scores each candidate action given features of the whole game.

The flat observation passes through the sparse first layer of the fast path, the candidates through a separate
encoder, whose mean and first output are concatenated to the trunk. The policy is a softmax over one score per candidate.
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
from torch.nn import functional

from ante.engine.actions import N_VERBS
from ante.engine.core.records import as_records
from ante.env.entities.ids import JOKER_BASE
from ante.env.games import Games
from ante.env.layout import FLAT_SIZE, N_EDITIONS, N_ENHANCEMENTS, N_SEALS
from ante.lookahead.candidates import CandidateLister, decisions_of
from ante.lookahead.records import (
    KIND_OF_VERB,
    LEGAL,
    MAX_CANDIDATES,
    N_CANDIDATE_ITEMS,
    N_ESTIMATES,
    N_FLAGS,
    N_KINDS,
    N_PURPOSES,
    candidates_t,
)
from ante.lookahead.reference_hands import N_REFERENCE_HANDS
from ante.training.numerics import list_kernels, torch_ops
from ante.training.numerics.distributions import OFF, entropy, sample_logits
from ante.training.numerics.packed_rows import flat_row_t, octets_of, pack_flat
from ante.training.policies.layers import ValueHead
from ante.training.policies.mlp_rows import FilledRows, FirstLayer, product_dtype
from ante.training.policies.protocol import Choice, GamePolicy
from ante.training.policies.shortlist_net import ShortlistNet, summed_gradient
from ante.watch.notes import Note, note_of

row_t = np.dtype([("flat", flat_row_t), ("list", candidates_t)])
AT_LIST = flat_row_t.itemsize
END_LIST = AT_LIST + candidates_t.itemsize
N_GLOBALS = N_REFERENCE_HANDS + 1
SPREAD = 0.3  # standard deviation of initial embeddings
N_TRAITS = N_ENHANCEMENTS * N_EDITIONS * N_SEALS
# First row of items, verbs, traits, purposes and columns in the table of all embeddings of a candidate.
TABLE = np.cumsum([0, N_CANDIDATE_ITEMS, N_VERBS, N_TRAITS, N_PURPOSES])


class ListedRows:
    """Packed rows prepared for the network; indexing returns a minibatch.

    filled   the flat observations
    starts   (n + 1,) int64: offsets of each row's candidates in `entries`, which are concatenated
    """

    def __init__(self, rows: NDArray[Any]) -> None:
        self.rows, self.filled = rows, FilledRows(rows)
        self._list(rows["list"])
        entries = rows["list"]["entries"][np.arange(MAX_CANDIDATES) < self.counts[:, None]]
        self.ids = np.stack([entries[name] for name in ("item_id", "verb", "trait", "purpose")], axis=1).astype(
            np.int64
        )
        numbers = np.concatenate([entries["estimates"], entries["price"][:, None]], axis=1)
        self.numbers = numbers.astype(np.float32) * list_kernels.PER_NUMBER

    @classmethod
    def of_flat(cls, flat: NDArray[np.float32], lists: NDArray[Any]) -> "ListedRows":
        """Return the same for inference from flat observations (n, FLAT_SIZE) and candidate lists (n,)."""
        found = object.__new__(cls)
        found.filled = FilledRows.of_flat(flat)
        found._list(lists)
        return found

    def _list(self, lists: NDArray[Any]) -> None:
        """Read the candidate lists of all rows."""
        self.counts = lists["n"].astype(np.int64)
        self.starts = np.concatenate([[0], np.cumsum(self.counts)])
        k = self.starts[-1]
        self.flags = np.empty(k, dtype=np.int64)
        self.sparse = (
            np.empty(k + 1, dtype=np.int64),
            np.empty(k * list_kernels.MOST_TERMS, dtype=np.int32),
            np.empty(k * list_kernels.MOST_TERMS, dtype=np.float32),
        )
        list_kernels.list_terms(as_records(lists), KIND_OF_VERB, TABLE, *self.sparse, self.flags)
        self.globals = np.empty((len(lists), N_GLOBALS), dtype=np.float32)
        self.globals[:, :-1], self.globals[:, -1] = lists["strengths"] / 2000.0, lists["needed"] / 200.0
        self.which = np.arange(len(lists))

    def __len__(self) -> int:
        """Number of rows in the minibatch."""
        return len(self.which)

    def __getitem__(self, which: NDArray[np.int64]) -> "ListedRows":
        """Return the rows at these indices of the whole; nothing is copied."""
        part = object.__new__(ListedRows)
        part.counts, part.starts, part.ids, part.numbers = self.counts, self.starts, self.ids, self.numbers
        part.flags, part.sparse = self.flags, self.sparse
        part.globals, part.rows, part.filled, part.which = self.globals, self.rows, self.filled[which], which
        return part

    def ends(self) -> NDArray[np.int64]:
        """Return the cumulative number of candidates of the minibatch, (m,)."""
        return np.cumsum(self.counts[self.which])

    def indices(self) -> NDArray[np.int64]:
        """Return the indices of the minibatch's candidates among those of all rows, row by row."""
        ends = self.ends()
        found = np.empty(int(ends[-1:].sum()), dtype=np.int64)
        list_kernels.entries_of(self.starts, self.which, ends, found)
        return found

    def terms(self) -> tuple[NDArray[Any], ...]:
        """Return candidates as sparse rows of `TABLE`: starts, columns and values of all, indices of the minibatch's."""
        return *self.sparse, self.indices()

    def entries(self) -> tuple[torch.Tensor, ...]:
        """Return ids (m, 4), flags (m,), numbers (m, 7), row and index in its list (m,) of the concatenated candidates."""
        rows, at = np.repeat(np.arange(len(self)), self.counts[self.which]), self.indices()
        places = at - self.starts[self.which][rows]
        return tuple(torch.from_numpy(each) for each in (self.ids[at], self.flags[at], self.numbers[at], rows, places))


class EntryEncoder(nn.Module):  # type: ignore[misc]
    """Encodes each candidate as a vector."""

    def __init__(self, width: int, joker_vectors: str | None = None) -> None:
        super().__init__()
        self.register_buffer("kinds", torch.from_numpy(KIND_OF_VERB), persistent=False)
        self.things, self.verbs = nn.Embedding(N_CANDIDATE_ITEMS, width), nn.Embedding(N_VERBS, width)
        self.aims = nn.Embedding(N_PURPOSES, width)
        self.traits = nn.Embedding(N_TRAITS, width)
        for table in (self.things, self.verbs, self.aims, self.traits):
            nn.init.normal_(table.weight, std=SPREAD)
        if joker_vectors is not None:
            begin_with_measured(self.things.weight, joker_vectors)
        self.numbers = nn.Linear(N_KINDS * (1 + N_ESTIMATES + 1 + N_FLAGS), width)
        self.mix = nn.Linear(width, width)

    def forward(self, ids: torch.Tensor, marks: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """Return (m, width)."""
        thing, verb, trait, aim = ids.unbind(1)
        bits = ((marks[:, None] >> torch.arange(N_FLAGS, device=ids.device)) & 1).float()
        known = torch.cat([torch.ones_like(bits[:, :1]), numbers, bits], dim=1)
        kinds = functional.one_hot(self.kinds[verb], N_KINDS).float()
        by_kind = (kinds[:, :, None] * known[:, None, :]).flatten(1)
        x = self.things(thing) + self.verbs(verb) + self.traits(trait) + self.aims(aim) + self.numbers(by_kind)
        return functional.silu(self.mix(functional.silu(x)))


@dataclass(frozen=True)
class Read:
    """Features of a minibatch of m rows.

    trunk    (m, size), features of the whole game
    entries  (k, width), the concatenated candidates; ids (k, 4), flags, row and index in its list (k,) of each
    """

    trunk: torch.Tensor
    entries: torch.Tensor
    ids: torch.Tensor
    flags: torch.Tensor
    row: torch.Tensor
    place: torch.Tensor


class ShortlistPolicy(GamePolicy, TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]
    """Scores candidate actions. An action is an index into the list of candidates.

    model_config: hidden (256, 256), widths of the trunk's first and later layers; entry (64), width of a candidate;
    joker_vectors (None), SHA-256 of the embeddings with which jokers begin.
    """

    row_t = row_t
    discrete = False
    flat = True

    @staticmethod
    def spaces() -> tuple[spaces.Space[Any], spaces.Space[Any]]:
        """Return the spaces of observations (packed rows as bytes) and actions (candidate indices)."""
        return spaces.Box(0, 255, (row_t.itemsize,), np.uint8), spaces.Discrete(MAX_CANDIDATES)

    def setup(self) -> None:
        """Build the layers from model_config."""
        first, *later = self.model_config.get("hidden", (256, 256))
        width = self.model_config.get("entry", 64)
        self.first, self.globals = FirstLayer(FLAT_SIZE, first), nn.Linear(N_GLOBALS, first)
        self.entries = EntryEncoder(width, self.model_config.get("joker_vectors"))
        layers: list[nn.Module] = []
        size = first + 2 * width
        for each in later:
            layers += [nn.Linear(size, each), nn.SiLU()]
            size = each
        self.trunk = nn.Sequential(*layers)
        self.query, self.key = nn.Linear(size, width), nn.Linear(width, width)
        self.score = nn.Linear(width, 1)
        self.value = ValueHead(size)
        nn.init.normal_(self.score.weight, std=0.02)
        self._lists: tuple[CandidateLister, np.recarray] | None = None

    def pack(self, games: Games, out: NDArray[Any]) -> None:
        """Write the rows of all games: out (n,) row_t, overwritten."""
        if self._lists is None or len(self._lists[1]) != games.n:
            self._lists = CandidateLister(), as_records(np.zeros(games.n, dtype=candidates_t))
        writer, lists = self._lists
        pack_flat(games.flat, games.masks, out)
        writer.write(games, lists)
        octets_of(out)[:, AT_LIST:END_LIST] = octets_of(lists)  # copying bytes is faster than copying fields

    def decisions(self, rows: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the macro decisions at these indices of the rows' lists."""
        return decisions_of(rows["list"]["entries"], actions)

    def table(self, rows: ListedRows) -> torch.Tensor:
        """Return the first layer's output of a minibatch, (m, width): sparse on a CPU, dense on any other device."""
        if self.device.type != "cpu":
            return self.dense_table(rows)
        return self.first.sparse(rows.filled)

    def dense_table(self, rows: ListedRows) -> torch.Tensor:
        """Return the same from dense observations, unpacked on the device."""
        octets = torch.from_numpy(octets_of(rows.rows[rows.which])[:, :AT_LIST].copy())
        return self.first(torch_ops.unpack_octets(octets.to(self.device)))

    def heads(self, rows: ListedRows) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (m, MAX_CANDIDATES), OFF for illegal or missing candidates, and values (m,)."""
        read = self.read(rows)
        return self.weigh(read, read.trunk), self.value(read.trunk).squeeze(1)

    def read(self, rows: ListedRows) -> "Read":
        """Return the network's features of a minibatch."""
        ids, flags, numbers, row, place = (each.to(self.device) for each in rows.entries())
        entries = self.entries(ids, flags, numbers)
        known = torch.from_numpy(rows.globals[rows.which]).to(self.device)
        table = functional.silu(self.table(rows) + self.globals(known))
        counts = torch.from_numpy(rows.counts[rows.which]).to(self.device)
        mean = torch.zeros(len(rows), entries.shape[1], dtype=entries.dtype, device=self.device)
        mean = mean.index_add(0, row, entries) / counts.clamp(min=1)[:, None]
        begin = (torch.cumsum(counts, 0) - counts).clamp(max=max(0, len(row) - 1))
        first = torch.where(counts[:, None] > 0, entries[begin], 0.0)  # an empty list has no entry
        trunk = self.trunk(torch.cat([table, mean.float(), first.float()], dim=1))
        return Read(trunk, entries, ids, flags, row, place)

    def weigh(self, read: "Read", trunk: torch.Tensor, more: torch.Tensor | float = 0.0) -> torch.Tensor:
        """Return logits (m, MAX_CANDIDATES) of the candidates given a trunk (m, size), OFF for illegal or missing ones.

        more  added to the score of each candidate, (entries,)
        """
        summed = self.key(read.entries) + self.query(trunk)[read.row]
        scores = self.score(functional.silu(summed)).squeeze(1).float() + more
        scores = torch.where(read.flags & LEGAL != 0, scores, OFF)
        return torch.full((len(trunk), MAX_CANDIDATES), OFF, device=self.device).index_put(
            (read.row, read.place), scores
        )

    def outputs(self, rows: ListedRows) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the same as `heads` without gradient, on a CPU without autograd's passes (`shortlist_net.py`)."""
        if self.device.type != "cpu":
            return self.heads(rows)
        out = ShortlistNet(self, product_dtype()).passed(rows)
        return out.logits, out.values

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def act(
        self,
        seen: Any,
        rng: torch.Generator | None,
        likeliest: bool = False,
        uniforms: NDArray[np.float32] | None = None,
    ) -> Choice:
        """Choose a candidate in each row; see GamePolicy."""
        logits, values = self.outputs(ListedRows(seen))
        chosen = logits.argmax(dim=1) if likeliest else sample_logits(logits, rng)
        log_probs = logits.log_softmax(dim=1).gather(1, chosen[:, None])[:, 0]
        return Choice(chosen, log_probs, values)

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def action_log_probs(self, seen: NDArray[Any]) -> tuple[torch.Tensor, torch.Tensor, None]:
        """See GamePolicy; log-probabilities of all candidates."""
        logits, values = self.outputs(ListedRows(seen))
        return logits.log_softmax(dim=1), values, None

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def explain(
        self,
        games: Games,
        seen: NDArray[Any],
        taken: int,
        likeliest: bool = False,
        uniforms: NDArray[np.float32] | None = None,
    ) -> tuple[Note, Any]:
        """See GamePolicy. Decisions that are not candidates have probability 0."""
        logits, values = self.outputs(ListedRows(seen))
        numbers = np.arange(int(seen["list"]["n"][0]))
        decisions = self.decisions(seen[np.zeros_like(numbers)], numbers)
        return note_of(decisions, logits.softmax(dim=1)[0, numbers].cpu().numpy(), taken, float(values[0])), None

    def stage(self, rows: NDArray[Any]) -> ListedRows:
        """Prepare all rows of an update once; index the result for a minibatch."""
        return ListedRows(rows)

    def evaluate(self, rows: Any, actions: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return log-probabilities, entropies and values, (m,) each with gradient."""
        logits, values = self.heads(rows if isinstance(rows, ListedRows) else ListedRows(rows))
        logs = logits.log_softmax(dim=1)
        chosen = torch.as_tensor(actions, device=self.device)
        return logs.gather(1, chosen[:, None])[:, 0], entropy(logs), values

    def score_actions(self, rows: NDArray[Any], actions: NDArray[np.int64]) -> tuple[Any, Any]:
        """See GamePolicy."""
        logits, values = self.outputs(ListedRows(rows))
        return logits.log_softmax(dim=1).gather(1, torch.as_tensor(actions, device=self.device)[:, None])[:, 0], values

    def ppo_gradient(
        self, rows: ListedRows, batch: tuple[Any, ...], *weights: float
    ) -> tuple[list[torch.Tensor], torch.Tensor] | None:
        """See GamePolicy; None off the CPU, where autograd is used."""
        if self.device.type != "cpu":
            return None
        return summed_gradient(ShortlistNet(self, product_dtype()), rows, batch, weights)

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, torch.Tensor]:
        return {Columns.ACTION_DIST_INPUTS: self.heads(self.stage(rows_of(batch[Columns.OBS], self.row_t)))[0]}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Return the value of each observation, (n,) float32."""
        return self.heads(self.stage(rows_of(batch[Columns.OBS], self.row_t)))[1]


def begin_with_measured(weight: nn.Parameter, digest: str) -> None:
    """Set the rows of jokers (N_CANDIDATE_ITEMS, width) to measured embeddings of this digest; columns beyond theirs stay."""
    from ante.knowledge.embeddings import DIMENSIONS, vectors_of

    known = vectors_of(digest)
    if known is None:
        return
    kept = min(DIMENSIONS, weight.shape[1])
    with torch.no_grad():
        rows = weight[JOKER_BASE + 1 : JOKER_BASE + 1 + len(known.vectors)]
        rows[:, :kept] = SPREAD * torch.from_numpy(known.reduced(kept))


def rows_of(octets: Any, like: np.dtype[Any] = row_t) -> NDArray[Any]:
    """Return packed rows (n,) from their bytes, (n, like.itemsize) uint8 as array or tensor."""
    return np.ascontiguousarray(np.asarray(octets)).view(like)[:, 0]
