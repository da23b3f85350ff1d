"""`Games` on a CUDA device: one kernel per step plays, rewards, observes and masks; all data stays on the device.

Every buffer has `__cuda_array_interface__`: `torch.as_tensor(games.flat, device="cuda")` shares its memory.
docs/how-to/gpu.md has an example.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from ante.catalog.constants import WIN_ANTE
from ante.checks import chosen, flag, whole_number
from ante.engine.core.cuda_compiler import BLOCK, kernel, require_device
from ante.engine.core.state import new_states
from ante.engine.drivers.cuda import deal_game, player_rngs, seed_rows
from ante.engine.drivers.random_play import random_decision
from ante.engine.run import locked_bits, run_numbers
from ante.env.flat import flatten
from ante.env.games import MAX_DECISIONS, REORDERS, goal_number, outcome_of, play_rewarded
from ante.env.layout import FIELDS, FLAT_SIZE, new_observations
from ante.env.observe import observe
from ante.env.reward import Reward, find_reward, new_before
from ante.errors import BalatroError
from ante.plugins import BadPlugin


class NotMacro(BalatroError, ValueError):
    """Random decisions for games that take discrete actions."""

    def __init__(self) -> None:
        super().__init__("random decisions are macro decisions: create the games with discrete=False")


class UnfitActions(BalatroError, ValueError):
    """Actions that the kernel cannot read."""

    def __init__(self, dtype: object, shape: object, n: int) -> None:
        super().__init__(f"actions are {dtype} of shape {shape}: use contiguous int64 of shape ({n},)")


@kernel
def choose_in_games(states, observations, rngs, actions):
    """Write a random legal macro decision for each game into actions (n,) int64."""
    i = cuda.grid(1)
    if i < len(states):
        actions[i] = random_decision(states[i], observations[i].action_mask, rngs[i])


@kernel
def step_games(
    states,
    actions,
    play,
    renew,
    seeds,
    rngs,
    decks,
    stakes,
    challenges,
    discrete,
    reorder,
    goal,
    limit,
    weights,
    before,
    steps,
    observations,
    flat,
    rewards,
    outcome,
):
    """`step_observe_all` of env/games.py, one thread per game. Games with `renew` set are restarted and observed.

    play   whether the other games take a step; if not, they do not change
    renew  (n,) uint8, read, then overwritten: 1 if this step ended the game
    """
    i = cuda.grid(1)
    if i < len(states) and (play or renew[i]):
        s = states[i]
        rewards[i] = 0.0
        outcome[i] = 0
        if renew[i]:
            deal_game(s, seeds[i], rngs[i], decks[i], stakes[i], challenges[i])
            steps[i] = 0
        else:
            rewards[i], status = play_rewarded(s, actions[i], discrete, reorder, goal, weights, before[i])
            steps[i] += 1
            outcome[i] = outcome_of(status, steps[i], limit, goal)
        observe(s, observations[i], reorder)
        if len(flat) > 0:
            flatten(observations[i], flat[i])
        renew[i] = 1 if outcome[i] else 0


class FieldView:
    """One field of all records of a device array, (n, ...), without a copy.

    It supports `__cuda_array_interface__` and keeps the records alive. Games are one record size apart (strides).
    """

    def __init__(self, records: Any, name: str) -> None:
        field, offset = records.dtype.fields[name][:2]
        inner = np.zeros(field.shape, dtype=field.base).strides
        address, read_only = records.__cuda_array_interface__["data"]
        self.records = records
        self.__cuda_array_interface__ = {
            "shape": (*records.shape, *field.shape),
            "strides": (records.dtype.itemsize, *inner),
            "typestr": field.base.str,
            "data": (address + offset, read_only),
            "version": 3,
        }


class DeviceGames:
    """n games that are played in parallel on a CUDA device; arguments as those of `Games`.

    states        (n,) state_t
    actions       (n,) int64, the actions of `step()`; `choose` writes random ones
    observations  (n,) observation_t; `observed()` returns its fields, `masks` the legal actions (n, N_DISCRETE) int8
    flat          (n, FLAT_SIZE) float32, or (0, 0) with flat=False
    rewards       (n,) float64
    outcome       (n,) uint8, Outcome after the last step
    steps         (n,) int64, steps taken in the current game
    renew         (n,) uint8, 1 = the next step restarts this game, with reward 0 (Gymnasium's NEXT_STEP); set by the
                  step that ends it. Write to it to restart games at any time, or call `deal_ended` after a step

    number  of the generators that draw the games' seeds on the device; they differ from those of `Games`
    block   threads per block
    stream  Numba stream, 0 for the default one, which torch also uses

    Raises NoDevice, UnknownStake, UnknownSeed, UnknownReward, UnknownChoice, BadGoal, BadValue, and the errors of
    `run_numbers` and `locked_bits`.
    """

    def __init__(
        self,
        n: int,
        deck: str | int = "b_red",
        stake: int = 1,
        seed: str | None = None,
        reward: str | Reward = "shaped",
        reorder: str = "all",
        max_decisions: int = MAX_DECISIONS,
        endless: bool = False,
        challenge: str | int | None = None,
        locked: str | Iterable[str] = (),
        flat: bool = True,
        discrete: bool = True,
        number: int = 0,
        block: int = BLOCK,
        stream: Any = 0,
        goal: int = WIN_ANTE,
    ) -> None:
        n, max_decisions = whole_number("n", n, 1), whole_number("max_decisions", max_decisions, 1)
        reorder_number, rows = REORDERS[chosen("reorder", reorder, list(REORDERS))], seed_rows([seed] * n)
        kinds = run_numbers(deck, stake, challenge)
        goal = goal_number(goal, flag("endless", endless))
        states = new_states(n)
        states.locked[:] = locked_bits(locked)
        paid = find_reward(reward)
        if not isinstance(paid, Reward):
            raise BadPlugin(
                f"reward {paid.name!r} is written in Python: games on a GPU support only rewards of weights"
            )
        require_device()
        self.n, self.discrete, self.block, self.stream = n, discrete, block, stream
        self._options = (int(discrete), reorder_number, goal, max_decisions, cuda.to_device(paid.weights))
        self.states = cuda.to_device(states)
        self.actions = cuda.to_device(np.zeros(n, dtype=np.int64))
        self.observations = cuda.to_device(new_observations(n))
        self.flat = cuda.to_device(np.zeros((n, FLAT_SIZE) if flat else (0, 0), dtype=np.float32))
        self.rewards = cuda.to_device(np.zeros(n))
        self.outcome = cuda.to_device(np.zeros(n, dtype=np.uint8))
        self.steps = cuda.to_device(np.zeros(n, dtype=np.int64))
        self.renew = cuda.to_device(np.ones(n, dtype=np.uint8))
        self._before = cuda.to_device(new_before(n))
        self._fixed_seeds = rows
        self._seeds = cuda.to_device(rows)
        self._rngs = cuda.to_device(player_rngs(n, number))
        self._kinds = tuple(cuda.to_device(np.full(n, kind, dtype=np.int64)) for kind in kinds)
        self.reset()

    def reset(self, seeds: list[str] | None = None) -> None:
        """Reset all games and observe them; seeds: one for each game, only for this reset. Raises UnknownSeed."""
        if seeds is not None:
            self._seeds.copy_to_device(seed_rows(list(seeds)), stream=self.stream)
        self.renew.copy_to_device(np.ones(self.n, dtype=np.uint8), stream=self.stream)
        self.step()
        if seeds is not None:
            self._seeds.copy_to_device(self._fixed_seeds, stream=self.stream)

    def step(self, actions: Any = None) -> None:
        """Play one action in every game and fill all buffers; games with `renew` set are restarted.

        actions  (n,) int64: an array of the device (a CUDA tensor is not copied) or of the host (copied); by default
                 `self.actions`. Illegal ones change nothing and have reward 0

        Returns when the kernel is launched, not when it has finished. Raises UnfitActions.
        """
        self._launch(1, self.actions if actions is None else self._on_device(actions))

    def deal_ended(self) -> None:
        """Restart and observe games with `renew` set; the other games keep their state and rewards."""
        self._launch(0, self.actions)

    def draw_from(self, number: int) -> None:
        """Draw the seeds of later games from the generators of this number, 0 to 2^32 - 1."""
        self._rngs.copy_to_device(player_rngs(self.n, number), stream=self.stream)

    def _launch(self, play: int, actions: Any) -> None:
        """Launch `step_games` with all buffers."""
        discrete, reorder, goal, limit, weights = self._options
        step_games.launch(
            self.n,
            self.block,
            self.stream,
            self.states,
            actions,
            play,
            self.renew,
            self._seeds,
            self._rngs,
            *self._kinds,
            discrete,
            reorder,
            goal,
            limit,
            weights,
            self._before,
            self.steps,
            self.observations,
            self.flat,
            self.rewards,
            self.outcome,
        )

    def choose(self) -> None:
        """Write random legal macro decisions into `actions`. Raises NotMacro unless discrete=False."""
        if self.discrete:
            raise NotMacro
        choose_in_games.launch(
            self.n, self.block, self.stream, self.states, self.observations, self._rngs, self.actions
        )

    def _on_device(self, actions: Any) -> Any:
        """Return the actions as a device array of the kernel's type."""
        on_host = isinstance(actions, np.ndarray)
        array = cuda.as_cuda_array(actions) if hasattr(actions, "__cuda_array_interface__") else actions
        if array.dtype != np.int64 or tuple(array.shape) != (self.n,) or array.strides != (8,):
            raise UnfitActions(array.dtype, tuple(array.shape), self.n)
        if on_host:
            self.actions.copy_to_device(actions, stream=self.stream)
            return self.actions
        return array

    @property
    def masks(self) -> FieldView:
        """The legal actions, (n, N_DISCRETE) int8, a view of the observations."""
        return FieldView(self.observations, "action_mask")

    def observed(self) -> dict[str, FieldView]:
        """Return the observations as a dict of views, (n, ...) each."""
        return {f.name: FieldView(self.observations, f.name) for f in FIELDS}

    def host(self) -> dict[str, NDArray[Any]]:
        """Return copies of all buffers on the host, for inspection and comparison."""
        names = ("states", "observations", "flat", "rewards", "outcome", "steps", "renew")
        return {name: getattr(self, name).copy_to_host() for name in names}
