"""Checkpoints of a run on disk: written aside, then named whole; `latest.json` and `best.json` point to them.

A pointer holds the seal of the manifest too, so that a checkpoint that took another's place is refused.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ante.errors import BalatroError
from ante.files import write_text
from ante.paths import BadPath, check_name, inside
from ante.training.run_store.manifest import FILES, SEAL, BadCheckpoint, read_manifest, seal, verified

KEPT = 3  # newest checkpoints kept beside the best one
METADATA = "metadata.json"  # the manifest of a checkpoint
NAME = re.compile(r"\d{12}(-\d+)?")  # of a checkpoint
POINTER_BYTES = 1 << 20  # the most that is read
LEFT = re.compile(r"\.\d+(-\d+)?\..+")  # what a killed run leaves half-written


class NoRoom(BalatroError, OSError):
    """The disk is full."""


def save_checkpoint(
    folder: Path, step: int, write: Callable[[Path], None], metadata: dict[str, Any], best: bool, kept: int = KEPT
) -> Path:
    """Save a new checkpoint under `folder`, and update `latest.json` (and `best.json`).

    kept   newest checkpoints to keep in addition to the best one; 0 keeps all
    write  fills an empty folder. Raises NoRoom where the disk is full; nothing half-written is left behind.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = free_name(folder, f"{step:012d}")
    aside = folder / f".{target.name}.part"
    shutil.rmtree(aside, ignore_errors=True)
    try:
        aside.mkdir()
        write(aside)
        for file in aside.rglob("*"):
            if file.is_file():
                flush(file)
        written = seal(aside, METADATA, metadata)
        aside.rename(target)
        for pointer in ("latest", "best") if best else ("latest",):
            point(folder, pointer, target.name, written)
    except OSError as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise NoRoom(f"cannot write checkpoint {target}: {error}; free some disk and use --resume") from error
    except BadCheckpoint:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    drop_old(folder, kept)
    return target


def point(folder: Path, pointer: str, name: str, metadata: dict[str, Any]) -> None:
    """Make `latest.json` or `best.json` under `folder` name this checkpoint. `metadata` comes from its manifest."""
    facts = {key: value for key, value in metadata.items() if key != FILES}
    write_text(folder / f"{pointer}.json", json.dumps({**facts, "checkpoint": name}))


def free_name(folder: Path, name: str) -> Path:
    """A new name, which sorts after those of the same step: a checkpoint that something points to is never replaced."""
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

    Nothing goes while a pointer cannot be read, nor what is not named as a checkpoint.
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
    """Return whether it is a folder with a checkpoint's name."""
    return bool(NAME.fullmatch(path.name)) and path.is_dir() and not path.is_symlink()


def checkpoints_of(folder: Path) -> list[str]:
    """Return the names of all checkpoints under `folder`, oldest first."""
    return sorted(path.parent.name for path in folder.glob(f"[!.]*/{METADATA}") if is_checkpoint(path.parent))


def point_best(folder: Path, name: str) -> None:
    """Make `best.json` name this checkpoint. Raises BadCheckpoint if it is missing or incomplete."""
    target, metadata = find_checkpoint(folder, name)
    point(folder, "best", target.name, metadata)


def pointed_at(folder: Path, pointer: str) -> str | None:
    """The name of the checkpoint that a pointer names; None where there is no such pointer. Raises BadCheckpoint."""
    found = read_pointer(folder, pointer)
    return found[0] if found else None


def read_pointer(folder: Path, pointer: str) -> tuple[str, str] | None:
    """Name and seal of the checkpoint that a pointer names; None where there is no such pointer. Raises BadCheckpoint."""
    try:
        file = inside(folder, f"{pointer}.json")
        if not file.exists():
            return None
        if file.stat().st_size > POINTER_BYTES:
            raise ValueError(f"it is larger than {POINTER_BYTES:,} bytes")
        found = json.loads(file.read_text())
        return check_name(found["checkpoint"]), str(found[SEAL])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadCheckpoint(
            f"pointer {pointer} of {folder} cannot be read ({type(error).__name__}: {error}): use another checkpoint"
        ) from None


def find_checkpoint(folder: Path, pointer: str = "latest") -> tuple[Path, dict[str, Any]]:
    """A whole checkpoint and its metadata: every byte of it is read. Raises BadCheckpoint, naming the file that is wrong.

    pointer  latest or best, or the checkpoint's own name
    """
    try:
        if inside(folder, check_name(pointer)).is_dir():
            return folder / pointer, read_metadata(folder / pointer)
        found = read_pointer(folder, pointer)
        if found is None:
            raise BadCheckpoint(f"no {pointer} checkpoint under {folder}: {pointer}.json is missing")
        name, sealed = found
        target = inside(folder, name)
    except BadPath as error:
        raise BadCheckpoint(f"no checkpoint {pointer!r} under {folder}: {error}") from None
    if read_manifest(target, METADATA)[SEAL] != sealed:
        raise BadCheckpoint(
            f"checkpoint {target} is not whole: {METADATA} is not the one that {pointer}.json names; use another one"
        )
    return target, read_metadata(target)


def read_metadata(target: Path) -> dict[str, Any]:
    """The metadata of a checkpoint, all of whose files are as they were written. Raises BadCheckpoint, naming the file."""
    try:
        return verified(target, METADATA)
    except BadCheckpoint as error:
        raise BadCheckpoint(f"checkpoint {error}; use another one") from None


def whole_checkpoints(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and metadata of the checkpoints under `folder` that are whole, the furthest first."""
    for path in sorted((path for path in folder.iterdir() if is_checkpoint(path)), reverse=True):
        with suppress(BadCheckpoint):
            yield path.name, read_metadata(path)
