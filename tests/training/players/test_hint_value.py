"""The value of hints: which decisions are drawn, and the games that are played on from each choice."""

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from ante.agents.releases import policy_folder
from ante.cli import main
from ante.engine.core.records import as_records
from ante.engine.core.state import Phase
from ante.env.games import Games, Outcome
from ante.errors import BalatroError
from ante.hints.fake import FakeServer
from ante.hints.question import games_at, lists_of, question_of
from ante.hints.rules import advise
from ante.hints.settings import AdvisorSettings
from ante.search.determinise import determinised
from ante.training.acting.player import PolicyPlayer
from ante.training.players.hint_value import gain_of, unsure_decisions, value_of_hints, won_after
from ante.training.players.release import player_from

MODEL = "white-stake-4"
SEEDS = ["VALUE1", "VALUE2", "VALUE3", "VALUE4"]


def ignore(count: int) -> None:
    """Show no progress."""


@pytest.fixture(scope="module")
def player() -> Any:
    return player_from(policy_folder(MODEL), likeliest=True)


def test_the_decision_of_a_game_is_unsure_and_is_the_policys_choice(player: PolicyPlayer) -> None:
    found = unsure_decisions(player, SEEDS, 0.5)
    assert found.seeds == SEEDS and (found.sure < 0.5).all() and (found.steps > 0).any()
    games = games_at(found.states, player.reorder)
    assert list(player.choose(games, np.ones(games.n, dtype=np.bool_))) == list(found.chosen)


def test_the_decision_of_a_game_does_not_depend_on_other_games(player: PolicyPlayer) -> None:
    every = unsure_decisions(player, SEEDS, 0.5)
    alone = unsure_decisions(player, SEEDS[2:3], 0.5)
    assert (alone.steps[0], alone.chosen[0]) == (every.steps[2], every.chosen[2])


def test_only_wanted_decisions_are_drawn_and_games_without_any_are_left_out(player: PolicyPlayer) -> None:
    shops = unsure_decisions(player, SEEDS, 0.5, lambda s: s.phase == Phase.SHOP)
    assert len(shops.seeds) and (shops.states["phase"] == Phase.SHOP).all()
    late = unsure_decisions(player, SEEDS, 1.0, lambda s: bytes(s.seed).startswith(b"VALUE2"))
    assert late.seeds == ["VALUE2"]
    assert unsure_decisions(player, SEEDS, 0.5, lambda s: False).seeds == []


def test_each_unsure_decision_of_a_game_is_drawn_equally_often(player: PolicyPlayer) -> None:
    """Of the first two unsure decisions of a game, which share its seed's draws, each is kept in about half of the games."""
    seeds = [f"DRAW{k}" for k in range(200)]
    counts: dict[bytes, int] = {}

    def first(s: Any, most: int) -> bool:
        counts[bytes(s.seed)] = counts.get(bytes(s.seed), 0) + 1
        return counts[bytes(s.seed)] <= most

    one = unsure_decisions(player, seeds, 0.9, lambda s: first(s, 1))
    counts.clear()
    either = unsure_decisions(player, seeds, 0.9, lambda s: first(s, 2))
    assert len(one.seeds) == len(either.seeds) == len(seeds)
    assert 70 < (one.steps == either.steps).sum() < 130  # 4 standard deviations are 28


def slowly(player: PolicyPlayer, state: np.recarray, choice: int, futures: int) -> float:
    """Play the futures of a choice one after the other."""
    won = 0
    for world in range(1, futures + 1):
        copy = determinised(state, np.zeros(1, dtype=np.int64), np.array([world], dtype=np.uint64))
        games: Games = games_at(copy, player.reorder)
        action = np.array([choice])
        while games.outcome[0] == Outcome.PLAYING:
            games.step(action)
            if games.outcome[0] == Outcome.PLAYING:
                action = player.choose(games, np.ones(1, dtype=np.bool_))
        won += int(games.outcome[0] == Outcome.WON)
    return won / futures


