"""Highlights of training: the games that each rule keeps, what is left out, and that learning stays the same."""

import os
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ante.engine.actions import Verb, verb_of
from ante.engine.core.state import Phase
from ante.env.games import Games, Outcome
from ante.env.replay import Heading
from ante.hints.rules import RulesPlayer
from ante.watch.episode import Episode, recorded

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")

WON = ["FDYWLF2K", "MYJ6EB2G", "9SX57ZGZ", "GM91N5CP"]  # seeds that `rules` wins with the Red Deck, White Stake
SEEDS = [*WON, "TESTSEED", "2K9H9HN", "ABCDEFGH", "7LB2WVPK"]


@dataclass
class Played:
    """Games played with the hook: the hook, and (seed, macro decisions, record) of every finished game in order."""

    hook: Any
    ended: list[tuple[str, list[int], bytes]] = field(default_factory=list)


def play(seeds: list[str], begun: tuple[int, ...] = (), late: tuple[int, ...] = ()) -> Played:
    """Play the games of these seeds, and the games that follow, until each of the first ones has ended.

    begun  places of games that started from a saved position
    late   places of games of which the hook misses the first steps
    """
    from ante.training.sampling.highlights import Highlights

    games, player = Games(len(seeds), discrete=False, flat=False), RulesPlayer()
    games.reset(options={"seed": seeds})
    n = len(seeds)
    runner = SimpleNamespace(
        games=games, begun=np.isin(np.arange(n), begun), tally=SimpleNamespace(returns=np.zeros(n))
    )
    played = Played(Highlights(runner))  # type: ignore[arg-type]
    hook, taken, waiting = played.hook, [[] for _ in seeds], set(seeds)
    hook.dealt(np.random.SeedSequence(0), None)
    hook._recorded[list(late)] = 5
    while waiting:
        hook.fragment_begins(64)
        for t in range(64):
            runner.decisions = player.choose(games, np.ones(n, dtype=np.bool_))
            games.step(runner.decisions)
            for mine, action in zip(taken, runner.decisions, strict=True):
                mine.append(int(action))
            hook.stepped(t)
            over = np.flatnonzero(games.outcome != Outcome.PLAYING)
            for i in over:
                played.ended.append((games.seeds[i], taken[i], games.states[i].tobytes()))
                waiting.discard(games.seeds[i])
                taken[i] = []
            if len(over):
                hook.ended(over)
                games.reset(over)
                hook.renewed(over)
        hook.finish(None)
    return played


def slow_figures(episode: Episode) -> dict[str, float]:
    """Return the figures of a game from its replay alone."""
    highest, blinds, hands, last = 0.0, 0, set(), None
    for before, action, after in episode.walk():
        if verb_of(action) == Verb.PLAY:
            highest = max(highest, float(after.chips - before.chips))
            hands.add(int(after.last_hand))
        blinds += before.phase == Phase.PLAY and after.phase == Phase.ROUND_END
        last = after
    assert last is not None
    # the step that wins the run ends in the shop of the next ante or at the cash-out
    figures = {"highest_hand": highest, "most_blinds": blinds, "longest_game": len(episode.actions)}
    if last.won:
        figures |= {"shortest_win": len(episode.actions), "fewest_jokers": int(last.n_jokers)}
        figures |= {"best_poker_hand": 12 - min(hands), "win:b_red:1": 1}
    return {rule: float(figure) for rule, figure in figures.items()}


@pytest.fixture(scope="module")
def played() -> Played:
    return play(SEEDS)


def test_each_rule_keeps_the_first_of_the_best_games(played: Played) -> None:
    found = [
        (seed, slow_figures(recorded(Heading(seed), actions, discrete=False))) for seed, actions, _ in played.ended
    ]
    for rule, game in played.hook.best.games.items():
        sign = -1 if rule in ("shortest_win", "fewest_jokers") else 1
        best = max(sign * figures[rule] for _, figures in found if rule in figures)
        seed, figures = next((s, f) for s, f in found if rule in f and sign * f[rule] == best)
        assert (game.heading, game.figures) == (Heading(seed), figures), rule
    kept = {"highest_hand", "most_blinds", "longest_game", "shortest_win", "fewest_jokers", "best_poker_hand"}
    assert set(played.hook.best.games) == kept | {"win:b_red:1"}
    assert {"GM91N5CP"} == {played.hook.best.games["shortest_win"].heading.seed}


