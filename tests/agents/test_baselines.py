"""The baseline players: they play legally, do not see hidden state, and differ clearly in strength."""

import os

import numpy as np
import pytest

from ante.agents.baselines import AGENTS, Baseline
from ante.agents.evaluate import evaluate
from ante.agents.seed_lists import evaluation_seeds
from ante.engine.actions import Verb, cards_of, is_legal, verb_of
from ante.engine.core.state import Phase
from ante.env.games import Games, Outcome

compiled_only = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")


@compiled_only
@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize(("deck", "stake"), [("b_red", 1), ("b_plasma", 4), ("b_erratic", 8)])
def test_every_decision_is_legal(name: str, deck: str, stake: int) -> None:
    games = Games(8, deck, stake, discrete=False)
    games.reset(options={"seed": evaluation_seeds(8)})
    player, playing = Baseline(name), np.ones(8, dtype=np.bool_)
    while playing.any():
        actions = player.choose(games, playing)
        for i in np.flatnonzero(playing):
            assert is_legal(games.states[i], actions[i])
        assert (actions[~playing] == -1).all()
        games.step(actions)
        playing &= games.outcome == Outcome.PLAYING


@compiled_only
def test_greedy_clearly_beats_random() -> None:
    greedy, random = (evaluate(Baseline(name), evaluation_seeds(60)) for name in ("greedy", "random"))
    gap = greedy.mean_blinds - greedy.mean_blinds_half_width - random.mean_blinds - random.mean_blinds_half_width
    assert gap > 3


def test_greedy_plays_the_best_hand_it_holds() -> None:
    games = Games(1, discrete=False)
    games.reset(options={"seed": "TESTSEED"})
    s = games.states[0]
    games.step(np.array([int(Verb.SELECT_BLIND)]))
    s.discards_left = 0
    for position, (rank, suit) in enumerate([(14, 0), (14, 1), (14, 2), (9, 0), (9, 3), (4, 1), (3, 2), (2, 0)]):
        card = s.cards[s.hand[position]]
        card.rank, card.suit = rank, suit
    action = int(Baseline("greedy").choose(games, np.ones(1, dtype=np.bool_))[0])
    assert verb_of(action) == Verb.PLAY
    assert cards_of(action) == 0b11111


@compiled_only
def test_greedy_decides_the_same_whatever_it_cannot_see() -> None:
    games = Games(1, discrete=False)
    games.reset(options={"seed": "7LB2WVPK"})
    player, one = Baseline("greedy"), np.ones(1, dtype=np.bool_)
    rounds = 0
    while games.outcome[0] == Outcome.PLAYING:
        action = player.choose(games, one)
        before = games.states.copy()
        s = games.states[0]
        s.deck[: s.n_deck] = s.deck[: s.n_deck][::-1].copy()
        s.seed_hash = 0.125
        s.n_streams = 0
        s.stream_ids[:] = 0
        assert player.choose(games, one) == action
        rounds += s.phase == Phase.PLAY
        games.states[:] = before
        games.step(action)
    assert rounds > 10
