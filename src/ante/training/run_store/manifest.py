"""A folder whose every byte is verified: a manifest with size and SHA-256 of each file, and a seal over itself.

The manifest is `metadata.json` in a checkpoint and `policy.json` in a release:

    {"timesteps": 300, ..., "files": {"weights.npz": {"bytes": 1234, "sha256": "..."}}, "seal": "..."}

The seal is the SHA-256 of the same JSON text with an empty seal, and the text must be exactly what `json.dumps` makes of it, so
that no byte of it can change either. `verified` reads every file once, in pieces. It finds damage and mistakes. It is not
a signature: anyone who can write to the folder can seal it again with other weights. That nothing in a checkpoint
can run code is the business of the formats alone: JSON, YAML and arrays (`state_files`), no pickles.
"""

import hashlib
import json
import os
import stat
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from ante.errors import BalatroError
from ante.files import write_text
from ante.paths import BadPath, check_path
from ante.storage.store import sha256_of

FILES, SEAL = "files", "seal"
MOST = 16 << 20  # bytes of a manifest


class BadCheckpoint(BalatroError, ValueError):
    """A checkpoint or a released policy that is missing, not whole, or not usable."""


def seal(folder: Path, name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Write the manifest `name` of all other files in `folder`, and return its contents. `facts` are JSON."""
    sums = {}
    for path, file in sorted(files_of(folder)):
        if path != name:
            sums[check_path(path)] = {"bytes": file.stat().st_size, "sha256": sha256_of(file)}
    content = {**facts, FILES: sums}
    content[SEAL] = seal_of(content)
    write_text(folder / name, text_of(content))
    return content


def text_of(content: Mapping[str, Any]) -> str:
    """Return the one text that a manifest may have."""
    return json.dumps(content, indent=1) + "\n"


def seal_of(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 in hex that seals a manifest."""
    return hashlib.sha256(text_of({**content, SEAL: ""}).encode()).hexdigest()


def read_manifest(folder: Path, name: str) -> dict[str, Any]:
    """Return the contents of a manifest, with its seal checked and the files not. Raises BadCheckpoint."""
    file = folder / name
    try:
        if not stat.S_ISREG(file.lstat().st_mode):
            raise BadCheckpoint(f"{folder} is not whole: {name} is not a regular file")
        if file.stat().st_size > MOST:
            raise BadCheckpoint(f"{folder} is not whole: {name} is larger than {MOST:,} bytes")
        text = file.read_bytes()
        content = json.loads(text)
        same = isinstance(content, dict) and SEAL in content and text_of(content).encode() == text
    except (OSError, RecursionError) as error:
        raise BadCheckpoint(f"{folder} is not whole: {name} cannot be read: {error}") from None
    except BadCheckpoint:
        raise
    except ValueError as error:
        raise BadCheckpoint(f"{folder} is not whole: {name} is not what was written: {error}") from None
    if not same or content[SEAL] != seal_of(content):
        raise BadCheckpoint(
            f"{folder} is not whole: {name} is not what was written, or an older version of ante wrote it, without digests"
        )
    return dict(content)


def verified(folder: Path, name: str, changed: Collection[str] = ()) -> dict[str, Any]:
    """Return the contents of a manifest after every file has been read and compared. Raises BadCheckpoint, naming the file.

    changed  files that may be other ones than when the folder was sealed
    """
    content = read_manifest(folder, name)
    try:
        parts = {check_path(path): (part["bytes"], part["sha256"]) for path, part in content[FILES].items()}
    except (BadPath, AttributeError, KeyError, TypeError) as error:
        raise BadCheckpoint(f"{folder} is not whole: {name} does not list files: {error}") from None
    there = dict(files_of(folder))
    for path in there.keys() - parts.keys() - {name}:
        raise BadCheckpoint(f"{folder} is not whole: {path} does not belong to it: move it away")
    for path, (size, digest) in parts.items():
        if path in changed:
            continue
        if path not in there:
            raise BadCheckpoint(f"{folder} is not whole: {path} is missing")
        if there[path].stat().st_size != size:
            raise BadCheckpoint(
                f"{folder} is not whole: {path} should have {size} bytes and has {there[path].stat().st_size}"
            )
        if sha256_of(there[path]) != digest:
            raise BadCheckpoint(f"{folder} is not whole: {path} has another SHA-256 than when it was written")
    return content


def files_of(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield all files below a folder by their path in it. Raises BadCheckpoint where one is a link, a pipe or a device."""
    for root, folders, files in os.walk(folder):
        for each in (*folders, *files):
            file = Path(root, each)
            mode, path = file.lstat().st_mode, file.relative_to(folder).as_posix()
            if stat.S_ISREG(mode):
                yield path, file
            elif not stat.S_ISDIR(mode):
                raise BadCheckpoint(f"{folder} is not whole: {path!r} is neither a file nor a folder")
