"""The policies that look at pictures: convolutions on the last frames, alone or beside the flat observation."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import nn

from ante.engine.actions import N_DISCRETE
from ante.engine.state import MAX_HAND, copy_states
from ante.env.games import Games
from ante.env.layout import FLAT_SIZE, masked_space
from ante.training import twins
from ante.training.chances import OFF, log_softmax
from ante.training.film import Film
from ante.training.layers import clear, heads, shared_layers
from ante.training.packed import DeviceRows, FilledRows, FirstLayer
from ante.training.policy import note_on_numbers
from ante.training.rollout import Framed, on_host
from ante.training.rows import MASK_BYTES, flat_row_t, pack_flat
from ante.training.runner import BatchRunner
from ante.watch.notes import Note

CONVOLUTIONS = ((8, 4), (4, 2), (3, 1))  # kernel and stride of each, as in Mnih et al. 2015
mask_row_t = np.dtype([("mask", "u1", (MASK_BYTES,))])


class StagedPictures:
    """Rows made ready for the network; indexing answers a minibatch.

    frames   (frames, channels, height, width) uint8: an array on the CPU, a tensor on any other device
    numbers  (n, stack) int32; mask (n, MASK_BYTES) uint8
    filled   the flat observations, indexable; None without them
    """

    def __init__(self, seen: Framed, device: torch.device, fused: bool) -> None:
        rows = seen.rows
        self.frames: Any = seen.frames
        if device.type != "cpu":
            self.frames = torch.from_numpy(np.require(seen.frames, requirements="W")).to(device)
        self.numbers, self.mask = rows["frames"].copy(), rows["seen"]["mask"].copy()
        self.filled: Any = None
        if fused:
            self.filled = FilledRows(rows) if device.type == "cpu" else DeviceRows(rows, device)
        self.which = np.arange(len(rows))

    def __len__(self) -> int:
        """Rows of the minibatch."""
        return len(self.which)

    def __getitem__(self, which: NDArray[np.int64]) -> "StagedPictures":
        """The rows at these indices of the whole; no frame is copied."""
        part = object.__new__(StagedPictures)
        part.frames, part.numbers, part.mask, part.which = self.frames, self.numbers, self.mask, which
        part.filled = None if self.filled is None else self.filled[which]
        return part

    def stacks(self) -> torch.Tensor:
        """Pictures of the minibatch, (m, stack * channels, height, width) uint8, the oldest first."""
        numbers = self.numbers[self.which]
        if isinstance(self.frames, torch.Tensor):
            return self.frames[torch.from_numpy(numbers).long().to(self.frames.device)].flatten(1, 2)
        return torch.from_numpy(self.frames[numbers]).flatten(1, 2)

    def legal(self) -> torch.Tensor:
        """Which actions are legal, (m, actions) bool."""
        return twins.bits_of(torch.from_numpy(self.mask[self.which]), N_DISCRETE)


class CnnPolicy(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]
    """Three convolutions on stacked frames, shared layers, a head of action logits and one for the value.

    A `RolloutPolicy` whose rows name frames: it is given `rollout.Framed`.

    model_config: hidden, widths of the shared layers; channels of the convolutions; stack of frames; size, height and
    width of a frame; colour.
    """

    discrete = True
    flat = False
    fused: ClassVar[bool] = False

    @staticmethod
    def spaces() -> tuple[spaces.Space[Any], spaces.Space[Any]]:
        """Of observations without their pictures, whose size is a setting, and of actions."""
        return masked_space(), spaces.Discrete(N_DISCRETE)

    def setup(self) -> None:
        """Build the layers from model_config."""
        config = self.model_config
        self.stack, self.colour = config["stack"], config["colour"]
        self.size: tuple[int, int] = tuple(config["size"])
        seen = flat_row_t if self.fused else mask_row_t
        self.row_t = np.dtype([("seen", seen), ("frames", "<i4", (self.stack,))])
        layers: list[nn.Module] = []
        inputs = self.stack * (3 if self.colour else 1)
        blank = torch.zeros(1, inputs, *self.size)
        for channels, (kernel, stride) in zip(config["channels"], CONVOLUTIONS, strict=True):
            layers += [clear(nn.Conv2d(inputs, channels, kernel, stride)), nn.ReLU()]
            inputs = channels
        self.convolutions = nn.Sequential(*layers, nn.Flatten())
        first, *later = config["hidden"]
        with torch.no_grad():
            found = self.convolutions(blank).shape[1]
        self.looked = clear(nn.Linear(found, first))
        if self.fused:
            self.first = clear(FirstLayer(FLAT_SIZE, first))
        self.trunk = nn.Sequential(nn.SiLU(), *shared_layers(first, later))
        self.policy, self.value = heads(config["hidden"][-1], N_DISCRETE)

    @property
    def device(self) -> torch.device:
        """Where the weights lie."""
        return self.value.weight.device

    def pack(self, games: Games, out: NDArray[Any]) -> None:
        """Write what the players of all games see but for the pictures: out (n,) row_t, overwritten."""
        if self.fused:
            pack_flat(games.flat, games.masks, out)
        else:
            out["seen"]["mask"] = np.packbits(games.masks, axis=1, bitorder="little")

    def decisions(self, rows: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Actions are numbers of the discrete view already."""
        return actions

    def stage(self, rows: Framed) -> StagedPictures:
        """All rows of an update, made ready once; index it for a minibatch."""
        return StagedPictures(rows, self.device, self.fused)

    def seen_first(self, stacks: torch.Tensor) -> torch.Tensor:
        """What the first shared layer has of the pictures: (m, stack * channels, height, width) uint8 -> (m, width)."""
        return self.looked(self.convolutions(stacks.to(self.device).float() / 255.0))

    def flat_first(self, filled: Any) -> torch.Tensor:
        """What it has of the flat observations, (m, width)."""
        if isinstance(filled, FilledRows):
            return self.first.sparse(filled)
        return self.first(twins.unpack_octets(filled))

    def heads(self, first: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits (m, actions) and values (m,) float32 of the first shared layer's sums (m, width)."""
        features = self.trunk(first.float())
        return self.policy(features).float(), self.value(features).float().squeeze(1)

    def answers(self, rows: Framed | StagedPictures) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Logits and legality (m, actions), values (m,)."""
        staged = rows if isinstance(rows, StagedPictures) else self.stage(rows)[np.arange(len(rows))]
        first = self.seen_first(staged.stacks())
        if self.fused:
            first = first + self.flat_first(staged.filled)
        return *self.heads(first), staged.legal().to(self.device)  # type: ignore[return-value]

    def evaluate(self, rows: Framed | StagedPictures, actions: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Log-probabilities of these actions, entropies and values, (m,) each with gradient."""
        logits, values, legal = self.answers(rows)
        chosen = torch.as_tensor(actions, device=self.device)
        return (*twins.masked_stats(logits, legal, chosen), values)

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def act(
        self, rows: Framed, rng: torch.Generator | None, likeliest: bool = False
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Choose an action a row, drawn or the likeliest; else as `RolloutPolicy.act`."""
        logits, values, legal = self.answers(rows)
        if likeliest:
            found = log_softmax(logits, legal).max(dim=1)
            return found.indices, found.values, values
        uniforms = torch.rand(len(rows), generator=rng, device=self.device)
        return (*twins.sample(logits, legal, uniforms), values)

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def chances(self, rows: Framed) -> tuple[torch.Tensor, torch.Tensor]:
        """As `RolloutPolicy.chances`."""
        logits, values, legal = self.answers(rows)
        return log_softmax(logits, legal), values

    def _dense_first(self, observation: dict[str, Any]) -> torch.Tensor:
        """The first shared layer's sums of dense observations: pixels, action_mask and, where fused, observations."""
        first = self.seen_first(observation["pixels"])
        return first + self.first(observation["observations"].float()) if self.fused else first

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, torch.Tensor]:
        logits, _values = self.heads(self._dense_first(batch[Columns.OBS]))
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(batch[Columns.OBS]["action_mask"] == 0, OFF)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Value of each dense observation, (n,)."""
        return self.heads(self._dense_first(batch[Columns.OBS]))[1]


class FusedCnnPolicy(CnnPolicy):
    """CnnPolicy whose first shared layer sees the flat observation beside the pictures."""

    flat = True
    fused: ClassVar[bool] = True


def film_of(policy: CnnPolicy, n: int) -> Film:
    """A film of n games as this policy looks at them."""
    return Film(n, policy.stack, policy.size, policy.colour)


class PixelRunner(BatchRunner):
    """A BatchRunner whose policy looks at pictures; a fragment brings its frames along, each once."""

    _film: Film

    def deal(self) -> None:
        """All games begin; nothing has been drawn."""
        assert self.games is not None
        self._film = film_of(self.module, self.games.n)
        super().deal()

    def _play(self, steps: int) -> Any:
        """As any runner; the fragment's film begins with what the present stacks are made of."""
        assert self.games is not None
        self._film.cut((steps + 1) * self.games.n)
        return super()._play(steps)

    def _renewed(self, games: Games, which: NDArray[np.int64]) -> None:
        """These games have just been dealt: their stacks begin anew."""
        super()._renewed(games, which)
        self._film.begin(which)

    def _see(self, games: Games, out: NDArray[Any]) -> None:
        """What the policy sees, pictures by their numbers: out (n,) row_t, overwritten."""
        super()._see(games, out)
        self._film.look(games)
        out["frames"] = self._film.numbers

    def _acted(self, games: Games, rows: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        actions, log_probs, values = map(on_host, self.module.act(Framed(rows, self._film.frames), self._rng))
        return actions, log_probs, values

    def _values_of(self, rows: NDArray[Any]) -> NDArray[np.float32]:
        """Values of rows of the present fragment, (n,)."""
        return super()._values_of(Framed(rows, self._film.frames))  # type: ignore[arg-type]

    def _filmed(self) -> NDArray[np.uint8] | None:
        """The frames that this fragment's rows name."""
        return self._film.frames


def while_selecting(states: np.recarray) -> Iterator[Any]:
    """The one game, (1,), before each of its selected cards was selected, from left to right: a record, overwritten."""
    s, aside = states[0], copy_states(states)[0]
    forced = sum(1 << i for i in range(s.n_hand) if s.cards[s.hand[i]].forced)
    aside.selected = forced
    for place in range(MAX_HAND):
        if (int(s.selected) & ~forced) >> place & 1:
            yield aside
            aside.selected = int(aside.selected) | 1 << place


class PixelPlayer:
    """A trained policy that looks at pictures, as evaluation and videos ask for it; a stack is kept for each game."""

    discrete = True
    reorder = "none"

    def __init__(self, policy: CnnPolicy, name: str, likeliest: bool = False, seed: int = 0) -> None:
        self.name, self._policy, self._likeliest = name, policy, likeliest
        self._generator = torch.Generator(policy.device).manual_seed(seed)
        self._playing: tuple[Games, Film] | None = None
        self._telling: tuple[Games, Film] | None = None

    def _rows(self, games: Games, film: Film, which: NDArray[np.int64]) -> Framed:
        """What is seen of the games at these indices, which have been drawn."""
        rows = np.zeros(games.n, dtype=self._policy.row_t)
        self._policy.pack(games, rows)
        rows["frames"] = film.numbers
        return Framed(rows[which], film.frames)

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """One number of the discrete view for each game (n,) int64, -1 where a game is not played any more."""
        if self._playing is None or self._playing[0] is not games:
            self._playing = games, film_of(self._policy, games.n)
        film, which = self._playing[1], np.flatnonzero(playing)
        if len(film.frames) > 4 * film.numbers.size:
            film.cut()
        film.look(games, which)
        actions = np.full(games.n, -1, dtype=np.int64)
        found = self._policy.act(self._rows(games, film, which), self._generator, self._likeliest)
        actions[which] = on_host(found[0])
        return actions

    def explain(self, games: Games, taken: int) -> Note:
        """See `watch.notes.Explained`. Replays do not say in which order cards were selected: it is taken as from left
        to right, so the older frames may differ a little from what they were.
        """
        if self._telling is None or self._telling[0] is not games:
            self._telling = games, film_of(self._policy, 1)
        film = self._telling[1]
        if not film.up_to_date(games, 0):
            film.cut()
            for s in while_selecting(games.states):
                film.add(0, s)
            film.look(games)
        logs, values = self._policy.chances(self._rows(games, film, np.arange(1)))
        return note_on_numbers(games, on_host(logs[0].exp()), taken, float(values[0]))
