"""`ante bench upload` on a folder: all rows exist, some steps overlap an upload, and no files remain."""

import time
from pathlib import Path

import pytest

pytest.importorskip("torch")


def test_rows_are_of_turns_and_ratios_of_their_own() -> None:
    from ante.bench.uploads import rows_of

    turns = {"alone": [[0.010] * 99 + [1.0], [0.020] * 100], "beside": [[0.011] * 100, [0.030] * 100]}
    found = {row.name.removeprefix("train step "): (row.value, row.low, row.high) for row in rows_of(turns, 64, 64)}
    assert found["alone, p95"] == pytest.approx((15, 10, 20))
    assert found["during an upload of 64 MB, median"] == pytest.approx((20.5, 11, 30))
    assert found["during an upload against alone, p95"] == pytest.approx((1.3, 1.1, 1.5))
    assert len(found) == 6


class Still:
    """An algorithm that only waits."""

    def train(self) -> None:
        time.sleep(0.01)

    def stop(self) -> None: ...


def test_steps_are_timed_while_an_upload_runs_and_the_store_is_empty_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ante.bench import uploads
    from ante.storage.local import LocalStore

    monkeypatch.setattr(uploads, "start_ray", lambda: None)
    monkeypatch.setattr(uploads, "build", lambda config: Still())
    waiting, step_times = [], uploads.step_times

    def looking(algorithm, before, steps):
        def then() -> None:
            before()
            waiting.append((before.__name__, len(before.__self__.spool.jobs())))

        return step_times(algorithm, then, steps)

    monkeypatch.setattr(uploads, "step_times", looking)
    rows = uploads.upload_rows(str(tmp_path / "store"), repeats=2, steps=3, megabytes=8)
    assert len(rows) == 6 and all(row.value > 0 for row in rows)
    assert len(waiting) == 2 * 3 * 3
    assert {count for name, count in waiting if name == "pause"} == {0}
    assert list(LocalStore(tmp_path / "store").list()) == []


class Slow:
    """Uploads that take half a second."""

    pending = False

    def ensure_pending(self) -> None:
        self.pending = True

    def pause(self) -> None:
        time.sleep(0.5 if self.pending else 0.0)
        self.pending = False


def test_the_end_of_an_upload_is_no_part_of_a_step_without_one() -> None:
    from ante.bench.uploads import in_turns

    turns = in_turns(Still(), Slow(), repeats=2, steps=2)
    assert all(step < 0.4 for turn in turns["alone"] for step in turn)
