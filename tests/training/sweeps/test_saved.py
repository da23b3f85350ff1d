"""A stopped sweep continues from its record and its trials' verified checkpoints, in one process at a time."""

import json
import math
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from ante.files import Unreadable
from ante.training.run_store.checkpoints import METADATA
from ante.training.run_store.lock import RunInUse
from ante.training.run_store.manifest import BadCheckpoint, seal
from ante.training.sweeps.saved import Point, Record, last_common, newest, saved_trials
from ante.training.sweeps.space import Range
from ante.training.sweeps.spec import Asha, Sweep


def sweep_in(folder: Path, **changes: Any) -> Sweep:
    """Return a sweep of two trials in this folder."""
    search = {"algo.lr": Range(low=1e-4, high=1e-2)}
    return Sweep(name="small", runs=str(folder), search=search, trials=2, steps=2000, every=500, **changes)


def save(folder: Path, number: int, steps: int, tune_id: str = "a", changes: dict[str, Any] | None = None) -> Path:
    """Write a checkpoint of a trial and return its folder."""
    trial = folder / "small" / "tune" / f"run_{tune_id}_{number:05d}" / f"checkpoint_{steps:06d}" / "trial"
    trial.mkdir(parents=True)
    (trial / "weights").write_text(f"{number} {steps} {tune_id}")
    facts = {"trial": number, "steps": steps, "score": 1.5, "values": {"algo.lr": 0.001}, "seed": number, "parent": 0}
    seal(trial, METADATA, {**facts, **(changes or {})})
    return trial.parent


def common(folder: Path) -> list[int]:
    """Return the steps from which each trial of a population continues."""
    found = last_common(saved_trials(sweep_in(folder)), sweep_in(folder))
    return [found[number].point.steps for number in sorted(found)]


def test_a_population_continues_from_the_last_evaluation_that_all_reached(tmp_path: Path) -> None:
    assert common(tmp_path) == []
    for number, steps in [(0, 500), (0, 1000), (0, 1500), (1, 500)]:
        save(tmp_path, number, steps)
    assert common(tmp_path) == [500, 500]
    save(tmp_path, 1, 1020)  # the last iteration before an evaluation may play a few steps more
    assert common(tmp_path) == [1000, 1020]


def test_other_trials_continue_from_their_own_last_checkpoints(tmp_path: Path) -> None:
    for number, steps in [(0, 500), (0, 1500), (1, 500)]:
        save(tmp_path, number, steps)
    found = newest(saved_trials(sweep_in(tmp_path)))
    assert {number: each.point.steps for number, each in found.items()} == {0: 1500, 1: 500}
    shutil.rmtree(found[0].folder)
    save(tmp_path, 1, 2000)
    assert common(tmp_path) == [500, 500]


def test_a_damaged_checkpoint_is_passed_over(tmp_path: Path) -> None:
    for number, steps in [(0, 500), (0, 1000), (1, 500), (1, 1000)]:
        last = save(tmp_path, number, steps)
    (last / "trial" / "weights").write_text("1 1000 b")
    assert common(tmp_path) == [500, 500]


def test_links_are_not_followed(tmp_path: Path) -> None:
    for number in range(2):
        save(tmp_path / "inside", number, 500)
    elsewhere = save(tmp_path / "outside", 1, 1000)
    (tmp_path / "inside" / "small" / "tune" / "run_b_00001").symlink_to(elsewhere.parent)
    assert [each.point.steps for each in saved_trials(sweep_in(tmp_path / "inside"))] == [500, 500]


def test_the_newest_of_equal_checkpoints_is_taken(tmp_path: Path) -> None:
    save(tmp_path, 1, 500)
    save(tmp_path, 0, 500, "b")
    last = save(tmp_path, 0, 500, "a")
    saved = saved_trials(sweep_in(tmp_path))
    assert newest(saved)[0].folder == last == last_common(saved, sweep_in(tmp_path))[0].folder


