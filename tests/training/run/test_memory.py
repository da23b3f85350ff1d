"""The memory gauge: readings and peaks."""

import mmap
import subprocess
import sys
import threading

import numpy as np
import pytest

from ante.training.run.memory import GB, MemoryGauge, Reading, measure, memory_table


def test_the_gauge_sees_what_this_process_and_its_children_take() -> None:
    before = measure()
    block = np.frombuffer(mmap.mmap(-1, GB // 4), dtype=np.uint8)  # new pages, not memory that was freed before
    block[:] = 1
    grown = measure()
    assert grown.by_process["driver"] - before.by_process["driver"] == pytest.approx(block.nbytes / GB, abs=0.05)
    hold = f"block = b'x' * {GB // 8}; print('ready', flush=True); input()"
    child = subprocess.Popen([sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        assert measure().total - grown.total == pytest.approx(1 / 8, abs=0.05)
    finally:
        child.communicate("\n", timeout=10)


def test_peaks_are_kept_by_process_and_each_reading_is_taken_once() -> None:
    readings = iter(
        [
            Reading({"driver": 1.0, "learner 1": 0.5}, 0.25),
            Reading({"driver": 2.0, "learner 1": 0.25}),
            Reading({"driver": 1.5}),
        ]
    )
    with MemoryGauge(lambda: next(readings), period_seconds=1000) as gauge:
        gauge.read()
        gauge.read()
        taken = gauge.take()
        assert taken is not None and taken.total == 2.25
        assert gauge.take() is None
        assert (gauge.now.total, gauge.peak, gauge.store) == (1.5, 2.25, 0.25)
        assert gauge.peaks == {"driver": 2.0, "learner 1": 0.5}
        table = memory_table(gauge, 8.0)
    assert table.title == "memory: 2.25 GB peak of a budget of 8"
    assert list(table.columns[1].cells) == ["2.00", "0.50", "0.25"]


def test_a_reading_that_fails_is_not_passed_over_in_silence() -> None:
    failed = threading.Event()

    def read() -> Reading:
        if failed.is_set():
            raise PermissionError("no such file")
        failed.set()
        return Reading({"driver": 1.0})

    with MemoryGauge(read, period_seconds=0.01) as gauge:
        gauge._thread.join(10)
        with pytest.raises(PermissionError, match="no such file"):
            gauge.take()
