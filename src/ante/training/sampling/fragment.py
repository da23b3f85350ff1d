"""Rollout fragments, which runners send to learners, and episode statistics."""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ante.engine.core.state import Phase
from ante.env.games import Games, Outcome
from ante.training.policies.protocol import with_frames
from ante.training.sampling.saved_games import array_like

WINDOW = 200  # number of games in every moving average
BOSS, JOKER = 1, 2  # bits of `Trajectory.marks`


@dataclass(slots=True)
class Labelled:
    """Positions labelled with an advisor's decision: rows (k,) row_t, actions (k,) int64."""

    rows: NDArray[Any]
    actions: NDArray[np.int64]


@dataclass(slots=True)
class Rollout:
    """A fragment with advantages and value targets, n = steps x games rows.

    Deliberately not a pytree: Ray passes results through `tree.flatten`, which would take dicts and lists apart.

    rows        (n,) row_t
    actions     (n,) int64
    log_probs   (n,) float32, of the policy that acted
    advantages  (n,) float32
    targets     (n,) float32, of the value
    returns     (3,) float64, moments of the discounted returns (`scales.moments`); zeros without reward normalisation
    version     version of the weights that acted
    labelled    hints received since the last fragment; None without hints
    frames      (frames, channels, height, width) uint8, deduplicated, to which rows refer; None without frames
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
        """The policy's observations of all rows."""
        return with_frames(self.rows, self.frames)

    def __len__(self) -> int:
        """Number of steps."""
        return len(self.actions)

    def env_steps(self) -> int:
        """Number of steps; RLlib's evaluation calls this."""
        return len(self)

    def agent_steps(self) -> int:
        """Number of steps; RLlib's evaluation calls this."""
        return len(self)

    @property
    def nbytes(self) -> int:
        """Number of bytes sent."""
        kept = self.rows, self.actions, self.log_probs, self.advantages, self.targets, self.frames
        return sum(a.nbytes for a in kept if a is not None)

    def part(self, which: slice) -> "Rollout":
        """Return a slice of the steps, as views."""
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
class Trajectory:
    """A fragment of t steps in n games, before advantages are computed.

    rows       (t, n) row_t
    actions    (t, n) int64
    log_probs  (t, n) float32, of the policy that acted
    rewards    (t, n) float32, after shaping and normalisation
    cut        (t, n) bool: the next row belongs to another game
    terminal   (t, n) bool: the game was won or lost with this step
    extra      (n + m,) row_t: observations after the last step, then the final observations of m truncated games
    places     (m,) int64: flat indices t n + i of the steps that truncated them
    returns    (3,) float64, as in Rollout, like version and labelled
    marks      (t, n) uint8: rare events of a step, bits BOSS and JOKER; None without RareSteps
    frames     as in Rollout, including those of `extra`
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
        """Number of steps of all games."""
        return self.actions.size

    def env_steps(self) -> int:
        """Number of steps; RLlib's evaluation calls this."""
        return len(self)

    def agent_steps(self) -> int:
        """Number of steps; RLlib's evaluation calls this."""
        return len(self)

    @property
    def nbytes(self) -> int:
        """Number of bytes sent."""
        kept = self.rows, self.actions, self.log_probs, self.rewards, self.cut, self.terminal, self.extra, self.places
        return sum(a.nbytes for a in (*kept, self.frames) if a is not None)

    def rollout(self, advantages: NDArray[np.float32], targets: NDArray[np.float32]) -> Rollout:
        """Return the Rollout with these advantages and value targets (t, n)."""
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
    """Concatenate at least one array. (NumPy's concatenate drops the padding of records.)"""
    whole = np.empty(sum(map(len, parts)), dtype=parts[0].dtype)
    at = 0
    for part in parts:
        whole[at : at + len(part)] = part
        at += len(part)
    return whole


def joined(rollouts: list[Rollout]) -> Rollout:
    """Concatenate at least one rollout; the version is the oldest."""
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
    """Concatenate frames and update the indices of the joined rows; None without frames."""
    parts = [rollout.frames for rollout in rollouts if rollout.frames is not None]
    if not parts:
        return None
    moved = np.cumsum([0, *(len(part) for part in parts[:-1])])
    rows["frames"] += np.repeat(moved, [len(rollout) for rollout in rollouts]).astype(np.int32)[:, None]
    return np.concatenate(parts)


def all_labelled(parts: list[Labelled | None]) -> Labelled | None:
    """Concatenate hints; None without hints."""
    some = [part for part in parts if part is not None]
    if not some:
        return None
    return Labelled(end_to_end([part.rows for part in some]), end_to_end([part.actions for part in some]))


class StepState(NamedTuple):
    """The state of n games after a step, (n,) each: fields of their records, steps played, Outcome."""

    ante: NDArray[Any]
    round_number: NDArray[Any]
    phase: NDArray[Any]
    steps: NDArray[np.int64]
    outcome: NDArray[np.uint8]


MEANS = ("episode_return_mean", "episode_len_mean", "ante", "blinds", "win_rate")


