"""Hostile inputs as a table: each case is a command or a reader, an input, and the sentence that refuses it.

A file of cases makes a list and parametrizes one test with it::

    CASES = [Case("negative games", command("eval", "random", "--games", "-3"), "--games -3")]

    @pytest.mark.parametrize("case", cases(CASES))
    def test_is_refused_in_a_sentence(case: Case, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        check(case, tmp_path, capfd)

`make test` runs a selection of each list, `make test-hostile` all of it. `files.py` makes hostile files for any reader.
"""

import os
import resource
import signal
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from ante.cli import outcome
from ante.errors import BalatroError

SECONDS = 60.0  # the first command of some imports libraries for many
MEGABYTES = 1024  # of memory that a case may take beyond what the process has
ADDRESSES = 12 << 30  # bytes of address space: libraries that a command imports map some gigabytes
LONGEST = 4000  # characters of a sentence


class TooSlow(AssertionError):
    """A case that ran past its time."""


@dataclass(frozen=True)
class Case:
    """One hostile input.

    name      unique in its list
    run       gets an empty folder, makes the input there and gives it to a command or a reader: see `command`, `reader`
    says      fragment of the sentence, any case of letters
    refused   whether it must be refused; else it may be accepted too, but not end in a traceback
    seconds   after which it counts as hanging
    megabytes that it may take
    """

    name: str
    run: Callable[[Path], Any]
    says: str = ""
    refused: bool = True
    seconds: float = SECONDS
    megabytes: int = MEGABYTES


def command(*words: str, make: Callable[[Path], Any] | None = None, stdin: str = "") -> Callable[[Path], Any]:
    """Runs `ante WORDS` in this process; `{}` in a word is the folder of the case, in which `make` has made its files."""

    def run(folder: Path) -> int:
        if make is not None:
            make(folder)
        given = [word.replace("{}", str(folder)) for word in words]
        before, sys.stdin, argv, sys.argv = sys.stdin, StringIO(stdin), sys.argv, ["ante", *given]
        try:
            return int(outcome(given) or 0)
        finally:
            sys.stdin, sys.argv = before, argv

    return run


def reader(read: Callable[[Path], Any], make: Callable[..., Path], *name: str) -> Callable[[Path], Any]:
    """Gives a reader the file that `make` makes, of this name. A BalatroError counts as the sentence of a command."""

    def run(folder: Path) -> int:
        file = make(folder, *name)
        try:
            with redirect_stdout(StringIO()):
                read(file)
        except BalatroError as error:
            print(f"ante: {error}", file=sys.stderr)
            return 2
        return 0

    return run


def cases(table: Sequence[Case], quick: int = 40) -> list[Any]:
    """The cases as parameters of a test; all but some `quick`, evenly spread, bear the marker `hostile`."""
    names = [case.name for case in table]
    assert len(set(names)) == len(names), sorted(name for name in set(names) if names.count(name) > 1)
    every = max(1, len(table) // quick)
    return [
        pytest.param(case, id=case.name, marks=() if number % every == 0 else pytest.mark.hostile)
        for number, case in enumerate(table)
    ]


def check(case: Case, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Check that the case ends in time, in bounded memory, with exit code 2 and one sentence with the fragment."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        with limited(case.seconds):
            before = peak()
            code = case.run(folder)
            assert peak() - before <= case.megabytes, f"{peak() - before} MB of memory"
    finally:
        os.chdir(here)
    out, err = capfd.readouterr()
    assert code in ((2,) if case.refused else (0, 1, 2)), f"exit code {code}: {out[-500:]} {err[-500:]}"
    assert "Traceback" not in out + err
    if code == 2:
        check_sentence(out + err, case.says)


def check_sentence(text: str, says: str) -> None:
    """Check that the output is short, has no terminal control characters, and contains the fragment."""
    told = " ".join(word.strip("│╭╰─╮╯") for word in text.split())  # tyro draws a box around its sentences
    assert told.strip(), "refused without a word"
    assert len(told) <= LONGEST, f"{len(told)} characters: {told[:200]} ..."
    obeyed = [letter for letter in text if unicodedata.category(letter) == "Cc" and letter not in "\n\t"]
    assert not obeyed, f"control characters reach the terminal: {obeyed[:5]}"
    plain = " ".join(told.split()).lower()
    assert says.lower() in plain, f"{says!r} is not in: {plain[:1000]}"


def peak() -> int:
    """The most memory that this process ever had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """So much time, and little address space, are left to this process."""

    def late(*_: Any) -> None:
        raise TooSlow(f"still at work after {seconds:g} s")

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    handler = signal.signal(signal.SIGALRM, late)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + ADDRESSES, hard))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
