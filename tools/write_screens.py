"""Pictures of `ante play`: a screen in terminals of three widths, and the recording of a whole game.

docs/pictures/terminal.svg, terminal-100.svg, terminal-140.svg    after the keys on the page of the tutorial
docs/pictures/game.svg                                            examples/game.keys, animated

python -m tools.write_screens            write the files
python -m tools.write_screens --check    exit 1 if a committed file is stale
"""

import io
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text
from tools.recording import recording

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
PICTURES = ROOT / "docs" / "pictures"
SIZES = {"terminal.svg": (80, 24), "terminal-100.svg": (100, 24), "terminal-140.svg": (140, 24)}
SEED = "2K9H9HN"
GAME_KEYS, GAME_SEED = ROOT / "examples" / "game.keys", "GM91N5CP"
WIDTH, HEIGHT = 80, 24
SECONDS, LAST_SECONDS = 0.8, 6.0  # for which a screen of the recording is shown
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


def new_game(seed: str) -> Game:
    """Return a new game that the rules advise."""
    heading = Heading(seed)
    return Game(Session(start_of(heading), heading), Adviser(RULES, no_player), None)  # type: ignore[arg-type]


def press(game: Game, line: str) -> None:
    """Press the keys of a line."""
    game.said = []
    for key in keys_of_line(line):
        game.press(key)


def picture(width: int, height: int) -> str:
    """Return the screen after the keys of the page as SVG."""
    game = new_game(SEED)
    for line in page_keys():
        press(game, line)
    console = Console(file=io.StringIO(), record=True, width=width, force_terminal=True, color_system="standard")
    for line in screen(game, Look(width, UNICODE), height):
        console.print(Text.assemble(line, " " * (width - line.cell_len)), no_wrap=True, crop=True)
    drawn = console.export_svg(title=f"ante play --seed {SEED}", code_format=FORMAT, unique_id="game")
    return "\n".join(line.rstrip() for line in drawn.splitlines()) + "\n"


def whole_game() -> str:
    """Return the recording of the game of examples/game.keys, with the pressed keys below each screen."""
    game, screens = new_game(GAME_SEED), []
    for line in ["", *GAME_KEYS.read_text().splitlines()]:
        if line.startswith("#"):
            continue
        press(game, line)
        lines = screen(game, Look(WIDTH, UNICODE), HEIGHT)
        blank = [Text()] * (HEIGHT - len(lines))
        screens.append(([*lines, *blank, Text.assemble("keys  ", (line, "bold cyan"))], SECONDS))
    assert game.session.s.won, "the recorded game is not won: find other keys"
    screens[-1] = (screens[-1][0], LAST_SECONDS)
    return recording(screens, WIDTH, HEIGHT + 1, f"A whole game in the terminal: ante play --seed {GAME_SEED}")


def pictures() -> dict[str, str]:
    """Return the text of each file by its name."""
    return {name: picture(*size) for name, size in SIZES.items()} | {"game.svg": whole_game()}


def stale(texts: dict[str, str]) -> list[str]:
    """Return the names of files that do not have these texts."""
    files = {name: PICTURES / name for name in texts}
    return [name for name, file in files.items() if not file.exists() or file.read_text() != texts[name]]


def main() -> int:
    """Write or check the files, and return the exit code."""
    texts = pictures()
    if "--check" not in sys.argv:
        for name in stale(texts):
            (PICTURES / name).write_text(texts[name])
        return 0
    for name in stale(texts):
        print(f"docs/pictures/{name} is stale: run make screens", file=sys.stderr)
    return 1 if stale(texts) else 0


if __name__ == "__main__":
    sys.exit(main())
