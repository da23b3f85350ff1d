"""The fuzzed process of one reader: instrument the readers, then hand control to libFuzzer."""

import sys
import tempfile
from pathlib import Path

import atheris

SOURCES = Path(__file__).parents[2] / "src"
COMPILED = "engine.core.rule import"  # modules that define Numba functions cannot be instrumented


def uninstrumented() -> set[str]:
    """Return the modules that define compiled functions, and those that they import from."""
    found = set()
    for file in (SOURCES / "ante").rglob("*.py"):
        name = ".".join(file.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")
        if name.startswith(("ante.engine", "ante.lookahead")) or COMPILED in file.read_text():
            found.add(name)
    return found


def main() -> None:
    """Run `child.py READER CORPUS [options of libFuzzer]`."""
    name = sys.argv[1]
    with atheris.instrument_imports(include=["ante"], exclude=sorted(uninstrumented())):
        from tests.fuzz.targets import read, targets
    target = targets()[name]
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))

    def once(data: bytes) -> None:
        read(target, data, folder)

    atheris.Setup([sys.argv[0], *sys.argv[2:]], once)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