def test_games_are_played_on_as_one_by_one(player: PolicyPlayer) -> None:
    found = unsure_decisions(player, SEEDS[:2], 0.5)
    lists = lists_of(games_at(found.states, player.reorder))
    choices = []
    for state, listed, chosen in zip(found.states, lists, found.chosen, strict=True):
        question = question_of(state, listed)
        assert question is not None
        choices.append([int(chosen), advise(question).decision, int(chosen), question.options[0].decision])
    won = won_after(player, found.states, choices, 6)
    for i, each in enumerate(choices):
        assert set(won[i]) == set(each)
        for choice in set(each):
            assert won[i][choice] == slowly(player, as_records(found.states, slice(i, i + 1)), choice, 6)


def test_the_gain_has_the_interval_of_students_t() -> None:
    won = [{1: 0.5, 2: 0.7}, {1: 0.4, 2: 0.3}, {1: 0.9}, {3: 0.1, 4: 0.4}]
    gain = gain_of(won, [2, 2, 1, 4], [1, 1, 1, 3])
    expected = stats.ttest_1samp([20.0, -10.0, 0.0, 30.0], 0).confidence_interval(0.95)
    assert (gain.decisions, gain.changed) == (4, 3) and gain.more == pytest.approx(10.0)
    assert (gain.low, gain.high) == pytest.approx((expected.low, expected.high))


def test_a_policy_without_probabilities_of_whole_decisions_is_refused(player: PolicyPlayer) -> None:
    class Single:
        name, discrete, policy = "single", True, player.policy

    with pytest.raises(BalatroError, match="single has no probabilities of whole decisions"):
        unsure_decisions(Single(), SEEDS, 0.5)  # type: ignore[arg-type]


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["ante", "hints", "value", MODEL, "--futures", "2", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_the_command_measures_the_llm_without_and_with_knowledge_and_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeServer() as server:
        monkeypatch.setenv("LLM_ENDPOINT", server.url)
        monkeypatch.setenv("LLM_MODEL", "fake")
        monkeypatch.setenv("LLM_KNOWLEDGE", "default")
        monkeypatch.setenv("LLM_TIMEOUT_SECONDS", "60")
        assert run(monkeypatch, "--games", "3", "--out", str(tmp_path)) == 0
        shown = capsys.readouterr().out
        found = json.loads((tmp_path / "value.json").read_text())
        n = len(found["decisions"])
        assert n > 0 and found["answered"] == {"rules": n, "llm": n, "llm with knowledge": n}
        assert "llm with knowledge" in shown and found["knowledge"] == "default"
        sent = server.asked
        assert sent == 2 * n, "each decision is sent without and with the lines of the graph"
        assert run(monkeypatch, "--games", "3", "--out", str(tmp_path)) == 0
        assert server.asked == sent and json.loads((tmp_path / "value.json").read_text()) == found


def test_without_an_answer_the_policys_choice_is_played(player: PolicyPlayer) -> None:
    """Every second request fails, each of them about another decision."""
    with FakeServer(mode="flaky") as server:
        settings = AdvisorSettings(
            endpoint=server.url, model="fake", tries=1, concurrency=1, breaker_failures=100, timeout_seconds=60
        )
        found = value_of_hints(player, SEEDS, 0.9, 2, False, settings, None, lambda total, about: nullcontext(ignore))
    assert 0 < found.answered["llm"] < len(SEEDS)
    silent = [row["choices"] for row in found.rows() if row["choices"]["llm"] == row["choices"]["policy"]]
    assert len(silent) >= len(SEEDS) - found.answered["llm"]


def test_a_server_without_valid_answers_ends_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeServer(mode="illegal") as server:
        monkeypatch.setenv("LLM_ENDPOINT", server.url)
        monkeypatch.setenv("LLM_MODEL", "fake")
        assert run(monkeypatch, "--games", "2", "--by", "llm") == 2
    assert "the LLM gave no hint: illegal (2); ante hints probe" in capsys.readouterr().err


def test_the_rules_need_no_endpoint(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("LLM_ENDPOINT", raising=False)
    assert run(monkeypatch, "--games", "2", "--by", "rules") == 0
    assert "rules" in capsys.readouterr().out
    assert run(monkeypatch, "--games", "2", "--by", "llm") == 2
    assert "LLM_ENDPOINT" in capsys.readouterr().err
