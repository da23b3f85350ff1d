"""Search: decisions are legal, depend on nothing hidden, are reproducible, and follow the evidence."""

import json
import math
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ante.agents.baselines import Baseline
from ante.env.games import Games
from ante.search.budget import BadBudget, Budget, budget_of
from ante.search.phases import LOSS, PHASES, PhaseName, Prior, phases_of
from ante.search.player import NotSearchable, SearchPlayer, Settings, likeliest
from ante.search.protocol import Positions
from ante.search.racing import LEAST_WORLDS, Comparison, raced
from ante.search.rollouts import IllegalInSimulation
from ante.watch.notes import read_notes, write_notes
from tests.search.made import small_player, some_games, with_other_hidden_state

EAGER = Settings(least=1e-6, share=1.0)  # replaces many decisions
ALL = np.ones(12, dtype=np.bool_)


def searched(games: Games, simulations: int = 40, seed: int = 3, settings: Settings = EAGER) -> list[int]:
    """Return the decisions of a new search player."""
    player = SearchPlayer(small_player(), Budget(simulations), settings, seed)
    return player.choose(games, np.ones(games.n, dtype=np.bool_)).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("steps", [1, 9, 25, 60])
def test_decisions_do_not_depend_on_what_is_hidden(steps: int) -> None:
    games = some_games(12, steps)
    decisions = searched(games)
    assert decisions != small_player().choose(games, ALL).tolist()  # something was replaced
    for seed in range(3):
        assert searched(with_other_hidden_state(games, seed)) == decisions


def test_a_budget_of_simulations_is_reproducible_and_leaves_the_games_alone() -> None:
    games = some_games(12, 20)
    before = games.states.tobytes(), games.observations.tobytes()
    assert searched(games) == searched(games)
    assert (games.states.tobytes(), games.observations.tobytes()) == before
    assert len({tuple(searched(games, seed=seed)) for seed in range(6)}) > 1


def test_a_game_is_searched_alone_as_in_a_batch() -> None:
    games = some_games(6, 15)
    player = SearchPlayer(small_player(), Budget(60), EAGER)
    together = player.choose(games, np.ones(6, dtype=np.bool_))
    for i in range(6):
        only = np.zeros(6, dtype=np.bool_)
        only[i] = True
        alone = SearchPlayer(small_player(), Budget(60), EAGER).choose(games, only)
        assert alone[i] == together[i]
        assert (np.delete(alone, i) == -1).all()


def test_a_decision_that_is_listed_twice_is_one_candidate_with_both_probabilities() -> None:
    chances = np.array([0.1, 0.3, 0.02, 0.25, 0.2, 0.004, 0.006, 0.12])
    found = likeliest(np.array([7, 5, 9, 8, 7, 4, 4, 5]), np.log(chances).astype(np.float32), 0.009)
    assert found.tolist() == [5, 7, 8, 9, 4]
    own = likeliest(np.array([7, 5, 7]), np.log([0.3, 0.4, 0.3]).astype(np.float32), 0.5)
    assert own.tolist() == [5, 7]  # the player's own decision is its likeliest entry


def test_a_search_ends_in_time_with_the_best_decisions_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    games = some_games(12, 25)
    positions, budget = Positions.of(games, np.arange(12)), np.full(12, 200.0)
    whole = SearchPlayer(small_player(), Budget(200), EAGER).search(positions, budget)
    for until in (math.inf, time.monotonic() + 600.0):
        again = SearchPlayer(small_player(), Budget(200), EAGER).search(positions, budget, until)
        assert [each.decision for each in again] == [each.decision for each in whole]
    late = SearchPlayer(small_player(), Budget(200), EAGER).search(positions, budget, time.monotonic())
    assert [each.decision for each in late] == small_player().choose(games, ALL).tolist()
    assert all(each.comparison is None for each in late)

    interrupted = SearchPlayer(small_player(), Budget(200), EAGER)
    stage, clock = interrupted._stage, [0.0]
    monkeypatch.setattr("ante.search.player.time.monotonic", lambda: clock[0])

    def slow(*arguments: Any) -> int:
        clock[0] += 60.0
        return stage(*arguments)

    monkeypatch.setattr(interrupted, "_stage", slow)
    found = [each.comparison for each in interrupted.search(positions, budget, 90.0)]
    assert {each.stage for each in found if each} <= {2, 4}  # two stages, or its winner was clear
    assert sum(each.simulations for each in found if each) < sum(
        e.comparison.simulations for e in whole if e.comparison
    )


