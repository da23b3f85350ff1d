"""Checkpoints are complete or absent."""

import errno
import hashlib
import json
from pathlib import Path

import pytest

from ante.files import write_text
from ante.training.run_store.checkpoints import KEPT, BadCheckpoint, CannotSave, find_checkpoint, save_checkpoint
from ante.training.run_store.lock import RunGone

FACTS = {"timesteps": 1}


def weights(size: int = 100):
    def write(folder: Path) -> None:
        (folder / "deep").mkdir()
        (folder / "deep" / "weights.bin").write_bytes(bytes(size))

    return write


def test_a_saved_checkpoint_is_found_with_its_metadata(tmp_path: Path) -> None:
    target = save_checkpoint(tmp_path, 1000, weights(), {**FACTS, "reward": 1.5}, best=True)
    for pointer in ("latest", "best"):
        found, metadata = find_checkpoint(tmp_path, pointer)
        assert found == target
        assert metadata["reward"] == 1.5
        assert metadata["files"] == {
            "deep/weights.bin": {"bytes": 100, "sha256": hashlib.sha256(bytes(100)).hexdigest()}
        }


def test_the_best_one_outlives_newer_ones(tmp_path: Path) -> None:
    best = save_checkpoint(tmp_path, 1, weights(), FACTS, best=True)
    for step in range(2, 9):
        save_checkpoint(tmp_path, step, weights(), FACTS, best=False)
    assert find_checkpoint(tmp_path, "best")[0] == best
    assert find_checkpoint(tmp_path)[0].name.endswith("8")
    assert len([path for path in tmp_path.iterdir() if path.is_dir()]) == KEPT + 1


@pytest.mark.parametrize("harm", ["truncate", "remove", "metadata", "folder"])
def test_a_damaged_checkpoint_is_refused_with_a_message(tmp_path: Path, harm: str) -> None:
    target = save_checkpoint(tmp_path, 5, weights(), FACTS, best=True)
    if harm == "truncate":
        (target / "deep" / "weights.bin").write_bytes(bytes(40))
    elif harm == "remove":
        (target / "deep" / "weights.bin").unlink()
    elif harm == "metadata":
        (target / "metadata.json").write_text("{")
    else:
        target.rename(tmp_path / "elsewhere")
    with pytest.raises(
        BadCheckpoint, match=r"is damaged: .*(weights.bin should have 100|weights.bin is missing|metadata.json)"
    ):
        find_checkpoint(tmp_path)


def test_a_full_disk_leaves_the_older_checkpoint_and_no_partial_one(tmp_path: Path) -> None:
    old = save_checkpoint(tmp_path, 1, weights(), FACTS, best=True)
    before = sorted(path.name for path in tmp_path.iterdir())

    def full(folder: Path) -> None:
        (folder / "part.bin").write_bytes(bytes(10))
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(
        CannotSave,
        match="No space left on device; free disk space; then continue the run with --resume",
    ):
        save_checkpoint(tmp_path, 2, full, FACTS, best=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert find_checkpoint(tmp_path)[0] == old


def test_a_folder_replaced_during_the_write_gets_no_checkpoint(tmp_path: Path) -> None:
    def gone() -> None:
        raise RunGone("moved")

    save_checkpoint(tmp_path, 1, weights(), FACTS, best=True)
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(RunGone):
        save_checkpoint(tmp_path, 2, weights(), FACTS, best=True, check=gone)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    with pytest.raises(CannotSave, match=r"No such file or directory.*; then"):
        save_checkpoint(tmp_path / "gone" / "checkpoints", 2, weights(), FACTS, best=True)
    assert not (tmp_path / "gone").exists()


def test_saving_the_same_step_again_never_touches_the_one_before(tmp_path: Path) -> None:
    first = save_checkpoint(tmp_path, 1, weights(10), FACTS, best=True)

    def killed(folder: Path) -> None:
        (folder / "part.bin").write_bytes(bytes(10))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        save_checkpoint(tmp_path, 1, killed, FACTS, best=True)
    assert find_checkpoint(tmp_path)[0] == first
    found = [save_checkpoint(tmp_path, 1, weights(20 + i), FACTS, best=False) for i in range(KEPT + 2)]
    target, metadata = find_checkpoint(tmp_path)
    assert target == found[-1]
    assert metadata["files"]["deep/weights.bin"]["bytes"] == 20 + KEPT + 1
    assert find_checkpoint(tmp_path, "best")[0] == first
    assert sorted(path for path in tmp_path.iterdir() if path.is_dir()) == [first, *found[-KEPT:]]


def test_text_is_replaced_whole(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    write_text(file, json.dumps(1))
    write_text(file, json.dumps(2))
    assert file.read_text() == "2"
    assert list(tmp_path.iterdir()) == [file]