def test_kept_games_replay_to_the_same_bytes(played: Played) -> None:
    ends = {seed: state for seed, _, state in played.ended}
    for game in played.hook.best.games.values():
        episode = recorded(game.heading, game.actions.tolist(), game.discrete)
        assert episode.end().tobytes() == ends[game.heading.seed]


def test_games_that_no_replay_can_repeat_are_left_out() -> None:
    whole, partly = play(WON[:2]), play(WON[:2], begun=(0,), late=(1,))
    assert {"FDYWLF2K", "MYJ6EB2G"} & {game.heading.seed for game in whole.hook.best.games.values()}
    assert not {"FDYWLF2K", "MYJ6EB2G"} & {game.heading.seed for game in partly.hook.best.games.values()}


def test_games_are_taken_once_and_later_ones_are_compared_with_them(played: Played) -> None:
    from ante.training.sampling.highlights import BestGames, PlayedGame

    def game(**figures: float) -> PlayedGame:
        return PlayedGame(Heading("A"), np.zeros(1, dtype=np.int64), False, 0.0, dict(figures))

    best, both, worse, short = (
        BestGames(),
        game(most_blinds=3, longest_game=9),
        game(most_blinds=3),
        game(longest_game=8),
    )
    best.add([both, worse, short])
    assert best.take() == [both] and best.take() == []
    better = game(most_blinds=4, longest_game=9)
    best.add([worse, better])
    assert best.games == {"most_blinds": better}


SMALL = {
    "resources.games_per_runner": 16,
    "algo.batch": 1024,
    "algo.minibatch": 256,
    "algo.epochs": 1,
    "policy.kind": "mlp",
    "policy.hidden": (16,),
    "games.max_decisions": 60,
    "resources.object_store_gb": 0.1,
}


def trained(highlights: bool, **settings: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the weights after three iterations, and the games kept by rule."""
    from ante.training.rllib.build import fast_config
    from ante.training.rllib.cluster import start_ray
    from ante.training.settings.config import make_config

    start_ray()
    config = fast_config(make_config({**SMALL, **settings}))
    assert config.highlights
    config.highlights = highlights
    made = config.build_algo()
    for _ in range(3):
        made.train()
    state = made.learner_group.get_state()["learner"]["rl_module"]["default_policy"]
    kept = made.highlights.games
    made.stop()
    return {name: np.asarray(value) for name, value in state.items()}, kept


@pytest.mark.ray
@pytest.mark.usefixtures("local_ray")
@pytest.mark.parametrize(
    "settings",
    [
        {},
        pytest.param({"algo.overlap": True, "resources.runners": 2}, marks=pytest.mark.nightly),
        {"games.practice": 0.5, "policy.kind": "shortlist"},
    ],
    ids=["one process", "two runners ahead", "practice"],
)
def test_training_with_and_without_highlights_gives_the_same_weights(settings: dict[str, Any]) -> None:
    one, kept = trained(True, **settings)
    two, none = trained(False, **settings)
    assert one.keys() == two.keys() and all(np.array_equal(one[name], two[name]) for name in one)
    assert not none and {"highest_hand", "most_blinds", "longest_game"} <= set(kept)
    for rule, game in kept.items():
        episode = recorded(game.heading, game.actions.tolist(), game.discrete)
        assert slow_figures(episode)[rule] == game.figures[rule]


def test_games_on_a_gpu_keep_no_highlights() -> None:
    from ante.training.rllib.build import fast_config
    from ante.training.settings.config import make_config

    on_gpu = {"resources.games_on": "gpu", "resources.runner_gpus": 1.0, "resources.runners": 1}
    assert not fast_config(make_config({**SMALL, **on_gpu})).highlights
