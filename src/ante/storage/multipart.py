"""Resumable multipart uploads of large files. A local file of notes records the uploaded parts.

The notes contain the ETag and SHA-256 of each part, which completion requires and not all servers list.
"""

import base64
import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from ante.files import Unreadable, read_object, write_text
from ante.storage.store import Progress

PART = 8 << 20  # bytes; S3 requires at least 5 MiB and at most 10,000 parts
GONE = ("NoSuchUpload", "404")

PART_NOTES = {"PartNumber", "ETag", "ChecksumSHA256"}


def put_parts(
    client: Any,
    bucket: str,
    key: str,
    file: Path,
    sha256: str,
    part_bytes: int,
    resume: Path | None,
    progress: Progress,
) -> None:
    """Upload the object in parts.

    resume  the file of notes; without it, a failed upload is aborted, so no parts remain on the server
    """
    part_bytes = max(part_bytes, -(-file.stat().st_size // 10_000))
    wanted = {"bucket": bucket, "key": key, "sha256": sha256, "part_bytes": part_bytes}
    notes = read_notes(resume, wanted)
    try:
        send(client, wanted, notes, file, resume, progress)
    except ClientError as error:
        if error.response["Error"]["Code"] not in GONE or not notes.get("upload"):
            raise
        # The upload no longer exists: it was completed but its response was lost, or the server cleaned it up.
        if not is_stored(client, bucket, key, sha256):
            send(client, wanted, {**wanted, "parts": []}, file, resume, progress)
    if resume:
        resume.unlink(missing_ok=True)


def send(
    client: Any, wanted: dict[str, Any], notes: dict[str, Any], file: Path, resume: Path | None, progress: Progress
) -> None:
    """Upload the missing parts, then complete the upload."""
    where = {"Bucket": wanted["bucket"], "Key": wanted["key"]}
    if not notes.get("upload"):
        answer = client.create_multipart_upload(
            **where, ChecksumAlgorithm="SHA256", Metadata={"sha256": wanted["sha256"]}
        )
        notes["upload"] = answer["UploadId"]
        keep(resume, notes)
    where["UploadId"] = notes["upload"]
    try:
        with file.open("rb") as stream:
            number = 0
            while data := stream.read(wanted["part_bytes"]):
                number += 1
                if number > len(notes["parts"]):
                    notes["parts"].append(send_part(client, where, number, data))
                    keep(resume, notes)
                progress(len(data))
        client.complete_multipart_upload(**where, MultipartUpload={"Parts": notes["parts"]})
    except Exception:
        if resume is None:
            with suppress(ClientError, BotoCoreError):  # raise the first error
                client.abort_multipart_upload(**where)
        raise


def send_part(client: Any, where: dict[str, str], number: int, data: bytes) -> dict[str, Any]:
    """Upload one part and return its notes."""
    checksum = base64.b64encode(hashlib.sha256(data).digest()).decode()
    answer = client.upload_part(**where, PartNumber=number, Body=data, ChecksumSHA256=checksum)
    return {"PartNumber": number, "ETag": answer["ETag"], "ChecksumSHA256": checksum}


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
    """Return whether these are the notes of parts."""
    return isinstance(found, list) and all(isinstance(each, dict) and each.keys() == PART_NOTES for each in found)


def keep(resume: Path | None, notes: dict[str, Any]) -> None:
    """Write the notes to disk."""
    if resume:
        write_text(resume, json.dumps(notes))
