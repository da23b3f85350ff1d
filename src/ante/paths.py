"""Validation of untrusted paths: names in files, stores and settings that must stay inside their folder."""

import re
import unicodedata
from pathlib import Path

from ante.errors import BalatroError, shown

LONGEST, LONGEST_NAME = 1024, 255  # bytes of a path (S3's limit) and of a name in it (that of file systems)
DRIVE = re.compile(r"[A-Za-z]:")
UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")  # Unicode categories: control characters, surrogates, line separators


class BadPath(BalatroError, ValueError):
    """A path that does not stay inside its folder, or that no file system takes."""


def check_path(path: object, what: str = "a path") -> str:
    """Return a relative path: names joined by `/`, none of which begins with a dot. Raises BadPath.

    Refused are `..`, absolute paths, drive letters, backslashes, control characters, and names too long for a file system.
    `what` it is to be is for the error.
    """
    if not isinstance(path, str) or not path:
        raise BadPath(f"{shown(path)} cannot be {what}: write names joined by /")
    if any(unicodedata.category(letter) in UNPRINTABLE for letter in path):
        raise BadPath(f"{shown(path)} cannot be {what}: it holds control characters; write names joined by /")
    names = path.split("/")
    if DRIVE.match(path) or any(not name or name.startswith(".") or "\\" in name for name in names):
        raise BadPath(f"{shown(path)} cannot be {what}: write names joined by /, none of which begins with a dot")
    if len(path.encode()) > LONGEST or any(len(name.encode()) > LONGEST_NAME for name in names):
        raise BadPath(f"{shown(path)} is too long: {LONGEST_NAME} bytes for a name and {LONGEST} in all are the most")
    return path


def check_name(name: object) -> str:
    """Return a path of a single name. Raises BadPath."""
    if "/" in check_path(name):
        raise BadPath(f"{shown(name)} cannot be a name: it holds a /")
    return str(name)


def inside(folder: Path, path: object) -> Path:
    """Return the file or folder of a path inside `folder`, which need not exist. Raises BadPath.

    Symbolic links below `folder` are refused, since they may lead out of it; `folder` itself may be one.
    """
    file = folder
    for name in check_path(path).split("/"):
        file = file / name
        if file.is_symlink():
            raise BadPath(f"{file} is a symbolic link, which is not followed: put the file itself there")
    return file
