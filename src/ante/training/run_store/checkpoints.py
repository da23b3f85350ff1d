"""Checkpoints of a run: written to a temporary folder, then renamed; `latest.json` and `best.json` point to them.

A pointer also contains the seal of the manifest, so that a replaced checkpoint is rejected.
"""

import errno
import json
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from ante.errors import BalatroError, first_fault
from ante.files import BadPath, Unreadable, check_name, inside, read_bytes, read_object, write_text
from ante.training.run_store.manifest import FILES, SEAL, BadCheckpoint, read_manifest, seal, verify_files
from ante.watch.runs import EVALUATION

KEPT = 3  # newest checkpoints to keep in addition to the best one
METADATA = "metadata.json"  # the manifest of a checkpoint
NAME = re.compile(r"\d{12}(-\d+)?")  # names of checkpoints
POINTER_BYTES = 1 << 20  # maximum size of a pointer file
RESUME = "then continue the run with --resume"
SPACE, PERMISSION = f"free disk space; {RESUME}", f"make the folder writable; {RESUME}"
REMEDIES = {
    errno.ENOSPC: SPACE,
    errno.EDQUOT: SPACE,
    errno.EROFS: PERMISSION,
    errno.EACCES: PERMISSION,
    errno.EPERM: PERMISSION,
    errno.EFBIG: f"raise the limit on file sizes (ulimit -f); {RESUME}",
}
LEFT = re.compile(r"\.\d+(-\d+)?\..+")  # incomplete folders of killed runs


Count = Annotated[int, Field(ge=0, le=10**15)]
Size = Annotated[int, Field(ge=0, le=10**9)]  # 0 for algorithms that have none


class Facts(BaseModel):
    """What a manifest may state about the training of its policy; other entries are not checked.

    timesteps, games, seconds, iteration  of the training
    minibatch, games_per_runner           in use; `configured_games` as configured
    """

    model_config = ConfigDict(strict=True)

    timesteps: Count
    games: Count = 0
    seconds: Annotated[FiniteFloat, Field(ge=0.0, le=1e12)] = 0.0
    iteration: Count = 0
    minibatch: Size = 0
    games_per_runner: Size = 0
    configured_games: Size = 0
    best_reward: float = 0.0
    best_trial: float = 0.0
    memory_gb: float | None = None
    stage: Annotated[int, Field(ge=1, le=10**6)] = 1
    precision: str = ""


class CannotSave(BalatroError, OSError):
    """A checkpoint or a run's metrics cannot be written: the disk is full or read-only, or the folder is gone."""


def cannot_save(what: object, error: OSError) -> CannotSave:
    """Return the error for a file or folder that cannot be written, with the remedy."""
    return CannotSave(f"cannot write {what}: {error.strerror or error}; {REMEDIES.get(error.errno or 0, RESUME)}")


def save_checkpoint(
    folder: Path,
    step: int,
    write: Callable[[Path], None],
    metadata: dict[str, Any],
    best: bool,
    kept: int = KEPT,
    check: Callable[[], None] = lambda: None,
) -> Path:
    """Save a new checkpoint under `folder`, and update `latest.json` (and `best.json`).

    write  fills an empty folder. Raises CannotSave if a file cannot be written; a partial checkpoint is removed.
    kept   newest checkpoints to keep in addition to the best one; 0 keeps all
    check  raises if the folder is no longer the run's; called once the files are written, before they are renamed
    """
    target = free_name(folder, f"{step:012d}")
    aside = folder / f".{target.name}.part"
    shutil.rmtree(aside, ignore_errors=True)
    try:
        folder.mkdir(exist_ok=True)  # without its parents: a run's folder that is gone is not created again
        aside.mkdir()
        write(aside)
        for file in aside.rglob("*"):
            if file.is_file():
                flush(file)
        written = seal(aside, METADATA, metadata)
        check()
        aside.rename(target)
        for pointer in ("latest", "best") if best else ("latest",):
            point(folder, pointer, target.name, written)
    except OSError as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise cannot_save(f"checkpoint {target}", error) from error
    except Exception:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    with suppress(OSError):  # what cannot be deleted now is deleted after a later checkpoint
        drop_old(folder, kept)
    return target


def point(folder: Path, pointer: str, name: str, metadata: dict[str, Any]) -> None:
    """Make `latest.json` or `best.json` under `folder` name this checkpoint. `metadata` is from its manifest."""
    facts = {key: value for key, value in metadata.items() if key != FILES}
    write_text(folder / f"{pointer}.json", json.dumps({**facts, "checkpoint": name}))


def free_name(folder: Path, name: str) -> Path:
    """Return an unused name that sorts after others of the same step, so that no checkpoint is overwritten."""
    taken = sorted(path.name for path in folder.glob(f"{name}*"))
    if not taken:
        return folder / name
    return folder / f"{name}-{int(taken[-1].partition('-')[2] or 0) + 1:03d}"


def flush(file: Path) -> None:
    """Flush the file to disk, so that a pointer never names data lost in a power failure."""
    with file.open("rb") as stream:
        os.fsync(stream.fileno())


