"""Files of Matplotlib figures."""

from pathlib import Path
from typing import TYPE_CHECKING

from ante.errors import BalatroError, shown
from ante.files import check_output_file, whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = ("png", "svg", "pdf", "jpg", "jpeg", "webp")


class BadEnding(BalatroError, ValueError):
    """The name of a picture has an unknown ending."""

    def __init__(self, file: Path) -> None:
        known = ", ".join(f".{ending}" for ending in ENDINGS)
        super().__init__(f"cannot draw {file}: the ending {shown(file.suffix)} is unknown; use one of {known}")


def format_of(file: Path) -> str:
    """Return the format that a picture's name ends with, png for a name without an ending. Raises BadEnding."""
    ending = file.suffix.lstrip(".").lower() or ENDINGS[0]
    if ending not in ENDINGS:
        raise BadEnding(file)
    return ending


def check_picture_file(file: Path) -> Path:
    """Return the file if a picture can be written to it, for a check before long work. Raises BadEnding, Unwritable."""
    format_of(file)
    return check_output_file(file)


def write_figure(figure: "Figure", file: Path) -> Path:
    """Write the figure atomically, in the format of the file's ending, and return the file. Raises BadEnding."""
    kind = format_of(file)
    with whole(file) as aside:
        figure.savefig(aside, format=kind)
    return file
