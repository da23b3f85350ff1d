"""Prioritised replay buffer of steps in packed rows, sampled by TD error.

A fragment is stored whole, each row once, although a row is the observation of one step and the next observation of
others. When the buffer is full, the oldest fragments are dropped. All memory is reserved at the start.
"""

import math
from collections import deque
from dataclasses import dataclass, field
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.training.numerics.advantages import nstep
from ante.training.numerics.compression import compressed, decompressed
from ante.training.numerics.packed_rows import octets_of
from ante.training.numerics.replay_kernels import draw_places, set_priorities, zero_priorities
from ante.training.sampling.fragment import BOSS, JOKER, Trajectory

LEAST_ERROR = 1e-3  # minimum priority: steps without an error are still sampled
ARRAYS = ("actions", "nexts", "returns", "weights", "stress")  # in addition to rows and priorities


@dataclass(frozen=True)
class ReplaySample:
    """A sample of steps.

    places       (m,) int64, for `Replay.update_priorities`
    rows, nexts  (m,) row_t: the observation, and the observation after the last counted step
    actions      (m,) int64
    returns      (m,) float32, sum of the discounted counted rewards
    weights      (m,) float32, factor of the value of `nexts`; 0 if the game ended
    corrections  (m,) float32, importance-sampling weights of the loss
    """

    places: NDArray[np.int64]
    rows: NDArray[Any]
    nexts: NDArray[Any]
    actions: NDArray[np.int64]
    returns: NDArray[np.float32]
    weights: NDArray[np.float32]
    corrections: NDArray[np.float32]

    def part(self, which: NDArray[np.int64]) -> "ReplaySample":
        """Return the steps at these indices of the sample."""
        rows, nexts = (octets_of(each)[which].view(each.dtype)[:, 0] for each in (self.rows, self.nexts))
        return ReplaySample(
            self.places[which],
            rows,
            nexts,
            self.actions[which],
            self.returns[which],
            self.weights[which],
            self.corrections[which],
        )


