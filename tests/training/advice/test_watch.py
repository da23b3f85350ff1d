"""The monitor of the hint broker in the driver, with a broker that answers at once: its files, and a full disk."""

import errno
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from ante.training.advice import broker

REPORT = {"figures": {"asks": 1.0}, "rows": [], "boot": "a", "known": 0, "ends": {}, "alarm": None}


class Answers:
    """A broker whose reports are the same, without an actor."""

    class report:
        """As the method of an actor."""

        @staticmethod
        def remote(*_: Any) -> dict[str, Any]:
            """Return the report itself, which `ray.get` passes on."""
            return REPORT


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker.ray, "get", lambda answer, timeout: answer)
    monkeypatch.setattr(broker, "POLL_SECONDS", 0.01)


def wait_until(happened: Callable[[], bool]) -> None:
    until = time.monotonic() + 20.0
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_full_disk_is_reported_and_does_not_stop_the_monitor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    said: list[str] = []
    watch = broker.HintWatch(Answers(), tmp_path, said.append)
    with monkeypatch.context() as patch:
        patch.setattr(broker, "write_text", full)
        wait_until(lambda: bool(said))
    assert said[0].startswith("ALARM hints cannot be written to") and "No space left on device" in said[0]
    wait_until(lambda: said[1:] == ["hints have recovered"])
    monkeypatch.setattr(broker, "write_text", full)
    watch.close()


def test_a_resumed_run_overwrites_no_file_of_decisions(tmp_path: Path) -> None:
    """Also if an earlier file is missing."""
    earlier = tmp_path / "hints" / "decisions-00002.parquet"
    earlier.parent.mkdir()
    earlier.write_text("earlier")
    watch = broker.HintWatch(Answers(), tmp_path, print)
    watch._rows = [{"player": 1}]
    watch.close()
    assert earlier.read_text() == "earlier"
    assert (tmp_path / "hints" / "decisions-00003.parquet").exists()