def drop_old(folder: Path, kept: int) -> None:
    """Delete all but the newest checkpoints and the best one, and partial checkpoints of killed runs.

    Deletes nothing while a pointer cannot be read, and only files with a checkpoint's name.
    """
    try:
        named = {pointed_at(folder, pointer) for pointer in ("latest", "best")}
    except BadCheckpoint:
        return
    for half in folder.glob(".*"):
        if LEFT.fullmatch(half.name):
            shutil.rmtree(half) if half.is_dir() and not half.is_symlink() else half.unlink()
    for old in sorted(each for each in folder.iterdir() if is_checkpoint(each))[:-kept] if kept else ():
        if old.name not in named:
            shutil.rmtree(old)


def is_checkpoint(path: Path) -> bool:
    """Return whether the path is a folder with a checkpoint's name."""
    return bool(NAME.fullmatch(path.name)) and path.is_dir() and not path.is_symlink()


def checkpoints_of(folder: Path) -> list[str]:
    """Return the names of all checkpoints under `folder`, oldest first."""
    return sorted(path.parent.name for path in folder.glob(f"[!.]*/{METADATA}") if is_checkpoint(path.parent))


def point_best(folder: Path, name: str) -> None:
    """Make `best.json` name this checkpoint. Raises BadCheckpoint if it is missing or incomplete."""
    target, metadata = find_checkpoint(folder, name)
    point(folder, "best", target.name, metadata)


def pointed_at(folder: Path, pointer: str) -> str | None:
    """Return the name of the checkpoint in a pointer, or None without that pointer. Raises BadCheckpoint."""
    found = read_pointer(folder, pointer)
    return found[0] if found else None


def read_pointer(folder: Path, pointer: str) -> tuple[str, str] | None:
    """Return name and seal of the checkpoint in a pointer, or None without that pointer. Raises BadCheckpoint."""
    try:
        file = inside(folder, f"{pointer}.json")
        if not file.exists():
            return None
        found = json.loads(read_bytes(file, POINTER_BYTES))
        return check_name(found["checkpoint"]), str(found[SEAL])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadCheckpoint(
            f"pointer {pointer} of {folder} cannot be read ({type(error).__name__}: {error}): use another checkpoint"
        ) from None


def find_checkpoint(folder: Path, pointer: str = "latest") -> tuple[Path, dict[str, Any]]:
    """Return a verified checkpoint and its metadata. Reads every file. Raises BadCheckpoint, naming the invalid file.

    pointer  latest, best, or the name of a checkpoint
    """
    try:
        if inside(folder, check_name(pointer)).is_dir():
            return folder / pointer, with_facts(folder / pointer, read_metadata(folder / pointer))
        found = read_pointer(folder, pointer)
        if found is None:
            raise BadCheckpoint(f"no {pointer} checkpoint under {folder}: {pointer}.json is missing")
        name, sealed = found
        target = inside(folder, name)
    except BadPath as error:
        raise BadCheckpoint(f"no checkpoint {pointer!r} under {folder}: {error}") from None
    return target, with_facts(target, read_metadata(target, sealed, f"{pointer}.json"))


def read_metadata(target: Path, sealed: str | None = None, pointer: str = "") -> dict[str, Any]:
    """Return the metadata of a checkpoint whose files are verified. Raises BadCheckpoint, naming the file.

    sealed   the seal that the manifest must have, from the file `pointer`
    """
    try:
        content = read_manifest(target, METADATA)
        if sealed not in (None, content[SEAL]):
            raise BadCheckpoint(f"{target} is damaged: {METADATA} is not the one in {pointer}")
        verify_files(target, METADATA, content)
        return content
    except BadCheckpoint as error:
        raise BadCheckpoint(f"checkpoint {error}; use another checkpoint") from None


def intact_checkpoints(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield names and metadata of the intact checkpoints under `folder`, those with most steps first."""
    for path in sorted((path for path in folder.iterdir() if is_checkpoint(path)), reverse=True):
        with suppress(BadCheckpoint):
            yield path.name, with_facts(path, read_metadata(path))


def evaluated_steps(run: Path, games: int) -> int | None:
    """Return the steps of a run's latest checkpoint if its final evaluation has this many games, else None.

    An evaluation from before that checkpoint does not count.
    """
    try:
        steps = int(find_checkpoint(run / "checkpoints")[1]["timesteps"])
        evaluation = read_object(run / EVALUATION)
    except (BadCheckpoint, Unreadable):
        return None
    return steps if (evaluation.get("games"), evaluation.get("steps")) == (games, steps) else None


def with_facts(place: Path, content: dict[str, Any], needed: Collection[str] = ()) -> dict[str, Any]:
    """Return the contents of a manifest after a check of `Facts` and of the presence of `needed`. Raises BadCheckpoint."""
    try:
        Facts.model_validate(content)
    except ValidationError as error:
        raise BadCheckpoint(f"the manifest of {place} is not one of a training: {first_fault(error)}") from None
    for name in needed:
        if name not in content:
            raise BadCheckpoint(f"the manifest of {place} is not one of a training: {name} is missing")
    return content
