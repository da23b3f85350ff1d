"""Sending to trackers that raise, hang or die; processes; secrets."""

import http.server
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from ante.cli.learn.track import Track
from ante.errors import BalatroError
from ante.training.run_store.upload import loose_files
from ante.training.settings.config import BadConfig, TrainConfig, make_config
from ante.training.tracking import sender as sending
from ante.training.tracking.following import Follower, Followers, following
from ante.training.tracking.sender import Sender
from ante.training.tracking.state import State, read_state, taken, write_state
from ante.training.tracking.tracker import Begun, NoTracker, Outcome, Row
from tests.support.wandb_file import read_wandb
from tests.training.tracking.made import cover, evaluated, known_rows, made_run, write_rows

KEY, PASSWORD = "k" * 40, "opensesame-but-longer"


class Recorder:
    """A tracker in memory that raises at given calls.

    fails  for each call of `send`, whether it raises and stores nothing
    """

    def __init__(self, fails: Sequence[bool] = ()) -> None:
        self.fails = list(fails)
        self.rows: list[Row] = []
        self.begun, self.ended = 0, ""

    def begin(self, config: TrainConfig, known: str | None) -> Begun:
        self.begun += 1
        return Begun(known or "id", "here", len(self.rows))

    def send(self, rows: Sequence[Row], moments: Sequence[float]) -> None:
        if self.fails and self.fails.pop(0):
            raise ConnectionError(f"http://me:{PASSWORD}@tracker refuses {KEY}\nand more")
        self.rows += rows

    def conclude(self, figures: Mapping[str, float], words: Mapping[str, str]) -> None:
        self.figures = figures

    def end(self, outcome: Outcome) -> None:
        self.ended = outcome


@pytest.fixture
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(sending, "LONGEST_PAUSE", 0.0)


@pytest.mark.usefixtures("_no_pauses")
def test_every_row_arrives_once_and_in_order_though_the_tracker_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "MOST_ROWS", 4)
    config = made_run(tmp_path, rows=3)
    tracker = Recorder([True, False, False, True, True, False])
    looks = iter([None, None, None, "finished"])

    def asked(_: float) -> Outcome | None:
        """Let the run continue meanwhile."""
        rows = len(known_rows(config.folder)) + 4
        write_rows(config.folder, rows)
        cover(config.folder, rows)
        return next(looks)  # type: ignore[return-value]

    Sender(config.folder, "mlflow", lambda: tracker).follow(asked, 10.0)
    assert tracker.rows == known_rows(config.folder) and len(tracker.rows) == 19
    assert tracker.begun > 1 and tracker.ended == "finished"
    assert read_state(config.folder, "mlflow") == State("id", "here", 19, "", "finished")


def test_rows_have_their_own_times_though_later_ones_wait_for_a_checkpoint(tmp_path: Path) -> None:
    """A row takes 0.25 seconds; the last one was written at 1000."""
    config = made_run(tmp_path, rows=3)
    write_rows(config.folder, 5)
    os.utime(config.folder / "metrics.csv", (1000.0, 1000.0))
    assert sending.unsent_rows(config.folder, 0)[1] == [999.0, 999.25, 999.5]


@pytest.mark.usefixtures("_no_pauses")
def test_errors_of_a_tracker_are_stored_without_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    config = made_run(tmp_path, rows=3)
    Sender(config.folder, "mlflow", lambda: Recorder([True] * 9)).follow(lambda _: "finished", 0.0)
    assert read_state(config.folder, "mlflow").error == "ConnectionError: http://***@tracker refuses ***"


def test_an_error_is_reported_once_and_again_at_the_end(tmp_path: Path) -> None:
    config = made_run(tmp_path, rows=12)
    said: list[str] = []
    follower = Follower(config.folder, "nonsense", 0.0, said.append)
    follower.process.kill()
    follower.process.wait()
    write_state(config.folder, "nonsense", State(iteration=5, error="it is down"))
    for _ in range(3):
        follower.look()
    assert said == ["nonsense receives no rows (it is down); training continues, and metrics.csv has every row"]
    follower.tell("finished")  # without a receiver
    assert follower.result().startswith("nonsense: 7 of 12 rows may be missing (it is down)")


