"""The kept inputs of each reader: one zip file per reader, in `tests/fuzz/corpus/`."""

import hashlib
import zipfile
from pathlib import Path

from tests.fuzz.targets import targets, words

FOLDER = Path(__file__).with_name("corpus")
MOST = 400  # kept inputs of a reader, in addition to findings
EPOCH = (1980, 1, 1, 0, 0, 0)


def names() -> list[str]:
    """Return the names of all readers."""
    return sorted(targets())


def archive(name: str) -> Path:
    """Return the file of a reader's inputs."""
    return FOLDER / f"{name.replace(' ', '-')}.zip"


def inputs_of(name: str) -> list[bytes]:
    """Return the valid examples of a reader, and its kept inputs."""
    found = list(targets()[name][2])
    if archive(name).exists():
        with zipfile.ZipFile(archive(name)) as kept:
            found += [kept.read(member) for member in kept.namelist()]
    return found


def unpack(name: str, folder: Path) -> None:
    """Write all inputs of a reader to a folder, by hash."""
    for data in inputs_of(name):
        (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


def pack(name: str, inputs: Path, findings: Path) -> int:
    """Keep all findings and the smallest inputs; return their number."""
    files = sorted(inputs.iterdir(), key=lambda file: (file.stat().st_size, file.name))
    chosen = {hashlib.sha1(file.read_bytes()).hexdigest(): file for file in (*findings.iterdir(), *files[:MOST])}
    FOLDER.mkdir(exist_ok=True)
    with zipfile.ZipFile(archive(name), "w", zipfile.ZIP_DEFLATED) as kept:
        for digest, file in chosen.items():
            kept.writestr(zipfile.ZipInfo(digest, EPOCH), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return len(chosen)


def dictionary(name: str, folder: Path) -> Path:
    """Write the words of a reader's valid examples as a dictionary of libFuzzer, and return the file."""
    file = folder / "words"
    found = sorted({word for data in targets()[name][2] for word in words(data)})
    file.write_text("".join(f'"{word.decode()}"\n' for word in found[:2000]))
    return file
