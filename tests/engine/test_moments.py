"""The moments of a line-up: skipping those at which no joker acts changes nothing."""

import os

import numpy as np
import pytest

from ante.catalog.jokers import Joker
from ante.engine.cards import take_from_hand
from ante.engine.core.state import Kind, Phase, new_states
from ante.engine.effects.moments import EFFECTS, Moment
from ante.engine.effects.poker import find_hand
from ante.engine.jokers.dispatch import fire_deck_counted, lineup_moments
from ante.engine.run import new_run
from ante.engine.scoring import break_cards, evaluate
from tests.lookahead.test_candidates import some_games
from tests.lookahead.test_same_lists import with_anything

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"
ALL_MOMENTS = -1
SCRATCH = ("acting", "copying", "repeats")  # overwritten before each use


def scored(s: np.record, cards: int, moments: int) -> bytes:
    """Return a copy of the game, as bytes, after these hand positions were scored."""
    copies = new_states(1)
    copies[0] = s
    copy = copies[0]
    copy.n_played = take_from_hand(copy, cards)
    copy.played[: copy.n_played] = copy.order[: copy.n_played]
    find_hand(copy)
    fire_deck_counted(copy, 0)
    evaluate(copy, moments)
    break_cards(copy, moments)
    for name in SCRATCH:
        copy[name] = 0
    return copies.tobytes()


@pytest.mark.parametrize("seed", [71, 72])
def test_skipping_moments_without_a_joker_changes_nothing(seed: int) -> None:
    rng, hands = np.random.default_rng(seed), 0
    for s in with_anything(some_games(600 if COMPILED else 8, seed, 1), seed):
        if s.phase == Phase.PLAY and s.n_hand:
            cards = sum(1 << int(i) for i in rng.permutation(s.n_hand)[: rng.integers(1, 6)])
            assert scored(s, cards, lineup_moments(s)) == scored(s, cards, ALL_MOMENTS)
            hands += 1
    assert hands > 100 or not COMPILED


def test_the_moments_of_a_line_up_are_those_registered() -> None:
    s = new_run("TESTSEED")
    for joker in Joker:
        s.n_jokers, s.jokers[0].kind, s.jokers[0].id = 1, Kind.JOKER, joker
        registered = {e.moment for e in EFFECTS if e.item is joker and isinstance(e.moment, Moment)}
        assert lineup_moments(s) == sum(1 << moment for moment in registered)
