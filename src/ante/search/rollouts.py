"""Simulations: root decisions played out in determinised copies by a player's likeliest decisions, in one batch.

A simulation ends when the run is won or lost, after a number of rounds, or after a number of decisions. Won games are
rated 1, lost ones 0, all others by the player. Cashing out and selecting a blind are played without asking the player.
"""

import numpy as np
from numpy.typing import NDArray

from ante.engine.actions import Verb, pack_action
from ante.engine.core.rule import rule
from ante.engine.core.state import Phase, Status
from ante.engine.step import step
from ante.env.flat import flatten
from ante.env.layout import new_observations
from ante.env.observe import observe
from ante.search.determinise import determinise_all
from ante.search.protocol import Positions, Thinker

BATCH = 1024  # simulations in one batch
RUNNING, CUT, WON, LOST, BROKEN = range(5)  # outcomes of playing on
SELECT_BLIND = int(pack_action(Verb.SELECT_BLIND, 0, 0, 0))
CASH_OUT = int(pack_action(Verb.CASH_OUT, 0, 0, 0))


class IllegalInSimulation(RuntimeError):
    """A simulated decision was illegal: the player's list, or the determinised copy, is wrong."""


class Simulator:
    """Plays simulations for one player; owns the buffers.

    Args:
        thinker: The player.
        reorder: Allowed reordering, as in `env.observe.observe`.
        rounds: Number of rounds that end before a simulation is cut.
        decisions: Number of the player's decisions before a simulation is cut.
    """

    def __init__(self, thinker: Thinker, reorder: int, rounds: int, decisions: int) -> None:
        self.thinker, self.rounds, self.decisions = thinker, rounds, decisions
        self._running, self._cut = (Positions.blank(BATCH, reorder) for _ in range(2))
        self._observed = new_observations(1)

    def run(
        self,
        states: np.recarray,
        which: NDArray[np.int64],
        worlds: NDArray[np.uint64],
        actions: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return the ratings of simulations, (k,). Raises IllegalInSimulation.

        Args:
            states: (n,) state_t, the games; unchanged.
            which: (k,) int64, the game of each simulation.
            worlds: (k,) uint64, the seed of its world, not 0.
            actions: (k,) int64, its root decision, which is legal.
        """
        ratings = np.zeros(len(which))
        for first in range(0, len(which), BATCH):
            part = slice(first, first + BATCH)
            self._run(states, which[part], worlds[part], actions[part], ratings[part])
        if np.isnan(ratings).any():
            k = int(np.flatnonzero(np.isnan(ratings))[0])
            raise IllegalInSimulation(
                f"a decision was illegal in world {worlds[k]} of a game with seed "
                f"{bytes(states[which[k]].seed).rstrip(bytes(1)).decode()}, after decision {actions[k]}"
            )
        return ratings

    def begin(
        self, states: np.recarray, which: NDArray[np.int64], worlds: NDArray[np.uint64], out: np.recarray
    ) -> None:
        """Write the first state of each simulation, a determinised copy, to the first of `out`."""
        determinise_all(states, which, worlds, self._observed, out)

    def _run(
        self,
        states: np.recarray,
        which: NDArray[np.int64],
        worlds: NDArray[np.uint64],
        actions: NDArray[np.int64],
        ratings: NDArray[np.float64],
    ) -> None:
        running, cut = self._running, self._cut
        self.begin(states, which, worlds, running.states)
        number, left = np.arange(len(which)), np.full(len(which), self.rounds, dtype=np.int64)
        cut_number = np.zeros(len(which), dtype=np.int64)
        n, n_cut = len(which), 0
        for k in range(1, self.decisions + 1):
            last = k == self.decisions
            n, n_cut = advance(running.states, n, actions, number, left, ratings, cut.states, cut_number, n_cut, last)
            if n == 0:
                break
            look(running.states, n, running.observations, running.flat, running.reorder)
            actions = self.thinker.decide(running.first(n))
        if n_cut:
            look(cut.states, n_cut, cut.observations, cut.flat, cut.reorder)
            ratings[cut_number[:n_cut]] = self.thinker.rate(cut.first(n_cut))


@rule
def advance(states, n, actions, number, left, ratings, cut_states, cut_number, n_cut, last):
    """Play one decision in the first n simulations, and what follows without a choice; keep the running ones first.

    states      (m,) state_t, compacted
    actions     (n,) int64
    number      (m,) int64, the number of each simulation; left (m,) int64, its rounds until the cut; both compacted
    ratings     (m,) float64, by number: 1 is written for each simulation that is won, NaN after an illegal decision
    cut_states  (m,) state_t, cut_number (m,) int64: simulations that are cut are appended from n_cut on
    last        whether all simulations are cut after this decision

    Returns the number of running and of cut simulations.
    """
    kept = 0
    for i in range(n):
        outcome, rounds = play_on(states[i], actions[i], left[i])
        if outcome == CUT or (outcome == RUNNING and last):
            cut_states[n_cut] = states[i]
            cut_number[n_cut] = number[i]
            n_cut += 1
        elif outcome == RUNNING:
            if kept != i:
                states[kept] = states[i]
                number[kept] = number[i]
            left[kept] = rounds
            kept += 1
        elif outcome == WON:
            ratings[number[i]] = 1.0
        elif outcome == BROKEN:
            ratings[number[i]] = np.nan
    return kept, n_cut


@rule
def play_on(s, action, left):
    """Play a decision, then cash out and select blinds until the next other choice or the cut.

    left  rounds until the cut

    Returns the outcome and the rounds left.
    """
    in_round = s.phase == Phase.PLAY
    status = step(s, action)
    while True:
        if status == Status.WON:
            return WON, left
        if status == Status.ILLEGAL:
            return BROKEN, left
        if status == Status.LOST or s.phase == Phase.OVER:
            return LOST, left
        if s.phase == Phase.ROUND_END:
            left -= 1 if in_round else 0
            if left <= 0:
                return CUT, left
            in_round = False
            status = step(s, CASH_OUT)
        elif s.phase == Phase.BLIND_SELECT:
            status = step(s, SELECT_BLIND)
        else:
            return RUNNING, left


@rule
def look(states, n, observations, flat, reorder):
    """Write the observations of the first n states."""
    for i in range(n):
        observe(states[i], observations[i], reorder)
        flatten(observations[i], flat[i])
