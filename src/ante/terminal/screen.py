"""The whole screen: the game or a page, fitted to a width and a height."""

from collections.abc import Callable, Sequence

from rich.text import Text

from ante.engine.core.state import Phase
from ante.terminal import sections
from ante.terminal.bindings import BINDINGS, BY_KEY, CARDS, Binding, shown_key
from ante.terminal.decisions import Use, n_slots, use_of
from ante.terminal.faces import BAD, DIM, GOOD, KEY, TITLE, cut, flow, pretty
from ante.terminal.game import Game
from ante.terminal.pages import deck_page, items_page, keys_page, run_page, wrapped
from ante.terminal.preview import Preview, preview_of, preview_text
from ante.terminal.sections import Look
from ante.terminal.session import Session

Lines = list[Text]
PAGES: dict[str, Callable[[Session, Look], Lines]] = {"?": keys_page, "D": deck_page, "i": run_page, "j": items_page}
MOST_SAID = 4  # lines of a message
LEAST_SAID = 2  # if the screen is full


def screen(game: Game, look: Look, height: int | None = None) -> Lines:
    """Return the lines of the screen: at most `height` of them, if it is given, each at most as wide as the look."""
    lines = page(game, look, height) if game.page else table(game, look, height)
    for line in lines:
        line.rstrip()
    return [cut(line, look.width, look.symbols) for line in lines]


def page(game: Game, look: Look, height: int | None) -> Lines:
    """Return the open page, scrolled if it is higher than the screen."""
    title = Text(f"{BY_KEY[game.page].about.capitalize()} (esc closes this page)", TITLE)
    lines = PAGES[game.page](game.session, look)
    if height is None or len(lines) + 1 <= height:
        return [title, *lines]
    room = max(1, height - 2)
    game.scroll = min(game.scroll, len(lines) - room)
    first = game.scroll
    below = f"lines {first + 1} to {first + room} of {len(lines)}; up and down scroll"
    return [title, *lines[first : first + room], Text(below, DIM)]


def table(game: Game, look: Look, height: int | None) -> Lines:
    """Return the game: as much of it as the height allows, the keys always."""
    session, s = game.session, game.session.s
    full = [
        sections.head(s, look) + sections.result(s),
        sections.owned(session, look),
        body(game, look),
        sections.hand(session, look) + preview_lines(session, look),
        message_lines(game, look, MOST_SAID),
        footer(game, look),
    ]
    if height is None:
        return join(full, gaps=True)
    if sum(map(len, full)) > height:
        full[1] = sections.owned(session, look, short=True)
    if sum(map(len, full)) > height:
        full[4] = message_lines(game, look, LEAST_SAID)
    fit_messages(full, height, len(question(game)))
    bottom = len(full[-1])
    lines = join(full[:-1], gaps=sum(map(len, full)) + sum(map(bool, full)) - 1 <= height)[: height - bottom]
    return [*lines, *([Text()] * (height - bottom - len(lines))), *full[-1]]


def fit_messages(parts: list[Lines], height: int, kept: int) -> None:
    """Shorten the messages, the last part but one, to the height; the last `kept` lines of them stay."""
    messages = parts[-2]
    room = max(kept, height - sum(map(len, parts)) + len(messages))
    parts[-2] = messages[: min(room, len(messages)) - kept] + messages[len(messages) - kept :]


def join(parts: Sequence[Lines], gaps: bool) -> Lines:
    """Return all lines, with an empty line between parts if `gaps`."""
    lines: Lines = []
    for part in parts:
        if part and lines and gaps:
            lines.append(Text())
        lines += part
    return lines


def body(game: Game, look: Look) -> Lines:
    """Return what belongs to the phase: the blinds, the payout, the shop or the open pack."""
    s = game.session.s
    if s.phase == Phase.BLIND_SELECT:
        return sections.blinds(s, look)
    if s.phase == Phase.ROUND_END:
        return sections.payout(s)
    if s.phase == Phase.SHOP:
        return sections.shop(s, look)
    return sections.pack(s, look) if s.phase == Phase.PACK else []


def preview_lines(session: Session, look: Look) -> Lines:
    """Return the preview of the selected cards; nothing if they cannot be played."""
    found = preview_of(session.s, session.selected)
    if found is None:
        return [Text("Select cards to see what they score.", DIM)] if session.s.phase == Phase.PLAY else []
    return wrapped(preview_text(session.s, found), look.width, style_of(session, found))


def style_of(session: Session, found: Preview) -> str:
    """Return the colour of a preview: whether the cards beat the blind."""
    needed = float(session.s.target) - float(session.s.chips)
    if found.refused:
        return BAD
    return f"bold {GOOD}" if found.hand and found.low >= needed else "bold"


def message_lines(game: Game, look: Look, most: int) -> Lines:
    """Return what the last keys did, the advice, and the question for a number."""
    said = [line for words in game.said for line in wrapped(pretty(words, look.symbols), look.width, "italic")]
    if len(said) > most:
        said = [*said[: most - 1], Text.assemble(said[most - 1], look.symbols.cut)]
    words = [pretty(line, look.symbols) for line in game.advice]
    advice = [*wrapped("".join(words[:1]), look.width, TITLE), *map(Text, words[1:])]
    return [*said, *advice, *question(game)]


def question(game: Game) -> Lines:
    """Return the question for a slot, if a key waits for it."""
    binding = game.pending
    if binding is None:
        return []
    n = n_slots(game.session.s, binding)
    return [
        Text(f"{binding.key} {binding.label}: which {binding.slot}, 1{f' to {n}' if n > 1 else ''}? (esc: none)", KEY)
    ]


def footer(game: Game, look: Look) -> Lines:
    """Return the keys that act now; in brackets those that act if other cards are selected."""
    entries = []
    for binding in BINDINGS:
        use = use_of(game.session, binding)
        if binding.label and use != Use.NO:
            entries.append(entry(binding, use, int(game.session.s.n_hand)))
    return flow(entries, look.width, 2)


def entry(binding: Binding, use: Use, n_hand: int) -> Text:
    """Return one key of the footer."""
    key = shown_key(binding)
    if binding.key == CARDS:
        key = f"1-{CARDS[min(n_hand, len(CARDS)) - 1]}" if n_hand > 1 else "1"
    if use == Use.WITH_CARDS:
        return Text(f"({key} {binding.label})", DIM)
    return Text.assemble((key, KEY), f" {binding.label}")
