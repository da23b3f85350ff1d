"""A sequence of terminal screens as one animated SVG that needs neither scripts nor fonts from the network.

All screens stand side by side in a strip, and a CSS animation shows one after the other. Equal lines are stored once.
"""

from collections.abc import Sequence
from html import escape

from rich.console import Console
from rich.style import Style
from rich.terminal_theme import SVG_EXPORT_THEME as THEME
from rich.text import Text

CELL_WIDTH, LINE_HEIGHT, MARGIN = 8.4, 17, 12
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">
<title>{title}</title>
<style>
text {{ font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: {ink}; white-space: pre; }}
{styles}
.strip {{ animation: strip {seconds:.1f}s steps(1, end) infinite; }}
@keyframes strip {{ {moves} }}
@media (prefers-reduced-motion: reduce) {{ .strip {{ animation: none; }} }}
</style>
<defs>
{lines}
</defs>
<rect width="100%" height="100%" rx="8" fill="{paper}"/>
<g transform="translate({margin}, {margin})"><g class="strip">
{frames}
</g></g>
</svg>
"""


class Lines:
    """The distinct lines of all screens, and the distinct styles of their parts."""

    def __init__(self) -> None:
        self._console = Console(width=1000, force_terminal=True, color_system="standard")
        self._numbers: dict[str, int] = {}
        self._styles: dict[str, str] = {}

    def number(self, line: Text) -> int:
        """Return the number of a line; equal lines have the same."""
        column, parts = 0, []
        for segment in line.render(self._console):
            words = segment.text.strip(" \n")
            start = column + len(segment.text) - len(segment.text.lstrip(" "))
            if words:
                length = f'textLength="{len(words) * CELL_WIDTH:.1f}"'
                style = self._class(segment.style)
                parts.append(f'<text x="{start * CELL_WIDTH:.1f}" {length}{style}>{escape(words)}</text>')
            column += len(segment.text)
        return self._numbers.setdefault("".join(parts), len(self._numbers))

    def _class(self, style: Style | None) -> str:
        """Return the attribute of a style's class, empty for plain text."""
        rules = css(style) if style else ""
        if not rules:
            return ""
        return f' class="{self._styles.setdefault(rules, f"s{len(self._styles)}")}"'

    @property
    def definitions(self) -> str:
        """The lines as elements that screens use by number."""
        return "\n".join(f'<g id="l{number}">{parts}</g>' for parts, number in self._numbers.items())

    @property
    def styles(self) -> str:
        """The style sheet of the parts."""
        return "\n".join(f"text.{name} {{ {rules} }}" for rules, name in self._styles.items())


def css(style: Style) -> str:
    """Return a style as CSS."""
    rules = []
    if style.color and not style.color.is_default:
        rules.append(f"fill: {style.color.get_truecolor(THEME).hex};")
    if style.bold:
        rules.append("font-weight: bold;")
    if style.dim:
        rules.append("opacity: 0.6;")
    return " ".join(rules)


def recording(screens: Sequence[tuple[Sequence[Text], float]], columns: int, rows: int, title: str) -> str:
    """Return screens, each with the seconds for which it is shown, as an animated SVG."""
    lines, frames, moves, at = Lines(), [], [], 0.0
    step, seconds = columns * CELL_WIDTH + 2 * MARGIN, sum(shown for _, shown in screens)
    for place, (screen, shown) in enumerate(screens):
        uses = [
            f'<use href="#l{lines.number(line)}" y="{(row + 1) * LINE_HEIGHT}"/>'
            for row, line in enumerate(screen)
            if line.plain.strip()
        ]
        frames.append(f'<g transform="translate({place * step:.0f}, 0)">{"".join(uses)}</g>')
        moves.append(f"{100 * at / seconds:.3f}% {{ transform: translateX(-{place * step:.0f}px); }}")
        at += shown
    return HEAD.format(
        width=step,
        height=rows * LINE_HEIGHT + 2 * MARGIN,
        title=escape(title),
        ink=THEME.foreground_color.hex,
        paper=THEME.background_color.hex,
        margin=MARGIN,
        seconds=seconds,
        styles=lines.styles,
        moves=" ".join(moves),
        lines=lines.definitions,
        frames="\n".join(frames),
    )
