"""The shortlist policy: every listed decision is a vector, weighed against the game as a whole.

The flat observation goes through the sparse first layer of the fast path; the list's entries through a network of
their own, whose mean and first entry join the trunk. What is chosen is the softmax over one number for each entry.
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

from ante.engine.actions import N_VERBS, Verb
from ante.env.games import Games
from ante.env.layout import FLAT_SIZE
from ante.env.packed import N_EDITIONS, N_ENHANCEMENTS, N_SEALS
from ante.env.plays import N_AIMS
from ante.env.probes import N_POWERS
from ante.env.shortlist import (
    LEGAL,
    MAX_ENTRIES,
    N_LISTED_THINGS,
    N_NUMBERS,
    Shortlists,
    decisions_of,
    shortlist_t,
)
from ante.training import twins
from ante.training.chances import OFF, drawn, entropy
from ante.training.packed import FilledRows, FirstLayer
from ante.training.rows import flat_row_t, octets_of, pack_flat
from ante.watch.notes import Note, note_of

row_t = np.dtype([("flat", flat_row_t), ("list", shortlist_t)])
AT_LIST = flat_row_t.itemsize
END_LIST = AT_LIST + shortlist_t.itemsize
N_GLOBALS = N_POWERS + 1
N_MARKS = 7

# Verbs whose entries' numbers mean the same.
KINDS = np.zeros(N_VERBS, dtype=np.int64)
KINDS[Verb.PLAY], KINDS[Verb.DISCARD] = 1, 2
KINDS[[Verb.BUY, Verb.BUY_AND_USE, Verb.PICK, Verb.USE]] = 3
KINDS[[Verb.SELL_JOKER, Verb.MOVE_JOKER]] = 4
N_KINDS = 5


class ListedRows:
    """Packed rows made ready for the network; indexing answers a minibatch of them.

    filled   the flat observations
    starts   (n + 1,) int64: where each row's entries begin in `entries`, end to end
    """

    def __init__(self, rows: NDArray[Any]) -> None:
        self.rows, self.filled = rows, FilledRows(rows)
        lists = rows["list"]
        self.counts = lists["n"].astype(np.int64)
        self.starts = np.concatenate([[0], np.cumsum(self.counts)])
        entries = lists["entries"][np.arange(MAX_ENTRIES) < self.counts[:, None]]
        self.ids = np.stack([entries[name] for name in ("thing", "verb", "trait", "aim", "marks")], axis=1).astype(
            np.int64
        )
        numbers = np.concatenate([entries["numbers"], entries["price"][:, None]], axis=1)
        self.numbers = numbers.astype(np.float32) / np.float32(128.0)
        self.globals = np.concatenate([lists["powers"] / 2000.0, lists["missing"][:, None] / 200.0], axis=1).astype(
            np.float32
        )
        self.which = np.arange(len(rows))

    def __len__(self) -> int:
        """Rows of the minibatch."""
        return len(self.which)

    def __getitem__(self, which: NDArray[np.int64]) -> "ListedRows":
        """The rows at these indices of the whole; nothing is copied."""
        part = object.__new__(ListedRows)
        part.counts, part.starts, part.ids, part.numbers = self.counts, self.starts, self.ids, self.numbers
        part.globals, part.rows, part.filled, part.which = self.globals, self.rows, self.filled[which], which
        return part

    def entries(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Ids (m, 5), numbers (m, 7), each entry's row and place in it (m,), of the minibatch's entries end to end."""
        counts = self.counts[self.which]
        rows = np.repeat(np.arange(len(counts)), counts)
        begin = np.concatenate([[0], np.cumsum(counts)[:-1]])
        places = np.arange(len(rows)) - begin[rows]
        at = self.starts[self.which][rows] + places
        return tuple(torch.from_numpy(each) for each in (self.ids[at], self.numbers[at], rows, places))  # type: ignore[return-value]


