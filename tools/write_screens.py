"""docs/pictures/terminal.svg: a screen of `ante play` after some keys.

tools/write_screens.py            write the file
tools/write_screens.py --check    exit 1 if the committed file is stale
"""

import io
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from ante.env.replay import Heading
from ante.terminal.advice import RULES, Adviser
from ante.terminal.faces import UNICODE
from ante.terminal.game import Game
from ante.terminal.reading import keys_of_line
from ante.terminal.screen import screen
from ante.terminal.sections import Look
from ante.terminal.session import Session, start_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "tutorials" / "play-against-it.md"
FILE = ROOT / "docs" / "pictures" / "terminal.svg"
WIDTH, HEIGHT = 80, 24
SEED = "2K9H9HN"
FIRST, LAST = "```text\n# keys\n", "```"
# The format of rich without its web fonts, which a page without network access does not load.
FORMAT = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>A game in the terminal</title>
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-family: sans-serif; font-size: 18px; font-weight: bold; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def no_player(name: str) -> None:
    """Refuse another player than the rules."""
    raise AssertionError(name)


def page_keys() -> list[str]:
    """Return the lines of keys that the page shows."""
    return PAGE.read_text().partition(FIRST)[2].partition(LAST)[0].splitlines()


def played() -> Game:
    """Return the game after the keys of the page."""
    heading = Heading(SEED)
    game = Game(Session(start_of(heading), heading), Adviser(RULES, no_player), None)  # type: ignore[arg-type]
    for line in page_keys():
        game.said = []
        for key in keys_of_line(line):
            game.press(key)
    return game


def picture() -> str:
    """Return the screen as SVG."""
    console = Console(file=io.StringIO(), record=True, width=WIDTH, force_terminal=True, color_system="standard")
    lines = screen(played(), Look(WIDTH, UNICODE), HEIGHT)
    for line in lines:
        console.print(Text.assemble(line, " " * (WIDTH - line.cell_len)), no_wrap=True, crop=True)
    drawn = console.export_svg(title=f"ante play --seed {SEED}", code_format=FORMAT, unique_id="game")
    return "\n".join(line.rstrip() for line in drawn.splitlines()) + "\n"


def main() -> int:
    """Write or check the file, and return the exit code."""
    if "--check" not in sys.argv:
        FILE.write_text(picture())
        return 0
    if FILE.exists() and FILE.read_text() == picture():
        return 0
    print(f"{FILE.relative_to(ROOT)} is stale: run make screens", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
