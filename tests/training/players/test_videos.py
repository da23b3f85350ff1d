"""Notes of trained players on decisions, and the selection of games for videos."""

import numpy as np
import pytest
import torch

from ante.agents.baselines import Baseline
from ante.agents.evaluate import GameRecord, Player
from ante.engine.actions import Verb, cards_of, to_macro, verb_of
from ante.env.games import Games
from ante.training.acting.player import make_player
from ante.training.policies.registry import new_policy
from ante.training.run.videos import choose, in_short
from ante.training.settings.config import BadConfig, make_config
from ante.training.settings.policies import POLICIES
from ante.watch.episode import annotate, collect
from ante.watch.notes import Explained
from tests.support.tiny import fitting

SMALL = {"hidden": (16, 16), "width": 16, "trunk": 16, "entry": 16, "size": (36, 48)}


def player_of(name: str) -> Player:
    """Return a player with the initial weights of a small policy."""
    torch.manual_seed(0)
    return make_player(new_policy(make_config(fitting(name, SMALL))), name)


@pytest.mark.parametrize("name", list(POLICIES.known))
def test_a_player_reports_its_probabilities(name: str) -> None:
    """The probabilities equal the frequencies of decisions over many samples."""
    player = player_of(name)
    assert isinstance(player, Explained)
    n = 400 if name.startswith("cnn") else 3000  # rendering 3,000 frames takes seconds
    games = Games(n, discrete=player.discrete, reorder=player.reorder)
    games.reset(options={"seed": ["TESTSEED"] * n})
    games.step(np.full(n, 4 if not player.discrete else np.flatnonzero(games.masks[0])[0]))
    one = Games(1, discrete=False, reorder=player.reorder)
    one.reset(options={"seed": "TESTSEED"})
    one.step(np.array([int(Verb.SELECT_BLIND)]))
    drawn = player.choose(games, np.ones(n, dtype=np.bool_))
    if player.discrete:
        drawn = np.array([to_macro(games.states[0], number) for number in drawn])
    note = player.explain(one, int(drawn[0]))
    assert note.options == tuple(sorted(note.options, key=lambda option: -option[1]))
    assert 0 < sum(chance for _, chance in note.options) <= 1.001
    for action, chance in note.options:
        assert np.mean(drawn == action) == pytest.approx(chance, abs=5 * np.sqrt(chance / n) + 0.001)
    assert note.chance == pytest.approx(np.mean(drawn == drawn[0]), abs=0.05)
    assert note.value is not None and np.isfinite(note.value)


@pytest.mark.parametrize("name", list(POLICIES.known))
def test_explaining_draws_nothing(name: str) -> None:
    player, repeated = player_of(name), player_of(name)
    found = []
    for each, asks in ((player, True), (repeated, False)):
        games = Games(1, discrete=each.discrete, reorder=each.reorder)
        games.reset(options={"seed": "ABCDEFGH"})
        plain = Games(1, discrete=False, reorder=each.reorder)
        plain.reset(options={"seed": "ABCDEFGH"})
        if asks:
            assert isinstance(each, Explained)
            each.explain(plain, int(Verb.SELECT_BLIND))
        found.append(collect(games, each.choose).actions)
    assert found[0] == found[1]


def test_a_player_that_selects_card_by_card_judges_anyone_s_game() -> None:
    games = Games(1, discrete=False, reorder="none")
    games.reset(options={"seed": "TESTSEED"})
    episode = collect(games, Baseline("greedy").choose)
    player = player_of("mlp")
    assert isinstance(player, Explained)
    for action, note in zip(episode.actions, annotate(episode, player), strict=True):
        assert note.chance is not None
        if verb_of(action) in (Verb.PLAY, Verb.DISCARD):
            acting = [option for option, _ in note.options if verb_of(option) in (Verb.PLAY, Verb.DISCARD)]
            assert {int(cards_of(option)) for option in acting} <= {int(cards_of(action))}


def records(*rows: tuple[str, int]) -> list[GameRecord]:
    return [GameRecord(f"S{i}", outcome, 1, blinds, 10, 0.0, ()) for i, (outcome, blinds) in enumerate(rows)]


def test_the_rules_choose_games() -> None:
    games = records(("lost", 3), ("lost", 0), ("won", 24), ("won", 25), ("lost", 26), ("lost", 7))
    assert choose(["best", "worst", "first_win"], games, 4, False, 0) == {
        3: ("best",),
        1: ("worst",),
        2: ("first_win",),
    }
    assert choose(["first_win"], games, 4, True, 0) == {}
    assert choose(["best", "every:3"], games, 9, True, 0) == {3: ("best", "every"), 0: ("every",)}
    assert choose(["every:1"], games, 2, True, 0).keys() == {0, 1}, "never all"
    one, again, other = (choose(["random:2"], games, 9, True, seed) for seed in (1, 1, 2))
    assert one == again and len(one) == len(other) == 2
    assert choose(["random:99"], games, 3, True, 0).keys() <= set(range(6))
    assert choose([], games, 4, False, 0) == {}


@pytest.mark.parametrize("rule", ["bset", "every", "every:0", "random:", "random:-1", "best:2"])
def test_an_unknown_rule_is_refused(rule: str) -> None:
    with pytest.raises(BadConfig, match=f"{rule!r} is not a rule: use best, worst, first_win, every:20 or random:2"):
        make_config({"videos.select": [rule]})


def test_steps_in_short() -> None:
    assert [in_short(n) for n in (512, 9_999, 150_400, 24_000_000)] == ["512", "9,999", "150k", "24.0M"]
