"""The lineage of population-based training: ancestors against a computation by hand, and an image with every panel."""

import math
from pathlib import Path

import cv2

from ante.training.sweeps.ancestry import Track, ancestors, draw_lineage


def made() -> list[Track]:
    """Return three trials, three comparisons: 2 copies 0 after the first, 0 copies 2 after the second; 0 is best."""
    parents = {0: (0, 0, 2), 1: (1, 1, 1), 2: (2, 0, 2)}
    scores = {0: (5.0, 6.0, 9.0), 1: (-math.inf, 4.0, 5.0), 2: (1.0, 7.0, 8.0)}
    return [
        Track(
            m,
            [
                ((k + 1) * 1000, scores[m][k], parents[m][k], {"lr": 1e-3 * 4**k, "clip": 0.1 + m / 10})
                for k in range(3)
            ],
        )
        for m in range(3)
    ]


def test_the_best_ones_ancestors_are_whose_weights_it_holds() -> None:
    assert ancestors(made()) == {(0, 2), (2, 1), (0, 0)}


def test_the_picture_has_a_panel_for_scores_lineage_and_each_setting(tmp_path: Path) -> None:
    file = draw_lineage(made(), "blinds", tmp_path / "lineage.png")
    picture = cv2.imread(str(file))
    height, width = picture.shape[:2]
    for row in range(2):
        for column in range(2):
            part = picture[row * height // 2 : (row + 1) * height // 2, column * width // 2 : (column + 1) * width // 2]
            assert len({tuple(pixel) for pixel in part.reshape(-1, 3)[::7]}) > 10, (row, column)
