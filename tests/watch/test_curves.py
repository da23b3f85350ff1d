"""Learning curves: metrics are read exactly and shown in the image."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
cv2 = pytest.importorskip("cv2")

from ante.watch.curves import NoCurves, draw_curves, read_curves, smooth  # noqa: E402

HEADER = "iteration,steps,seconds,blinds,ante,win_rate,entropy"


def run(folder: Path, rows: list[str]) -> Path:
    folder.mkdir()
    (folder / "metrics.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    return folder


def test_columns_are_read_and_a_missing_number_is_none(tmp_path: Path) -> None:
    curves = read_curves(run(tmp_path / "one", ["1,100,5,nan,1.5,0,2", "2,200,10,3.5,2.5,0.25,1", "3,300"]))
    assert curves.name == "one"
    assert curves.columns["steps"].tolist() == [100, 200]
    assert np.isnan(curves.columns["blinds"][0])
    assert curves.columns["win_rate"].tolist() == [0, 0.25]


@pytest.mark.parametrize("rows", [[], None])
def test_a_run_without_metrics_is_named(tmp_path: Path, rows: list[str] | None) -> None:
    folder = tmp_path / "none" if rows is None else run(tmp_path / "none", rows)
    with pytest.raises(NoCurves, match="none"):
        read_curves(folder)


def test_smoothing_is_the_mean_of_the_neighbours() -> None:
    values = np.random.default_rng(1).random(400)
    values[[5, 100]] = np.nan
    wanted = [np.nanmean(values[max(0, i - 5) : i + 6]) for i in range(400)]
    assert smooth(values) == pytest.approx(wanted)


def test_the_picture_holds_a_line_for_each_run(tmp_path: Path) -> None:
    """The first two default colours occur in the image, and no partial file is left."""
    runs = [
        run(
            tmp_path / name,
            [f"{i},{i * 1e5:.0f},{i * 10},{i * rise},{1 + i / 10},{i / 100},{2 - i / 50}" for i in range(1, 60)],
        )
        for name, rise in (("one", 0.1), ("two", 0.2))
    ]
    file = draw_curves([read_curves(each) for each in runs], tmp_path / "curves.png", "Two runs", {"greedy": 8.7})
    pixels = cv2.imread(str(file))[:, :, ::-1].reshape(-1, 3).astype(int)
    for color in ((0x1F, 0x77, 0xB4), (0xFF, 0x7F, 0x0E)):
        assert (np.abs(pixels - color).max(axis=1) < 12).sum() > 500
    assert {each.name for each in tmp_path.iterdir()} == {"one", "two", "curves.png"}
