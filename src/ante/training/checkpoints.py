"""Checkpoints of a run on disk: written aside, then named whole; `latest.json` and `best.json` point to them."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ante.errors import BalatroError
from ante.files import write_text

KEPT = 3  # newest checkpoints kept beside the best one


class BadCheckpoint(BalatroError, ValueError):
    """A checkpoint that is missing or not whole."""


class NoRoom(BalatroError, OSError):
    """The disk did not take a checkpoint."""


def save_checkpoint(
    folder: Path, step: int, write: Callable[[Path], None], metadata: dict[str, Any], best: bool, kept: int = KEPT
) -> Path:
    """A new checkpoint stands under `folder`, and `latest.json` (and `best.json`) name it.

    kept   newest checkpoints that stay beside the best one; 0 keeps all
    write  fills an empty folder. Raises NoRoom where the disk is full; nothing half-written is left behind.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = free_name(folder, f"{step:012d}")
    aside = folder / f".{target.name}.part"
    shutil.rmtree(aside, ignore_errors=True)
    try:
        aside.mkdir()
        write(aside)
        files = sorted(file for file in aside.rglob("*") if file.is_file())
        sizes = {str(file.relative_to(aside)): file.stat().st_size for file in files}
        for file in files:
            flush(file)
        write_text(aside / "metadata.json", json.dumps({**metadata, "files": sizes}, indent=1))
        aside.rename(target)
        for pointer in ("latest", "best") if best else ("latest",):
            point(folder, pointer, target.name, metadata)
    except OSError as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise NoRoom(f"cannot write checkpoint {target}: {error}; free some disk and use --resume") from error
    drop_old(folder, kept)
    return target


def point(folder: Path, pointer: str, name: str, metadata: dict[str, Any]) -> None:
    """`latest.json` or `best.json` under `folder` names this checkpoint."""
    write_text(folder / f"{pointer}.json", json.dumps({"checkpoint": name, **metadata}))


def free_name(folder: Path, name: str) -> Path:
    """A new name, which sorts after those of the same step: a checkpoint that something points to is never replaced."""
    taken = sorted(path.name for path in folder.glob(f"{name}*"))
    if not taken:
        return folder / name
    return folder / f"{name}-{int(taken[-1].partition('-')[2] or 0) + 1:03d}"


def flush(file: Path) -> None:
    """The file is on the disk, so that it outlives a loss of power as soon as something points to it."""
    with file.open("rb") as stream:
        os.fsync(stream.fileno())


def drop_old(folder: Path, kept: int) -> None:
    """Only the newest checkpoints and the best one remain, and nothing that a killed run has left half-written."""
    named = {json.loads(file.read_text())["checkpoint"] for file in folder.glob("*.json")}
    for half in folder.glob(".*"):
        shutil.rmtree(half) if half.is_dir() else half.unlink()
    for old in sorted(path for path in folder.iterdir() if path.is_dir())[:-kept] if kept else ():
        if old.name not in named:
            shutil.rmtree(old)


def checkpoints_of(folder: Path) -> list[str]:
    """The names of all checkpoints under `folder`, oldest first."""
    return sorted(path.parent.name for path in folder.glob("[!.]*/metadata.json"))


def point_best(folder: Path, name: str) -> None:
    """`best.json` names this checkpoint. Raises BadCheckpoint where it is missing or not whole."""
    target, metadata = find_checkpoint(folder, name)
    point(folder, "best", target.name, {key: value for key, value in metadata.items() if key != "files"})


def pointed_at(folder: Path, pointer: str) -> str | None:
    """The name of the checkpoint that a pointer names; None where there is no such pointer. Raises BadCheckpoint."""
    file = folder / f"{pointer}.json"
    try:
        return str(json.loads(file.read_text())["checkpoint"]) if file.exists() else None
    except (OSError, ValueError, KeyError) as error:
        raise BadCheckpoint(f"{file} cannot be read ({error}): use another checkpoint") from None


def find_checkpoint(folder: Path, pointer: str = "latest") -> tuple[Path, dict[str, Any]]:
    """A whole checkpoint and its metadata. Raises BadCheckpoint, saying what is missing.

    pointer  latest or best, or the checkpoint's own name
    """
    name = pointer if (folder / pointer).is_dir() else pointed_at(folder, pointer)
    if name is None:
        raise BadCheckpoint(f"no {pointer} checkpoint under {folder}: {pointer}.json is missing")
    return folder / name, read_metadata(folder / name)


def read_metadata(target: Path) -> dict[str, Any]:
    """The metadata of a checkpoint, all of whose files are there. Raises BadCheckpoint, saying what is missing."""
    try:
        metadata: dict[str, Any] = json.loads((target / "metadata.json").read_text())
    except (OSError, ValueError) as error:
        raise BadCheckpoint(f"checkpoint {target} is not whole: {error}; use another one") from None
    for name, size in metadata["files"].items():
        file = target / name
        if not file.is_file() or file.stat().st_size != size:
            raise BadCheckpoint(f"checkpoint {target} is not whole: {name} should have {size} bytes; use another one")
    return metadata


def whole_checkpoints(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and metadata of the checkpoints under `folder` that are whole, the furthest first."""
    for path in sorted((path for path in folder.iterdir() if path.is_dir() and path.name[0] != "."), reverse=True):
        with suppress(BadCheckpoint):
            yield path.name, read_metadata(path)
