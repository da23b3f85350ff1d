"""The engine on a CUDA device: one thread plays one game, by the functions that the CPU runs.

States, decisions and masks stay in device memory. `DeviceGames` of env/cuda.py adds observations and rewards.

SPEED: a game's record lies in one piece (8 kB), as on the CPU, so that the rules are the same code. Neighbour
threads thus read far apart; a step touches few of a record's cache lines, though, and which ones depends on the game,
so that no interleaved layout would make the reads of 32 games meet. Not measured: no device was at hand.
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
    """A fresh game of the given seed, or, where its first byte is 0, of a random one.

    seed  (MAX_SEED,) uint8, zeros behind the text
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
    """Write a random legal macro decision of each game into actions (n,) int64."""
    i = cuda.grid(1)
    if i < len(states):
        actions[i] = random_decision(states[i], masks[i], rngs[i])


@kernel
def play_decisions(states, actions, renew, seeds, rngs, decks, stakes, challenges, one_chip, status, masks):
    """Play one macro decision in each game, or deal it again where renew is set; then write status and mask."""
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
    """The seeds as (n, MAX_SEED) uint8 rows; None gives zeros, a random seed. Raises UnknownSeed."""
    rows = np.zeros((len(seeds), MAX_SEED), dtype=np.uint8)
    s = new_states(1)[0]
    for row, seed in zip(rows, seeds, strict=True):
        if seed is not None:
            set_seed(s, seed)
            row[:] = s.seed
    return rows


def player_rngs(n: int, number: int) -> np.ndarray:
    """Generators (n, 1) uint64 of n games, a different one for each game and each number."""
    rngs = np.zeros((n, 1), dtype=np.uint64)
    begin_players(rngs, number)
    return rngs


class DeviceStates:
    """n games in device memory, without observations.

    states   (n,) state_t
    actions  (n,) int64 macro decisions; `choose` writes random ones
    status   (n,) uint8, Status of the last step
    masks    (n, N_DISCRETE) uint8, legal numbers of the discrete view
    renew    (n,) uint8, 1 = dealt again by the next step, in place of a decision; set for lost games

    number  of the random generators; block: threads of a block; stream: a Numba stream, 0 for the default one

    All are Numba device arrays, which offer `__cuda_array_interface__`. Raises NoDevice, UnknownSeed and what `run_numbers` raises.
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
        """Actions are random legal decisions."""
        choose_decisions.launch(self.n, self.block, self.stream, self.states, self.masks, self._rngs, self.actions)

    def step(self) -> None:
        """Wait until every game has taken its action or was dealt again."""
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
