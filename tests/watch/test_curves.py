"""Learning curves: metrics are read exactly and shown in the image."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")
cv2 = pytest.importorskip("cv2")

from matplotlib.figure import Figure  # noqa: E402

from ante.training.settings.config import make_config  # noqa: E402
from ante.watch.curves import NoCurves, draw_curves, draw_lines, draw_panel, read_curves, smooth  # noqa: E402
from ante.watch.published import PLAYERS  # noqa: E402

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
    file = draw_curves([read_curves(each) for each in runs], tmp_path / "curves.png", "Two runs")
    pixels = cv2.imread(str(file))[:, :, ::-1].reshape(-1, 3).astype(int)
    for color in ((0x1F, 0x77, 0xB4), (0xFF, 0x7F, 0x0E)):
        assert (np.abs(pixels - color).max(axis=1) < 12).sum() > 500
    assert {each.name for each in tmp_path.iterdir()} == {"one", "two", "curves.png"}


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({}, True),
        ({"seed": 3, "games.reward": "blinds"}, True),
        ({"games.deck": "b_blue"}, False),
        ({"games.stake": 2}, False),
        ({"games.max_decisions": 500}, False),
        ({"games.challenge": "c_omelette_1"}, False),
        ({"games.curriculum": [{"goal": 2, "promote": 0.5}]}, False),
    ],
)
def test_other_players_are_drawn_only_for_their_game(tmp_path: Path, changes: dict[str, Any], same: bool) -> None:
    folder = run(tmp_path / "one", [f"{i},{i},{i},{i / 10},1,0,2" for i in range(1, 60)])
    (folder / "config.yaml").write_text(make_config(changes).to_yaml())
    lines = read_curves(folder).lines
    assert set(lines) == ({"blinds", "ante", "win_rate"} if same else set())
    figure = Figure()
    axes = figure.add_subplot()
    draw_panel(axes, [read_curves(folder)], "blinds", "blinds")
    draw_lines(axes, lines.get("blinds", {}), 1.0)
    labels = [text.get_text() for text in axes.texts]
    assert labels == (["random", "greedy"] if same else []), "those below the curve, and the next one above"
    assert (axes.get_ylim()[1] > PLAYERS["greedy"]["blinds"]) == same


def test_the_lines_are_the_figures_of_the_model_card() -> None:
    text = (Path(__file__).parents[2] / "models" / "white-stake" / "README.md").read_text()
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| `")
    ]
    found = {}
    for player, wins, ante, blinds, _ in rows:
        name = player.split("`")[1].removeprefix("models/")
        if "most likely" not in player:
            share = round(float(wins.split(" %")[0]) / 100, 6)
            found[name] = {"blinds": float(blinds.split()[0]), "ante": float(ante.split()[0]), "win_rate": share}
    assert found == PLAYERS
