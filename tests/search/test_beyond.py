"""Decisions beyond a player's list: the sales that disable a boss."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ante.catalog.blinds import Blind
from ante.catalog.cards import Sticker
from ante.catalog.jokers import Joker
from ante.engine.actions import Verb, is_legal, pack_action
from ante.engine.core.state import Phase, copy_states
from ante.engine.step import step
from ante.env.games import observe_games
from ante.search.beyond import disabling_sales
from ante.search.budget import Budget
from ante.search.player import SearchPlayer
from tests.env.test_observe import round_with_jokers
from tests.search.made import small_player, some_games

JOKERS = (Joker.JOKER, Joker.CAVENDISH, Joker.BLUEPRINT, Joker.GREEDY_JOKER)


def boss_with_jokers(boss: Blind, *jokers: Joker) -> Any:
    """Return a game in the round of a boss with these jokers."""
    s = round_with_jokers(*jokers)
    s.phase, s.blind, s.boss, s.blind_on_deck = Phase.BLIND_SELECT, 0, boss, 2
    step(s, pack_action(Verb.SELECT_BLIND, 0, 0, 0))
    assert s.blind == boss
    return s


def after(s: Any, action: int) -> Any:
    """Return a copy of a game after a decision."""
    copy = copy_states(np.array([s]).view(np.recarray))[0]
    step(copy, action)
    return copy


@pytest.mark.parametrize("jokers", [JOKERS, (*JOKERS, Joker.LUCHADOR)])
@pytest.mark.parametrize("boss", [each for each in Blind if each > Blind.BIG])
def test_the_sales_are_those_that_disable_the_boss(boss: Blind, jokers: tuple[Joker, ...]) -> None:
    """The reference sells each joker. Under Amber Acorn the player does not know which one is Luchador."""
    s = boss_with_jokers(boss, *jokers)
    s.jokers[0].stickers |= Sticker.ETERNAL
    sales = [int(pack_action(Verb.SELL_JOKER, slot, 0, 0)) for slot in range(len(jokers))]
    expected = [each for each in sales if is_legal(s, each) and after(s, each).boss_disabled]
    assert disabling_sales(s).tolist() == (expected if boss != Blind.FINAL_ACORN else [])
    assert len(expected) == (len(jokers) - 1 if boss == Blind.FINAL_LEAF else int(Joker.LUCHADOR in jokers))
    s.boss_disabled = 1
    assert not disabling_sales(s).size


def test_a_sale_that_the_player_chooses_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    games, all_of_them = some_games(12, 25), np.ones(12, dtype=np.bool_)
    own = dict(zip((bytes(s.seed) for s in games.states), small_player().choose(games, all_of_them), strict=True))
    monkeypatch.setattr("ante.search.player.disabling_sales", lambda s: np.array([own[bytes(s.seed)]]))
    player = SearchPlayer(small_player(), Budget(400))
    player.choose(games, all_of_them)
    compared = [each.comparison.decisions.tolist() for each in player.findings if each.comparison]
    assert compared
    for decisions in compared:
        assert decisions.count(decisions[0]) == 1


def test_search_takes_a_sale_that_saves_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdant Leaf: the player's list has no sale, and here every simulation without one is lost."""
    games = some_games(1, 1)
    games.states[0] = boss_with_jokers(Blind.FINAL_LEAF, *JOKERS)
    observe_games(games.states, np.arange(1), games.reorder, games.observations, games.flat)
    player = SearchPlayer(small_player(), Budget(400))

    def rated(states: Any, which: Any, _worlds: Any, actions: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.array([float(after(states[i], int(a)).boss_disabled) for i, a in zip(which, actions, strict=True)])

    monkeypatch.setattr(player._simulator, "run", rated)
    assert int(player.choose(games, np.ones(1, dtype=np.bool_))[0]) in disabling_sales(games.states[0])
