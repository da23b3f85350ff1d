"""What is known of errors of code in the processes of a training, and what `ante train` shows of them."""

import copy
import pickle
from pathlib import Path

import pytest

pytest.importorskip("ray")

from ray.exceptions import RayTaskError

from ante.cli.errors import bug_in_run
from ante.training.failures import Failure, RunnerFailed, checked, failure_of, original


def raised(message: str = "a bug") -> Exception:
    """Return an error with a traceback."""
    try:
        raise KeyError(message)
    except KeyError as error:
        return error


HERE = f"{__file__}:20"


def test_a_failure_names_the_innermost_frame_and_can_be_sent() -> None:
    failure = pickle.loads(pickle.dumps(Failure.of(raised(), "env runner 3")))
    assert (failure.kind, failure.message, failure.place) == ("KeyError", "'a bug'", HERE)
    assert failure.traceback.startswith("Traceback") and failure.process == "env runner 3"
    with pytest.raises(RunnerFailed, match=r"(?s)^env runner 3 failed:\nTraceback.*KeyError: 'a bug'") as caught:
        checked(failure)
    assert failure_of(copy.copy(caught.value)) == failure, "Ray copies errors"
    assert checked({"games": 3}) == {"games": 3}


def test_the_place_of_an_error_in_another_process_is_the_one_there() -> None:
    cause = raised()
    text = 'ray::Learner.update() (pid=7, ip=1)\n  File "/a b/learner.py", line 3, in update\nKeyError'
    for error in (RayTaskError("update", text, cause), RayTaskError("update", text, cause).as_instanceof_cause()):
        failure = failure_of(error)
        assert original(error) is cause
        assert (failure.kind, failure.place) == ("KeyError", "/a b/learner.py:3")
    assert failure.process.startswith("process ")


def test_a_bug_is_one_sentence_and_its_traceback_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "abcdefgh")
    assert bug_in_run(raised("two\nlines abcdefgh"), tmp_path) == 1
    file = tmp_path / "error.txt"
    assert capsys.readouterr().err == (
        f"ante: KeyError: 'two\\nlines ***'; raised at {HERE}; traceback: {file}; continue with: ante train --resume {tmp_path}\n"
    )
    assert "Traceback" in file.read_text() and "abcdefgh" not in file.read_text()


def test_a_traceback_that_cannot_be_written_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bug_in_run(raised(), tmp_path / "missing") == 1
    said = capsys.readouterr().err
    assert said.startswith("Traceback") and "the traceback above cannot be written to" in said.splitlines()[-1]
