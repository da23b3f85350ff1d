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
from tests.search.made import some_games, with_other_hidden_state

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


@compiled_only
def test_greedy_does_not_see_what_is_hidden() -> None:
    """Its decisions stay if everything hidden changes; at four bosses, cards lie face down."""
    games = some_games(24, 12, "FACEDOWN")
    rng, everyone = np.random.default_rng(0), np.ones(24, dtype=np.bool_)
    down = 0
    for i, s in enumerate(games.states):
        if s.phase == Phase.PLAY:
            for k in rng.choice(s.n_hand, min(4, int(s.n_hand)), replace=False):
                s.cards[s.hand[k]].face_down, down = 1, down + 1
            s.target, s.discards_left = 1e9, 2 if i % 2 else 0  # the best hand is too weak: it discards
    assert down > 20
    decisions = Baseline("greedy").choose(games, everyone).tolist()
    for seed in range(6):
        other = with_other_hidden_state(games, seed)
        assert Baseline("greedy").choose(other, everyone).tolist() == decisions


def test_greedy_plays_a_forced_card_beyond_those_it_considers() -> None:
    games = Games(1, discrete=False)
    games.reset(options={"seed": "TESTSEED"})
    games.step(np.array([int(Verb.SELECT_BLIND)]))
    s = games.states[0]
    while s.n_hand < 14:
        s.hand[s.n_hand] = s.deck[s.n_deck - 1]
        s.cards[s.hand[s.n_hand]].place = s.cards[s.hand[0]].place
        s.n_hand, s.n_deck = s.n_hand + 1, s.n_deck - 1
    s.cards[s.hand[13]].forced, s.discards_left = 1, 0
    action = int(Baseline("greedy").choose(games, np.ones(1, dtype=np.bool_))[0])
    assert verb_of(action) == Verb.PLAY and cards_of(action) >> 13 & 1 and is_legal(s, action)


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