@dataclass
class Replay:
    """A ring buffer of fragments.

    capacity     maximum number of rows
    row_t        dtype of a row
    length       number of rewards in an n-step return
    discount     gamma
    exponent     exponent of the TD error in the priority; 0 samples uniformly
    boss, joker  priority factors of steps that beat a boss or gained a joker
    actions      number of actions
    """

    capacity: int
    row_t: np.dtype[Any]
    length: int
    discount: float
    exponent: float
    boss: float
    joker: float
    actions: int
    steps: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        size = 1 << max(1, (self.capacity - 1).bit_length())
        self._tree = np.zeros(2 * size)
        self._rows = np.zeros(self.capacity, dtype=self.row_t)
        self._actions = np.zeros(self.capacity, dtype=np.int16)
        self._nexts = np.zeros(self.capacity, dtype=np.int32)
        self._returns, self._weights, self._stress = (np.zeros(self.capacity, dtype=np.float32) for _ in range(3))
        self._spans: deque[tuple[int, int, int]] = deque()  # begin, end and steps of each fragment, oldest first
        self._at, self._top = 0, 1.0

    def __len__(self) -> int:
        """Return the number of steps that can be sampled."""
        return self.steps

    @property
    def bytes_per_step(self) -> float:
        """Memory per step: row, action, returns and its share of the tree."""
        held = self._tree, self._rows, self._actions, self._nexts, self._returns, self._weights, self._stress
        return sum(each.nbytes for each in held) / self.capacity

    def add(self, trace: Trajectory) -> None:
        """Add a fragment; its steps get the highest priority so far. Raises ValueError if it exceeds the capacity."""
        count, begin = len(trace), self._room(len(trace) + len(trace.extra))
        end = begin + count + len(trace.extra)
        octets = octets_of(self._rows)
        octets[begin : begin + count] = octets_of(trace.rows.reshape(-1))
        octets[begin + count : end] = octets_of(trace.extra)
        shape, here = trace.actions.shape, slice(begin, begin + count)
        sums, weights = np.empty(shape, dtype=np.float32), np.empty(shape, dtype=np.float32)
        lasts = np.empty(shape, dtype=np.int64)
        nstep(trace.rewards, trace.cut, self.length, self.discount, sums, weights, lasts)
        column = np.arange(shape[1])
        weights[trace.terminal[lasts, column]] = 0.0
        self._actions[here] = trace.actions.reshape(-1)
        self._returns[here], self._weights[here] = sums.reshape(-1), weights.reshape(-1)
        self._nexts[here] = (begin + places_after(trace)[lasts, column]).reshape(-1)
        self._stress[here] = self._priority_factors(trace)
        places = np.arange(begin, begin + count)
        set_priorities(self._tree, places, self._top * self._stress[here].astype(np.float64))
        self._spans.append((begin, end, count))
        self._at, self.steps = end, self.steps + count

    def _room(self, rows: int) -> int:
        """Return the place for this many rows, after dropping the earlier fragments there."""
        if rows > self.capacity:
            raise ValueError(f"a fragment of {rows} rows does not fit into a replay buffer of {self.capacity}")
        if self._at + rows > self.capacity:
            while self._spans and self._spans[0][0] >= self._at:
                self._drop_oldest()
            self._at = 0
        while self._spans and self._at <= self._spans[0][0] < self._at + rows:
            self._drop_oldest()
        return self._at

    def _drop_oldest(self) -> None:
        """Remove the oldest fragment."""
        begin, end, count = self._spans.popleft()
        zero_priorities(self._tree, begin, end)
        self.steps -= count

    def _priority_factors(self, trace: Trajectory) -> NDArray[np.float32]:
        """Return the priority factors of a fragment's steps, (n,)."""
        stress = np.ones(len(trace), dtype=np.float32)
        if trace.marks is not None:
            marks = trace.marks.reshape(-1)
            stress[marks & BOSS != 0] *= self.boss
            stress[marks & JOKER != 0] *= self.joker
        return stress

    def draw(self, m: int, rng: np.random.Generator, correction: float) -> ReplaySample:
        """Sample m steps in proportion to their priorities. The buffer must not be empty.

        correction  exponent of the importance-sampling weights, 0 to 1; boss and joker factors are not corrected
        """
        places = np.empty(m, dtype=np.int64)
        draw_places(self._tree, rng.random(m), places)
        probabilities = self._tree[len(self._tree) // 2 + places] / self._tree[1]
        often = (probabilities / self._stress[places] * self.steps) ** -correction
        return ReplaySample(
            places,
            self._rows_at(places),
            self._rows_at(self._nexts[places].astype(np.int64)),
            self._actions[places].astype(np.int64),
            self._returns[places],
            self._weights[places],
            (often / often.max()).astype(np.float32),
        )

    def _rows_at(self, places: NDArray[np.int64]) -> NDArray[Any]:
        """Return the rows at these places, copied as bytes: NumPy copies records field by field."""
        return octets_of(self._rows)[places].view(self.row_t)[:, 0]

    def update_priorities(self, places: NDArray[np.int64], errors: NDArray[np.float32]) -> None:
        """Update the priorities of the steps at these places (m,) from their errors (m,)."""
        plain = (np.abs(errors.astype(np.float64)) + LEAST_ERROR) ** self.exponent
        self._top = max(self._top, float(plain.max()))
        set_priorities(self._tree, places, plain * self._stress[places])

    def _views(self, used: int) -> dict[str, NDArray[Any]]:
        """Return views of the first `used` places of all arrays."""
        leaves = len(self._tree) // 2
        kept = {name: getattr(self, f"_{name}")[:used] for name in ARRAYS}
        return {**kept, "rows": octets_of(self._rows[:used]), "priorities": self._tree[leaves : leaves + used]}

    def state(self) -> dict[str, Any]:
        """Return the complete state, compressed."""
        used = max((end for _, end, _ in self._spans), default=0)
        kept = self._views(used)
        squeezed = {name: compressed(array) for name, array in kept.items()}
        return {"used": used, "spans": list(self._spans), "at": self._at, "top": self._top, "arrays": squeezed}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a saved state of a buffer with the same capacity and rows.

        Raises ValueError or TypeError if the state is invalid: compiled code uses its numbers as indices, and a value that is not
        finite would spread to the weights.
        """
        self.__post_init__()
        used, at, top = index(state["used"]), index(state["at"]), float(state["top"])
        spans = [tuple(map(index, span)) for span in state["spans"]]
        check_spans(spans, used, at, self.capacity)
        kept = self._views(used)
        for name, array in kept.items():
            array[:] = decompressed(f"{name} of a replay buffer", state["arrays"][name], array)
        priorities = kept["priorities"].copy()
        self._check_steps(spans, priorities)
        if not (math.isfinite(top) and top > 0.0):
            raise ValueError(f"the highest priority of a replay buffer is {top}, not a positive number")
        set_priorities(self._tree, np.arange(used), priorities)
        self._spans = deque((begin, end, count) for begin, end, count in spans)
        self._at, self._top, self.steps = at, top, sum(count for _, _, count in spans)

    def _check_steps(self, spans: list[tuple[int, ...]], priorities: NDArray[np.float64]) -> None:
        """Check the restored arrays. Raises ValueError, naming the array."""
        first, last = np.zeros(len(priorities), dtype=np.int64), np.zeros(len(priorities), dtype=np.int64)
        is_step, held = np.zeros(len(priorities), dtype=bool), np.zeros(len(priorities), dtype=bool)
        for begin, end, count in spans:
            is_step[begin : begin + count], held[begin:end] = True, True
            first[begin:end], last[begin:end] = begin, end
        steps = np.flatnonzero(is_step)
        actions, nexts, weights = self._actions[steps], self._nexts[steps], self._weights[steps]
        stress, rows = self._stress[steps], self._rows[: len(priorities)][held]
        floats = [name for name in rows.dtype.names or () if rows.dtype[name].base.kind == "f"]
        valid = {
            "priorities": np.isfinite(priorities).all() and ((priorities > 0.0) == is_step).all(),
            "actions": ((actions >= 0) & (actions < self.actions)).all(),
            "nexts": ((nexts >= first[steps]) & (nexts < last[steps])).all(),
            "returns": np.isfinite(self._returns[steps]).all(),
            "weights": ((weights >= 0.0) & (weights <= 1.0)).all(),
            "stress": (np.isfinite(stress) & (stress > 0.0)).all(),
            "rows": all(np.isfinite(rows[name]).all() for name in floats),
        }
        for name, fits in valid.items():
            if not fits:
                raise ValueError(f"the {name} of a replay buffer are not finite or out of range")


def check_spans(spans: list[tuple[int, ...]], used: int, at: int, capacity: int) -> None:
    """Check that fragments lie in the used places of a ring, oldest first and without overlap. Raises ValueError."""
    if not (0 <= used <= capacity and 0 <= at <= capacity):
        raise ValueError(f"replay buffer of {capacity}: {used} places used, next {at} is invalid")
    for begin, end, count in spans:
        if not (0 <= begin < begin + count <= end <= used):
            raise ValueError(f"replay buffer: {count} steps from {begin} to {end} of {used} is invalid")
    ends = [end for _, end, _ in spans]
    back = sum(begin < end for (begin, _, _), end in zip(spans[1:], ends, strict=False))  # where the ring starts again
    if spans and (at != ends[-1] or back > 1 or (back and ends[-1] > spans[0][0]) or max(ends) != used):
        raise ValueError(f"replay buffer: fragments overlap or are not in order, or {at} is not after the newest")


def places_after(trace: Trajectory) -> NDArray[np.int64]:
    """Return the row that each step led to, (t, n), as an index into the steps' rows followed by the extra rows."""
    (steps, games), count = trace.actions.shape, len(trace)
    after = np.arange(games, count + games).reshape(steps, games)  # the last ones refer to the first extra rows
    after.reshape(-1)[trace.places] = count + games + np.arange(len(trace.places))
    return after
