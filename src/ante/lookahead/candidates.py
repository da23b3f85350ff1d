"""The candidates of a game or of a batch of games, and their macro decisions.

A hand has hundreds of card sets, of which few are worth considering. A list has up to MAX_CANDIDATES decisions: plays
by score, discards by purpose, consumables with the cards that suit them best, and everything that can be bought, picked
or sold. Unaffordable items are listed but not legal. Every candidate with the flag LEGAL is a legal decision; not every
legal decision is listed. If more are found than fit, the last ones are dropped and counted.

Threads: a lister has scratch space, and checking legality uses scratch fields of the game's record, which are restored.
Use one lister per thread, and never list the same record in two threads at the same time.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.engine.actions import Verb, can_pay, can_reroll_boss
from ante.engine.core.arithmetic import log10_of
from ante.engine.core.records import as_records
from ante.engine.core.rule import rule
from ante.engine.core.state import Phase, new_states
from ante.engine.items.vouchers import boss_reroll_price
from ante.engine.shop import reroll_price
from ante.env.games import Games
from ante.env.layout import new_observations
from ante.env.observe import REORDER_JOKERS, REORDER_NONE, focus_target, observe_all
from ante.lookahead.card_sets import hand_facts_t, read_hand
from ante.lookahead.consumables import list_consumables
from ante.lookahead.determinised import N_COPIES
from ante.lookahead.discards import list_discards
from ante.lookahead.draws import draws_t, list_unseen
from ante.lookahead.items import write_price
from ante.lookahead.jokers import list_moves, list_sales
from ante.lookahead.plays import N_SETS, list_plays
from ante.lookahead.records import LEGAL, MAX_CANDIDATES, TAG_BASE, add_candidate, candidates_t, clear_candidate
from ante.lookahead.reference_hands import (
    N_REFERENCE_HANDS,
    N_TESTED_HANDS,
    most_common_suit,
    write_strengths,
)
from ante.lookahead.shop import list_pack, list_shop

MOST_STRENGTH = 32000.0  # thousandths
BOSS = 2  # of s.blind_on_deck; it cannot be skipped

# Scratch space in addition to the copies.
workspace_t = np.dtype(
    [
        ("strengths", "f8", (N_REFERENCE_HANDS,)),
        ("gains", "f8", (N_TESTED_HANDS,)),
        ("hand", hand_facts_t),
        ("sets", "i8", (N_SETS,)),
        ("scores", "f8", (N_SETS,)),
        ("hands", "i8", (N_SETS,)),
        ("needed", "f8"),  # log10 of the chips that are missing to beat the blind
        ("log_hands_left", "f8"),
        ("strength_now", "f8"),  # of the current hand
        ("first_discard", "i8"),  # index in the list
        ("draws", draws_t),
    ],
    align=True,
)


def list_candidates(states: np.recarray, reorder: int = REORDER_JOKERS) -> np.recarray:
    """List the candidates of games.

    Args:
        states: (n,) state_t, or one record; unchanged after the call.
        reorder: Which reordering is allowed, as in `observe`: REORDER_NONE lists no moves of jokers.

    Returns:
        (n,) candidates_t: entry k of `entries` is a candidate for k < n, all other entries are 0. A game that is over
        has none. For repeated calls on the same games, create a `CandidateLister` and write into its output instead.
    """
    batch = as_records(np.atleast_1d(states))
    observations = new_observations(len(batch))
    observe_all(batch, observations, reorder)
    out = as_records(np.zeros(len(batch), dtype=candidates_t))
    CandidateLister().write_observed(batch, observations, reorder, out)
    return out


class CandidateLister:
    """Lists the candidates of batches of games; owns the scratch space."""

    def __init__(self) -> None:
        self._copies = new_states(N_COPIES)
        self._workspace = as_records(np.zeros(1, dtype=workspace_t))

    def write(self, games: Games, out: np.recarray) -> None:
        """List the candidates of all games from their last observations: out (n,) candidates_t, overwritten."""
        self.write_observed(games.states, games.observations, games.reorder, out)

    def write_observed(self, states: np.recarray, observations: np.recarray, reorder: int, out: np.recarray) -> None:
        """List the candidates of games: states (n,), their observations (n,), out (n,) candidates_t, overwritten."""
        write_all_candidates(states, observations, reorder, self._copies, self._workspace, out)


@rule
def write_all_candidates(states, observations, reorder, copies, workspace, out):
    """List the candidates of all games; arguments as those of `write_candidates`, with n of each per-game one."""
    for i in range(len(states)):
        write_candidates(states[i], observations[i], reorder, copies, workspace[0], out[i])


@rule
def write_candidates(s, o, reorder, copies, w, out):
    """List the candidates of one game.

    s        one record; unchanged after the call
    o        its observation_t
    reorder  which reordering is allowed, as in `observe`
    copies   (N_COPIES,) state_t, scratch space
    w        workspace_t, scratch space
    out      candidates_t, overwritten
    """
    out.n = 0
    out.dropped = 0
    out.needed = 0
    for k in range(N_REFERENCE_HANDS):
        out.strengths[k] = 0
    if s.phase != Phase.OVER:
        suit = most_common_suit(s)
        write_strengths(s, copies, suit, w.strengths)
        for k in range(N_REFERENCE_HANDS):
            out.strengths[k] = int(min(MOST_STRENGTH, 1000.0 * w.strengths[k]))
        out.needed = int(100.0 * log10_of(max(1.0, focus_target(s) - float(s.chips))))
        list_phase_actions(s, out)
        read_hand(s, o.unknown, w.hand)
        weakest = list_sales(s, copies, w, out, suit)
        if s.phase == Phase.PLAY:
            list_unseen(o.unknown, w.draws)
            list_plays(s, copies, w, out)
            list_discards(s, w, out)
        elif s.phase == Phase.SHOP:
            list_shop(s, copies, w, out, suit, weakest)
        elif s.phase == Phase.PACK:
            list_pack(s, copies, w, out, suit, weakest)
        list_consumables(s, copies, w, out, suit)
        if reorder != REORDER_NONE:
            list_moves(s, copies, w, out, suit)
    for k in range(out.n, MAX_CANDIDATES):
        clear_candidate(out.entries[k])


@rule
def list_phase_actions(s, out):
    """List the decisions of the phase without a target. They are listed first, so they always fit."""
    if s.phase == Phase.BLIND_SELECT:
        add_candidate(out, Verb.SELECT_BLIND, 0, 0, 0, LEGAL)
        if s.blind_on_deck < BOSS:
            tag = int(s.skip_tags[s.blind_on_deck])
            add_candidate(out, Verb.SKIP_BLIND, 0, 0, TAG_BASE + tag, LEGAL)
        if can_reroll_boss(s):
            k = add_candidate(out, Verb.REROLL_BOSS, 0, 0, 0, LEGAL)
            write_price(s, out.entries[k], boss_reroll_price(s))
    elif s.phase == Phase.ROUND_END:
        add_candidate(out, Verb.CASH_OUT, 0, 0, 0, LEGAL)
    elif s.phase == Phase.SHOP:
        add_candidate(out, Verb.NEXT_ROUND, 0, 0, 0, LEGAL)
        price = int(reroll_price(s))
        if can_pay(s, price):
            k = add_candidate(out, Verb.REROLL, 0, 0, 0, LEGAL)
            write_price(s, out.entries[k], price)
    elif s.phase == Phase.PACK:
        add_candidate(out, Verb.SKIP_PACK, 0, 0, 0, LEGAL)


def decision_of(entry: Any) -> int:
    """Return the macro decision of one entry, candidate_t."""
    return int(macro_decisions(np.array(entry)))


def decisions_of(entries: NDArray[Any], chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the macro decisions of chosen entries.

    Args:
        entries: (n, MAX_CANDIDATES) candidate_t, the entries of n lists.
        chosen: (n,) int64, one index for each list, or -1.

    Returns:
        (n,) int64, -1 where `chosen` is -1.
    """
    return np.where(chosen < 0, -1, macro_decisions(entries[np.arange(len(chosen)), np.maximum(chosen, 0)]))


def macro_decisions(entries: NDArray[Any]) -> NDArray[np.int64]:
    """Return the macro decisions of entries of any shape, candidate_t: int64 of that shape, 0 for entries that are 0."""
    entries = np.asarray(entries)  # SPEED: no recarray
    verb, target = entries["verb"].astype(np.int64), entries["target"].astype(np.int64)
    to = np.where(verb == Verb.MOVE_JOKER, target + 1, 0)
    return verb | (target << 6) | (to << 14) | (entries["cards"].astype(np.int64) << 22)
