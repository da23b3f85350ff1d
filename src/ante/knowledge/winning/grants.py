"""Grants: jokers and levels of hands are added to games at the beginning of ANTE, and the player plays on.

All arms of a game have its seed and random streams (common random numbers). Granted jokers are Negative, so that they
take no slot, and have the counters that they typically have then.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.catalog.cards import Edition
from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS
from ante.engine.core.records import as_records
from ante.engine.core.state import copy_states, item_t, new_states
from ante.engine.items.making import make_given_joker
from ante.engine.items.owned import add_joker_from_item
from ante.engine.items.prices import price
from ante.engine.jokers.lineup import refresh_lineup
from ante.knowledge.measuring.positions import BATCH, Chooser
from ante.knowledge.winning.mining import LEAST_LEVELS, LEVELS, MAIN, Items, hand_of, jokers_of
from ante.knowledge.winning.starts import Starts, new_games, play_on

RULES = 1  # of what is granted and to which games; incremented when results of earlier versions differ
N_JOKERS = len(JOKERS)
RARITY = np.array([int(row.rarity) for row in JOKERS])
VISIBLE = np.array(
    [int(row.hand) for row in HANDS if row.visible_at_start]
)  # poker hands that are known from the start


@dataclass(frozen=True)
class Grant:
    """What is added to a game: numbers of jokers, and LEAST_LEVELS levels of a hand (-1 for none)."""

    jokers: tuple[int, ...]
    hand: int = -1


def grant_of(items: Items) -> Grant:
    """Return what a strategy adds; the hand played most is the player's choice, and is not granted."""
    return Grant(jokers_of(items), hand_of(items, LEVELS))


def control_of(items: Items, start: Any, seed: str) -> Grant:
    """Return a control: other jokers of the same rarities that the game lacks, levels of another hand; drawn by the seed."""
    rng = np.random.default_rng(list(hashlib.sha256(f"{seed} {'+'.join(items)}".encode()).digest()))
    taken = {*jokers_of(items), *held(start)}
    drawn: list[int] = []
    for joker in jokers_of(items):
        others = [i for i in range(1, N_JOKERS) if RARITY[i] == RARITY[joker] and i not in taken]
        drawn.append(int(rng.choice(others)))
        taken.add(drawn[-1])
    hand = hand_of(items, LEVELS)
    return Grant(tuple(drawn), int(rng.choice(VISIBLE[hand != VISIBLE])) if hand >= 0 else -1)


def held(start: Any) -> set[int]:
    """Return the numbers of the jokers that a game has."""
    return {int(start.jokers[slot].id) for slot in range(int(start.n_jokers))}


def admits(items: Items, start: Any) -> bool:
    """Return whether a game can test a strategy: it lacks its jokers and levels, and plays its main hand most."""
    main, levelled = hand_of(items, MAIN), hand_of(items, LEVELS)
    return (
        not held(start) & set(jokers_of(items))
        and main in (-1, int(np.argmax(start.plays)))
        and (levelled < 0 or int(start.levels[levelled]) <= LEAST_LEVELS)
    )


def typical_items(starts: Starts) -> np.recarray:
    """Return an item for every joker (N_JOKERS,) item_t: that with the median counter in the games, or as bought."""
    seen: dict[int, list[tuple[float, int, int, bytes]]] = {}
    for s in starts.states:
        for slot in range(int(s.n_jokers)):
            item = s.jokers[slot]
            seen.setdefault(int(item.id), []).append(
                (float(item.value), int(item.extra_sell), int(item.count), item.tobytes())
            )
    items = as_records(np.zeros(N_JOKERS, dtype=item_t))
    scratch = copy_states(as_records(starts.states, slice(1)))[0]
    for joker in range(1, N_JOKERS):
        if joker in seen:
            found = sorted(seen[joker])
            items[joker] = np.frombuffer(found[len(found) // 2][3], dtype=item_t)[0]
        else:
            make_given_joker(scratch, joker)
            items[joker] = scratch.made
    items["edition"], items["stickers"], items["debuffed"], items["rounds"] = int(Edition.NEGATIVE), 0, 0, 0
    return items


def add(s: Any, grant: Grant, items: np.recarray) -> None:
    """Add a grant to a game."""
    for joker in grant.jokers:
        s.created += 1
        item = items[joker].copy()
        item.created = s.created
        price(s, item)
        add_joker_from_item(s, item)
    if grant.hand >= 0:
        s.levels[grant.hand] += LEAST_LEVELS
    refresh_lineup(s)


def play_granted(
    player: Chooser,
    starts: Starts,
    which: Sequence[int] | NDArray[np.int64],
    grants: Sequence[Grant],
    items: np.recarray,
    deck: str,
    stake: int,
) -> NDArray[np.bool_]:
    """Add one grant to each of the games at these indices, play on, and return which are won; at most BATCH games."""
    assert len(which) == len(grants) <= BATCH
    states = new_states(len(which))
    for k, (i, grant) in enumerate(zip(which, grants, strict=True)):
        states[k] = starts.states[i]
        add(states[k], grant, items)
    games = new_games(player, len(which), deck, stake)
    games.reset(options={"seed": [starts.seed(i) for i in which]})
    games.continue_from(states)
    return play_on(player, games)
