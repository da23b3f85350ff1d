"""Uploads in parts: several at a time, and only the missing ones after a failure."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from ante.storage.multipart import PARALLEL, put_parts, read_notes

ABOUT = {"Bucket": "game-runs", "Key": "a"}
PART, COUNT = 1000, 9


class Server:
    """The calls of an upload, as S3 responds to them; `meet` is waited for by every part."""

    def __init__(self, meet: threading.Barrier | None = None, fails: int = 0) -> None:
        self.meet, self.fails = meet, fails
        self.parts: dict[int, bytes] = {}
        self.whole = b""

    def create_multipart_upload(self, **_: Any) -> dict[str, str]:
        return {"UploadId": "u"}

    def upload_part(self, PartNumber: int, Body: bytes, **_: Any) -> dict[str, str]:
        if self.meet:
            self.meet.wait(10)
        if PartNumber == self.fails:
            raise OSError("the line is cut")
        assert PartNumber not in self.parts, "a part is sent twice"
        self.parts[PartNumber] = Body
        return {"ETag": f"e{PartNumber}"}

    def complete_multipart_upload(self, MultipartUpload: dict[str, Any], **_: Any) -> None:
        numbers = [part["PartNumber"] for part in MultipartUpload["Parts"]]
        assert numbers == sorted(numbers)
        self.whole = b"".join(self.parts[number] for number in numbers)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file of nine parts, the last of which is short."""
    data = b"".join(bytes([65 + number]) * PART for number in range(COUNT))
    (tmp_path / "file").write_bytes(data[:-1])
    return tmp_path / "file"


def test_parts_are_sent_several_at_a_time(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: 2 * PARALLEL * PART])
    server, counted = Server(threading.Barrier(PARALLEL)), list[int]()
    put_parts(server, ABOUT, file, "0" * 64, PART, None, counted.append)
    assert server.whole == file.read_bytes() and sum(counted) == file.stat().st_size


def test_after_a_failure_only_the_missing_parts_are_sent(file: Path, tmp_path: Path) -> None:
    notes, server, counted = tmp_path / "notes", Server(fails=7), list[int]()
    with pytest.raises(OSError, match="the line is cut"):
        put_parts(server, ABOUT, file, "0" * 64, PART, notes, counted.append)
    noted = {part["PartNumber"] for part in json.loads(notes.read_text())["parts"]}
    assert noted <= set(server.parts) and 7 not in noted and not server.whole
    for number in set(server.parts) - noted:  # under way when another one failed: sent again
        del server.parts[number]
    server.fails, before = 0, sum(counted)
    put_parts(server, ABOUT, file, "0" * 64, PART, notes, counted.append)
    assert server.whole == file.read_bytes() and not notes.exists()
    assert sum(counted) - before == file.stat().st_size, "the parts that were there before are counted too"


PART_NOTES = {"PartNumber": 1, "ETag": "e1", "ChecksumSHA256": "c1"}


@pytest.mark.parametrize(
    "parts",
    [
        None,
        {},
        [None],
        [{}],
        [{**PART_NOTES, "PartNumber": "1"}],
        [{**PART_NOTES, "PartNumber": 0}],
        [PART_NOTES] * 2,
        5,
    ],
)
def test_damaged_notes_are_replaced(parts: Any, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text(json.dumps({"key": "k", "parts": parts}))
    assert read_notes(tmp_path / "notes", {"key": "k"}) == {"key": "k", "parts": []}
    (tmp_path / "notes").write_text(json.dumps({"key": "k", "parts": [PART_NOTES]}))
    assert read_notes(tmp_path / "notes", {"key": "k"})["parts"] == [PART_NOTES]
    (tmp_path / "notes").write_text("{")
    assert read_notes(tmp_path / "notes", {"key": "k"}) == {"key": "k", "parts": []}
