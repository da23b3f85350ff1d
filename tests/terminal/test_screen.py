"""The screen: it fits, hides what the player cannot know, and is readable without colour."""

import io
import re
from xml.etree import ElementTree

import pytest
from rich.console import Console
from rich.text import Text
from tools.recording import recording
from tools.write_screens import GAME_KEYS, GAME_SEED, page_keys, pictures, stale

from ante.catalog.cards import Suit
from ante.engine.core.state import Phase
from ante.terminal.console import show
from ante.terminal.faces import ASCII, symbols_for
from ante.terminal.reading import keys_of_line
from ante.terminal.screen import screen
from ante.terminal.sections import Look
from tests.support.table import deal, facing, give, hand_of, in_round, own, redeal, to_shop
from tests.terminal.made import drawn, game_of, new_game, press, random_games

LONGEST_JOKERS = ("j_ceremonial", "j_todo_list", "j_idol", "j_mail", "j_yorick")


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(80, 24), (80, None), (100, 40)])
def test_no_screen_of_random_games_is_wider_or_higher_than_the_terminal(width: int, height: int | None) -> None:
    phases = set()
    for s in random_games(60, 3, True):
        game = game_of(s)
        phases.add(int(s.phase))
        if s.n_hand:
            press(game, "12")
        for keys in ("", "h", "?", "D", "i", "j"):
            press(game, keys)
            lines = drawn(game, height, width)
            assert max(map(len, lines)) <= width, (keys, lines)
            assert height is None or len(lines) <= height
    assert phases >= set(Phase) - {Phase.OVER}


def test_the_keys_and_the_hand_stay_on_a_full_screen() -> None:
    s = in_round()
    own(s, *LONGEST_JOKERS)
    give(s, "c_death", "c_wheel_of_fortune")
    redeal(s, "S_A:m_glass/foil=Red H_A:m_lucky/holo S_K D_K C_9")
    game = game_of(s)
    press(game, "12345hx")
    lines = drawn(game)
    shown = "\n".join(lines)
    assert len(lines) == 24
    for words in ("p play", "q quit", "A♠", "Glass", "FoilR".replace("R", "r"), "The Idol", "Two Pair (level 1): "):
        assert words in shown, words
    assert "x sell joker: which joker, 1 to 5? (esc: none)" in lines
    game.advice = ["Advice of a policy:"] * 9
    lines = drawn(game)
    assert len(lines) == 24
    assert "x sell joker: which joker, 1 to 5? (esc: none)" in lines and "quit" in lines[-1]


def test_a_card_shows_rank_suit_and_properties_without_colour() -> None:
    s = hand_of("S_T H_T C_T D_T S_A:m_glass/foil=Red S_A:m_stone")
    s.cards[s.hand[3]].debuffed = 1
    shown = "\n".join(drawn(game_of(s)))
    for words in ("10♠", "10♥", "10♣", "10♦!", "Glass", "Foilr", "Stone"):
        assert words in shown, words


def test_every_suit_has_its_own_letter_and_symbol() -> None:
    for symbols in (symbols_for("utf-8"), symbols_for("ascii")):
        assert len(set(symbols.suits)) == len(Suit)
    assert symbols_for("latin-1") is ASCII and symbols_for(None) is ASCII


def test_a_terminal_without_unicode_and_colour_gets_ascii() -> None:
    raw = io.BytesIO()
    console = Console(file=io.TextIOWrapper(raw, "ascii"), width=80)
    for s in (to_shop(in_round()), deal("S_A:m_glass H_T", *LONGEST_JOKERS)):
        game = game_of(s)
        for keys in ("1", "h", "?", "D", "i", "j"):
            press(game, keys)
            show(game, console)
    console.file.flush()
    text = raw.getvalue().decode("ascii")
    assert "\x1b" not in text
    assert "|10H" in text and "+-----+" in text


