"""Write docs/observation.md from the layout that the code uses. `--check` fails where the file is stale."""

import sys
from pathlib import Path

from ante.env.layout import as_text

FILE = Path(__file__).resolve().parent.parent / "docs" / "observation.md"
HEAD = """# What an agent sees

Written by `make observation` from `src/ante/env/layout.py`; nothing in it is hidden from a player of the game.
`observation="dict"` gives the first table, `"flat"` the second as one vector, `"masked"` the vector beside its action
mask.

```
"""


def main() -> int:
    """Write or check; answers the exit code."""
    text = f"{HEAD}{as_text()}\n```\n"
    if "--check" not in sys.argv:
        FILE.write_text(text)
        return 0
    if FILE.exists() and FILE.read_text() == text:
        return 0
    print(f"{FILE} is stale: run make observation", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
