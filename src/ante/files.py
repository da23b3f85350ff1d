"""Files that are whole or not there."""

import os
from pathlib import Path


def write_text(file: Path, text: str) -> None:
    """The file holds the text, or what it held before."""
    aside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with aside.open("w") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        aside.replace(file)
    finally:
        aside.unlink(missing_ok=True)
