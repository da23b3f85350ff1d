"""The output of `ante bench`: the same rows as a table and as JSON."""

import json
import sys
from pathlib import Path

import pytest

from ante.bench import engine_speed
from ante.bench.engine_speed import Part, Row
from ante.cli import main, outcome
from ante.errors import BalatroError

ROWS = [
    Row("decisions", 1234.5, "decisions/s", 1000.0, 2000.0, games=256),
    Row("start", 0.25, "s", 0.2, 0.5, threads=2),
]
PARTS = [Part("play", 0.25, 100.0, 90.0, 120.0, 0.5)]


def bench(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    monkeypatch.setattr(sys, "argv", ["ante", "bench", *words])
    monkeypatch.setenv("COLUMNS", "160")
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    return capsys.readouterr().out


def strict(text: str) -> dict[str, object]:
    """Parse JSON according to RFC 8259: without NaN and Infinity, which Python accepts."""

    def refuse(number: str) -> float:
        raise AssertionError(f"{number} is not a JSON number")

    found = json.loads(text, parse_constant=refuse)
    assert isinstance(found, dict)
    return found


def test_json_holds_what_the_tables_show(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(engine_speed, "engine_rows", lambda _: ROWS)
    monkeypatch.setattr(engine_speed, "profile_parts", lambda _: PARTS)
    words = ("engine", "profile")
    text = bench(capsys, monkeypatch, *words, "--json", "--out", str(tmp_path / "bench.json"))
    assert (tmp_path / "bench.json").read_text().strip() == text.strip()
    found = strict(text)
    assert set(found) == {"machine", "rows", "profiles"}
    assert found["rows"] == [
        {"name": "decisions", "value": 1234.5, "unit": "decisions/s", "low": 1e3, "high": 2e3, "games": 256, "threads": 1},
        {"name": "start", "value": 0.25, "unit": "s", "low": 0.2, "high": 0.5, "games": 0, "threads": 2},
    ]  # fmt: skip
    profile = {"name": "play", "decisions": 0.25, "ns": 100.0, "low": 90.0, "high": 120.0, "time": 0.5}
    assert found["profiles"] == {"real blinds": [profile], "one-chip blinds": [profile]}
    lines = bench(capsys, monkeypatch, *words).splitlines()
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines if line.startswith("│")]
    assert cells == [
        ["decisions", "256", "1", "1,234", "1,000", "2,000", "decisions/s"],
        ["start", "", "2", "0.25", "0.20", "0.50", "s"],
        *[["play", "25.0%", "100", "90", "120", "50.0%"]] * 2,
    ]


@pytest.mark.slow
def test_measured_rows_are_valid_json(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    rows = strict(bench(capsys, monkeypatch, "engine", "--json", "--decisions", "2000"))["rows"]
    assert isinstance(rows, list) and {"decisions/s", "copies/s"} <= {row["unit"] for row in rows}
    assert all(0 < row["low"] <= row["value"] <= row["high"] for row in rows)


def test_two_threads_are_measured_with_any_number_of_decisions() -> None:
    assert all(row.low > 0 for row in engine_speed.thread_rows(decisions=1))


def test_a_command_that_fails_is_an_error_with_its_last_line() -> None:
    with pytest.raises(BalatroError, match="exited with code 1: no cache"):
        engine_speed.clock("start", [sys.executable, "-c", "raise SystemExit('no cache')"], 1)


def test_a_missing_store_is_refused_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engine_speed, "engine_rows", lambda _: pytest.fail("measured"))
    assert outcome(["bench", "engine", "upload"]) == 2
    assert "requires --store" in capsys.readouterr().err
