"""Lists are the same bytes as recorded, and what is read once per hand equals slow definitions.

Released policies depend on every byte of a list, so a faster lister must not change any. `recorded_lists.json` has a
digest per phase over a few thousand positions, from random play of all decks and stakes and with random line-ups and
cards. After a change of rules or estimates, which changes the digests, record them again:

    python -m tests.lookahead.test_same_lists
"""

import hashlib
import json
import os
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from ante.catalog.cards import Edition, Enhancement, Seal
from ante.catalog.jokers import JOKERS
from ante.engine.actions import count_bits
from ante.engine.core.state import MAX_PLAYED, Kind, Phase, new_states
from ante.engine.effects.poker import find_hand
from ante.engine.jokers.lineup import refresh_lineup
from ante.lookahead.candidates import list_candidates
from ante.lookahead.card_sets import FACE_DOWN_VALUE, MOST_POSITIONS, card_value, least_valuable, most_valuable
from ante.lookahead.plays import N_SETS, SETS_PER_HAND, find_plays
from tests.lookahead.test_candidates import facts_of, some_games

RECORDED = Path(__file__).parents[1] / "data" / "recorded_lists.json"
COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"


def with_anything(states: np.recarray, seed: int) -> np.recarray:
    """Give games random jokers, and random enhancements, editions, seals and marks to their cards; returns them."""
    rng = np.random.default_rng(seed)
    for s in states:
        s.n_jokers = rng.integers(0, 7)
        for i in range(s.n_jokers):
            s.jokers[i].kind, s.jokers[i].id = Kind.JOKER, rng.integers(1, len(JOKERS))
            s.jokers[i].edition = rng.choice([0, 0, 0, *Edition])
            s.jokers[i].debuffed = rng.random() < 0.1
        for card in s.cards[: s.n_cards][rng.random(s.n_cards) < 0.4]:
            card.enhancement, card.edition = rng.integers(len(Enhancement)), rng.choice([0, 0, *list(Edition)[:4]])
            card.seal, card.bonus = rng.integers(len(Seal)), rng.choice([0, 5, 20])
            card.debuffed = rng.random() < 0.2
        for card in s.hand[: s.n_hand]:
            s.cards[card].face_down = rng.random() < 0.1
        refresh_lineup(s)
    return states


def positions() -> np.recarray:
    """Return the recorded positions."""
    played = [some_games(300, seed, one_chip) for seed in (1, 22, 43, 59) for one_chip in (0, 1)]
    altered = [with_anything(some_games(300, seed, seed % 2), seed) for seed in (61, 62, 103, 104)]
    return np.concatenate([*played, *altered]).view(np.recarray)


def digests() -> dict[str, dict[str, object]]:
    """Return the number of positions and the digest of their lists, by phase."""
    states, found = positions(), {}
    for phase in Phase:
        some = np.flatnonzero(states["phase"] == phase)
        games = new_states(len(some))
        games[:] = states[some]
        lists = list_candidates(games)
        found[phase.name] = {"positions": len(some), "sha256": hashlib.sha256(lists.tobytes()).hexdigest()}
    return found


@pytest.mark.skipif(not COMPILED, reason="thousands of lists")
def test_lists_are_the_recorded_ones() -> None:
    assert digests() == json.loads(RECORDED.read_text())


def rounds(n: int) -> list[np.record]:
    """Return up to n games within a round, with any jokers and cards."""
    states = with_anything(some_games(4 * n, 7, 1), 7)
    return [s for s in states if s.phase == Phase.PLAY][:n]


def bits_of(places: tuple[int, ...]) -> int:
    """Return hand positions as bits."""
    return sum(1 << i for i in places)


def test_plays_found_are_those_of_trying_every_set() -> None:
    """The reference finds the hand of every set by the rules and sorts by value; of equal ones, the last one wins."""
    copies, some = new_states(1), 0
    for s in rounds(60 if COMPILED else 2):
        copies[0] = s
        facts, copy = facts_of(s), copies[0]
        sets, values = np.zeros(N_SETS, dtype=np.int64), np.zeros(N_SETS)
        find_plays(s, facts, sets, values)
        places = [i for i in range(min(MOST_POSITIONS, int(s.n_hand))) if not s.cards[s.hand[i]].face_down]
        forced = bits_of(tuple(i for i in range(s.n_hand) if s.cards[s.hand[i]].forced))
        wanted: dict[int, list[tuple[float, int]]] = {}
        for size in range(1, MAX_PLAYED + 1):
            for chosen in combinations(places, size):
                copy.n_played, value = size, 0.0
                for k, i in enumerate(chosen):
                    copy.played[k] = s.hand[i]
                    value += card_value(s.cards[s.hand[i]])
                find_hand(copy)
                if bits_of(chosen) & forced == forced and (size == 1 or copy.n_scoring == size):
                    wanted.setdefault(int(copy.hand_type), []).append((value, bits_of(chosen)))
        for hand in range(N_SETS // SETS_PER_HAND):
            best = sorted(wanted.get(hand, []), reverse=True)[:SETS_PER_HAND]
            best += [(0.0, 0)] * (SETS_PER_HAND - len(best))
            assert sets[hand * SETS_PER_HAND :][:SETS_PER_HAND].tolist() == [cards for _, cards in best]
        some += len(wanted)
    assert some > (100 if COMPILED else 0)


def test_cards_by_value_are_those_of_comparing_all() -> None:
    rng = np.random.default_rng(2)
    for s in rounds(100 if COMPILED else 2):
        facts, n = facts_of(s), int(s.n_hand)
        cards = [s.cards[each] for each in s.hand[:n]]
        values = [FACE_DOWN_VALUE if c.face_down else card_value(c) for c in cards]
        lowest = sorted(range(n), key=lambda i: (values[i], -i))
        for most in range(1, MAX_PLAYED + 1):
            kept = int(rng.integers(1 << n))
            left = [i for i in lowest if not kept >> i & 1]
            assert least_valuable(s, facts, kept, most) == bits_of(tuple(left[:most]))
            plain = [i for i in reversed(left) if not cards[i].edition]
            assert most_valuable(s, facts, kept, most, False) == bits_of(tuple(left[::-1][:most]))
            assert most_valuable(s, facts, kept, most, True) == bits_of(tuple(plain[:most]))
            assert count_bits(kept) + len(left) == n


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(digests(), indent=1) + "\n")
