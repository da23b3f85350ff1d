"""The results of a sweep: the order of trials, the best one, the preset file and the plot."""

import json
from pathlib import Path
from typing import Any

import cv2
import pytest

pytest.importorskip("torch")

from ante.training.presets.lookup import settings_file
from ante.training.settings.config import read_config
from ante.training.sweeps.coordinates import draw_coordinates
from ante.training.sweeps.results import SweepResult, TrialResult, Unfinished, preset, tracks
from ante.training.sweeps.saved import DIVERGED, Point
from ante.training.sweeps.space import Choice, Range
from ante.training.sweeps.spec import Sweep

SEARCH: dict[str, Any] = {
    "algo.lr": Range(low=1e-4, high=1e-2, log=True),
    "algo.epochs": Range(low=1, high=4),
    "policy.hidden": Choice(choices=[[16], [32, 32]]),
}
SWEEP = Sweep(name="three", settings={"policy.kind": "mlp"}, search=SEARCH, trials=5, steps=2000, every=500)


def trial(number: int, steps: int, score: float, ended: bool = True, error: str = "") -> TrialResult:
    """Return a trial with an earlier evaluation and this one."""
    values = {"algo.lr": 1e-3 * (number + 1), "algo.epochs": 1.6, "policy.hidden": [32, 32]}
    points = tuple(
        Point(trial=number, steps=at, score=of, values=values, parent=number, ended=ended and at == steps)
        for at, of in ((400, 9.0), (steps, score))
    )
    return TrialResult(number, points, error)


FOUND = SweepResult(
    SWEEP,
    (
        trial(0, 2010, 3.0),
        trial(1, 1000, 8.0),
        trial(2, 2000, 4.0),
        trial(3, 1500, DIVERGED),
        trial(4, 2000, 5.0, error="ValueError: no"),
    ),
)


def test_the_best_trial_has_the_best_last_score_of_those_that_finished() -> None:
    assert FOUND.best.number == 2
    assert [each.number for each in FOUND.ranked()] == [2, 0, 3, 1, 4]
    assert [each.state(2000) for each in FOUND.trials] == [
        "finished",
        "stopped early",
        "finished",
        "diverged",
        "failed",
    ]
    data = json.loads(FOUND.to_json())
    assert data["best"] == 2 and data["trials"][0]["points"][1]["score"] == 4.0
    assert data["trials"][4]["error"] == "ValueError: no"


def test_a_sweep_without_a_finished_trial_says_so() -> None:
    with pytest.raises(Unfinished, match="no trial of runs/three reached 2,000 steps"):
        _ = SweepResult(SWEEP, FOUND.trials[1:2]).best


def test_the_preset_is_accepted_as_one(tmp_path: Path) -> None:
    file = tmp_path / "best.yaml"
    file.write_text(preset(SWEEP, FOUND.best))
    config = read_config(settings_file(str(file)))
    assert (config.algo.lr, config.algo.epochs, config.policy.hidden) == (pytest.approx(3e-3), 2, (32, 32))
    assert (config.name, config.steps, config.policy.kind) == ("three-best", 2000, "mlp")
    assert file.read_text().startswith("# trial 2 of 5 of sweep three (asha)\n# reaches: blinds 4 in validation games")


def test_ante_train_accepts_a_preset_file(tmp_path: Path) -> None:
    from ante.cli.learn.train import chosen_early, defaults, origin

    file = tmp_path / "best.yaml"
    file.write_text(preset(SWEEP, FOUND.best))
    chosen = chosen_early(["--preset", str(file)])
    base, before = defaults(chosen, False)
    assert (base.name, before, origin(chosen, None)) == ("three-best", None, "")


def test_the_plot_has_a_line_for_each_trial_in_the_colour_of_its_score(tmp_path: Path) -> None:
    few = cv2.imread(str(draw_coordinates(SWEEP, FOUND.trials[:1], tmp_path / "few.png")))
    all_of = cv2.imread(str(draw_coordinates(SWEEP, FOUND.trials[:3], tmp_path / "all.png")))
    none = cv2.imread(str(draw_coordinates(SWEEP, FOUND.trials[3:4], tmp_path / "none.png")))
    parts = [
        picture[40:-40, : int(picture.shape[1] * 0.75)].reshape(-1, 3).astype(int) for picture in (none, few, all_of)
    ]
    coloured = [(part.max(axis=1) - part.min(axis=1) > 60).sum() for part in parts]
    assert coloured[0] == 0 < coloured[1] < coloured[2]


def test_a_choice_that_is_no_number_is_drawn_by_its_place() -> None:
    assert tracks(SWEEP, FOUND.trials)[2].points[1][3] == {"algo.lr": 3e-3, "algo.epochs": 1.6, "policy.hidden": 1.0}
