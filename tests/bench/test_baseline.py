"""Comparison with a baseline: regressions are reported, noise is not."""

from pathlib import Path

import pytest

from ante.bench.figures import Figure
from ante.bench.regression import BadBaseline, compare, read_baseline, regressions, save_baseline

BEFORE = [
    Figure("sampling", 1000.0, "steps/s", "more"),
    Figure("p50", 2.0, "ms", "less"),
    Figure("p99", 5.0, "ms"),
]


def now(sampling: float, p50: float, p99: float) -> list[Figure]:
    return [
        Figure(old.name, value, old.unit, old.better) for old, value in zip(BEFORE, (sampling, p50, p99), strict=True)
    ]


@pytest.mark.parametrize(
    ("figures", "worse"),
    [
        ((1000, 2.0, 5.0), []),
        ((5000, 0.1, 1.0), []),
        ((801, 2.49, 500.0), []),
        ((799, 2.0, 5.0), ["sampling is 799.000 steps/s, it was 1,000: 0.80 times as good, below 0.8"]),
        ((1000, 8.0, 5.0), ["p50 is 8.000 ms, it was 2.000: 0.25 times as good, below 0.8"]),
    ],
)
def test_only_what_is_judged_and_worse_is_a_regression(figures: tuple[float, ...], worse: list[str]) -> None:
    assert regressions(compare(now(*figures), BEFORE)) == worse


def test_the_tolerance_can_be_chosen() -> None:
    compared = compare(now(600, 2.0, 5.0), BEFORE)
    assert len(regressions(compared, 0.61)) == 1
    assert regressions(compared, 0.6) == []


def test_a_baseline_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    save_baseline(file, "a policy", BEFORE, {"cpu": "a processor"})
    assert read_baseline(file) == ("a policy", BEFORE, {"cpu": "a processor"})
    assert [each.name for each in tmp_path.iterdir()] == ["baseline.json"]


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"policy": "a", "machine": {}, "figures": [{"nome": 1}]}'])
def test_what_is_no_baseline_is_refused_with_the_way_to_get_one(tmp_path: Path, text: str) -> None:
    file = tmp_path / "b.json"
    file.write_text(text)
    with pytest.raises(BadBaseline, match=r"write one with ante doctor --save"):
        read_baseline(file)
    with pytest.raises(BadBaseline, match="the file does not exist"):
        read_baseline(tmp_path / "none.json")


@pytest.mark.parametrize("value", ["0", "-1.5", "NaN", "Infinity"])
def test_a_figure_that_nothing_can_be_compared_with_is_refused(tmp_path: Path, value: str) -> None:
    file = tmp_path / "b.json"
    figure = f'{{"name": "sampling", "value": {value}, "unit": "steps/s", "better": "more"}}'
    file.write_text(f'{{"policy": "a", "machine": {{}}, "figures": [{figure}]}}')
    with pytest.raises(BadBaseline, match=r"figures\.0\.value"):
        read_baseline(file)


def test_a_baseline_without_figures_is_no_silent_success(tmp_path: Path) -> None:
    file = tmp_path / "b.json"
    file.write_text('{"policy": "a", "machine": {}, "figures": []}')
    with pytest.raises(BadBaseline, match="figures"):
        read_baseline(file)


def test_a_figure_that_is_no_longer_measured_is_no_silent_success() -> None:
    with pytest.raises(BadBaseline, match="the baseline has p50, which was not measured now"):
        compare([BEFORE[0], BEFORE[2]], BEFORE)
    new = Figure("new", 1.0, "ms", "less")
    compared = compare([*BEFORE, new], BEFORE)
    assert (compared[-1].figure, compared[-1].before, compared[-1].ratio) == (new, None, None)
