"""Hostile inputs as a table: each case is a command or a reader, an input, and its error message.

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

SECONDS = 60.0  # the first command may import libraries
MEGABYTES = 1024  # additional memory of a case
ADDRESSES = 12 << 30  # bytes of address space: imported libraries map several gigabytes
LONGEST = 4000  # maximum number of characters in a message


class TooSlow(AssertionError):
    """A case exceeded its time limit."""


@dataclass(frozen=True)
class Case:
    """One hostile input.

    name      unique in its list
    run       creates the input in an empty folder and passes it to a command or a reader: see `command`, `reader`
    says      fragment of the error message, case-insensitive
    refused   whether it must be refused; otherwise it may also be accepted, but without a traceback
    seconds   time limit
    megabytes memory limit
    """

    name: str
    run: Callable[[Path], Any]
    says: str = ""
    refused: bool = True
    seconds: float = SECONDS
    megabytes: int = MEGABYTES


def command(*words: str, make: Callable[[Path], Any] | None = None, stdin: str = "") -> Callable[[Path], Any]:
    """Run `ante WORDS` in this process; `{}` in a word is the folder of the case, in which `make` creates its files."""

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
    """Run a reader on the file of this name that `make` creates. A BalatroError counts as a command's error message."""

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
    """Return the cases as parameters of a test; all except about `quick` evenly spread ones are marked `hostile`.

    SPEED: if this run selects no test with that mark, only the others are returned.
    """
    names = [case.name for case in table]
    assert len(set(names)) == len(names), sorted(name for name in set(names) if names.count(name) > 1)
    every = max(1, len(table) // quick)
    rest = "not hostile" not in os.environ.get("PYTEST_MARKERS", "")  # unset in `tests.fuzz`
    return [
        pytest.param(case, id=case.name, marks=pytest.mark.hostile if number % every else ())
        for number, case in enumerate(table)
        if rest or number % every == 0
    ]


def thinned(values: Sequence[Any], every: int) -> list[Any]:
    """Return values as parameters of a test; all except each `every`th one are marked `hostile`."""
    return [pytest.param(value, marks=pytest.mark.hostile if i % every else ()) for i, value in enumerate(values)]


def check(case: Case, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Check that the case ends in time, within its memory, with exit code 2 and a message with the fragment."""
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
    message = " ".join(word.strip("│╭╰─╮╯") for word in text.split())  # tyro prints a box around its messages
    assert message.strip(), "refused without a message"
    assert len(message) <= LONGEST, f"{len(message)} characters: {message[:200]} ..."
    obeyed = [letter for letter in text if unicodedata.category(letter) == "Cc" and letter not in "\n\t"]
    assert not obeyed, f"control characters reach the terminal: {obeyed[:5]}"
    plain = " ".join(message.split()).lower()
    assert says.lower() in plain, f"{says!r} is not in: {plain[:1000]}"


def peak() -> int:
    """Return the peak memory of this process, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Limit time and address space of this process."""

    def late(*_: Any) -> None:
        raise TooSlow(f"still running after {seconds:g} s")

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
