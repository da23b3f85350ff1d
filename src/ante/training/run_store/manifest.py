"""A verified folder: a manifest with size and SHA-256 of each file, and a seal over the manifest.

The manifest is `metadata.json` in a checkpoint and `policy.json` in a release:

    {"timesteps": 300, ..., "files": {"weights.npz": {"bytes": 1234, "sha256": "..."}}, "seal": "..."}

The seal is the SHA-256 of the same JSON text with an empty seal, and the text must be the exact output of `json.dumps`,
so no byte of it can change unnoticed. `verified` reads every file once, in blocks. It detects damage and mistakes. It is
not a signature: anyone who can write to the folder can seal it again with other weights. Nothing in a checkpoint can
execute code, because of its formats alone: JSON, YAML and arrays (`state_files`), no pickles.
"""

import hashlib
import json
import os
import stat
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from ante.errors import BalatroError
from ante.files import BadPath, check_path, write_text
from ante.storage.store import sha256_of

FILES, SEAL = "files", "seal"
MOST = 16 << 20  # maximum bytes of a manifest


class BadCheckpoint(BalatroError, ValueError):
    """A checkpoint or release that is missing, damaged or not usable."""


def seal(folder: Path, name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Write the manifest `name` of all other files in `folder` and return its contents. `facts` is JSON data."""
    sums = {}
    for path, file in sorted(files_of(folder)):
        if path != name:
            sums[check_path(path)] = {"bytes": file.stat().st_size, "sha256": sha256_of(file)}
    content = {**facts, FILES: sums}
    content[SEAL] = seal_of(content)
    write_text(folder / name, text_of(content))
    return content


def text_of(content: Mapping[str, Any]) -> str:
    """Return the canonical text of a manifest."""
    return json.dumps(content, indent=1) + "\n"


def seal_of(content: Mapping[str, Any]) -> str:
    """Return the hex SHA-256 that seals a manifest."""
    return hashlib.sha256(text_of({**content, SEAL: ""}).encode()).hexdigest()


def read_manifest(folder: Path, name: str) -> dict[str, Any]:
    """Return the contents of a manifest; its seal is checked, its files are not. Raises BadCheckpoint."""
    file = folder / name
    try:
        if not stat.S_ISREG(file.lstat().st_mode):
            raise BadCheckpoint(f"{folder} is damaged: {name} is not a regular file")
        with file.open("rb") as stream:
            text = stream.read(MOST + 1)
        if len(text) > MOST:
            raise BadCheckpoint(f"{folder} is damaged: {name} is larger than {MOST:,} bytes")
        content = json.loads(text)
        same = isinstance(content, dict) and SEAL in content and text_of(content).encode() == text
    except (OSError, RecursionError) as error:
        raise BadCheckpoint(f"{folder} is damaged: {name} cannot be read: {error}") from None
    except BadCheckpoint:
        raise
    except ValueError as error:
        raise BadCheckpoint(f"{folder} is damaged: {name} was changed after it was written: {error}") from None
    if not same or content[SEAL] != seal_of(content):
        raise BadCheckpoint(
            f"{folder} is damaged: {name} was changed after it was written, or an old version of ante wrote it"
        )
    return dict(content)


def verified(folder: Path, name: str, changed: Collection[str] = ()) -> dict[str, Any]:
    """Verify every file of a folder and return the contents of its manifest. Raises BadCheckpoint, naming the file.

    changed  files that may have changed since the folder was sealed
    """
    content = read_manifest(folder, name)
    verify_files(folder, name, content, changed)
    return content


def verify_files(folder: Path, name: str, content: Mapping[str, Any], changed: Collection[str] = ()) -> None:
    """Verify every file of a folder against the contents of its manifest. Raises BadCheckpoint, naming the file."""
    try:
        parts = {check_path(path): (part["bytes"], part["sha256"]) for path, part in content[FILES].items()}
    except (BadPath, AttributeError, KeyError, TypeError) as error:
        raise BadCheckpoint(f"{folder} is damaged: {name} does not list files: {error}") from None
    there = dict(files_of(folder))
    for path in there.keys() - parts.keys() - {name}:
        raise BadCheckpoint(f"{folder} is damaged: {path} is not in its manifest: move it elsewhere")
    for path, (size, digest) in parts.items():
        if path in changed:
            continue
        if path not in there:
            raise BadCheckpoint(f"{folder} is damaged: {path} is missing")
        if there[path].stat().st_size != size:
            raise BadCheckpoint(
                f"{folder} is damaged: {path} should have {size} bytes but has {there[path].stat().st_size}"
            )
        if sha256_of(there[path]) != digest:
            raise BadCheckpoint(f"{folder} is damaged: the SHA-256 of {path} differs from its manifest")


def files_of(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield all files in a folder by relative path. Raises BadCheckpoint for a link, a pipe or a device."""
    for root, folders, files in os.walk(folder):
        for each in (*folders, *files):
            file = Path(root, each)
            mode, path = file.lstat().st_mode, file.relative_to(folder).as_posix()
            if stat.S_ISREG(mode):
                yield path, file
            elif not stat.S_ISDIR(mode):
                raise BadCheckpoint(f"{folder} is damaged: {path!r} is neither a file nor a folder")
