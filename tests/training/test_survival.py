"""Runs that are squeezed and killed: they become smaller or begin again, and end as they should."""

import csv
import os
from pathlib import Path
from typing import Any

import pytest

from ante.training.memory import MemoryGauge

pytestmark = [
    pytest.mark.ray,
    pytest.mark.usefixtures("local_ray"),
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled"),
]
TINY = {
    "games": 16,
    "batch": 256,
    "minibatch": 256,
    "epochs": 1,
    "hidden": (16,),
    "max_decisions": 60,
    "eval_games": 1,
    "object_store_gb": 0.1,
}


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "metrics.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def sizes(folder: Path) -> list[tuple[int, int]]:
    """Minibatch and games of each iteration."""
    return [(int(row["minibatch"]), int(row["games_per_runner"])) for row in rows(folder)]


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, resume: bool = False, **settings: Any) -> Path:
    """`ante train` in this process, without its closing evaluation."""
    from ante.training import train
    from ante.training.config import TrainConfig

    monkeypatch.setattr(train, "conclude", lambda *_: None)
    return train.train(TrainConfig(**{**TINY, "runs": str(folder), **settings}), resume)


def test_a_run_that_is_squeezed_becomes_smaller_and_stays_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    take = MemoryGauge.take
    monkeypatch.setattr(MemoryGauge, "take", lambda gauge: gauge.read() or take(gauge))  # one reading an iteration
    folder = run(monkeypatch, tmp_path, steps=256 * 6, memory_gb=0.3)
    assert sizes(folder) == [(256, 16), (256, 16), (128, 16), (64, 16), (64, 8), (64, 8)]
    said = capsys.readouterr()
    assert "if it stays so, minibatch and games become smaller" in said.err
    assert [said.err.count(words) for words in ("256 becomes 128", "128 becomes 64", "16 become 8")] == [1, 1, 1]
    assert "not made smaller" in said.err
    assert "driver" in said.out and "Ray itself" in said.out
    peaks = [float(row["memory_peak_gb"]) for row in rows(folder)]
    assert peaks == sorted(peaks) and 0.3 < peaks[0] < 8
    assert not (folder / "spill").exists()
    run(monkeypatch, tmp_path, resume=True, steps=256 * 7, memory_gb=0.3)
    assert sizes(folder)[6] == (64, 8), "smaller sizes outlive the process"
    run(monkeypatch, tmp_path, resume=True, steps=256 * 8, memory_gb=8.0)
    assert sizes(folder)[7] == (256, 16), "another budget, another try"
