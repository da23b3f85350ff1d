"""Validation of untrusted paths, which must not leave their folder."""

import re
import unicodedata
from pathlib import Path

from ante.errors import BalatroError, shown

LONGEST, LONGEST_NAME = 1024, 255  # bytes of a path (S3's limit) and of a name in it (file systems' limit)
DRIVE = re.compile(r"[A-Za-z]:")
UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")  # Unicode categories: control characters, surrogates, line separators


class BadPath(BalatroError, ValueError):
    """A path leaves its folder, or is invalid in file systems."""


def check_path(path: object, what: str = "a path") -> str:
    """Return a valid relative path: names joined by `/`, none of which begins with a dot. Raises BadPath.

    `..`, absolute paths, drive letters, backslashes, control characters and long names are rejected. `what` describes
    the path in the error.
    """
    if not isinstance(path, str) or not path:
        raise BadPath(f"{shown(path)} is not {what}: use names joined by /")
    if any(unicodedata.category(letter) in UNPRINTABLE for letter in path):
        raise BadPath(f"{shown(path)} is not {what}: it contains control characters; use names joined by /")
    names = path.split("/")
    if DRIVE.match(path) or any(not name or name.startswith(".") or "\\" in name for name in names):
        raise BadPath(f"{shown(path)} is not {what}: use names joined by /, none of which begins with a dot")
    if len(path.encode()) > LONGEST or any(len(name.encode()) > LONGEST_NAME for name in names):
        raise BadPath(f"{shown(path)} is too long: the limit is {LONGEST_NAME} bytes for a name and {LONGEST} in total")
    return path


def check_name(name: object) -> str:
    """Return a path of a single name. Raises BadPath."""
    if "/" in check_path(name):
        raise BadPath(f"{shown(name)} is not a name: it contains a /")
    return str(name)


def inside(folder: Path, path: object) -> Path:
    """Return the file or folder of a path inside `folder`; it need not exist. Raises BadPath.

    Symbolic links below `folder` are rejected, because they may lead out of it; `folder` itself may be one.
    """
    file = folder
    for name in check_path(path).split("/"):
        file = file / name
        if file.is_symlink():
            raise BadPath(f"{file} is a symbolic link, which is not followed: replace it by the file itself")
    return file
