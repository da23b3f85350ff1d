"""`ante events`, as a user runs it."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ante.cli import outcome
from ante.events.publisher import publishing_events
from ante.events.v1 import events_pb2 as pb


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the log of three games of an evaluation."""
    monkeypatch.chdir(tmp_path)
    assert outcome(["eval", "greedy", "--games", "3", "--events", "events.sqlite"]) == 0
    return "events.sqlite"


@pytest.mark.parametrize(
    "words", ["tail other.sqlite", "archive other.sqlite --to archive", "prune other.sqlite --days 1"]
)
def test_a_log_that_does_not_exist_is_refused_and_not_created(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert outcome(["events", *words.split()]) == 2
    assert re.search("there is no event log (or archive )?other.sqlite", capsys.readouterr().err)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_an_evaluation_is_followed_archived_queried_and_cloned(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(f"events tail {log} --since all --count 2".split()) == 0
    lines = capsys.readouterr().out.splitlines()[-2:]
    assert all(" ante.v1.game.begun eval/greedy " in line and "seed=" in line for line in lines)
    assert outcome(f"events tail {log} --since all --count 1 --kind game.ended --json".split()) == 0
    assert json.loads(capsys.readouterr().out)["game_ended"]["outcome"] in ("won", "lost")
    assert outcome(f"events archive {log} --to archive".split()) == 0
    assert outcome(f"events archive {log} --to archive".split()) == 0
    first, again = capsys.readouterr().out.splitlines()
    assert first.startswith("archive: ") and again == "archive: 0 events"
    assert (
        outcome(
            [
                "events",
                "query",
                "archive",
                "SELECT count(*) AS games FROM events WHERE game_ended IS NOT NULL",
                "--json",
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out) == [{"games": 3}]
    assert outcome(["events", "query", "archive", "--kind", "game.ended", "--json", "--most", "2"]) == 0
    shown = capsys.readouterr()
    assert len(json.loads(shown.out)) == 2 and "only the first 2 rows" in shown.err
    assert outcome(["events", "query", "archive"]) == 0
    assert "ante.v1.game.decision" in capsys.readouterr().out
    assert outcome(["events", "dataset", "archive", "--out", "data", "--check", "--player", "greedy"]) == 0
    assert capsys.readouterr().out.startswith("data: 3 games, ")
    assert outcome(["events", "prune", "archive", "--days", "1"]) == 0
    assert outcome(f"events prune {log} --days 1".split()) == 0
    pruned = capsys.readouterr().out.splitlines()
    assert pruned[0] == "archive: 0 files deleted" and pruned[1].startswith(f"{log}: 0 of ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("events query nowhere", "nowhere has no events: name an archive"),
        ("events query nowhere SELECT --kind game", "give a statement or --kind, not both"),
        ("events tail events.sqlite --kind games", "unknown kind of events 'games': did you mean game?"),
        ("events tail http://host", "is no event bus"),
        ("events dataset nowhere --out .", ". exists: datasets are never overwritten"),
        ("events prune archive --days 0", "--days 0.0 is out of range"),
        ("eval greedy --games 1 --events /no/such/events.sqlite", "cannot open the event log"),
    ],
)
def test_mistakes_are_explained(
    words: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("events.sqlite").touch()
    assert outcome(words.split()) == 2
    assert message in capsys.readouterr().err


def test_tail_ends_quietly_with_control_c(tmp_path: Path) -> None:
    file = tmp_path / "events.sqlite"
    with publishing_events(str(file), "test", drops=False) as publisher:
        assert publisher is not None
        publisher.put("ppo", pb.RunState(run="ppo"))
    command = [sys.executable, "-m", "ante.cli", "events", "tail", str(file), "--since", "all"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored if the tests run in the background
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            assert "ante.v1.run.state" in process.stdout.readline()
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 130 and process.stderr.read() == ""
        finally:
            process.kill()
