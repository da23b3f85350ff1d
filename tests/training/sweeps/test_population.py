"""A small population on a real Ray: members copy weights and settings of the best, and a stopped one continues."""

import json
import os
import pickle
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.tiny import TINY

pytest.importorskip("torch")

pytestmark = [
    pytest.mark.ray,
    pytest.mark.usefixtures("local_ray"),
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled"),
]


@contextmanager
def quiet(total: int, about: str):
    yield lambda steps: None


@pytest.mark.nightly
def test_the_worst_continue_from_the_best_and_the_result_is_a_run(tmp_path: Path) -> None:
    from ante.training.players.release import player_from
    from ante.training.sweeps.population import train_population
    from ante.training.sweeps.space import FACTORS, Range, Space

    space = Space(
        name="small",
        runs=str(tmp_path),
        settings=TINY,
        search={"algo.lr": Range(low=1e-4, high=1e-2, log=True)},
        population=2,
        steps=1024,
        every=512,
        quantile=0.5,
        resample=0.0,
        eval_games=4,
    )
    outcome = train_population(space, False, quiet)
    assert [[point.steps for point in member.points] for member in outcome.members] == [[512, 1024]] * 2
    taken = [
        (member.number, point.parent, k)
        for member in outcome.members
        for k, point in enumerate(member.points)
        if point.parent != member.number
    ]
    assert len(taken) == 1, "one of two members is worse in one comparison"
    lrs = [[point.values["algo.lr"] for point in member.points] for member in outcome.members]
    for number, parent, k in taken:
        moved = lrs[number][k] / lrs[parent][k - 1]
        assert any(moved == pytest.approx(factor) for factor in FACTORS) or lrs[number][k] in (1e-4, 1e-2)
        scores = [member.points[k - 1].score for member in outcome.members]
        assert scores[parent] == max(scores) and scores[number] == min(scores)
    assert [lr[0] for lr in lrs] == [start["algo.lr"] for start in space.starts()]

    data = json.loads((space.folder / "population.json").read_text())
    assert data["best"] == outcome.best.number and data["control"] == []
    assert (space.folder / "lineage.png").stat().st_size > 10_000
    assert player_from(space.folder / "best").name == "best"

    again = train_population(space, False, quiet)
    assert [member.points for member in again.members] == [member.points for member in outcome.members]

    executed = plant_pickles(space.folder / "tune")
    for member in again.members[:1]:
        shutil.rmtree(member.checkpoint)  # as if the population had been stopped in between
    resumed = train_population(space, False, quiet)
    assert not executed.exists(), "a pickle in the folder was loaded"
    assert [[point.steps for point in member.points] for member in resumed.members] == [[512, 1024]] * 2
    assert [member.points[0] for member in resumed.members] == [member.points[0] for member in outcome.members]
    parents = [member.points[1].parent for member in resumed.members]
    assert len(set(parents)) == 1, "the first comparison is repeated, and both continue from its best"


class Trap:
    """Creates a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.file,)


def plant_pickles(place: Path) -> Path:
    """Replace all of Tune's state by pickles that create a file; return that file."""
    executed, files = place / "executed", [file for file in place.rglob("*") if file.suffix == ".pkl"]
    states = list(place.rglob("experiment_state-*.json"))
    assert {file.name for file in files} >= {"tuner.pkl", "params.pkl"} and states
    trap = pickle.dumps(Trap(executed))
    for file in files:
        file.write_bytes(trap)
    for folder in {file.parent for file in files}:
        (folder / "error.pkl").write_bytes(trap)
    for file in states:
        file.write_text(json.dumps({"_type": "CLOUDPICKLE_FALLBACK", "value": trap.hex()}))
    pickle.loads(trap)
    assert executed.exists(), "the trap works"
    executed.unlink()
    return executed


def test_reported_points_are_read_back_once_and_a_partial_line_is_ignored(tmp_path: Path) -> None:
    from ante.training.sweeps.population import Point, points_of

    lines = [
        {"member": member, "steps": steps, "score": score, "values": {"algo.lr": 0.1}, "parent": parent}
        for member, steps, score, parent in [(0, 512, 1.0, 0), (1, 512, 2.0, 1), (0, 1024, 3.0, 1), (0, 1024, 4.0, 1)]
    ]
    file = tmp_path / "points.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"member": 0, "steps": 15')
    assert points_of(file, 0) == (Point(512, 1.0, {"algo.lr": 0.1}, 0), Point(1024, 4.0, {"algo.lr": 0.1}, 1))
    assert points_of(file, 1) == (Point(512, 2.0, {"algo.lr": 0.1}, 1),)


def test_a_population_does_not_continue_with_other_settings(tmp_path: Path) -> None:
    from ante.training.settings.config import BadConfig
    from ante.training.sweeps.population import keep_space
    from ante.training.sweeps.space import Range, Space

    space = Space(name="one", runs=str(tmp_path), search={"algo.lr": Range(low=1e-4, high=1e-2)})
    keep_space(space)
    keep_space(space)
    with pytest.raises(BadConfig, match="contains a population with other settings"):
        keep_space(space.model_copy(update={"steps": 7}))