@pytest.fixture
def silent_server() -> Iterator[str]:
    """Start an HTTP server that accepts every request and never responds."""
    asked, leave = threading.Event(), threading.Event()

    class Silent(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.set()
            leave.wait()

        do_POST = do_GET

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://me:{PASSWORD}@127.0.0.1:{server.server_port}"
    leave.set()
    server.shutdown()
    assert asked.is_set()  # otherwise nothing was tried


def wait_for(holds: Callable[[], bool]) -> None:
    until = threading.Event()
    for _ in range(600):
        if holds():
            return
        until.wait(0.1)
    raise AssertionError("the condition was not met in time")


@pytest.mark.slow
def test_a_tracker_that_never_responds_is_abandoned_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, silent_server: str
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", silent_server)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    config = made_run(tmp_path, rows=4).with_changes({"tracking.trackers": ("mlflow",), "tracking.wait_seconds": 0.0})
    said: list[str] = []
    with following(config, said.append) as followers:
        followers.begin()
        wait_for(lambda: bool(read_state(config.folder, "mlflow").error))
        followers.checked_at = -1e9
        followers.look()
        followers.outcome = "finished"
    assert followers.each[0].process.returncode is not None
    assert len(said) == 2 and said[0].startswith("mlflow receives no rows") and "4 of 4 rows may be missing" in said[1]
    assert f"ante track {config.folder} --to mlflow" in said[1] and PASSWORD not in "".join(said)
    assert_nowhere(config.folder, PASSWORD)


def assert_nowhere(folder: Path, secret: str) -> None:
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files and not [file for file in files if secret.encode() in file.read_bytes()]


@pytest.mark.slow
def test_wandb_has_the_run_and_the_resumed_run_in_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    monkeypatch.delenv("WANDB_PROJECT", raising=False)
    config = made_run(tmp_path, rows=30).with_changes({"tracking.trackers": ("wandb",), "tracking.wait_seconds": 300.0})
    for rows, outcome in ((30, "stopped"), (40, "finished")):
        write_rows(config.folder, rows)
        cover(config.folder, rows)
        evaluated(config.folder)
        with following(config, lambda words: None) as followers:
            followers.begin()
            followers.outcome = outcome  # type: ignore[assignment]
        assert read_state(config.folder, "wandb").ended == outcome
    files = sorted((config.folder / "wandb").glob("offline-run-*/*.wandb"))
    one, two = (read_wandb(file) for file in sorted(files, key=lambda file: file.stat().st_mtime))
    assert one["id"] == two["id"] == read_state(config.folder, "wandb").id
    assert (one["name"], one["project"], one["group"]) == ("made", "ante", str(tmp_path))
    rows = [{k: v for k, v in row.items() if k[0] != "_"} for row in one["rows"] + two["rows"]]
    assert rows == known_rows(config.folder)
    assert one["config"]["algo"]["lr"] == 3e-4 and one["config"]["games"]["deck"] == "b_red"
    assert two["summary"]["evaluation/mean_blinds"] == 3.5 and two["exit"] == 0
    assert two["summary"]["report"].endswith("/report.html")
    assert_nowhere(config.folder, KEY)
    assert not [path for path, _ in loose_files(config.folder, last=True) if path.startswith("wandb")]
    assert "tracking/wandb.json" in dict(loose_files(config.folder, last=True))


@pytest.mark.slow
def test_a_run_is_sent_later_and_only_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    config = made_run(tmp_path, rows=5)
    evaluated(config.folder)
    assert Track(config.folder, "mlflow").run() == 0
    assert "mlflow: 5 rows in file://" in capsys.readouterr().out
    lines = [len(file.read_text().splitlines()) for file in (tmp_path / "mlruns").rglob("metrics/steps")]
    assert lines == [5]
    with taken(config.folder, "mlflow") as mine:  # as during a training
        assert mine
        with taken(config.folder, "mlflow") as again:
            assert not again


def test_what_cannot_be_tracked_is_refused_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadConfig, match="twice"):
        make_config({"tracking.trackers": ("mlflow", "mlflow")})
    with pytest.raises(BadConfig, match="there is no run"):
        Track(tmp_path / "nowhere", "mlflow").run()
    config = made_run(tmp_path, rows=0)
    with pytest.raises(BalatroError, match="no checkpoint yet"):
        Track(config.folder, "mlflow").run()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with (
        pytest.raises(NoTracker, match=r"wandb is not installed: pip install 'ante-balatro\[track\]'"),
        following(config.with_changes({"tracking.trackers": ("wandb",)}), print),
    ):
        raise AssertionError


def test_a_run_without_trackers_starts_nothing(tmp_path: Path) -> None:
    followers = Followers(made_run(tmp_path, rows=1), print)
    followers.begin()
    followers.look()
    followers.end()
    assert not followers.each