@pytest.mark.parametrize(("environment", "colour"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_no_color_is_respected(environment: dict[str, str], colour: bool) -> None:
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=80, _environ={"TERM": "xterm-256color", **environment})
    game = new_game()
    press(game, "e")
    show(game, console)
    codes = {int(code) for found in re.findall(r"\x1b\[([\d;]+)m", text.getvalue()) for code in found.split(";")}
    assert bool(codes & {*range(30, 38), *range(90, 98)}) == colour


def test_a_selected_card_is_one_line_higher() -> None:
    game = game_of(hand_of("S_2 H_A"))
    before = drawn(game)
    press(game, "2")
    after = drawn(game)

    def row(lines: list[str], face: str) -> int:
        return next(i for i, line in enumerate(lines) if face in line)

    assert row(after, "A♥") == row(before, "A♥") - 1
    assert row(after, "2♠") == row(before, "2♠")


def test_face_down_cards_and_hidden_jokers_are_not_shown() -> None:
    s = facing("bl_final_acorn", "S_A H_Q", owned=("j_joker", "j_duo", "j_trio"), ante=8)
    s.cards[s.hand[1]].face_down = 1
    game = game_of(s)
    for keys in ("", "j", "D"):
        press(game, keys)
        shown = "\n".join(drawn(game, None))
        assert "Q♥" not in shown
    for keys in ("j", ""):
        press(game, keys)
    rows = [line for line in drawn(game, None) if "face down" in line]
    assert len(rows) == 3 and all("one of: Joker, The Duo, The Trio" in line for line in rows)
    press(game, "D")
    assert "52 of 52" not in drawn(game, None)[1]


def test_the_deck_page_counts_what_is_not_drawn() -> None:
    game = game_of(hand_of("S_A S_A H_2 H_2 C_2 D_2 D_3 D_4"))
    s = game.session.s
    press(game, "D")
    lines = drawn(game, None)
    assert lines[1] == "44 of 52 cards are not drawn"
    spades = next(line for line in lines if line.startswith("♠")).split()
    left = [int(s.cards[i].rank) for i in s.deck[: s.n_deck] if s.cards[i].suit == Suit.SPADES]
    assert spades[-1] == str(len(left))
    assert spades[2] == (str(left.count(14)) if 14 in left else ".")


def test_the_shop_lists_prices_texts_and_what_is_too_expensive() -> None:
    s = to_shop(in_round())
    game = game_of(s)
    shown = "\n".join(drawn(game))
    assert "R reroll $5" in shown and "Vouchers (v)" in shown and "take 1 of" in shown
    assert f"${int(s.row[0].cost)}" in shown


def test_the_payout_is_the_sum_of_its_parts() -> None:
    s = in_round()
    s.target, s.dollars = 1.0, 14
    game = game_of(s)
    press(game, "1p")
    lines = drawn(game)
    first = next(i for i, line in enumerate(lines) if "Payout" in line)
    assert lines[first].endswith(f"Payout ${game.session.s.payout}")
    assert lines[first + 1] == "Small Blind $3, hands left $3, interest, jokers and tags $2"
    assert game.session.s.payout == 8


def test_large_hands_are_listed() -> None:
    s = in_round()
    s.hand_size = 20
    for i in range(int(s.n_hand), 20):
        s.n_deck -= 1
        s.hand[i] = s.deck[s.n_deck]
    s.n_hand = 20
    game = game_of(s)
    press(game, ["0", "<right>", "<space>"])
    assert game.session.selected == 0b11000000000
    lines = drawn(game)
    assert "[0]" in "\n".join(lines) and max(map(len, lines)) <= 80


def test_a_long_page_scrolls() -> None:
    game = new_game()
    press(game, "?")
    first = drawn(game)
    press(game, ["<down>"] * 50)
    last = drawn(game)
    assert len(first) == len(last) == 24
    assert "up and down scroll" in first[-1] and first[1] != last[1]


def test_the_pictures_of_the_documentation_show_their_keys() -> None:
    """After a change: make screens."""
    assert page_keys() == ["e", "23", "h"]
    assert stale(pictures()) == []


def test_the_recorded_game_is_won_and_each_of_its_lines_acts() -> None:
    game = new_game(GAME_SEED)
    for line in GAME_KEYS.read_text().splitlines():
        before = (len(game.session.actions), game.session.selected, game.page, game.advice)
        said = press(game, keys_of_line(line))
        assert (len(game.session.actions), game.session.selected, game.page, game.advice) != before or line[0] == "#", (
            said
        )
    assert game.session.s.won and game.session.s.ante == 9 and len(game.session.actions) == 183


def test_a_recording_stores_equal_lines_once_and_shows_each_screen_in_its_time() -> None:
    one, two = Text("same & same"), Text.assemble(("red", "bold red"), "  two")
    drawn_svg = ElementTree.fromstring(recording([([one, two], 1.0), ([one, Text()], 3.0)], 20, 2, "a <title>"))
    svg = {"": "http://www.w3.org/2000/svg"}
    words = [text.text for text in drawn_svg.findall(".//text", svg)]
    assert words == ["same & same", "red", "two"]
    used = [[use.get("href") for use in g.findall("use", svg)] for g in drawn_svg.findall(".//g/g/g", svg)]
    assert used == [["#l0", "#l1"], ["#l0"]]
    style = drawn_svg.findtext("style", namespaces=svg) or ""
    assert "0.000% { transform: translateX(-0px); }" in style and "25.000% { transform: translateX(-192px); }" in style
    assert drawn_svg.findtext("title", namespaces=svg) == "a <title>"


def test_the_screen_uses_the_width() -> None:
    s = in_round()
    own(s, "j_ceremonial")
    narrow, wide = (
        next(line.plain for line in screen(game_of(s), Look(width, ASCII), None) if "Dagger" in line.plain)
        for width in (80, 200)
    )
    assert len(narrow) == 80 and narrow.endswith("~")
    assert len(wide) > 150 and not wide.endswith("~")
