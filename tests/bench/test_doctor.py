"""`ante doctor`: measurements, baselines and their comparison."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ante.engine.actions import N_DISCRETE
from ante.env.layout import FLAT_SIZE

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
Doctor = Callable[..., tuple[int, str, str]]
JUDGED = ["environment, 256 games", "sampling, 16 games", *(f"inference, batch {n}, p50" for n in ("1", "64", "256"))]


@pytest.fixture
def doctor(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Doctor:
    """Return a function that runs `ante doctor` with a small policy and returns exit code, stdout and stderr."""
    from ante.bench import figures
    from ante.cli import main

    monkeypatch.setattr(figures, "CALLS", 10)
    monkeypatch.setattr(figures, "STEPS", 256)
    monkeypatch.setattr(figures, "BATCHES", (1, 64, 256))
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "small.yaml").write_text("resources: {games_per_runner: 16}\npolicy: {hidden: [8]}\n")

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ante", "doctor", "--config", str(tmp_path / "small.yaml"), *words])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return run


def change(file: Path, factor: float) -> None:
    """Make every measured figure in the baseline this many times better."""
    kept = json.loads(file.read_text())
    for figure in kept["figures"]:
        if figure["better"]:
            figure["value"] *= factor if figure["better"] == "more" else 1 / factor
    file.write_text(json.dumps(kept))


def test_a_machine_is_held_against_its_baseline(doctor: Doctor, tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    code, out, _ = doctor("--save", str(file), "--json")
    found = json.loads(out)
    assert code == 0
    assert [each["name"] for each in found["figures"] if each["better"]] == JUDGED
    assert all(each["value"] > 0 and each["before"] is None for each in found["figures"])
    p50, p95, p99 = (each["value"] for each in found["figures"][2:5])
    assert p50 <= p95 <= p99
    assert {"memory", "GPU" if not torch.cuda.is_available() else "GPU 0"} <= {row["what"] for row in found["machine"]}
    weights = found["policy"].split(", ")[1].split()[0].replace(",", "")
    assert int(weights) == 8 * (FLAT_SIZE + 1) + (N_DISCRETE + 1) * 9

    change(file, 1e-3)  # the baseline is of a machine a thousand times slower
    code, out, _ = doctor("--against", str(file))
    assert code == 0
    assert "times as good" in out and "below" not in out
    change(file, 1e6)  # and this one of a machine a thousand times faster
    code, out, _ = doctor("--against", str(file), "--tolerance", "0.5")
    assert code == 1
    assert [line.split(" is ")[0] for line in out.splitlines() if "below 0.5" in line] == JUDGED


def test_a_baseline_of_another_policy_is_refused(doctor: Doctor, tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    doctor("--save", str(file), "--json")
    (tmp_path / "small.yaml").write_text("resources: {games_per_runner: 16}\npolicy: {hidden: [9]}\n")
    code, _, error = doctor("--against", str(file))
    assert code == 2
    assert "use the same --config" in error


def test_nothing_is_measured_where_that_is_asked_for(doctor: Doctor, tmp_path: Path) -> None:
    code, out, _ = doctor("--no-measure", "--json")
    assert (code, json.loads(out)["figures"]) == (0, [])
    code, _, error = doctor("--no-measure", "--save", str(tmp_path / "a.json"))
    assert (code, error) == (2, "ante: --save and --against need measurements: not measured: --no-measure\n")


def test_memory_is_told_as_the_system_tells_it() -> None:
    from ante.machine import memory

    available, whole = (float(word) for word in memory().replace(" GiB available", "").split(" of "))
    assert whole == pytest.approx(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, abs=0.06)
    assert 0 < available <= whole


def test_percentiles_are_those_of_a_known_list() -> None:
    from ante.bench.figures import percentiles

    assert percentiles(np.arange(101.0)) == [50.0, 95.0, 99.0]


def test_a_gpu_is_told_with_memory_and_utilisation(monkeypatch: pytest.MonkeyPatch) -> None:
    from ante.bench.figures import device_rows

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda i: (30 * 2**30, 80 * 2**30))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda i: "a card")
    monkeypatch.setattr(torch.cuda, "utilization", lambda i: 42)
    assert [row["value"] for row in device_rows()] == ["a card", "30.0 of 80.0 GiB free", "42 %"]

    def missing(_: int) -> int:
        raise ModuleNotFoundError("nvidia-ml-py does not seem to be installed")

    monkeypatch.setattr(torch.cuda, "utilization", missing)
    assert device_rows()[-1]["value"] == "unknown: pip install nvidia-ml-py"


def test_a_gpu_without_utilisation_is_reported_as_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    from ante.bench.figures import utilisation

    def refuse(device: int) -> int:
        raise Exception("Not Supported")  # NVMLError_NotSupported derives from Exception alone

    monkeypatch.setattr(torch.cuda, "utilization", refuse)
    assert utilisation(0) == "unknown: Not Supported"
