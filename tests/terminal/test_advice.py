"""Advice: the likeliest decisions of a player with probabilities and facts, or those of the rules."""

from typing import Any

import numpy as np
import pytest

from ante.engine.actions import Verb, pack_action
from ante.env.games import Games
from ante.errors import BalatroError
from ante.hints.rules import RulesPlayer
from ante.terminal.advice import RULES, Adviser
from ante.terminal.game import Game
from ante.watch.notes import Note
from tests.support.table import hand_of
from tests.terminal.made import drawn, game_of, no_player, press

PAIR = int(pack_action(Verb.PLAY, 0, 0, 0b11))
THREE = int(pack_action(Verb.DISCARD, 0, 0, 0b11100))


class Sure:
    """A player that prefers a pair of aces."""

    name, discrete, reorder = "sure", False, "none"

    def choose(self, *_: Any) -> Any:
        raise AssertionError

    def explain(self, games: Any, taken: int) -> Note:
        assert taken not in (PAIR, THREE)
        return Note(1.0, ((PAIR, 0.625), (THREE, 0.25), (PAIR, 0.1), (THREE, 0.02)), None, plan="keep the pair")


class Silent(Sure):
    """A player that cannot explain this position."""

    def explain(self, games: Any, taken: int) -> Note:
        raise BalatroError("no notes today")


def position() -> Any:
    s = hand_of("S_A H_A C_4 D_7 S_2")
    s.target = 64.0
    return s


def advised(player: Any) -> Game:
    game = game_of(position())
    game.adviser = Adviser("mine", player)
    press(game, "h")
    return game


def test_a_policy_is_asked_for_its_three_likeliest_decisions_with_facts() -> None:
    game = advised(lambda name: Sure())
    assert game.advice[0] == "Advice of sure:"
    assert game.advice[1] == " 62%  play AS AH (Pair (level 1): 32 x 2 = 64, beats the blind)"
    assert game.advice[2].startswith(" 25%  discard 4C 7D 2S")
    assert len(game.advice) == 6 and game.advice[4] == "Its plan: keep the pair"
    assert "It beats the blind." in game.advice[5]
    shown = "\n".join(drawn(game))
    assert "62%  play A♠ A♥ (Pair (level 1): 32 x 2 = 64, beats the blind)" in shown


def test_advice_disappears_with_the_next_decision() -> None:
    game = advised(lambda name: Sure())
    press(game, "1")
    assert game.advice
    press(game, "p")
    assert not game.advice


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (BalatroError("it is gone"), "it is gone"),
        (ModuleNotFoundError("none", name="torch"), "torch is not installed: pip install 'ante-balatro[train]'"),
    ],
)
def test_without_the_player_the_rules_advise_and_say_why(error: Exception, why: str) -> None:
    asked = []

    def find(name: str) -> Any:
        asked.append(name)
        raise error

    game = advised(find)
    assert game.advice[0] == f"Advice of the rules, since mine cannot be loaded ({why}): It beats the blind."
    press(game, "h")
    assert asked == ["mine"]


def test_a_player_without_probabilities_or_notes_is_replaced_by_the_rules() -> None:
    assert "rules, since mine has no probabilities: " in advised(lambda name: RulesPlayer()).advice[0]
    assert "since sure gave none (no notes today)" in advised(lambda name: Silent()).advice[0]


def test_the_first_decision_of_the_rules_is_that_of_the_rules_player() -> None:
    from ante.env.text import macro_name
    from ante.hints.question import games_at

    states = game_of(position()).session.states
    games = games_at(states, "jokers")
    action = RulesPlayer().choose(games, np.ones(1, dtype=np.bool_))[0]
    lines = Adviser(RULES, no_player).lines(states, 0)
    assert lines[0] == "Advice of the rules: It beats the blind."
    assert lines[1].strip().startswith(macro_name(states[0], int(action)))


def test_advice_leaves_the_game_as_it_is() -> None:
    game = game_of(position())
    before = game.session.states.tobytes()
    press(game, "h")
    assert game.session.states.tobytes() == before


def test_the_advice_of_a_policy_is_its_own_decision_in_the_game() -> None:
    from ante.cli.players import player_of
    from ante.terminal.session import decision_name

    player, games = player_of("white-stake", True, "best"), Games(1, seed="TESTSEED", reorder="jokers", discrete=False)
    games.reset()
    adviser = Adviser("white-stake", lambda name: player_of(name, True, "best"))
    for _ in range(30):
        action = player.choose(games, np.ones(1, dtype=np.bool_))
        chance, decision = adviser.lines(games.states, 0)[1].split("%", 1)
        note = player.explain(games, int(action[0]))
        assert decision.strip().startswith(decision_name(games.states[0], int(action[0])))
        assert int(chance) == round(100 * note.options[0][1])
        games.step(action)