def test_an_illegal_decision_in_a_simulation_is_an_error() -> None:
    games = some_games(4, 5)
    player = SearchPlayer(small_player(), Budget(40), EAGER)
    which, worlds = np.arange(4), np.arange(1, 5, dtype=np.uint64)
    with pytest.raises(IllegalInSimulation, match=r"world 1 of a game with seed SEARCH11, after decision -1"):
        player._simulator.run(games.states, which, worlds, np.full(4, -1))


@pytest.mark.slow
def test_every_decision_is_legal_and_the_mean_budget_is_kept() -> None:
    games = some_games(8, 0)
    player = SearchPlayer(small_player(), Budget(24), EAGER)
    playing, decisions, simulations = np.ones(8, dtype=np.bool_), 0, 0
    for _ in range(40):
        actions = player.choose(games, playing)
        decisions += int(playing.sum())
        simulations += sum(each.comparison.simulations for each in player.findings if each.comparison)
        assert games.refused(actions, renew=~playing) == -1
        games.step(actions)
        playing &= games.outcome == 0
    assert 0.1 * decisions * 24 < simulations <= decisions * 24 * 1.05


def test_a_budget_of_time_searches() -> None:
    games = some_games(4, 5)
    player = SearchPlayer(small_player(), budget_of("50ms"), EAGER)
    for _ in range(3):
        actions = player.choose(games, np.ones(4, dtype=np.bool_))
        assert games.refused(actions) == -1
    assert any(each.comparison for each in player.findings)


def test_players_without_candidates_are_refused_with_the_way_out() -> None:
    with pytest.raises(NotSearchable, match=r"greedy.*use a shortlist policy such as white-stake"):
        SearchPlayer(Baseline("greedy"), Budget(10))


@pytest.mark.parametrize("text", ["", "0", "-3", "1.5", "0ms", "ms", "16 s", "1e9", "9999999", "16ms@", "16@night"])
def test_budgets_that_are_refused(text: str) -> None:
    with pytest.raises(BadBudget, match="such as 200, or milliseconds"):
        budget_of(text)


def test_budgets_are_written_as_they_are_read() -> None:
    for text in ("200", "16ms", "0.5ms", "200@boss", "16ms@cash-out"):
        assert str(budget_of(text)) == text


@pytest.mark.parametrize("phase", ["hand", "shop", "pack"])
def test_a_budget_of_one_phase_searches_that_phase_only(phase: PhaseName) -> None:
    """In that phase it decides as a search of all phases does with the same savings; elsewhere as the player."""
    games, alone = some_games(12, 25), small_player()
    player = SearchPlayer(small_player(), Budget(40, phase=phase), EAGER, 3)
    searched_ones = 0
    for _ in range(6):
        there = phases_of(games.states) == PHASES.index(phase)
        expected = np.where(there, searched(games), alone.choose(games, ALL))
        player._saved[:] = 0.0
        actions = player.choose(games, ALL)
        assert actions.tolist() == expected.tolist()
        searched_ones += sum(found.comparison is not None for found in player.findings)
        assert all(found.comparison is None or here for found, here in zip(player.findings, there, strict=True))
        games.step(alone.choose(games, ALL))
    assert searched_ones


PRIOR = Prior(deviation=0.03, noise=0.1, weight=1.0)


