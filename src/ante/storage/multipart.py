"""Resumable multipart uploads of large files. A local file of notes records the uploaded parts.

The notes contain the ETag and SHA-256 of each part, which completion requires and not all servers list.
"""

import base64
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from ante.files import Unreadable, read_object, write_text
from ante.storage.store import Progress

PART = 8 << 20  # bytes; S3 requires at least 5 MiB and at most 10,000 parts
PARALLEL = 4  # parts sent at a time
GONE = ("NoSuchUpload", "404")

PART_NOTES = {"PartNumber", "ETag", "ChecksumSHA256"}
MOST_PARTS = 10_000  # of an upload


def put_parts(
    client: Any,
    about: dict[str, Any],
    file: Path,
    sha256: str,
    part_bytes: int,
    resume: Path | None,
    progress: Progress,
) -> None:
    """Upload the object in parts, PARALLEL of them at a time.

    about   bucket, key and properties of the object
    resume  the file of notes; without it, a failed upload is aborted, so no parts remain on the server
    """
    bucket, key = about["Bucket"], about["Key"]
    part_bytes = max(part_bytes, -(-file.stat().st_size // MOST_PARTS))
    wanted = {"bucket": bucket, "key": key, "sha256": sha256, "part_bytes": part_bytes}
    notes = read_notes(resume, wanted)
    try:
        send(client, about, notes, file, resume, progress)
    except ClientError as error:
        if error.response["Error"]["Code"] not in GONE or not notes.get("upload"):
            raise
        # The upload no longer exists: it was completed but its response was lost, or the server cleaned it up.
        if not is_stored(client, bucket, key, sha256):
            send(client, about, {**wanted, "parts": []}, file, resume, progress)
    if resume:
        resume.unlink(missing_ok=True)


def send(
    client: Any, about: dict[str, Any], notes: dict[str, Any], file: Path, resume: Path | None, progress: Progress
) -> None:
    """Upload the missing parts, then complete the upload."""
    where = {"Bucket": about["Bucket"], "Key": about["Key"]}
    if not notes.get("upload"):
        notes["upload"] = client.create_multipart_upload(**about, ChecksumAlgorithm="SHA256")["UploadId"]
        keep(resume, notes)
    where["UploadId"] = notes["upload"]
    try:
        send_missing(client, where, notes, file, resume, progress)
        parts = sorted(notes["parts"], key=lambda part: part["PartNumber"])
        client.complete_multipart_upload(**where, MultipartUpload={"Parts": parts})
    except Exception:
        if resume is None:
            with suppress(ClientError, BotoCoreError):  # raise the first error
                client.abort_multipart_upload(**where)
        raise


def send_missing(
    client: Any, where: dict[str, str], notes: dict[str, Any], file: Path, resume: Path | None, progress: Progress
) -> None:
    """Upload the parts that the notes lack, and note each. After an error, no other part is begun."""
    part_bytes, size = notes["part_bytes"], file.stat().st_size
    known = {part["PartNumber"] for part in notes["parts"]}
    count = -(-size // part_bytes)
    progress(sum(min(part_bytes, size - (number - 1) * part_bytes) for number in known))
    with ThreadPoolExecutor(PARALLEL) as pool:
        missing = (number for number in range(1, count + 1) if number not in known)
        sent = [pool.submit(send_part, client, where, number, file, part_bytes) for number in missing]
        try:
            for each in as_completed(sent):
                part, length = each.result()
                notes["parts"].append(part)
                keep(resume, notes)
                progress(length)
        except BaseException:
            for each in sent:
                each.cancel()
            raise


def send_part(
    client: Any, where: dict[str, str], number: int, file: Path, part_bytes: int
) -> tuple[dict[str, Any], int]:
    """Upload one part; return its notes and its length."""
    with file.open("rb") as stream:
        stream.seek((number - 1) * part_bytes)
        data = stream.read(part_bytes)
    checksum = base64.b64encode(hashlib.sha256(data).digest()).decode()
    answer = client.upload_part(**where, PartNumber=number, Body=data, ChecksumSHA256=checksum)
    return {"PartNumber": number, "ETag": answer["ETag"], "ChecksumSHA256": checksum}, len(data)


def is_stored(client: Any, bucket: str, key: str, sha256: str) -> bool:
    """Return whether the object exists with these contents."""
    try:
        answer = client.head_object(Bucket=bucket, Key=key)
    except ClientError as error:
        if error.response["Error"]["Code"] in ("404", "NoSuchKey"):
            return False
        raise
    return bool(answer["Metadata"].get("sha256") == sha256)


def read_notes(resume: Path | None, wanted: dict[str, Any]) -> dict[str, Any]:
    """Return the notes of an interrupted upload of the same file, or new notes; damaged ones are replaced."""
    if resume and resume.is_file():
        with suppress(Unreadable):
            found = read_object(resume)
            if all(found.get(name) == value for name, value in wanted.items()) and are_parts(found.get("parts")):
                return found
    return {**wanted, "parts": []}


def are_parts(found: Any) -> bool:
    """Return whether these are the notes of different parts."""
    if not isinstance(found, list) or not all(isinstance(each, dict) and each.keys() == PART_NOTES for each in found):
        return False
    numbers = [each["PartNumber"] for each in found]
    whole = all(type(number) is int and 1 <= number <= MOST_PARTS for number in numbers)
    return whole and len(set(numbers)) == len(numbers)


def keep(resume: Path | None, notes: dict[str, Any]) -> None:
    """Write the notes to disk."""
    if resume:
        write_text(resume, json.dumps(notes))
