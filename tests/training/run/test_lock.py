"""One training at a time in a run's folder, tested with real processes."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ante.cli import outcome
from ante.files import FOLDER_LOCK
from ante.training.run_store.lock import BadFolder, RunGone, RunInUse, RunTaken, check_free, locked
from ante.training.settings.config import make_config

HOLD = """
import sys
from pathlib import Path
from ante.training.run_store.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_training(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """Start another process that holds the lock of a run."""
    command = [sys.executable, "-c", HOLD, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "held\n"
        yield process
        if process.poll() is None:
            process.communicate()


def run_folder(place: Path) -> Path:
    """Return the folder of a run that has started."""
    folder = place / "runs" / "first"
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "config.yaml").write_text(make_config({"name": "first"}).to_yaml())
    (folder / "checkpoints" / "kept").write_text("as it was")
    return folder


@pytest.mark.parametrize(
    "words", [["--name", "first"], ["--resume", "runs/first"], ["--name", "first", "--resume", "auto"]]
)
def test_a_second_training_of_a_live_run_is_refused_and_names_the_first(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = run_folder(tmp_path)
    before = sorted(folder.rglob("*"))
    with another_training(Path("runs/first")) as first:
        assert outcome(["train", *words]) == 2
    said = capsys.readouterr().err
    assert f"run runs/first is being trained by process {first.pid} on {socket.gethostname()!r} since" in said
    assert "another --name" in said and "Traceback" not in said
    assert {*folder.rglob("*")} == {*before, folder / FOLDER_LOCK}
    assert (folder / "checkpoints" / "kept").read_text() == "as it was"


def test_a_taken_name_is_refused_before_ray_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "ante.training.run.loop", None)  # importing it fails
    run_folder(tmp_path)
    assert outcome(["train", "--name", "first"]) == 2
    taken = "run runs/first exists: continue it with --resume runs/first, or choose another --name"
    assert taken in capsys.readouterr().err
    with pytest.raises(RunTaken):
        check_free(Path("runs/first"))
    check_free(Path("runs/other"))


def test_the_lock_of_a_process_that_was_killed_is_free(tmp_path: Path) -> None:
    with another_training(tmp_path / "run") as first:
        with pytest.raises(RunInUse), locked(tmp_path / "run"):
            pass
        first.send_signal(signal.SIGKILL)
        first.wait()
        with locked(tmp_path / "run") as lock:
            assert lock.in_place()


def test_processes_that_outlive_a_training_do_not_hold_its_lock(tmp_path: Path) -> None:
    with locked(tmp_path / "run"):
        child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    with locked(tmp_path / "run"):
        assert child.poll() is None
    child.communicate()


@pytest.mark.parametrize("text", ["", "x", "[1]", '{"pid": "x"}', "[" * 100_000, "\0" * 2000])
def test_a_lock_that_says_nothing_sensible_is_a_lock(text: str, tmp_path: Path) -> None:
    with another_training(tmp_path / "run"):
        (tmp_path / "run" / FOLDER_LOCK).write_text(text)
        with pytest.raises(RunInUse, match="another process"), locked(tmp_path / "run"):
            pass


def test_a_run_that_is_moved_deleted_or_replaced_is_not_written_to(tmp_path: Path) -> None:
    with locked(tmp_path / "run") as lock:
        lock.check()
        (tmp_path / "run").rename(tmp_path / "moved")
        with pytest.raises(RunGone, match="moved or deleted"):
            lock.check()
        with locked(tmp_path / "run"), pytest.raises(RunGone):  # another run uses the name
            lock.check()


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadFolder, match="cannot be written"), locked(tmp_path / "file" / "run"):
        pass


def test_a_file_system_without_locks_is_used_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno
    import fcntl

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with locked(tmp_path / "run") as lock:
        lock.check()