class EntryEncoder(nn.Module):  # type: ignore[misc]
    """Each entry as a vector."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("kinds", torch.from_numpy(KINDS), persistent=False)
        self.things, self.verbs = nn.Embedding(N_LISTED_THINGS, width), nn.Embedding(N_VERBS, width)
        self.aims = nn.Embedding(N_AIMS, width)
        self.traits = nn.Embedding(N_ENHANCEMENTS * N_EDITIONS * N_SEALS, width)
        for table in (self.things, self.verbs, self.aims, self.traits):
            nn.init.normal_(table.weight, std=0.3)
        self.numbers = nn.Linear(N_KINDS * (1 + N_NUMBERS + 1 + N_MARKS), width)
        self.mix = nn.Linear(width, width)

    def forward(self, ids: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """(m, width)."""
        thing, verb, trait, aim, marks = ids.unbind(1)
        bits = ((marks[:, None] >> torch.arange(N_MARKS, device=ids.device)) & 1).float()
        known = torch.cat([torch.ones_like(bits[:, :1]), numbers, bits], dim=1)
        kinds = functional.one_hot(self.kinds[verb], N_KINDS).float()
        by_kind = (kinds[:, :, None] * known[:, None, :]).flatten(1)
        x = self.things(thing) + self.verbs(verb) + self.traits(trait) + self.aims(aim) + self.numbers(by_kind)
        return functional.silu(self.mix(functional.silu(x)))


@dataclass(frozen=True)
class Read:
    """A minibatch of m rows as the network sees it.

    trunk    (m, size), the game as a whole
    entries  (k, width), the entries of all lists end to end; ids (k, 5), row (k,) and place in its list (k,) of each
    """

    trunk: torch.Tensor
    entries: torch.Tensor
    ids: torch.Tensor
    row: torch.Tensor
    place: torch.Tensor


class ShortlistPolicy(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]
    """Weighs listed decisions: a `RolloutPolicy`. An action is a number of the list.

    model_config: hidden (256, 256), widths of the trunk's first and later layers; entry (64), width of an entry.
    """

    row_t = row_t
    discrete = False
    flat = True

    @staticmethod
    def spaces() -> tuple[spaces.Space[Any], spaces.Space[Any]]:
        """Of observations, packed rows as bytes, and of actions, numbers of the list."""
        return spaces.Box(0, 255, (row_t.itemsize,), np.uint8), spaces.Discrete(MAX_ENTRIES)

    def setup(self) -> None:
        """Build the layers from model_config."""
        first, *later = self.model_config.get("hidden", (256, 256))
        width = self.model_config.get("entry", 64)
        self.first, self.globals = FirstLayer(FLAT_SIZE, first), nn.Linear(N_GLOBALS, first)
        self.entries = EntryEncoder(width)
        layers: list[nn.Module] = []
        size = first + 2 * width
        for each in later:
            layers += [nn.Linear(size, each), nn.SiLU()]
            size = each
        self.trunk = nn.Sequential(*layers)
        self.query, self.key = nn.Linear(size, width), nn.Linear(width, width)
        self.score = nn.Linear(width, 1)
        self.value = nn.Linear(size, 1)
        nn.init.normal_(self.score.weight, std=0.02)
        self._lists: tuple[Shortlists, np.recarray] | None = None

    def pack(self, games: Games, out: NDArray[Any]) -> None:
        """Write the rows of all games: out (n,) row_t, overwritten."""
        if self._lists is None or len(self._lists[1]) != games.n:
            self._lists = Shortlists(), np.zeros(games.n, dtype=shortlist_t).view(np.recarray)
        writer, lists = self._lists
        pack_flat(games.flat, games.masks, out)
        writer.write(games, lists)
        octets_of(out)[:, AT_LIST:END_LIST] = octets_of(lists)  # byte by byte: fields one by one are slow

    def decisions(self, rows: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The macro decisions that these numbers of the rows' lists mean."""
        return decisions_of(rows["list"]["entries"], actions)

    @property
    def device(self) -> torch.device:
        """Where the weights lie."""
        return self.value.weight.device

    def table(self, rows: ListedRows) -> torch.Tensor:
        """The first layer's output of a minibatch, (m, width): sparse on a CPU, dense on any other device."""
        if self.device.type != "cpu":
            return self.dense_table(rows)
        return self.first.sparse(rows.filled)

    def dense_table(self, rows: ListedRows) -> torch.Tensor:
        """The same from the dense vectors, unpacked on the device."""
        octets = torch.from_numpy(octets_of(rows.rows[rows.which])[:, :AT_LIST].copy())
        return self.first(twins.unpack_octets(octets.to(self.device)))

    def heads(self, rows: ListedRows) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits (m, MAX_ENTRIES), OFF where nothing can be chosen, and values (m,)."""
        read = self.read(rows)
        return self.weigh(read, read.trunk), self.value(read.trunk).squeeze(1).float()

    def read(self, rows: ListedRows) -> "Read":
        """What the network makes of a minibatch before anything is weighed."""
        ids, numbers, row, place = (each.to(self.device) for each in rows.entries())
        entries = self.entries(ids, numbers)
        known = torch.from_numpy(rows.globals[rows.which]).to(self.device)
        table = functional.silu(self.table(rows) + self.globals(known))
        counts = torch.from_numpy(rows.counts[rows.which]).to(self.device)
        mean = torch.zeros(len(rows), entries.shape[1], dtype=entries.dtype, device=self.device)
        mean = mean.index_add(0, row, entries) / counts.clamp(min=1)[:, None]
        begin = (torch.cumsum(counts, 0) - counts).clamp(max=max(0, len(row) - 1))
        trunk = self.trunk(torch.cat([table, mean.float(), entries[begin].float()], dim=1))
        return Read(trunk, entries, ids, row, place)

    def weigh(self, read: "Read", trunk: torch.Tensor, more: torch.Tensor | float = 0.0) -> torch.Tensor:
        """Logits (m, MAX_ENTRIES) of the entries under a trunk (m, size), OFF where nothing can be chosen.

        more  is added to the score of each entry, (entries,)
        """
        asked = self.key(read.entries) + self.query(trunk)[read.row]
        scores = self.score(functional.silu(asked)).squeeze(1).float() + more
        scores = torch.where(read.ids[:, 4] & LEGAL != 0, scores, OFF)
        return torch.full((len(trunk), MAX_ENTRIES), OFF, device=self.device).index_put((read.row, read.place), scores)

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def act(self, rows: NDArray[Any], rng: torch.Generator | None, likeliest: bool = False) -> tuple[Any, Any, Any]:
        """Choose a number of each row's list, drawn or the likeliest; else as `RolloutPolicy.act`."""
        logits, values = self.heads(ListedRows(rows))
        chosen = logits.argmax(dim=1) if likeliest else drawn(logits, rng)
        log_probs = logits.log_softmax(dim=1).gather(1, chosen[:, None])[:, 0]
        return chosen, log_probs, values

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def chances(self, rows: NDArray[Any]) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities of every number of the list and values, as `RolloutPolicy.chances`."""
        logits, values = self.heads(ListedRows(rows))
        return logits.log_softmax(dim=1), values

    def stage(self, rows: NDArray[Any]) -> ListedRows:
        """All rows of an update, made ready once; index it for a minibatch."""
        return ListedRows(rows)

    def evaluate(self, rows: Any, actions: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Log-probabilities, entropies and values, (m,) each with gradient."""
        logits, values = self.heads(rows if isinstance(rows, ListedRows) else ListedRows(rows))
        logs = logits.log_softmax(dim=1)
        chosen = torch.as_tensor(actions, device=self.device)
        return logs.gather(1, chosen[:, None])[:, 0], entropy(logs), values

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, torch.Tensor]:
        return {Columns.ACTION_DIST_INPUTS: self.heads(self.stage(rows_of(batch[Columns.OBS], self.row_t)))[0]}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Value of each observation, (n,) float32."""
        return self.heads(self.stage(rows_of(batch[Columns.OBS], self.row_t)))[1]


def rows_of(octets: Any, like: np.dtype[Any] = row_t) -> NDArray[Any]:
    """Packed rows (n,) of their bytes, (n, like.itemsize) uint8 as array or tensor."""
    return np.ascontiguousarray(np.asarray(octets)).view(like)[:, 0]


class ShortlistPlayer:
    """A trained shortlist policy as evaluation and videos ask for it: macro decisions, drawn or the likeliest."""

    discrete = False
    reorder = "none"

    def __init__(self, policy: ShortlistPolicy, name: str, likeliest: bool = False, seed: int = 0) -> None:
        self.name, self._policy, self._likeliest = name, policy, likeliest
        self._generator = torch.Generator(policy.device).manual_seed(seed)

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """One macro decision for each game (n,) int64, -1 where a game is not played any more."""
        rows = np.zeros(games.n, dtype=row_t)
        self._policy.pack(games, rows)
        actions = np.full(games.n, -1, dtype=np.int64)
        asked = rows[playing]
        chosen = self._policy.act(asked, self._generator, self._likeliest)[0].cpu().numpy()
        actions[playing] = self._policy.decisions(asked, chosen)
        return actions

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def explain(self, games: Games, taken: int) -> Note:
        """See `watch.notes.Explained`. What is not on the list has no probability."""
        rows = np.zeros(1, dtype=row_t)
        self._policy.pack(games, rows)
        logits, values = self._policy.heads(ListedRows(rows))
        numbers = np.arange(int(rows["list"]["n"][0]))
        decisions = self._policy.decisions(rows[np.zeros_like(numbers)], numbers)
        return note_of(decisions, logits.softmax(dim=1)[0, numbers].cpu().numpy(), taken, float(values[0]))
