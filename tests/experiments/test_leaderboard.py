"""Leaderboards: rows equal an evaluation of the same games, finished games are kept, answers and costs are counted."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ante.agents.baselines import Baseline
from ante.agents.evaluate import evaluate
from ante.agents.seed_lists import panel
from ante.cli import main
from ante.cli.checks.leaderboard import row_player
from ante.experiments import leaderboard
from ante.experiments.finished_games import BadCampaign, read_games
from ante.experiments.leaderboard import Finished, Prices, file_name, row_of, run_leaderboard
from ante.experiments.llm_player import LlmPlayer, NoAnswer
from ante.hints.fake import FakeServer
from ante.hints.settings import AdvisorSettings
from ante.search.player import NotSearchable


@contextmanager
def no_bar(total: int, about: str) -> Iterator[Callable[[int], None]]:
    """Show nothing."""
    yield lambda count: None


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


def model(server: FakeServer, **settings: object) -> LlmPlayer:
    """Return the fake model as a player that does not pause."""
    player = LlmPlayer(AdvisorSettings(endpoint=server.url, model="fake", **settings), {})  # type: ignore[arg-type]
    player.pause = 0.0
    return player


def finished(seed: str, **changes: object) -> Finished:
    values: dict[str, object] = {"won": False, "ante": 2, "blinds": 4, "decisions": 20, "seconds": 1.0}
    spent = {"requested": 10, "invalid": 1, "tokens": 1000, "written": 100, "dollars": 0.5}
    return Finished(seed, "llm x", {}, **{**values, **spent, **changes})  # type: ignore[arg-type]


def test_rows_equal_an_evaluation_of_the_same_games(tmp_path: Path) -> None:
    rows = run_leaderboard([Baseline("random"), Baseline("greedy")], 3, tmp_path, no_bar)
    report = evaluate(Baseline("greedy"), panel()[:3])
    row = next(row for row in rows if row.player == "greedy")
    assert (row.wins, row.blinds, row.ante, row.decisions) == (
        report.wins,
        report.mean_blinds,
        report.mean_ante,
        report.mean_decisions,
    )
    assert row.tokens != row.tokens and row.invalid != row.invalid  # NaN: it has no model
    kept = json.loads((tmp_path / "results.json").read_text())["rows"]
    assert [each["player"] for each in kept] == [each.player for each in rows]
    assert kept[0]["tokens"] is None and (tmp_path / "leaderboard.png").stat().st_size > 1000


def test_a_leaderboard_continues_and_takes_further_rows(tmp_path: Path, server: FakeServer) -> None:
    run_leaderboard([Baseline("greedy")], 1, tmp_path, no_bar)
    before = (tmp_path / "greedy.jsonl").read_text()
    with (tmp_path / "greedy.jsonl").open("a") as stream:
        stream.write('{"seed": "BROKEN')  # the process was killed while writing
    rows = run_leaderboard([Baseline("greedy"), model(server)], 2, tmp_path, no_bar)
    assert (tmp_path / "greedy.jsonl").read_text().startswith(before)
    assert {row.player: row.wins.trials for row in rows} == {"greedy": 2, "llm fake": 2}
    asked = server.asked
    assert run_leaderboard([model(server)], 2, tmp_path, no_bar) == rows and server.asked == asked
    with pytest.raises(BadCampaign, match="choose another --out"):
        run_leaderboard([model(server)], 2, tmp_path, no_bar, Prices(1.0, 2.0))


def test_answers_tokens_and_cost_are_those_that_the_server_has_counted(tmp_path: Path, server: FakeServer) -> None:
    (row,) = run_leaderboard([model(server)], 2, tmp_path, no_bar, Prices(1.0, 2.0))
    games = read_games(tmp_path / "llm-fake.jsonl", Finished)
    assert sum(game.requested for game in games) == server.asked - 1  # the first request checks the endpoint
    assert row.invalid == 0 and row.requested == sum(game.requested for game in games) / 2
    for game in games:
        assert 0 < game.written < game.tokens and 0 < game.requested <= game.decisions
        assert game.dollars == pytest.approx((game.tokens + game.written) / 1e6)


@pytest.mark.parametrize("mode", ["illegal", "wrong-schema", "half-json"])
def test_a_game_without_any_valid_answer_ends_and_every_answer_counts(
    tmp_path: Path, server: FakeServer, mode: str
) -> None:
    server.set_mode(mode)
    (row,) = run_leaderboard([model(server)], 1, tmp_path, no_bar)
    (game,) = read_games(tmp_path / "llm-fake.jsonl", Finished)
    assert (row.invalid, game.invalid) == (1.0, game.requested) and game.requested == server.asked - 1 > 0


@pytest.mark.parametrize(("mode", "cause"), [("500", "server"), ("429", "refused")])
def test_an_endpoint_that_fails_stops_the_row_with_its_cause(
    tmp_path: Path, server: FakeServer, mode: str, cause: str
) -> None:
    server.set_mode(mode)
    with pytest.raises(NoAnswer, match=f"llm fake: {cause}: .*ante hints probe"):
        run_leaderboard([model(server)], 1, tmp_path, no_bar)


def test_an_endpoint_that_fails_later_keeps_finished_games(
    tmp_path: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaderboard, "BATCH", 1)

    def fail_after_the_first_game(total: int, about: str) -> object:
        @contextmanager
        def bar() -> Iterator[Callable[[int], None]]:
            yield lambda count: server.set_mode("500") if count == 1 else None

        return bar()

    with pytest.raises(NoAnswer, match=r"requests fail \(server\); finished games are kept"):
        run_leaderboard([model(server, tries=1)], 2, tmp_path, fail_after_the_first_game)  # type: ignore[arg-type]
    assert len(read_games(tmp_path / "llm-fake.jsonl", Finished)) == 1


def test_a_limit_of_tokens_stops_the_row(tmp_path: Path, server: FakeServer) -> None:
    with pytest.raises(NoAnswer, match="LLM_TOKENS_PER_HOUR or LLM_TOKENS_TOTAL is reached"):
        run_leaderboard([model(server, tokens_per_hour=2000)], 1, tmp_path, no_bar)


def test_transient_errors_are_retried_and_not_counted(tmp_path: Path, server: FakeServer) -> None:
    server.set_mode("flaky")
    server.asked = 1  # the first request succeeds
    (row,) = run_leaderboard([model(server)], 1, tmp_path, no_bar)
    assert row.invalid == 0 and row.wins.trials == 1


def test_a_row_has_the_interval_of_wilson_and_means_per_game() -> None:
    games = [finished(f"A{i}", won=i < 3, blinds=i, dollars=0.1 * i) for i in range(10)]
    row = row_of(games)
    assert (round(row.wins.low, 4), round(row.wins.high, 4)) == (0.1078, 0.6032)
    assert (row.blinds, row.tokens, row.invalid, row.requested) == (4.5, 1000, 0.1, 10)
    assert row.dollars == pytest.approx(0.45)


def test_names_of_files_and_rows() -> None:
    assert file_name("llm org/model:7b") == "llm-org-model-7b" and file_name("../..") == "player"
    assert row_player("greedy").name == "greedy"
    with pytest.raises(NotSearchable):
        row_player("greedy+16ms")


def test_the_command_prints_the_rows(
    tmp_path: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_KEY", "secret-of-the-model")
    words = ["bench", "llm", "--rows", "random", "llm", "--games", "2", "--out", str(tmp_path), "--url", server.url]
    monkeypatch.setattr(sys, "argv", ["ante", *words, "--model", "fake", "--key-variable", "MY_KEY"])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr().out
    assert ended.value.code == 0 and "llm fake" in shown and "random" in shown
    assert server.headers[-1]["Authorization"] == "Bearer secret-of-the-model"
    written = "".join(file.read_text() for file in tmp_path.glob("*.json*"))
    assert "secret-of-the-model" not in written + shown
