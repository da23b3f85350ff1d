"""A game on a terminal and by lines of keys: input, output, and how it ends."""

import io
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from rich.console import Console

from ante.cli import outcome
from ante.engine.core.state import Phase
from ante.env.replay import Heading, check_replay, write_replay
from ante.terminal.bindings import DOWN, ESCAPE, LEFT, RIGHT, SPACE, UP
from ante.terminal.console import play
from ante.terminal.reading import keys_of_line, terminal_keys, unbuffered
from tests.terminal.made import new_game, printed

COMMAND = [sys.executable, "-m", "ante.cli", "play", "--seed", "TESTSEED", "--adviser", "rules", "--save", "game.txt"]


def test_a_line_is_a_sequence_of_keys() -> None:
    assert keys_of_line("e 12 <left><space> p\n") == ["e", "1", "2", LEFT, SPACE, "p"]
    assert keys_of_line("# a comment\n") == keys_of_line("  \n") == []


@contextmanager
def terminal(typed: bytes) -> Iterator[tuple[io.TextIOWrapper, int]]:
    """Yield a terminal in which something is typed, as a stream and as the other end."""
    other, here = pty.openpty()
    with os.fdopen(here, "r+b", buffering=0) as raw, io.TextIOWrapper(raw, "utf-8", write_through=True) as stream:
        os.write(other, typed)
        yield stream, other
    os.close(other)


def test_keys_of_a_terminal_are_read_one_by_one() -> None:
    typed = "e\x1b[D\x1b[C\x1bOA\x1b[B é\x1b[6~p".encode() + b"\x1b"
    with terminal(typed) as (stream, _), unbuffered(stream):
        keys = terminal_keys(stream)
        found = [next(keys)[0] for _ in range(10)]
    assert found == ["e", LEFT, RIGHT, UP, DOWN, SPACE, "é", DOWN, "p", ESCAPE]


def test_a_game_on_a_terminal_is_drawn_on_the_whole_screen_and_restored(tmp_path: Path) -> None:
    game = new_game("TESTSEED", tmp_path / "game.txt")
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=80, height=24, _environ={"TERM": "xterm-256color"})
    with terminal(b"e12\x1b[Cp?q") as (stream, other):
        before = os.get_terminal_size(other)
        play(game, console, stream, [])
        assert os.get_terminal_size(other) == before
    text = shown.getvalue()
    assert text.index("\x1b[?1049h") < text.index("Score ") < text.index("\x1b[?1049l")
    assert "in progress in ante 1 with 0 blinds beaten, seed TESTSEED. Saved: ante play --resume " in text
    assert len(game.session.actions) == 2 and check_replay((tmp_path / "game.txt").read_text()) is None


def test_lines_print_a_screen_each_and_the_end_says_how_it_stands() -> None:
    console, text = printed()
    play(new_game(), console, io.StringIO(), ["# start\n", "e\n", "\n", "12p\n"])
    shown = text.getvalue()
    assert shown.count("Ante 1 of 8") == 3 and "\n> 12p\n" in shown
    assert shown.endswith("Not saved: --save FILE saves a game.\n")
    assert max(map(len, shown.splitlines()[:-1])) <= 80
    assert "\x1b" not in shown


def test_keys_after_quit_are_not_played() -> None:
    console, text = printed()
    game = new_game()
    play(game, console, io.StringIO(), ["qe\n", "e\n"])
    assert game.session.s.phase == Phase.BLIND_SELECT
    assert "No decision was taken, nothing is saved." in text.getvalue()


def test_the_command_plays_lines_saves_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO("e 12345 p\n"))
    assert outcome(COMMAND[3:]) == 0
    out = capsys.readouterr().out
    assert "Saved: ante play --resume game.txt continues it." in out
    monkeypatch.setattr(sys, "stdin", io.StringIO("i\n"))
    assert outcome(["play", "--resume", "game.txt"]) == 0
    out = capsys.readouterr().out
    assert "hands 3" in out and re.search(r"High Card .* 1\n|Pair .* 1\n", out)
    assert outcome(["replay", "check", "game.txt"]) == 0
    assert "2 decisions, equal" in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.StringIO("1 d\n"))
    assert outcome(["play", "--resume", "game.txt", "--save", "./game.txt"]) == 0
    assert "Saved: ante play --resume game.txt" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["--resume", "mine.txt"]])
def test_a_game_never_replaces_a_file_other_than_its_own(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("letter.txt").write_text("dear")
    Path("mine.txt").write_text(write_replay(Heading("TESTSEED"), []))
    monkeypatch.setattr(sys, "stdin", io.StringIO("e 12 p\n"))
    assert outcome(["play", "--adviser", "rules", *words, "--save", "letter.txt"]) == 2
    said = "letter.txt exists and is not replaced: give another file, or continue its game with --resume"
    assert said in capsys.readouterr().err
    assert Path("letter.txt").read_text() == "dear"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--resume", "none.txt"], "cannot read none.txt"),
        (["--resume", "x.txt", "--seed", "A"], "--resume continues a saved game: leave out --seed"),
        (["--save", "none/x.txt"], "cannot write none/x.txt"),
        (["greedy", "--save", "x.txt"], "--save and --resume are for your own games: leave out greedy"),
        (["--seed", "?"], "is not a game seed"),
    ],
)
def test_bad_options_are_one_sentence(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(["play", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGHUP, 130, marks=pytest.mark.slow)]
)
def test_an_interrupted_game_is_saved_and_the_terminal_restored(tmp_path: Path, number: int, code: int) -> None:
    other, here = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": os.pathsep.join(sys.path)}
    heeds = partial(signal.signal, number, signal.SIG_DFL)  # a test run in the background ignores SIGINT
    with subprocess.Popen(
        COMMAND, stdin=here, stdout=here, stderr=here, cwd=tmp_path, env=environment, preexec_fn=heeds
    ) as run:
        os.close(here)
        os.write(other, b"e")
        seen = b""
        while b"hands 4" not in seen:
            seen += os.read(other, 4096)
        run.send_signal(number)
        seen += rest_of(other)
        assert run.wait() == code
    os.close(other)
    text = (tmp_path / "game.txt").read_text()
    assert "select-blind" in text and check_replay(text) is None
    assert number == signal.SIGHUP or b"Saved: ante play --resume game.txt" in seen


def rest_of(terminal: int) -> bytes:
    """Return what is still written until the other end is closed."""
    rest = b""
    while True:
        try:
            data = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            return rest
        if not data:
            return rest
        rest += data


@pytest.mark.slow
def test_a_closed_pipe_saves_the_game_and_says_so(tmp_path: Path) -> None:
    """As with `ante play | head -1`."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipe = subprocess.PIPE
    with subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, stderr=pipe, cwd=tmp_path, env=environment) as run:
        assert run.stdin and run.stdout and run.stderr
        run.stdin.write(b"e\n")
        run.stdin.flush()
        while b"hands 4  discards" not in run.stdout.readline():
            pass
        run.stdout.close()
        run.stdin.write(b"i\n" * 500)
        run.stdin.close()
        error = run.stderr.read().decode()
        assert run.wait() == 141
    assert error == (
        "in progress in ante 1 with 0 blinds beaten, seed TESTSEED. Saved: ante play --resume game.txt continues it.\n"
    )
    assert check_replay((tmp_path / "game.txt").read_text()) is None
