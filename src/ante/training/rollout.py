"""What passes between the parts of the fast path: a policy's interface, a fragment of played steps, its statistics."""

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import torch
from gymnasium import Space
from numpy.typing import NDArray

from ante.engine.state import Phase
from ante.env.games import Games, Outcome

WINDOW = 200  # games behind every mean


class RolloutPolicy(Protocol):
    """A policy that the fast path can sample with and learn; it is an RLModule besides.

    row_t     NumPy dtype of one packed observation
    discrete  whether its decisions are numbers of the discrete view; else macro decisions
    flat      whether `pack` reads `games.flat`; where it does not, the vector is never written
    value     the last layer of the value, one output wide: normalisation of values moves it

    A policy may also have

    stage(rows) -> staged
        called once for all rows of an update; `staged[indices]`, indices an int64 array, is then what `evaluate` gets.
        Without it that is the rows, or on CUDA their bytes on the device.
    sequences(rows) -> list of index arrays
        rows that a minibatch takes together, for policies that remember.
    chances(rows) -> (log_probs, values)
        log-probabilities of every action (n, actions), OFF where there is none, and values (n,), as tensors without
        gradient. Hints need it: they ask how sure a policy is.
    judge(rows, actions) -> (log_probs, values)
        what `evaluate` says of packed rows, (n,) each as array or tensor, without gradient and without entropies.
    ppo_loss(rows, (actions, log_probs, advantages, targets), clip, value_weight, entropy_weight, value_clip)
        -> (loss, sums), the loss of a staged minibatch (with gradient) and its five means, instead of `evaluate` and
        `twins.ppo`.
    ppo_gradient(same) -> (gradients, sums) or None
        the gradient of every parameter in order, worked out by hand, instead of autograd; None where it cannot.
    """

    row_t: ClassVar[np.dtype[Any]]
    discrete: ClassVar[bool]
    flat: ClassVar[bool]
    value: torch.nn.Linear

    @staticmethod
    def spaces() -> tuple[Space[Any], Space[Any]]:
        """Gymnasium spaces of observations and actions."""

    def pack(self, games: Games, out: NDArray[Any]) -> None:
        """Write what the players of all games see: out (n,) row_t, overwritten."""

    def act(self, rows: NDArray[Any], rng: torch.Generator) -> tuple[Any, Any, Any]:
        """Sample: actions (n,) int64, log-probabilities (n,) float32, values (n,) float32; no gradient.

        rng  a generator of the policy's device. Answers are arrays, or tensors of any device
        """

    def decisions(self, rows: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """What `Games.step` is given for these actions on these rows, (n,) int64."""

    def evaluate(self, rows: Any, actions: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Log-probabilities of these actions, entropies and values, (m,) each, with gradient."""


@dataclass(frozen=True, slots=True)
class Framed:
    """Rows that name frames, and the frames: what policies that look at pictures are given instead of rows.

    rows    (n,) row_t with a field frames (n, stack) int32, places in `frames`
    frames  (frames, channels, height, width) uint8
    """

    rows: NDArray[Any]
    frames: NDArray[np.uint8]

    def __len__(self) -> int:
        """Rows."""
        return len(self.rows)

    def __getitem__(self, which: Any) -> "Framed":
        """Some of the rows; the frames stay whole, as rows name them by their places."""
        return Framed(self.rows[which], self.frames)


def shown(rows: NDArray[Any], frames: NDArray[np.uint8] | None) -> Any:
    """What a policy is given: the rows (n,), with the frames that they name where there are any."""
    return rows if frames is None else Framed(rows, frames)


@dataclass(slots=True)
class Labelled:
    """Positions with the decision that somebody else would take: rows (k,) row_t, actions (k,) int64."""

    rows: NDArray[Any]
    actions: NDArray[np.int64]


@dataclass(slots=True)
class Rollout:
    """A fragment of played steps as the learner wants it, n = steps x games rows.

    An opaque object on purpose: what Ray resolves passes through `tree.flatten`, which takes dicts and lists apart.

    rows        (n,) row_t
    actions     (n,) int64
    log_probs   (n,) float32, of the policy that acted
    advantages  (n,) float32
    targets     (n,) float32, of the value
    returns     (3,) float64, moments of the discounted returns, `scales.moments`; zeros where rewards stay as they are
    version     number of the weights that acted
    labelled    hints that came meanwhile; None without hints
    frames      (frames, channels, height, width) uint8 that the rows name, each once; None where they name none
    """

    rows: NDArray[Any]
    actions: NDArray[np.int64]
    log_probs: NDArray[np.float32]
    advantages: NDArray[np.float32]
    targets: NDArray[np.float32]
    returns: NDArray[np.float64]
    version: int
    labelled: Labelled | None = None
    frames: NDArray[np.uint8] | None = None

    @property
    def seen(self) -> Any:
        """What a policy is given of all rows."""
        return shown(self.rows, self.frames)

    def __len__(self) -> int:
        """Steps."""
        return len(self.actions)

    def env_steps(self) -> int:
        """Steps, under the name that RLlib's evaluation asks for."""
        return len(self)

    def agent_steps(self) -> int:
        """Steps, under the name that RLlib's evaluation asks for."""
        return len(self)

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        kept = self.rows, self.actions, self.log_probs, self.advantages, self.targets, self.frames
        return sum(a.nbytes for a in kept if a is not None)

    def part(self, which: slice) -> "Rollout":
        """Some of the steps, as views."""
        return Rollout(
            self.rows[which],
            self.actions[which],
            self.log_probs[which],
            self.advantages[which],
            self.targets[which],
            self.returns * (len(self.actions[which]) / len(self)),
            self.version,
            self.labelled,
            self.frames,
        )


@dataclass(slots=True)
class Trace:
    """A fragment of t steps in n games as it was played, before anything is made of it.

    rows       (t, n) row_t
    actions    (t, n) int64
    log_probs  (t, n) float32, of the policy that acted
    rewards    (t, n) float32, as they are learned from
    cut        (t, n) bool: the next row does not go on from this one
    terminal   (t, n) bool: the game was won or lost with this step
    extra      (n + m,) row_t: what the last step led to, then the last sight of m games that were cut off
    places     (m,) int64: the steps that cut them off, t n + i
    returns    (3,) float64, as in Rollout; version and labelled as there
    marks      (t, n) uint8: what was rare about a step, bits of `replay.py`; None where nobody looked
    frames     as in Rollout, those that `extra` names among them
    """

    rows: NDArray[Any]
    actions: NDArray[np.int64]
    log_probs: NDArray[np.float32]
    rewards: NDArray[np.float32]
    cut: NDArray[np.bool_]
    terminal: NDArray[np.bool_]
    extra: NDArray[Any]
    places: NDArray[np.int64]
    returns: NDArray[np.float64]
    version: int
    labelled: Labelled | None = None
    marks: NDArray[np.uint8] | None = None
    frames: NDArray[np.uint8] | None = None

    def __len__(self) -> int:
        """Steps of all games together."""
        return self.actions.size

    def env_steps(self) -> int:
        """Steps, under the name that RLlib's evaluation asks for."""
        return len(self)

    def agent_steps(self) -> int:
        """Steps, under the name that RLlib's evaluation asks for."""
        return len(self)

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        kept = self.rows, self.actions, self.log_probs, self.rewards, self.cut, self.terminal, self.extra, self.places
        return sum(a.nbytes for a in (*kept, self.frames) if a is not None)

    def rollout(self, advantages: NDArray[np.float32], targets: NDArray[np.float32]) -> Rollout:
        """What is learned from: advantages and targets (t, n)."""
        return Rollout(
            self.rows.reshape(-1),
            self.actions.reshape(-1),
            self.log_probs.reshape(-1),
            advantages.reshape(-1),
            targets.reshape(-1),
            self.returns,
            self.version,
            self.labelled,
            self.frames,
        )


def end_to_end(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Arrays one after the other. (NumPy's own concatenate drops the padding of records.) At least one."""
    whole = np.empty(sum(map(len, parts)), dtype=parts[0].dtype)
    at = 0
    for part in parts:
        whole[at : at + len(part)] = part
        at += len(part)
    return whole


def joined(rollouts: list[Rollout]) -> Rollout:
    """Fragments one after the other; the version is the oldest. At least one."""
    if len(rollouts) == 1:
        return rollouts[0]
    rows = end_to_end([r.rows for r in rollouts])
    return Rollout(
        rows,
        end_to_end([r.actions for r in rollouts]),
        end_to_end([r.log_probs for r in rollouts]),
        end_to_end([r.advantages for r in rollouts]),
        end_to_end([r.targets for r in rollouts]),
        np.sum([r.returns for r in rollouts], axis=0),
        min(r.version for r in rollouts),
        all_labelled([r.labelled for r in rollouts]),
        all_frames(rollouts, rows),
    )


def all_frames(rollouts: list[Rollout], rows: NDArray[Any]) -> NDArray[np.uint8] | None:
    """Frames one after the other; None where there are none. The joined rows name them by their new places."""
    parts = [rollout.frames for rollout in rollouts if rollout.frames is not None]
    if not parts:
        return None
    moved = np.cumsum([0, *(len(part) for part in parts[:-1])])
    rows["frames"] += np.repeat(moved, [len(rollout) for rollout in rollouts]).astype(np.int32)[:, None]
    return np.concatenate(parts)


def all_labelled(parts: list[Labelled | None]) -> Labelled | None:
    """Hints one after the other; None where there are none."""
    some = [part for part in parts if part is not None]
    if not some:
        return None
    return Labelled(end_to_end([part.rows for part in some]), end_to_end([part.actions for part in some]))


class Standing(NamedTuple):
    """Where a step has left n games, (n,) each: fields of their records, steps played, Outcome."""

    ante: NDArray[Any]
    round_number: NDArray[Any]
    phase: NDArray[Any]
    steps: NDArray[np.int64]
    outcome: NDArray[np.uint8]


MEANS = ("episode_return_mean", "episode_len_mean", "ante", "blinds", "win_rate")


@dataclass
class Tally:
    """Statistics of the games that end.

    returns  (n,) float64, rewards of the present games so far
    last     one line of MEANS for each of the last WINDOW games
    games    that ended since the last `take`
    """

    returns: NDArray[np.float64]
    last: deque[tuple[float, ...]] = field(default_factory=lambda: deque(maxlen=WINDOW))
    games: int = 0

    def add(self, games: Games, ended: NDArray[np.int64], practice: NDArray[np.bool_]) -> None:
        """Count the last step.

        ended     indices of the games that are over and have not been dealt anew
        practice  (n,) bool: these games began in the middle and are left out of the means
        """
        self.returns += games.rewards
        if len(ended):
            states = games.states.view(np.ndarray)  # SPEED: plain fields; copies of whole records cost 2 us a step
            stood = Standing(states["ante"], states["round_number"], states["phase"], games.steps, games.outcome)
            self.end(stood, ended, ended[~practice[ended]])

    def end(self, stood: Standing, ended: NDArray[np.int64], told: NDArray[np.int64]) -> None:
        """The games at `ended` are over, as the step before left all; those at `told` come into the means."""
        self.games += len(ended)
        self._add_lines(stood, told)
        self.returns[ended] = 0.0

    def _add_lines(self, stood: Standing, ended: NDArray[np.int64]) -> None:
        """A line for each of these games, which are over."""
        antes, rounds, phases, steps, outcome = (each[ended] for each in stood)
        beaten = rounds - np.isin(phases, (Phase.PLAY, Phase.OVER))  # as reward.blinds_beaten
        won = outcome == Outcome.WON  # in the step that raises the ante: such a game reached the one before
        lines = zip(self.returns[ended], steps, antes - won, beaten, won, strict=True)
        self.last.extend(tuple(map(float, line)) for line in lines)

    def means(self) -> dict[str, float]:
        """Means of the last games, by the names in MEANS; NaN before the first game ends."""
        means = np.mean(self.last, axis=0).tolist() if self.last else [math.nan] * len(MEANS)
        return dict(zip(MEANS, means, strict=True))


def on_host(values: Any) -> NDArray[Any]:
    """An array, or a tensor of any device, as an array."""
    return np.asarray(values.cpu()) if isinstance(values, torch.Tensor) else np.asarray(values)