@pytest.mark.parametrize(
    "change",
    [{"trial": 2}, {"trial": -1}, {"trial": True}, {"parent": 9}, {"steps": "500"}, {"score": math.nan}, {"score": None},
     {"values": {"algo.lr": 1.0}}, {"values": {"algo.lr": math.nan}}, {"values": {"algo.clip": 0.001}}, {"values": None},
     {"values": {"algo.lr": "0.001"}}, {"values": {"algo.lr": [1]}}, {"seed": 1.5}],
)  # fmt: skip
def test_a_sealed_checkpoint_with_foreign_values_is_a_sentence(change: dict[str, Any], tmp_path: Path) -> None:
    save(tmp_path, 0, 500, changes=change)
    with pytest.raises(BadCheckpoint, match="is not of this sweep"):
        saved_trials(sweep_in(tmp_path))
    shutil.rmtree(tmp_path)
    save(tmp_path, 0, 500)
    assert len(saved_trials(sweep_in(tmp_path))) == 1


def point(trial: int, steps: int, score: float = 1.0, ended: bool = False) -> Point:
    return Point(trial=trial, steps=steps, score=score, values={"algo.lr": 0.001}, parent=trial, ended=ended)


def recorded(folder: Path, *points: Point) -> Record:
    """Return the record of a sweep with these evaluations."""
    sweep = sweep_in(folder, method=Asha())
    sweep.folder.mkdir(parents=True)
    record = Record(sweep)
    for each in points:
        record.add(each)
    return record


def test_the_record_is_read_back_and_a_partial_line_is_ignored(tmp_path: Path) -> None:
    record = recorded(tmp_path, point(0, 500), point(1, 500), point(0, 1000), point(0, 1000, 2.0))
    with record.file.open("a") as stream:
        stream.write('{"trial": 0, "steps": 15')
    assert record.points() == {0: [point(0, 500), point(0, 1000, 2.0)], 1: [point(1, 500)]}


@pytest.mark.parametrize(
    "line",
    ["[1]", "{}", '{"trial": 0, "steps": "x"}', "nonsense", "[" * 100_000, json.dumps(point(7, 500).model_dump())],
)
def test_a_damaged_record_is_a_sentence(line: str, tmp_path: Path) -> None:
    record = recorded(tmp_path)
    record.file.write_text(line + "\n")
    with pytest.raises(Unreadable, match=r"cannot read .*trials.jsonl"):
        record.points()


def test_a_plan_starts_what_has_not_ended_and_forgets_what_came_after_the_checkpoints(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from ante.training.sweeps.tuning import planned

    record = recorded(tmp_path, point(0, 500), point(1, 500, ended=True), point(0, 1000), point(0, 1500))
    for steps in (500, 1000):
        save(tmp_path, 0, steps)
    plan = planned(record.sweep, record)
    assert plan.numbers == [0] and plan.kept[0].point.steps == 1000
    assert [each.steps for each in plan.before[0]] == [500, 1000] and plan.before[1][-1].ended
    assert [each.point.steps for each in saved_trials(record.sweep)] == [1000], "others are deleted"
    assert planned(record.sweep, record) == plan


def test_a_finished_trial_without_its_checkpoint_is_trained_again(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from ante.training.sweeps.tuning import planned

    record = recorded(tmp_path, point(0, 500), point(0, 2000, ended=True), point(1, 500), point(1, 2000, ended=True))
    save(tmp_path, 0, 2000)
    plan = planned(record.sweep, record)
    assert plan.numbers == [1] and plan.before[1] == [] and len(plan.before[0]) == 2


def test_a_sweep_does_not_continue_with_other_settings(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from ante.training.settings.config import BadConfig
    from ante.training.sweeps.tuning import keep_spec

    sweep = sweep_in(tmp_path)
    keep_spec(sweep, Record(sweep))
    keep_spec(sweep, Record(sweep))
    other = sweep.model_copy(update={"steps": 7})
    with pytest.raises(BadConfig, match="contains a sweep with other settings"):
        keep_spec(other, Record(other))


HOLD = """
import sys
from pathlib import Path
from ante.training.run_store.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from ante.training.sweeps.tuning import run_sweep

    sweep = sweep_in(tmp_path)
    command = [sys.executable, "-c", HOLD, str(sweep.folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout and first.stdout.readline() == "held\n"
        with pytest.raises(RunInUse, match=rf"sweep .*small is being trained by process {first.pid} .*change name"):
            run_sweep(sweep, lambda _: nullcontext(lambda point: None), lambda _: None)
        first.communicate()
    assert [file.name for file in sweep.folder.iterdir()] == [".lock"]
