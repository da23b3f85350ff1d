"""The engine on a CUDA device: one thread plays one game, with the functions that the CPU runs.

States, decisions and masks stay in device memory. `DeviceGames` of env/cuda.py adds observations and rewards.

SPEED: a game's record is contiguous (8 kB), as on the CPU, so the rules are the same code. The reads of neighbouring
threads are therefore not coalesced. However, a step reads few cache lines of a record, and which ones depends on the
game, so an interleaved layout would not coalesce the reads of 32 games either. Not measured: no device was available.
"""

from typing import Any

import numpy as np
from numba import cuda

from ante.engine.actions import N_DISCRETE, legal_mask
from ante.engine.core.cuda_compiler import BLOCK, kernel, require_device
from ante.engine.core.rule import rule
from ante.engine.core.state import Status, new_states
from ante.engine.drivers.random_play import begin_players, random_decision, random_seed
from ante.engine.run import MAX_SEED, restart, run_numbers, set_seed
from ante.engine.step import step


@rule
def deal_game(s, seed, rng, deck, stake, challenge):
    """Start a new game with the given seed, or with a random one if the first byte of `seed` is 0.

    seed  (MAX_SEED,) uint8, padded with zeros
    rng   (1,) uint64, the state of the game's generator
    """
    for i in range(MAX_SEED):
        s.seed[i] = seed[i]
    s.seed_length = 0
    while s.seed_length < MAX_SEED and seed[int(s.seed_length)]:
        s.seed_length += 1
    if s.seed_length == 0:
        random_seed(s, rng)
    restart(s, deck, stake, challenge)


@kernel
def choose_decisions(states, masks, rngs, actions):
    """Write a random legal macro decision for each game into actions (n,) int64."""
    i = cuda.grid(1)
    if i < len(states):
        actions[i] = random_decision(states[i], masks[i], rngs[i])


@kernel
def play_decisions(states, actions, renew, seeds, rngs, decks, stakes, challenges, one_chip, status, masks):
    """Play one macro decision in each game, or restart it if renew is set; then write status and mask."""
    i = cuda.grid(1)
    if i < len(states):
        if renew[i]:
            deal_game(states[i], seeds[i], rngs[i], decks[i], stakes[i], challenges[i])
            states[i].one_chip_blinds = one_chip
            status[i] = 0
        else:
            status[i] = step(states[i], actions[i])
        renew[i] = 1 if status[i] == Status.LOST else 0
        legal_mask(states[i], masks[i])


def seed_rows(seeds: list[str | None]) -> np.ndarray:
    """Return the seeds as (n, MAX_SEED) uint8 rows; None gives zeros, that is, a random seed. Raises UnknownSeed."""
    rows = np.zeros((len(seeds), MAX_SEED), dtype=np.uint8)
    s = new_states(1)[0]
    for row, seed in zip(rows, seeds, strict=True):
        if seed is not None:
            set_seed(s, seed)
            row[:] = s.seed
    return rows


def player_rngs(n: int, number: int) -> np.ndarray:
    """Return generators (n, 1) uint64 for n games, a different one for each game and each number."""
    rngs = np.zeros((n, 1), dtype=np.uint64)
    begin_players(rngs, number)
    return rngs


class DeviceStates:
    """n games in device memory, without observations.

    states   (n,) state_t
    actions  (n,) int64 macro decisions; `choose` writes random ones
    status   (n,) uint8, Status of the last step
    masks    (n, N_DISCRETE) uint8, legal discrete actions
    renew    (n,) uint8, 1 = the next step restarts the game instead of playing a decision; set for lost games

    number   seed of the random generators
    block    threads per block
    stream   Numba stream, 0 for the default one

    All arrays are Numba device arrays with `__cuda_array_interface__`. Raises NoDevice, UnknownSeed and the errors of
    `run_numbers`.
    """

    def __init__(
        self,
        n: int,
        deck: str | int = "b_red",
        stake: int = 1,
        challenge: str | int | None = None,
        seed: str | None = None,
        one_chip: bool = False,
        number: int = 0,
        block: int = BLOCK,
        stream: Any = 0,
    ) -> None:
        numbers = run_numbers(deck, stake, challenge)
        require_device()
        self.n, self.block, self.stream, self.one_chip = n, block, stream, int(one_chip)
        self.states = cuda.to_device(new_states(n))
        self.actions = cuda.to_device(np.zeros(n, dtype=np.int64))
        self.status = cuda.to_device(np.zeros(n, dtype=np.uint8))
        self.masks = cuda.to_device(np.zeros((n, N_DISCRETE), dtype=np.uint8))
        self.renew = cuda.to_device(np.ones(n, dtype=np.uint8))
        self._seeds = cuda.to_device(seed_rows([seed] * n))
        self._rngs = cuda.to_device(player_rngs(n, number))
        self._kinds = tuple(cuda.to_device(np.full(n, number, dtype=np.int64)) for number in numbers)
        self.step()

    def choose(self) -> None:
        """Write random legal decisions into `actions`."""
        choose_decisions.launch(self.n, self.block, self.stream, self.states, self.masks, self._rngs, self.actions)

    def step(self) -> None:
        """Take one action in every game, or restart it."""
        play_decisions.launch(
            self.n,
            self.block,
            self.stream,
            self.states,
            self.actions,
            self.renew,
            self._seeds,
            self._rngs,
            *self._kinds,
            self.one_chip,
            self.status,
            self.masks,
        )
