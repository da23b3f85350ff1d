"""The interface between policies and the runners, learners and players that use them."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from gymnasium import Space
from gymnasium.spaces import Discrete
from numpy.typing import NDArray

from ante.engine.actions import N_DISCRETE, to_macro
from ante.env.games import Games
from ante.env.layout import masked_space
from ante.training.numerics import torch_ops
from ante.training.numerics.distributions import log_softmax
from ante.watch.notes import Note, note_of


@dataclass(frozen=True, slots=True)
class Framed:
    """Rows that refer to frames by index, and the frames: the observations of pixel policies.

    rows    (n,) row_t with a field frames (n, stack) int32, indices into `frames`
    frames  (frames, channels, height, width) uint8
    """

    rows: NDArray[Any]
    frames: NDArray[np.uint8]

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.rows)

    def __getitem__(self, which: Any) -> "Framed":
        """Return a subset of the rows; the frames stay complete, since rows refer to them by index."""
        return Framed(self.rows[which], self.frames)


def with_frames(rows: NDArray[Any], frames: NDArray[np.uint8] | None) -> Any:
    """Return a policy's observations: the rows (n,), combined with `frames` if there are any."""
    return rows if frames is None else Framed(rows, frames)


def on_host(values: Any) -> NDArray[Any]:
    """Return an array, or a tensor on any device, as an array."""
    return np.asarray(values.cpu()) if isinstance(values, torch.Tensor) else np.asarray(values)


class Choice(NamedTuple):
    """A policy's choice in n games, as arrays or as tensors on any device.

    actions    (n,) int64
    log_probs  (n,) float32, of the actions
    values     (n,) float32, of the observations
    carry      (n, ...) passed to `GameState.advance` once the actions are taken; None for stateless policies
    """

    actions: Any
    log_probs: Any
    values: Any
    carry: Any = None


class GameState:
    """Per-game state of a policy between decisions; this base class is stateless.

    A subclass holds arrays whose first axis is the games. The methods are called in this order for each decision:
    `begin` for games that have just started, `observe` (possibly several times), `advance`.
    """

    @property
    def frames(self) -> NDArray[np.uint8] | None:
        """The frames to which rows observed since `begin_fragment` refer; None for policies without frames."""
        return None

    def begin(self, which: NDArray[np.int64]) -> None:
        """Reset the state of the games at these indices (k,), which have been replaced by new games."""

    def begin_fragment(self, rows: int) -> None:
        """Allocate space for a new fragment of this many rows; earlier rows are no longer used."""

    def observe(self, games: Games, rows: NDArray[Any]) -> None:
        """Complete packed rows (n,) with the state of the games; must not affect later decisions."""

    def advance(self, which: NDArray[np.int64], carry: Any) -> None:
        """Update the state after decisions in the games at these indices (k,), with their part of `Choice.carry`."""

    def view(self, rows: NDArray[Any]) -> Any:
        """Return the policy's observations for observed rows."""
        return with_frames(rows, self.frames)

    def seeded_uniforms(self, games: Games) -> NDArray[np.float32] | None:
        """Return numbers in [0, 1) that depend on each game's seed only, (n,), for reproducible choices; or None."""
        return None

    def saved(self) -> dict[str, Any]:
        """Return the state as plain values for a checkpoint; by default all attributes, arrays or numbers."""
        return dict(vars(self))

    def restore(self, saved: dict[str, Any]) -> None:
        """Set the state of as many games to what `saved` returned. Raises ValueError if it does not fit."""
        own = vars(self)
        if own.keys() != saved.keys():
            raise ValueError(f"the policy's state has {', '.join(saved)}; expected: {', '.join(own)}")
        for name, value in own.items():
            found = saved[name]
            same = type(found) is type(value)
            if same and isinstance(value, np.ndarray):
                same = (found.dtype, found.shape) == (value.dtype, value.shape)
            if not same:
                raise ValueError(f"{name} of the policy's state does not fit {type(self).__name__}")
        own.update(saved)

    def copy(self) -> "GameState":
        """Return an independent copy."""
        return deepcopy(self)


