"""The candidates of a game or of a batch of games, and what they mean as macro decisions.

A hand has hundreds of card sets, of which a player considers a dozen. A list has up to MAX_CANDIDATES decisions: plays
by what they score, discards by their purpose, consumables with the cards they are best used on, and everything that can
be bought, picked or sold. Unaffordable items are listed but not legal. Every candidate with the flag LEGAL is a legal
decision; not every legal decision is listed. Where more are found than fit, the last ones are dropped and counted.

Threads: a lister has scratch space, and checking what is legal uses scratch fields of the game's record, which are
restored. Use one lister a thread, and never list the same record in two threads at once.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.engine.actions import Verb
from ante.engine.core.arithmetic import log10_of
from ante.engine.core.rule import rule
from ante.engine.core.state import Phase, new_states
from ante.env.games import Games
from ante.env.layout import new_observations
from ante.env.observe import REORDER_JOKERS, REORDER_NONE, focus_target, observe_all
from ante.lookahead.card_sets import MOST_POSITIONS
from ante.lookahead.consumables import list_consumables
from ante.lookahead.discards import list_discards
from ante.lookahead.draws import draws_t, list_unseen
from ante.lookahead.jokers import list_moves, list_sales
from ante.lookahead.phases import list_phase_actions
from ante.lookahead.plays import N_SETS, list_plays
from ante.lookahead.records import MAX_CANDIDATES, candidates_t, clear_candidate
from ante.lookahead.reference_hands import N_REFERENCE_HANDS, N_TESTED_HANDS, commonest_suit, write_strengths
from ante.lookahead.shop import list_pack, list_shop

MOST_STRENGTH = 32000.0  # thousandths

# Scratch space beside the copies.
workspace_t = np.dtype(
    [
        ("strengths", "f8", (N_REFERENCE_HANDS,)),
        ("gains", "f8", (N_TESTED_HANDS,)),
        ("card_values", "f8", (MOST_POSITIONS,)),
        ("sets", "i8", (N_SETS,)),
        ("scores", "f8", (N_SETS,)),
        ("hands", "i8", (N_SETS,)),
        ("draws", draws_t),
    ],
    align=True,
)


def list_candidates(states: np.recarray, reorder: int = REORDER_JOKERS) -> np.recarray:
    """List the candidates of games.

    Args:
        states: (n,) state_t, or one record; equal to what they were when this returns.
        reorder: Which re-ordering is allowed, as in `observe`: REORDER_NONE lists no moves of jokers.

    Returns:
        (n,) candidates_t: entry k of `entries` is a candidate for k < n, all other entries are 0. A game that is over
        has none. For the same games again and again, keep a `CandidateLister` and write into its output instead.
    """
    batch = np.atleast_1d(states).view(np.recarray)
    observations = new_observations(len(batch))
    observe_all(batch, observations, reorder)
    out = np.zeros(len(batch), dtype=candidates_t).view(np.recarray)
    CandidateLister().write_observed(batch, observations, reorder, out)
    return out


class CandidateLister:
    """Lists the candidates of batches of games; holds the scratch space that this takes."""

    def __init__(self) -> None:
        self._copies = new_states(2)
        self._workspace = np.zeros(1, dtype=workspace_t).view(np.recarray)

    def write(self, games: Games, out: np.recarray) -> None:
        """List the candidates of all games as they were observed last: out (n,) candidates_t, overwritten."""
        self.write_observed(games.states, games.observations, games.reorder, out)

    def write_observed(self, states: np.recarray, observations: np.recarray, reorder: int, out: np.recarray) -> None:
        """List the candidates of games: states (n,), their observations (n,), out (n,) candidates_t, overwritten."""
        write_all_candidates(states, observations, reorder, self._copies, self._workspace, out)


@rule
def write_all_candidates(states, observations, reorder, copies, workspace, out):
    """List the candidates of all games; arguments as of `write_candidates`, n of them where it takes one."""
    for i in range(len(states)):
        write_candidates(states[i], observations[i], reorder, copies, workspace[0], out[i])


@rule
def write_candidates(s, o, reorder, copies, w, out):
    """List the candidates of one game.

    s        one record; equal to what it was when this returns
    o        its observation_t
    reorder  which re-ordering is allowed, as in `observe`
    copies   (2,) state_t, scratch
    w        workspace_t, scratch
    out      candidates_t, overwritten
    """
    out.n = 0
    out.dropped = 0
    out.needed = 0
    for k in range(N_REFERENCE_HANDS):
        out.strengths[k] = 0
    if s.phase != Phase.OVER:
        suit = commonest_suit(s)
        write_strengths(s, copies, suit, w.strengths)
        for k in range(N_REFERENCE_HANDS):
            out.strengths[k] = int(min(MOST_STRENGTH, 1000.0 * w.strengths[k]))
        out.needed = int(100.0 * log10_of(max(1.0, focus_target(s) - float(s.chips))))
        list_phase_actions(s, out)
        weakest = list_sales(s, copies, w, out, suit)
        if s.phase == Phase.PLAY:
            list_unseen(o.unknown, w.draws)
            list_plays(s, copies, w, out)
            list_discards(s, o, w, out)
        elif s.phase == Phase.SHOP:
            list_shop(s, copies, w, out, suit, weakest)
        elif s.phase == Phase.PACK:
            list_pack(s, copies, w, out, suit, weakest)
        list_consumables(s, copies, w, out, suit)
        if reorder != REORDER_NONE:
            list_moves(s, copies, w, out, suit)
    for k in range(out.n, MAX_CANDIDATES):
        clear_candidate(out.entries[k])


def decision_of(entry: Any) -> int:
    """The macro decision that one entry, candidate_t, means."""
    return int(decisions_of(np.array([[entry]], dtype=entry.dtype), np.zeros(1, dtype=np.int64))[0])


def decisions_of(entries: NDArray[Any], chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """The macro decisions that chosen entries mean.

    Args:
        entries: (n, MAX_CANDIDATES) candidate_t, the entries of n lists.
        chosen: (n,) int64, one number for each list, or -1.

    Returns:
        (n,) int64, -1 where `chosen` is -1.
    """
    one = entries[np.arange(len(chosen)), np.maximum(chosen, 0)]
    verb, target = one["verb"].astype(np.int64), one["target"].astype(np.int64)
    to = np.where(verb == Verb.MOVE_JOKER, target + 1, 0)
    made = verb | (target << 6) | (to << 14) | (one["cards"].astype(np.int64) << 22)
    return np.where(chosen < 0, -1, made)
