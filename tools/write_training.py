"""Write the tables of settings in docs/training.md from the configuration. `--check` fails where they are stale."""

import sys
from pathlib import Path

from ante.training.guide import as_text

FILE = Path(__file__).resolve().parent.parent / "docs" / "training.md"
BEGIN, END = "<!-- settings: written by `make settings`, do not edit -->\n", "<!-- end of settings -->\n"


def main() -> int:
    """Write or check; answers the exit code."""
    old = FILE.read_text()
    before, rest = old.split(BEGIN)
    after = rest.split(END)[1]
    text = f"{before}{BEGIN}\n{as_text()}\n\n{END}{after}"
    if "--check" not in sys.argv:
        FILE.write_text(text)
        return 0
    if text == old:
        return 0
    print(f"{FILE} is stale: run make settings", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