class GamePolicy:
    """Base class of policies on the fast path; a policy also derives from RLModule.

    Class-level data (`row_t` may also be set in `setup`, if it depends on settings):
        row_t            NumPy dtype of one packed observation
        discrete         whether actions are those of the discrete view; otherwise macro decisions
        flat             whether `pack` reads `games.flat`; if not, the flat observation is never computed
        bf16             whether `bf16: auto` selects bf16 on machines that support it
        packs_on_device  whether rows hold the flat view only, which a CUDA device can pack (`act_octets`)

    `value` is the output layer of the value function, one unit wide. Value normalisation needs a `layers.ValueHead`.
    Values are in units of the reward, after its normalisation.

    A policy may also define these methods:

    action_log_probs(seen) -> (log_probs, values, carry)
        Log-probabilities of all actions (n, actions), OFF for illegal ones, values (n,) and the carry of `Choice`,
        without gradient. Required for hints.
    stage(seen) -> staged
        Called once for all rows of an update; `evaluate` then receives `staged[indices]` with an int64 array of
        indices. Without this method it receives the rows, or on CUDA their bytes on the device.
    sequences(rows) -> list of index arrays
        Groups of rows that must be in the same minibatch, for recurrent policies.
    score_actions(rows, actions) -> (log_probs, values)
        As `evaluate`, (n,) each, without gradients and entropies.
    ppo_loss(rows, (actions, log_probs, advantages, targets), clip, value_weight, entropy_weight, value_error_limit)
        -> (loss, sums): the loss of a staged minibatch (with gradient) and its means (LOSS_MEANS,), used
        instead of `evaluate` and `torch_ops.ppo`.
    ppo_gradient(same) -> (gradients, sums) or None
        The gradients of all parameters in order, computed without autograd; None if not supported.
    """

    row_t: np.dtype[Any]
    discrete: ClassVar[bool]
    flat: ClassVar[bool]
    bf16: ClassVar[bool] = False
    packs_on_device: ClassVar[bool] = False
    value: torch.nn.Linear

    @staticmethod
    def spaces() -> tuple[Space[Any], Space[Any]]:
        """Return the Gymnasium spaces of observations and actions."""
        raise NotImplementedError

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.value.weight.device

    def make_state(self, n: int, stream: int = 0) -> GameState:
        """Return the initial state of n games. `stream` distinguishes the games of different callers."""
        return GameState()

    def pack(self, games: Games, out: NDArray[Any]) -> None:
        """Write the observations of all games: out (n,) row_t, overwritten."""
        raise NotImplementedError

    def act(
        self,
        seen: Any,
        rng: torch.Generator | None,
        likeliest: bool = False,
        uniforms: NDArray[np.float32] | None = None,
    ) -> Choice:
        """Choose an action for each of n observations, sampled or the most likely one; no gradient.

        rng       a generator on the policy's device; not used if `likeliest`
        uniforms  (n,) as in `GameState.seeded_uniforms`
        """
        raise NotImplementedError

    def play(
        self,
        seen: Any,
        rng: torch.Generator | None,
        likeliest: bool = False,
        uniforms: NDArray[np.float32] | None = None,
    ) -> Choice:
        """As `act`, outside training: without the algorithm's exploration."""
        return self.act(seen, rng, likeliest, uniforms)

    def decisions(self, rows: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the arguments of `Games.step` for these actions on these rows, (n,) int64."""
        return actions

    def evaluate(self, rows: Any, actions: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return log-probabilities of these actions, entropies and values, (m,) each, with gradient."""
        raise NotImplementedError

    def explain(
        self,
        games: Games,
        seen: Any,
        taken: int,
        likeliest: bool = False,
        uniforms: NDArray[np.float32] | None = None,
    ) -> tuple[Note, Any]:
        """Return a Note on macro decision `taken` in the one game of `games`, and the carry. See `watch.notes.Explained`.

        This implementation is for the discrete view, where cards are selected one by one and `taken` is one of several
        next choices.
        """
        log_probs, values, carry = self.action_log_probs(seen)  # type: ignore[attr-defined]
        numbers = np.flatnonzero(games.masks[0])
        decisions = np.array([to_macro(games.states[0], number) for number in numbers])
        return note_of(decisions, on_host(log_probs[0].exp())[numbers], taken, float(values[0])), carry


class CategoricalPolicy(GamePolicy):
    """Base class of policies that sample from masked logits of the discrete view; a subclass defines `outputs`."""

    discrete = True

    @staticmethod
    def spaces() -> tuple[Space[Any], Space[Any]]:
        """Return the spaces of the masked flat view and of the discrete view."""
        return masked_space(), Discrete(N_DISCRETE)

    def outputs(self, seen: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return logits and legality (m, actions) and values (m,) of raw or staged observations, with gradient."""
        raise NotImplementedError

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def act(
        self,
        seen: Any,
        rng: torch.Generator | None,
        likeliest: bool = False,
        uniforms: NDArray[np.float32] | None = None,
    ) -> Choice:
        """See GamePolicy."""
        logits, legal, values = self.outputs(seen)
        if likeliest:
            best = log_softmax(logits, legal).max(dim=1)
            return Choice(best.indices, best.values, values)
        draws = torch.rand(len(seen), generator=rng, device=self.device)
        return Choice(*torch_ops.sample(logits, legal, draws), values)

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def action_log_probs(self, seen: Any) -> tuple[torch.Tensor, torch.Tensor, None]:
        """See GamePolicy."""
        logits, legal, values = self.outputs(seen)
        return log_softmax(logits, legal), values, None

    def evaluate(self, rows: Any, actions: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """See GamePolicy."""
        logits, legal, values = self.outputs(rows)
        return (*torch_ops.masked_stats(logits, legal, torch.as_tensor(actions, device=self.device)), values)
