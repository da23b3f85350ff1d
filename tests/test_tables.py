"""Tables and the live view of a training on narrow and wide terminals; progress as lines of text."""

import math
import time
from collections.abc import Iterator

import pytest
from rich.console import Console
from rich.text import Text

from ante import tables
from ante.agents.baselines import Baseline
from ante.agents.evaluate import evaluate
from ante.agents.report import players_table
from ante.agents.seed_lists import evaluation_seeds
from ante.messages import number_of
from ante.metrics import METRICS
from ante.tables import FittedTable, Heartbeat, counted, stages
from ante.training.run.console import TrainView
from ante.training.run_store.session import say


def lines(console: Console) -> list[str]:
    return console.export_text().splitlines()


@pytest.mark.parametrize(("width", "left_out"), [(80, ["mean ante", "decisions"]), (100, ["decisions"]), (140, [])])
def test_players_need_no_wrapping_at_any_width(width: int, left_out: list[str]) -> None:
    reports = [evaluate(Baseline(name), evaluation_seeds(8)) for name in ("random", "greedy")]
    console = Console(record=True, width=width)
    console.print(players_table(reports))
    found = lines(console)
    assert max(map(len, found)) <= width
    rows = [line for line in found if "random" in line or "greedy" in line]
    assert len([row for row in rows if row.startswith("│")]) == 2, "each player in one line"
    named = next((line for line in found if line.startswith("columns that need")), "")
    assert [head for head in ("mean ante", "decisions") if head in named] == left_out
    assert all((head in "".join(found[:4])) != (head in left_out) for head in ("mean ante", "decisions"))


def test_lines_with_a_command_or_a_path_are_never_broken() -> None:
    console = Console(record=True, width=40)
    line = "continue with: ante train --resume latest --name a-run-with-a-long-name --runs /a/long/path/of/runs"
    say(console, line)
    assert lines(console) == [line]


def test_one_is_not_plural() -> None:
    assert [number_of(count, "blind") for count in (0, 1, 2, 1000)] == [
        "0 blinds",
        "1 blind",
        "2 blinds",
        "1,000 blinds",
    ]


def test_a_table_that_is_still_too_wide_wraps_and_shows_its_rows() -> None:
    table = FittedTable("name", "note", "size", optional=("size",))
    table.add_row("a", "word " * 30, "1")
    console = Console(record=True, width=40)
    console.print(table)
    text = console.export_text()
    assert text.count("word") == 30 and "size" in text.splitlines()[-1] and "…" not in text


@pytest.mark.parametrize("width", [80, 100, 140])
def test_the_live_view_shows_every_value_whole(width: int) -> None:
    row = {metric.name: math.nan for metric in METRICS} | dict(values())
    console = Console(record=True, width=width, force_terminal=True)
    with TrainView(console, 1_000_000, 0) as view:
        view.show(row)
    found = lines(console)
    assert max(map(len, found)) <= width
    text = "\n".join(found)
    for heading, cell in (("games", "41,234"), ("blinds", "12.25"), ("value loss", "0.1235"), ("steps/s", "12,345")):
        assert f"{heading} {cell}" in text


def values() -> Iterator[tuple[str, float]]:
    yield from {
        "iteration": 12.0, "steps": 500_000.0, "games": 41_234.0, "blinds": 12.25, "win_rate": 0.051, "ante": 5.1,
        "return": 1.234, "policy_loss": -0.0123, "value_loss": 0.12349, "entropy": 1.5, "steps_per_second": 12_345.0,
    }.items()  # fmt: skip


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Set the clock: seconds since the start, which a test changes."""
    seconds = [0.0]
    monkeypatch.setattr(tables.time, "monotonic", lambda: 100.0 + seconds[0])
    return seconds


def test_a_log_receives_each_stage_and_a_line_every_five_seconds(
    now: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    heartbeat = Heartbeat()
    for now[0], stage, share in ((0.0, "one", 0.0), (1.0, "one", 0.1), (5.5, "one", 0.25), (6.0, "two", 0.5)):
        heartbeat.report(stage, share)
    said = ["one: 0% after 0 s", "one: 25% after 6 s", "two: 50% after 6 s"]
    assert capsys.readouterr().err.splitlines() == said


def test_a_log_of_long_work_receives_fewer_lines(now: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    advance = counted(36_000, "games")
    for second in range(1, 36_001):
        now[0] = second
        advance(1)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "games: 0% after 5 s" and said[-1].startswith("games: 9")
    assert 100 < len(said) < 300


def test_short_work_leaves_no_line_in_a_log(now: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    advance = counted(10, "games")
    for now[0] in (1.0, 2.0, 4.0):
        advance(3)
    assert capsys.readouterr().err == ""


def test_a_stage_without_news_repeats_itself_in_a_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tables, "HEARTBEAT", 0.02)
    with stages(Console(force_terminal=False)) as show_stage:
        show_stage("first")
        said = ""
        while "first: after" not in said:
            said += capsys.readouterr().err
        show_stage("second")
    said += capsys.readouterr().err
    assert said.startswith("first\nfirst: after 0 s\n") and "\nsecond\n" in said


def test_a_stage_with_brackets_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with stages(Console(force_terminal=True, width=100)) as show_stage:
        show_stage("rendering runs[/old]/first")
        time.sleep(0.2)
    assert "runs[/old]/first" in Text.from_ansi(capsys.readouterr().out).plain
