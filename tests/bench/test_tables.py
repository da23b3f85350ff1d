"""The output of `ante profile`."""

import pytest

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("device_ms", [0.0, 4.0])
def test_parts_and_the_longest_operations_are_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, device_ms: float
) -> None:
    from ante.bench.profile import Operation, PartTime, Profile
    from ante.cli.checks.profile import print_profile

    monkeypatch.setenv("COLUMNS", "160")
    parts = [PartTime("env", "games", 6.0, 0.75), PartTime("sync", "weights", 2.0, 0.25)]
    operations = [Operation("aten::mm", 1234, 8.5, device_ms, 0.7), Operation("aten::add", 5, 1.0, 0.0, 0.3)]
    print_profile(Profile(512, parts, operations), operations=1)
    out = capsys.readouterr().out
    assert "125,000 steps/s, 8.0 us per step" in out
    assert "512 steps under torch's profiler" in out
    (row,) = (line for line in out.splitlines() if "aten::" in line)
    cells = [cell.strip() for cell in row.strip("│").split("│")]
    assert cells == ["aten::mm", "1,234", "8.5", *(["4.0"] if device_ms else []), "70.0%"]
    (env,) = (line for line in out.splitlines() if "games" in line)
    assert "6.00" in env and "75.0%" in env