def compared(*means: float, noise: float = 0.0, worlds: int = 32) -> Comparison:
    """Return a comparison of candidates with these mean ratings after one stage."""
    rng = np.random.default_rng(1)
    seeds = np.arange(1, 1 + worlds, dtype=np.uint64)
    each = Comparison(np.arange(len(means)), seeds, worlds * len(means), PRIOR, 1.5)
    shared = rng.normal(size=worlds)  # the luck of a world, common to all candidates
    each.record(np.array([mean + shared + noise * rng.normal(size=worlds) for mean in means]))
    return each


def test_a_better_candidate_replaces_the_default_only_with_evidence() -> None:
    assert compared(0.5, 0.6, 0.4).chosen() == 1
    assert compared(0.5, 0.4, 0.3).chosen() == 0
    assert compared(0.5, 0.53, worlds=64).chosen() == 1
    assert compared(0.5, 0.503, worlds=2).chosen() == 0  # not more than the expected loss
    assert compared(0.5, 0.6, worlds=4).gain(1)[0] == pytest.approx(0.1)  # the luck of the worlds cancels


def test_what_is_believed_lies_between_the_prior_and_the_worlds() -> None:
    """By hand: 10 differences of 0.1 and the noise of 6 more worlds; precisions of normal distributions add up."""
    square = 6 * 0.1**2 / 16 / 10
    precision = 1 / 0.03**2 + 1 / square
    mean, deviation = compared(0.5, 0.6, worlds=10).advantage(1)
    assert mean == pytest.approx((-LOSS / 0.03**2 + 0.1 / square) / precision, rel=1e-3)
    assert deviation == pytest.approx(precision**-0.5, rel=1e-3)
    unknown = Comparison(np.arange(2), np.arange(8, dtype=np.uint64), 16, PRIOR, 1.5)
    assert unknown.advantage(1) == (-LOSS, 0.03)


@pytest.mark.parametrize("candidates", [2, 3, 6, 12])
@pytest.mark.parametrize("allowance", [1, 16, 100, 1000])
def test_a_race_stays_within_its_allowance_and_ends_early_when_its_winner_is_clear(
    candidates: int, allowance: int
) -> None:
    count = raced(candidates, allowance)
    assert count == (min(candidates, allowance // LEAST_WORLDS) if allowance >= 2 * LEAST_WORLDS else 0)
    if not count:
        return
    for lead, most, least in ((0.0, allowance, 0.6 * allowance - count), (0.5, 0.7 * allowance + 8, 0)):
        seeds = np.arange(1, 1 + allowance // 2, dtype=np.uint64)
        each = Comparison(np.arange(count), seeds, allowance, PRIOR, 1.5)
        while each.open():
            worlds = each.worlds[each.next_worlds()]
            means = 0.5 + lead * (np.array(each.left) == 1)
            each.record(np.repeat(means[:, None], len(worlds), axis=1))
        assert least <= each.simulations <= most
        assert each.chosen() == (1 if lead else 0)
    assert raced(1, allowance) == 0


def test_notes_say_what_was_searched_and_survive_a_file(tmp_path: Path) -> None:
    games = some_games(1, 25)
    player = SearchPlayer(small_player(), Budget(60), EAGER)
    action = int(player.choose(games, np.ones(1, dtype=np.bool_))[0])
    note = player.explain(games, action)
    assert note.options
    assert re.search(r"\d decisions in \d+ simulations; (changed|kept): .+ is rated [+-]\d+\.\d ± \d", note.search)
    write_notes(tmp_path / "game.notes.json.gz", player.name, [note])
    assert read_notes(tmp_path / "game.notes.json.gz") == ("small with search 60", [note])


def test_notes_of_older_versions_are_read(tmp_path: Path) -> None:
    for row in ([1.0, [], None, "hint"], [1.0, [], None, "hint", "plan"]):
        (tmp_path / "old.json").write_text(json.dumps({"player": "old", "notes": [row]}))
        ((note,),) = (read_notes(tmp_path / "old.json")[1],)
        assert (note.hint, note.search) == ("hint", "")