@dataclass
class EpisodeTally:
    """Statistics of finished games.

    returns  (n,) float64, rewards of the current games so far
    last     one row of MEANS for each of the last WINDOW games
    fresh    the same of all games since the last `take`
    games    number of games that ended since the last fragment, including those that are not in the means
    """

    returns: NDArray[np.float64]
    last: deque[tuple[float, ...]] = field(default_factory=lambda: deque(maxlen=WINDOW))
    fresh: list[tuple[float, ...]] = field(default_factory=list)
    games: int = 0

    def add(self, games: Games, ended: NDArray[np.int64], practice: NDArray[np.bool_]) -> None:
        """Add the last step.

        ended     indices of the games that are over and not yet reset
        practice  (n,) bool: games that started from a saved position and are excluded from the means
        """
        self.returns += games.rewards
        if len(ended):
            states = games.states.view(np.ndarray)  # SPEED: field views; copying whole records costs 2 us a step
            before = StepState(states["ante"], states["round_number"], states["phase"], games.steps, games.outcome)
            self.end(before, ended, ended[~practice[ended]])

    def end(self, before: StepState, ended: NDArray[np.int64], counted: NDArray[np.int64]) -> None:
        """Add the games at `ended`, given the state before their last step; those at `counted` count for the means."""
        self.games += len(ended)
        self._add_lines(before, counted)
        self.returns[ended] = 0.0

    def _add_lines(self, before: StepState, ended: NDArray[np.int64]) -> None:
        """Append a row for each of these finished games."""
        antes, rounds, phases, steps, outcome = (each[ended] for each in before)
        beaten = rounds - np.isin(phases, (Phase.PLAY, Phase.OVER))  # as in reward.blinds_beaten
        won = outcome == Outcome.WON  # a win raises the ante in the same step, so the game reached the previous one
        lines = zip(self.returns[ended], steps, antes - won, beaten, won, strict=True)
        self.fresh += [tuple(map(float, line)) for line in lines]
        self.last.extend(self.fresh[-len(ended) :] if len(ended) else ())

    def take(self) -> NDArray[np.float64]:
        """Return one row of MEANS for each game since the last call, (k, len(MEANS))."""
        rows, self.fresh = rows_of(self.fresh), []
        return rows

    def saved(self) -> dict[str, NDArray[np.float64]]:
        """Return the returns of the current games and the rows of the last ones as arrays, for checkpoints."""
        return {"returns": self.returns.copy(), "last": rows_of(self.last)}

    def restore(self, saved: dict[str, Any]) -> None:
        """Set the statistics of as many games to what `saved` returned. Raises ValueError."""
        self.returns = array_like(saved["returns"], self.returns, "returns").copy()
        self.last = last_games(saved["last"])
        self.games = 0

    def means(self) -> dict[str, float]:
        """Return means over the last games, with the names in MEANS; NaN before the first game ends."""
        return means_of(self.last)


def means_of(last: Sequence[tuple[float, ...]]) -> dict[str, float]:
    """Return means over rows of finished games, with the names in MEANS; NaN without rows."""
    means = np.mean(last, axis=0).tolist() if last else [math.nan] * len(MEANS)
    return dict(zip(MEANS, means, strict=True))


def rows_of(last: Sequence[tuple[float, ...]]) -> NDArray[np.float64]:
    """Return rows of finished games as an array (k, len(MEANS)), for checkpoints."""
    return np.array(last).reshape(-1, len(MEANS))


def last_games(rows: Any) -> deque[tuple[float, ...]]:
    """Return the last WINDOW games from `rows_of`. Raises ValueError."""
    checked = array_like(rows, np.empty((min(len(rows), WINDOW), len(MEANS))), "last games")
    return deque(map(tuple, checked.tolist()), maxlen=WINDOW)


class Sampled(NamedTuple):
    """What an env runner returns to the driver for each fragment.

    fragment  the fragment, or a reference to one
    metrics   its metrics, reduced
    ended     (k, len(MEANS)) float64, a row for each game that ended and counts for the means
    stage     the stage of the curriculum in which the games are played
    """

    fragment: Any
    metrics: dict[str, Any]
    ended: NDArray[np.float64]
    stage: int


class GameWindow:
    """The last WINDOW finished games of a run, for any number of env runners. It is emptied by each new stage."""

    def __init__(self) -> None:
        self.last: deque[tuple[float, ...]] = deque(maxlen=WINDOW)
        self.stage = 0

    def add(self, ended: NDArray[np.float64], stage: int) -> None:
        """Add finished games, (k, len(MEANS)); those of an earlier stage are ignored."""
        if stage > self.stage:
            self.last.clear()
            self.stage = stage
        if stage == self.stage:
            self.last.extend(map(tuple, ended.tolist()))

    def means(self) -> dict[str, float]:
        """Return the means, with the names in MEANS, and the number of games; NaN before the first game ends."""
        return {**means_of(self.last), "games_counted": float(len(self.last))}

    def saved(self) -> dict[str, Any]:
        """Return the games as plain values, for checkpoints."""
        return {"last": rows_of(self.last), "stage": self.stage}

    def restore(self, saved: dict[str, Any]) -> None:
        """Set the games to what `saved` returned. Raises ValueError."""
        self.last = last_games(saved["last"])
        self.stage = int(saved["stage"])
