"""Means over few games after a resume are left out, and the resume is marked."""

from pathlib import Path

import numpy as np
import pytest

from ante.watch.report import curves
from ante.watch.window import comparable_rows, resumes

COUNTED = (40, 90, 100, 100, 12, 49, 51, 100, 100)
BLINDS = (1.0, 2.0, 7.5, 7.8, 3.4, 4.1, 7.6, 7.9, 8.0)


def rows(counted: tuple[object, ...], stages: str = "000000000") -> list[dict[str, str]]:
    table = zip(counted, BLINDS, stages, strict=True)
    return [
        {"iteration": f"{i}", "steps": f"{1000 * i}", "games": f"{i}", "seconds": f"{i}", "entropy": "1"}
        | {"games_counted": f"{count}", "blinds": f"{blinds}", "stage": stage}
        for i, (count, blinds, stage) in enumerate(table, 1)
    ]


def test_rows_after_a_resume_have_no_means_until_half_of_the_games_are_back() -> None:
    found = comparable_rows(rows(COUNTED))
    assert [row["blinds"] for row in found] == ["1.0", "2.0", "7.5", "7.8", "", "", "7.6", "7.9", "8.0"]
    assert {row["entropy"] for row in found} == {"1"}, "other metrics remain"
    assert resumes(rows(COUNTED)) == [4]


def test_a_second_resume_before_the_first_has_recovered_needs_as_many_games() -> None:
    found = comparable_rows(rows((100, 100, 100, 100, 12, 5, 30, 60, 100)))
    assert [row["blinds"] for row in found][4:] == ["", "", "", "7.9", "8.0"]


@pytest.mark.parametrize(
    ("counted", "stages"), [(COUNTED, "000011111"), (("",) * 9, "000000000"), (("nan",) * 9, "000000000")]
)
def test_a_new_stage_and_unknown_numbers_are_no_resumes(counted: tuple[object, ...], stages: str) -> None:
    assert resumes(rows(counted, stages)) == []
    assert [row["blinds"] for row in comparable_rows(rows(counted, stages))] == [f"{value}" for value in BLINDS]


def test_the_report_and_the_plot_leave_them_out_and_name_the_resume(tmp_path: Path) -> None:
    header = [
        "iteration",
        "steps",
        "games",
        "seconds",
        "entropy",
        "games_counted",
        "blinds",
        "stage",
        "ante",
        "win_rate",
    ]
    lines = [",".join(row.get(name, "1") for name in header) for row in rows(COUNTED)]
    (tmp_path / "metrics.csv").write_text("\n".join([",".join(header), *lines]) + "\n")
    found = curves(tmp_path / "metrics.csv")
    assert found["resumes"] == [5000]
    assert found["columns"]["blinds"][3:7] == [7.8, None, None, 7.6]
    pytest.importorskip("matplotlib")
    from ante.watch.curves import read_curves

    drawn = read_curves(tmp_path)
    assert drawn.resumes == (5000,)
    assert np.nanmin(drawn.columns["blinds"][2:]) == 7.5
