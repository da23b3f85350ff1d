"""`ante.files`, used by all readers: refuses files that are irregular, too large, incomplete, not text, or not JSON."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ante.files import Unreadable, read_bytes, read_json, read_text, whole_rows
from ante.training.run_store.lock import BadFolder, locked
from tests.hostile.files import BOMBS, NEVER, gzip_bomb, holds
from tests.hostile.harness import Case, cases, check, command, limited, reader

NO_FILE = (
    "missing",
    "directory",
    "named pipe",
    "socket",
    "endless device",
    "terminal device",
    "link to itself",
    "link to nothing",
    "terabyte",
    "name of 300 letters",
    "through a file",
)
NO_TEXT = ("noise", "noise that begins like gzip", "utf-16", "latin-1", "pickle")
JSON = ("null", "true", "number", "infinite number", "not a number", "string", "list", "list of lists", "list of null", "object")  # fmt: skip
READERS: dict[str, tuple[Callable[[Path], Any], tuple[str, ...]]] = {
    "bytes": (read_bytes, NO_FILE),
    "text": (read_text, (*NO_FILE, *NO_TEXT)),
    "rows": (whole_rows, (*NO_FILE, *NO_TEXT, "one long line")),
    "json": (read_json, tuple(name for name in NEVER if name not in JSON)),
}

CASES = [
    Case(f"{name} {made}", reader(read, make, "input"), "cannot read", made in refused)
    for name, (read, refused) in READERS.items()
    for made, make in NEVER.items()
]
CASES += [
    Case(f"text {name}", reader(read_text, make, "input"), "cannot read", megabytes=300) for name, make in BOMBS.items()
]
CASES += [
    Case("a command's file is missing", command("replay", "show", "{}/no.txt"), "cannot read"),
]


@pytest.mark.parametrize("case", cases(CASES))
def test_a_file_that_cannot_be_read_is_refused_in_a_sentence(
    case: Case, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    check(case, tmp_path, capfd)


@pytest.mark.parametrize("made", NO_FILE)
def test_a_refused_file_is_closed(made: str, tmp_path: Path) -> None:
    file, before = NEVER[made](tmp_path, "input"), len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(Unreadable):
            read_bytes(file, 1000)
    assert len(os.listdir("/proc/self/fd")) == before


def test_what_unpacks_to_just_the_most_is_read(tmp_path: Path) -> None:
    file = holds(gzip_bomb(1 << 20))(tmp_path)
    assert len(read_text(file, 1 << 20)) == 1 << 20


def test_two_gzip_members_are_one_text(tmp_path: Path) -> None:
    import gzip

    file = holds(gzip.compress(b'{"a":') + gzip.compress(b"1}"))(tmp_path)
    assert read_json(file) == {"a": 1}


def test_a_row_that_is_still_being_written_is_left_out(tmp_path: Path) -> None:
    file = holds(b"a,b\n1,2\n3")(tmp_path)
    assert whole_rows(file) == [{"a": "1", "b": "2"}]


def test_a_lock_that_is_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".lock")
    with limited(5), pytest.raises(BadFolder, match="cannot be written"), locked(tmp_path):
        pass


def test_a_file_that_is_too_large_leaves_its_contents_in_no_traceback(tmp_path: Path) -> None:
    file = holds(gzip_bomb(1 << 25))(tmp_path)
    with pytest.raises(Unreadable) as refused:
        read_text(file, 1 << 24)
    entry = refused.value.__traceback__
    while entry is not None:
        assert not [
            value for value in entry.tb_frame.f_locals.values() if isinstance(value, bytes) and len(value) > 1 << 24
        ]
        entry = entry.tb_next
