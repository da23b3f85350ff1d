"""A stopped population continues from its members' verified checkpoints, in one process at a time."""

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
from ante.training.sweeps.saved import resume_points, saved_members
from ante.training.sweeps.space import Range, Space

SPACE = Space(search={"algo.lr": Range(low=1e-4, high=1e-2)}, population=2, steps=2000, every=500)


def save(place: Path, number: int, steps: int, trial: str = "a", changes: dict[str, Any] | None = None) -> Path:
    """Write a checkpoint of a member and return its folder."""
    folder = place / f"learn_{trial}_{number:05d}" / f"checkpoint_{steps:06d}" / "member"
    folder.mkdir(parents=True)
    (folder / "weights").write_text(f"{number} {steps} {trial}")
    facts = {
        "member": number,
        "steps": steps,
        "score": 1.5,
        "values": {"algo.lr": 0.001},
        "seed": number,
        "parent": number,
    }
    seal(folder, METADATA, {**facts, **(changes or {})})
    return folder.parent


def points(place: Path, together: bool = True) -> list[int] | None:
    """Return the steps from which each member continues."""
    found = resume_points(saved_members(place, SPACE), SPACE, together)
    return [each.steps for each in found] if found is not None else None


def test_a_population_continues_from_the_last_comparison_that_all_reached(tmp_path: Path) -> None:
    assert points(tmp_path) is None
    for number, steps in [(0, 500), (0, 1000), (0, 1500), (1, 500)]:
        save(tmp_path, number, steps)
    assert points(tmp_path) == [500, 500]
    save(tmp_path, 1, 1020)  # the last iteration before a comparison may play a few steps more
    assert points(tmp_path) == [1000, 1020]


def test_members_that_are_not_compared_continue_from_their_own_last_checkpoints(tmp_path: Path) -> None:
    for number, steps in [(0, 1500), (1, 500)]:
        save(tmp_path, number, steps)
    assert points(tmp_path, together=False) == [1500, 500]
    assert points(tmp_path) is None, "the first member has no checkpoint of the second's comparison"


def test_a_damaged_checkpoint_is_passed_over(tmp_path: Path) -> None:
    for number, steps in [(0, 500), (0, 1000), (1, 500), (1, 1000)]:
        last = save(tmp_path, number, steps)
    (last / "member" / "weights").write_text("1 1000 b")
    assert points(tmp_path) == [500, 500]


def test_links_are_not_followed(tmp_path: Path) -> None:
    for number in range(2):
        save(tmp_path / "inside", number, 500)
    elsewhere = save(tmp_path / "outside", 1, 1000)
    (tmp_path / "inside" / "learn_b_00001").symlink_to(elsewhere.parent)
    assert [each.steps for each in saved_members(tmp_path / "inside", SPACE)] == [500, 500]


def test_the_newest_of_equal_checkpoints_is_taken(tmp_path: Path) -> None:
    save(tmp_path, 1, 500)
    save(tmp_path, 0, 500, "b")
    newest = save(tmp_path, 0, 500, "a")
    found = resume_points(saved_members(tmp_path, SPACE), SPACE, True)
    assert found is not None and found[0].folder == newest


@pytest.mark.parametrize(
    "change",
    [{"member": 2}, {"member": -1}, {"member": True}, {"parent": 9}, {"steps": "500"}, {"score": math.nan}, {"score": None},
     {"values": {"algo.lr": 1.0}}, {"values": {"algo.lr": math.nan}}, {"values": {"algo.clip": 0.001}}, {"values": None},
     {"values": {"algo.lr": "0.001"}}, {"seed": 1.5}],
)  # fmt: skip
def test_a_sealed_checkpoint_with_foreign_values_is_a_sentence(change: dict[str, Any], tmp_path: Path) -> None:
    save(tmp_path, 0, 500, changes=change)
    with pytest.raises(BadCheckpoint, match="is not of this population"):
        saved_members(tmp_path, SPACE)
    shutil.rmtree(tmp_path)
    save(tmp_path, 0, 500)
    assert len(saved_members(tmp_path, SPACE)) == 1


@pytest.mark.parametrize("line", ["[1]", "{}", '{"member": 0, "steps": "x"}', "nonsense", "[" * 100_000])
def test_a_damaged_file_of_points_is_a_sentence(line: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from ante.training.sweeps.population import points_of

    (tmp_path / "points.jsonl").write_text(line + "\n")
    with pytest.raises(Unreadable, match=r"cannot read .*points.jsonl"):
        points_of(tmp_path / "points.jsonl", 0)


HOLD = """
import sys
from pathlib import Path
from ante.training.run_store.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_training_of_a_population_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from ante.training.sweeps.population import train_population

    space = Space(name="one", runs=str(tmp_path), search={"algo.lr": Range(low=1e-4, high=1e-2)})
    command = [sys.executable, "-c", HOLD, str(space.folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout and first.stdout.readline() == "held\n"
        with pytest.raises(RunInUse, match=rf"population .*one is being trained by process {first.pid} .*change name"):
            train_population(space, False, lambda total, about: nullcontext(lambda steps: None))
        first.communicate()
    assert [file.name for file in space.folder.iterdir()] == [".lock"]
