"""Checkpoints of a run on disk: written aside, then named whole; `latest.json` and `best.json` point to them."""

import json
import shutil
from collections.abc import Callable
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
    folder: Path, step: int, write: Callable[[Path], None], metadata: dict[str, Any], best: bool
) -> Path:
    """A new checkpoint stands under `folder`, and `latest.json` (and `best.json`) name it.

    write  fills an empty folder. Raises NoRoom where the disk is full; nothing half-written is left behind.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target, aside = folder / f"{step:012d}", folder / f".{step:012d}.part"
    shutil.rmtree(aside, ignore_errors=True)
    try:
        aside.mkdir()
        write(aside)
        files = sorted(file for file in aside.rglob("*") if file.is_file())
        sizes = {str(file.relative_to(aside)): file.stat().st_size for file in files}
        write_text(aside / "metadata.json", json.dumps({**metadata, "files": sizes}, indent=1))
        shutil.rmtree(target, ignore_errors=True)
        aside.rename(target)
        for pointer in ("latest", "best") if best else ("latest",):
            write_text(folder / f"{pointer}.json", json.dumps({"checkpoint": target.name, **metadata}))
    except OSError as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise NoRoom(f"cannot write checkpoint {target}: {error}; free some disk and use --resume") from error
    drop_old(folder)
    return target


def drop_old(folder: Path) -> None:
    """Only the newest checkpoints and the best one remain."""
    kept = {json.loads(file.read_text())["checkpoint"] for file in folder.glob("*.json")}
    for old in sorted(path for path in folder.iterdir() if path.is_dir() and path.name[0] != ".")[:-KEPT]:
        if old.name not in kept:
            shutil.rmtree(old)


def find_checkpoint(folder: Path, pointer: str = "latest") -> tuple[Path, dict[str, Any]]:
    """A whole checkpoint and its metadata. Raises BadCheckpoint, saying what is missing."""
    try:
        target = folder / json.loads((folder / f"{pointer}.json").read_text())["checkpoint"]
        metadata = json.loads((target / "metadata.json").read_text())
    except (OSError, ValueError, KeyError) as error:
        raise BadCheckpoint(f"no {pointer} checkpoint under {folder}: {error}") from None
    for name, size in metadata["files"].items():
        file = target / name
        if not file.is_file() or file.stat().st_size != size:
            raise BadCheckpoint(f"checkpoint {target} is not whole: {name} should have {size} bytes; use another one")
    return target, metadata
