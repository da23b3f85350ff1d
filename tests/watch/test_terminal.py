"""Playing with keys, and watching, as text."""

import io

import numpy as np
from rich.console import Console

from ante.agents.baselines import Baseline
from ante.engine.core.state import Phase
from ante.env.games import Games
from ante.watch.render.terminal import menu, play_by_keys, watch


def game() -> Games:
    games = Games(1, reorder="jokers")
    games.reset(options={"seed": "TESTSEED"})
    return games


def screen() -> tuple[Console, io.StringIO]:
    text = io.StringIO()
    return Console(file=text, width=120), text


def test_keys_select_play_and_leave() -> None:
    games, (console, text) = game(), screen()
    assert not play_by_keys(games, console, iter("p" + "12" + "2" + "3" + "p" + "q"))
    s = games.states[0]
    assert s.phase == Phase.PLAY
    assert s.hands_left == 3
    assert s.decisions == 2
    shown = text.getvalue()
    for words in ("select Small Blind", "selected card 1", "let card 2 go", "leave"):
        assert words in shown


def test_letting_a_card_go_keeps_the_others() -> None:
    games, (console, _) = game(), screen()
    play_by_keys(games, console, iter("p13521q"))
    assert int(games.states[0].selected) == 0b10110


def test_a_sixth_card_and_an_unknown_key_change_nothing() -> None:
    games, (console, text) = game(), screen()
    play_by_keys(games, console, iter("p123456~q"))
    assert int(games.states[0].selected) == 0b11111
    assert "let one go first" in text.getvalue()
    assert "'~' does nothing" in text.getvalue()


def test_every_legal_action_but_single_cards_has_a_key_of_its_own() -> None:
    games = game()
    keys = menu(games)
    assert sorted(keys.values()) == sorted(np.flatnonzero(games.masks[0]))
    assert "q" not in keys


def test_watching_shows_each_decision_to_the_end() -> None:
    games = Games(1, discrete=False, reorder="none")
    games.reset(options={"seed": "ABCDEFGH"})
    console, text = screen()
    pauses: list[int] = []
    watch(games, Baseline("greedy").choose, console, lambda: pauses.append(1))
    assert len(pauses) == games.steps[0]
    assert text.getvalue().count("\n> ") == games.steps[0]
    assert "lost in ante" in text.getvalue()
