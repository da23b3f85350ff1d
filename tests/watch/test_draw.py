"""Images of games: the right size, different where the games differ, and without hidden state."""

from itertools import combinations

import numpy as np
import pytest

from ante.agents.baselines import Baseline
from ante.catalog.jokers import Joker
from ante.engine.core.state import MAX_HAND, MAX_JOKERS, Kind, Phase
from ante.env.games import Games, Outcome
from ante.watch.render.canvas import Box, Canvas
from ante.watch.render.draw import CARD_H, CARD_W, HAND, SUITS, draw, places
from ante.watch.render.scene import draw_option


def games_of(seed: str, deck: str = "b_red") -> Games:
    games = Games(1, deck, discrete=False, reorder="none")
    games.reset(options={"seed": seed})
    return games


def one_of_each_phase() -> dict[Phase, np.record]:
    """Return states of greedy games, one for every phase."""
    found: dict[Phase, np.record] = {}
    player = Baseline("greedy")
    for seed in ("ABCDEFGH", "7LB2WVPK", "TESTSEED"):
        games = games_of(seed)
        for _ in range(400):
            s = games.states[0]
            found.setdefault(Phase(int(s.phase)), games.states.copy()[0])
            if games.outcome[0] != Outcome.PLAYING:
                break
            games.step(player.choose(games, np.ones(1, dtype=np.bool_)))
    return found


def test_every_phase_is_drawn_at_every_size_and_looks_different() -> None:
    states = one_of_each_phase()
    assert set(states) == set(Phase)
    for width, height in ((640, 360), (1280, 720), (800, 600)):
        frames = [draw(s, width, height) for s in states.values()]
        for frame in frames:
            assert frame.shape == (height, width, 3)
            assert frame.dtype == np.uint8
        for i, one in enumerate(frames):
            for other in frames[:i]:
                assert np.mean(np.any(one != other, axis=2)) > 0.02


def test_the_suits_of_an_option_have_different_colours_in_a_small_frame() -> None:
    words = {suit: f"play 10{suit} 10{suit} 10{suit}" for suit in SUITS}
    inks = {}
    for suit, text in words.items():
        canvas = Canvas(640, 360, (0, 0, 0))
        draw_option(canvas, Box(0, 0, 336, 14), text, 0.0, False)
        inks[suit] = canvas.image.reshape(-1, 3)[canvas.image.max(axis=2).ravel() > 140].mean(axis=0)
    for one, other in combinations(SUITS, 2):
        assert np.abs(inks[one] - inks[other]).max() > 12, (one, other)


def test_drawing_changes_nothing_in_the_game() -> None:
    for s in one_of_each_phase().values():
        before = s.tobytes()
        draw(s)
        assert s.tobytes() == before


def test_what_is_hidden_is_not_drawn() -> None:
    s = one_of_each_phase()[Phase.PLAY]
    frame = draw(s)
    turned = s.copy()
    n = int(s.n_deck)
    turned["deck"][:n] = s.deck[:n][::-1]
    turned["seed_hash"] = 0.25
    assert np.array_equal(draw(np.rec.array(np.array([turned]))[0]), frame)


def test_a_face_down_card_shows_only_its_back() -> None:
    games = games_of("TESTSEED")
    s = games.states[0]
    games.step(np.array([4]))
    card = s.cards[s.hand[0]]
    card.face_down = 1
    frame = draw(s)
    card.rank, card.suit = (2 if card.rank != 2 else 3), (int(card.suit) + 1) % 4
    assert np.array_equal(draw(s), frame)
    card.face_down = 0
    assert not np.array_equal(draw(s), frame)


@pytest.mark.parametrize("size", [(640, 360), (1920, 1080)])
def test_crowded_tables_stay_in_the_frame(size: tuple[int, int]) -> None:
    games = games_of("TESTSEED")
    games.step(np.array([4]))
    s = games.states[0]
    for i in range(MAX_JOKERS):
        s.jokers[i].kind, s.jokers[i].id, s.jokers[i].value = Kind.JOKER, 1 + (7 * i) % (len(Joker) - 1), 1.5 * i
    s.n_jokers = MAX_JOKERS
    for i in range(MAX_HAND):
        s.hand[i] = i
    s.n_hand = MAX_HAND
    frame = draw(s, *size)
    assert frame.shape == (size[1], size[0], 3)
    lefts = places(HAND, MAX_HAND, CARD_W, CARD_W + 5)
    assert lefts[0] >= HAND.x - 1e-6
    assert lefts[-1] + CARD_W <= HAND.right + 1e-6
    assert HAND.y + 20 + CARD_H < 360


def test_text_is_fitted_to_its_box() -> None:
    canvas = Canvas(640, 360, (0, 0, 0))
    box = Box(100, 100, 60, 20)
    canvas.fitted("a name that is far too long for so small a box", box, 14, (255, 255, 255))
    drawn = np.argwhere(canvas.image.any(axis=2))
    assert len(drawn) > 0
    assert drawn[:, 1].min() >= 97
    assert drawn[:, 1].max() <= 163
