"""Presets by name. The comment at the head of a preset's file states what it trains, its time and its result."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from ante.errors import BalatroError, close_to, shown
from ante.files import read_text

FOLDER = Path(__file__).parent
DEFAULT = "laptop"  # of `ante train` without arguments
WORD = re.compile(r"[\w-]+")  # a name without suffix and folder
LARGEST = 1 << 16  # bytes of a preset's file
TIME, REACHES = "time on two cores", "reaches"


class UnknownPreset(BalatroError, ValueError):
    """A preset does not exist."""

    def __init__(self, name: str) -> None:
        near = close_to(name, preset_names())
        hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(preset_names())}, or a YAML file"
        super().__init__(f"there is no preset {shown(name)}: {hint}")


@dataclass(frozen=True)
class Preset:
    """A preset as its file's first comment describes it.

    about    what it trains, a phrase
    time     time of a run on two cores
    reaches  result of a run
    """

    name: str
    about: str
    time: str
    reaches: str


def preset_names() -> list[str]:
    """Return the names of all presets, the default one first."""
    return sorted((file.stem for file in FOLDER.glob("*.yaml")), key=lambda name: (name != DEFAULT, name))


def preset_file(name: str) -> Path:
    """Return the file of a preset. Raises UnknownPreset."""
    if name not in preset_names():
        raise UnknownPreset(name)
    return FOLDER / f"{name}.yaml"


def settings_file(name: str | Path, folder: Path = Path()) -> Path:
    """Return a file of settings: a path relative to `folder`, or a preset by its name.

    A file takes precedence. The file need not exist. Raises UnknownPreset for a single word that is neither.
    """
    file = folder / name
    if os.path.exists(file) or not WORD.fullmatch(str(name)):
        return file
    return preset_file(str(name))


def read_preset(name: str) -> Preset:
    """Return the description of a preset. Raises UnknownPreset."""
    file = preset_file(name)
    lines = read_text(file, LARGEST).splitlines()
    facts = dict(
        line.removeprefix("# ").split(": ", 1) for line in lines if line.startswith((f"# {TIME}", f"# {REACHES}"))
    )
    return Preset(name, lines[0].removeprefix("# "), facts[TIME], facts[REACHES])
