"""Line-ups of training: the counts equal those of games that are played again, for any division into runners."""

import os
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ante.catalog.jokers import JOKERS
from ante.env.games import Games, Outcome
from ante.env.replay import Heading
from ante.hints.rules import RulesPlayer
from ante.knowledge.observing.counts import ANTE, N, add_games, empty_counts
from ante.watch.episode import recorded
from tests.training.sampling.test_highlights import SEEDS, WON

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")


@dataclass
class Played:
    """Games played with the hook: its counts, and (seed, macro decisions, won) of every finished game in order."""

    counts: NDArray[np.int64] = field(default_factory=empty_counts)
    ended: list[tuple[str, list[int], bool]] = field(default_factory=list)


def play(seeds: list[str], begun: tuple[int, ...] = (), goal: int = 8, save_every: int = 0) -> Played:
    """Play the games of these seeds, and the games that follow, until each of the first ones has ended.

    begun       places of games that started from a saved position
    save_every  fragments after which another hook continues from the saved state; 0 for never
    """
    from ante.training.sampling.line_ups import LINE_UPS, RecordLineUps

    n, player = len(seeds), RulesPlayer()
    games = Games(n, discrete=False, flat=False, goal=goal)
    games.reset(options={"seed": seeds})
    runner: Any = SimpleNamespace(games=games, begun=np.isin(np.arange(n), begun))
    played, hook, fragments = Played(), RecordLineUps(runner), 0
    taken: list[list[int]] = [[] for _ in seeds]
    waiting = set(seeds)
    hook.dealt(np.random.SeedSequence(0), None)
    while waiting:
        hook.fragment_begins(64)
        for t in range(64):
            decisions = player.choose(games, np.ones(n, dtype=np.bool_))
            games.step(decisions)
            for mine, action in zip(taken, decisions, strict=True):
                mine.append(int(action))
            hook.stepped(t)
            over = np.flatnonzero(games.outcome != Outcome.PLAYING)
            for i in over:
                if not runner.begun[i]:
                    played.ended.append((games.seeds[i], taken[i], bool(games.outcome[i] == Outcome.WON)))
                waiting.discard(games.seeds[i])
                taken[i] = []
            if len(over):
                hook.ended(over)
                games.reset(over)
                runner.begun[over] = False
                hook.renewed(over)
        found = hook.metrics()[LINE_UPS]
        add_games(played.counts, found.held, found.won)
        fragments += 1
        if save_every and fragments % save_every == 0:
            saved, hook = hook.saved(), RecordLineUps(runner)
            hook.restore(saved)
    return played


def replayed(ended: list[tuple[str, list[int], bool]]) -> NDArray[np.int64]:
    """Return the counts of games from their replays alone."""
    games: list[set[int]] = []
    wins = []
    for seed, actions, won in ended:
        for _, _, after in recorded(Heading(seed), actions, discrete=False).walk():
            if after.ante >= ANTE:
                games.append({int(joker.id) for joker in after.jokers[: int(after.n_jokers)]})
                wins.append(won)
                break
    counts = empty_counts()
    for held, won in zip(games, wins, strict=True):
        for kind in (0, 1) if won else (0,):
            for one in (0, *held):
                for other in (0, *held):
                    counts[kind, one, other] += 1
    return counts


@pytest.fixture(scope="module")
def played() -> Played:
    return play(SEEDS)


def test_counts_equal_those_of_the_replays(played: Played) -> None:
    expected = replayed(played.ended)
    assert np.array_equal(played.counts, expected)
    games, wins = expected[:, 0, 0]
    assert games >= len(WON) <= wins < len(played.ended), "some games are lost before the ante"
    assert len(JOKERS) == N and expected[0].sum() > 100


def test_two_runners_and_a_resumed_one_count_the_same_games(played: Played) -> None:
    """The games that follow the given seeds differ, so both are compared with the replays of their own games."""
    halves = [play(SEEDS[::2]), play(SEEDS[1::2], save_every=1)]
    for half in halves:
        assert np.array_equal(half.counts, replayed(half.ended))
    assert sum(half.counts[1, 0, 0] for half in halves) >= len(WON)


def test_a_hook_that_continues_from_its_saved_state_loses_no_line_up(played: Played) -> None:
    assert play(SEEDS[:2], save_every=2).counts.tolist() == play(SEEDS[:2]).counts.tolist()


def test_games_from_saved_positions_and_those_with_an_earlier_goal_are_left_out() -> None:
    partly = play(WON[:2], begun=(0,))
    assert "FDYWLF2K" not in {seed for seed, _, _ in partly.ended}
    assert np.array_equal(partly.counts, replayed(partly.ended))
    assert not play(WON[:1], goal=5).counts.any()


def test_what_does_not_fit_is_refused() -> None:
    from ante.training.sampling.line_ups import LineUpSums, no_line_ups, read_line_ups

    found = read_line_ups(no_line_ups().saved())
    assert found.held.shape == (0, N) and found.won.shape == (0,)
    with pytest.raises(ValueError, match="line-ups"):
        read_line_ups({"held": np.zeros((2, 3), dtype=np.bool_), "won": np.zeros(2, dtype=np.bool_)})
    sums = LineUpSums()
    again = LineUpSums()
    assert sums.key != again.key
    again.restore(sums.saved())
    assert again.key == sums.key
    with pytest.raises(ValueError, match="counts of line-ups"):
        sums.restore({"key": "a", "counts": np.zeros((2, 3, 3), dtype=np.int64)})
