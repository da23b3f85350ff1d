"""Generate the Python of the .proto files: python tools/write_protos.py [--check]."""

import argparse
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

SOURCES = Path(__file__).parent.parent / "src"
PROTOS = ("ante/serve/decisions/v1/decisions.proto", "ante/events/v1/events.proto")


def generate(folder: Path) -> None:
    """Write the generated modules below this folder. Raises SystemExit if a .proto file is not valid."""
    known = files("grpc_tools") / "_proto"
    for kind in ("python", "pyi", "grpc_python"):
        words = ["protoc", f"-I{SOURCES}", f"-I{known}", f"--{kind}_out={folder}"]
        protos = [each for each in PROTOS if kind != "grpc_python" or "\nservice " in (SOURCES / each).read_text()]
        if protoc.main([*words, *(str(SOURCES / each) for each in protos)]):
            sys.exit(1)


def main() -> int:
    """Write the modules, or with --check report whether they are up to date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        generate(SOURCES)
        return 0
    stale = []
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        for file in sorted(Path(folder).rglob("*_pb2*.py*")):
            own = SOURCES / file.relative_to(folder)
            if not own.is_file() or own.read_text() != file.read_text():
                stale.append(own)
    for own in stale:
        print(f"{own} is stale: run python tools/write_protos.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
