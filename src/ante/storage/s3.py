"""A store in a bucket of any S3 server. An object's metadata contains its SHA-256; parts have separate checksums."""

import base64
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    FlexibleChecksumError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    PaginationError,
    SSLError,
)
from botocore.exceptions import (
    ConnectionError as NoConnection,
)
from botocore.handlers import add_expect_header
from botocore.parsers import ResponseParserError
from urllib3.exceptions import HTTPError as BodyError

from ante.errors import BalatroError
from ante.files import LARGEST, whole
from ante.http.connections import PATIENCE, be_steady
from ante.messages import foreign, masked
from ante.storage.errors import (
    Damaged,
    NoAccess,
    NoBucket,
    NoStore,
    NotThere,
    StorageError,
    StoreFull,
    TooLarge,
    Unreachable,
)
from ante.storage.local import in_words
from ante.storage.multipart import PART, put_parts
from ante.storage.settings import S3Settings
from ante.storage.store import CHUNK, Progress, Stat, check_key, no_progress, sha256_of

REFUSED = ("SignatureDoesNotMatch", "InvalidAccessKeyId", "AccessDenied", "ExpiredToken", "InvalidToken", "403", "401")
WRONG_SUM = ("BadDigest", "InvalidDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch", "InvalidPart")
CLOCK = ("RequestTimeTooSkewed", "RequestExpired")
LOOP = "it redirects in a loop, or its response is nested too deeply"
LISTING = ("Name", "IsTruncated")  # fields of all S3 listings, including empty ones
OBJECTS = ("GetObject", "HeadObject")  # calls whose responses may have any content type
TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".gz": "application/gzip",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".mp4": "video/mp4",
    ".parquet": "application/vnd.apache.parquet",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".yaml": "application/yaml",
}  # by suffix; browsers show these objects rather than download them
VERSION_RULE = "ante-versions"  # ID of our lifecycle rule
MOST_PAGES = 10_000  # pages of a listing, with 1,000 keys each
FULL = ("XMinioStorageFull", "InsufficientStorage", "QuotaExceeded", "507")


def version_rule(days: int) -> dict[str, Any]:
    """Return the lifecycle rule that deletes old versions, and markers of deleted objects without versions."""
    return {
        "ID": VERSION_RULE,
        "Status": "Enabled",
        "Filter": {"Prefix": ""},
        "NoncurrentVersionExpiration": {"NoncurrentDays": days},
        "Expiration": {"ExpiredObjectDeleteMarker": True},
    }


class S3Store:
    """The objects of a bucket whose keys begin with a prefix."""

    def __init__(self, settings: S3Settings, prefix: str = "", part_bytes: int = PART, attempts: int = 4) -> None:
        self.settings = settings
        self.prefix = f"{check_key(prefix.strip('/'))}/" if prefix.strip("/") else ""
        self.url = f"s3://{settings.bucket}/{self.prefix}".rstrip("/")
        self.part_bytes = part_bytes
        self.client: Any = boto3.client(
            "s3",
            endpoint_url=settings.endpoint,
            region_name=settings.region,
            aws_access_key_id=settings.access_key,
            aws_secret_access_key=settings.secret_key,
            aws_session_token=settings.session_token,
            verify=settings.verify,
            config=Config(
                s3={"addressing_style": settings.addressing},
                retries={"mode": "standard", "max_attempts": attempts},
                connect_timeout=5,
                read_timeout=PATIENCE,
            ),
        )
        be_steady(self.client._endpoint.http_session)
        self.client.meta.events.register("after-call.s3", self._check_kind)
        # botocore waits indefinitely if a server closes the connection during its "100 Continue".
        self.client.meta.events.unregister("before-call.s3", add_expect_header)

    def __repr__(self) -> str:
        return f"S3Store({self.url} at {self._where})"

    def create_bucket(self) -> None:
        """Create the bucket. Raises StorageError, also if it exists."""
        with self._in_words(self.settings.bucket):
            self.client.create_bucket(Bucket=self.settings.bucket)

    def keep_versions(self, days: int) -> None:
        """Keep replaced and deleted objects of the whole bucket for some days; 0 keeps none. Raises StorageError.

        Of the bucket's lifecycle rules only ours is replaced.
        """
        bucket = self.settings.bucket
        with self._in_words(bucket):
            if not days:
                if self.client.get_bucket_versioning(Bucket=bucket).get("Status") == "Enabled":
                    self.client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Suspended"})
                return
            self.client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
            others = [rule for rule in self._lifecycle_rules() if rule.get("ID") != VERSION_RULE]
            self.client.put_bucket_lifecycle_configuration(
                Bucket=bucket, LifecycleConfiguration={"Rules": [*others, version_rule(days)]}
            )

    def _lifecycle_rules(self) -> list[dict[str, Any]]:
        """Return the lifecycle rules of the bucket."""
        try:
            answer = self.client.get_bucket_lifecycle_configuration(Bucket=self.settings.bucket)
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") == "NoSuchLifecycleConfiguration":
                return []
            raise
        return list(answer.get("Rules", ()))

    def put_file(
        self,
        key: str,
        file: Path,
        sha256: str | None = None,
        resume: Path | None = None,
        progress: Progress = no_progress,
    ) -> Stat:
        """See Store. Large files are uploaded in parts; completed parts are not sent again."""
        name, size, found = self._key(key), file.stat().st_size, sha256_of(file)
        if sha256 not in (None, found):
            raise Damaged(f"{key} has the checksum {found[:12]} instead of {str(sha256)[:12]}: not sent")
        with self._in_words(key):
            if size > self.part_bytes:
                put_parts(self.client, self._object(name, found), file, found, self.part_bytes, resume, progress)
            else:
                self._put(name, file.read_bytes(), found)
                progress(size)
        return Stat(key, size, found, time.time())

    def put_bytes(self, key: str, data: bytes) -> Stat:
        """See Store."""
        found = hashlib.sha256(data).hexdigest()
        with self._in_words(key):
            self._put(self._key(key), data, found)
        return Stat(key, len(data), found, time.time())

    def _put(self, name: str, data: bytes, sha256: str) -> None:
        checksum = base64.b64encode(bytes.fromhex(sha256)).decode()
        answer = self.client.put_object(**self._object(name, sha256), Body=data, ChecksumSHA256=checksum)
        self._check(name, answer, "ETag")

    def _object(self, name: str, sha256: str) -> dict[str, Any]:
        """Return the properties of a new object."""
        about = {
            "Bucket": self.settings.bucket,
            "Key": name,
            "ContentType": TYPES.get(Path(name).suffix, "application/octet-stream"),
        }
        if self.settings.encryption:
            about["ServerSideEncryption"] = self.settings.encryption
        if self.settings.kms_key:
            about["SSEKMSKeyId"] = self.settings.kms_key
        return {**about, "Metadata": {"sha256": sha256}}

    def get_file(self, key: str, file: Path, progress: Progress = no_progress) -> Stat:
        """See Store."""
        digest, size = hashlib.sha256(), 0
        with in_words(file, file.parent):
            file.parent.mkdir(parents=True, exist_ok=True)
            with whole(file) as aside:
                with self._in_words(key), aside.open("wb") as copy:
                    answer = self._opened(key)
                    for chunk in answer["Body"].iter_chunks(CHUNK):
                        copy.write(chunk)
                        digest.update(chunk)
                        size += len(chunk)
                        progress(len(chunk))
                    copy.flush()
                    os.fsync(copy.fileno())
                self._compare(key, answer, digest.hexdigest(), size)
        return Stat(key, size, digest.hexdigest(), answer["LastModified"].timestamp())

    def get_bytes(self, key: str, most: int = LARGEST) -> bytes:
        """See Store."""
        with self._in_words(key):
            answer = self._opened(key)
            if answer["ContentLength"] > most:
                answer["Body"].close()
                raise TooLarge(key, self.url, most)
            data: bytes = answer["Body"].read()
        self._compare(key, answer, hashlib.sha256(data).hexdigest(), len(data))
        return data

    def get_part(self, key: str, start: int, length: int) -> bytes:
        """See Store."""
        where = {"Bucket": self.settings.bucket, "Key": self._key(key), "Range": f"bytes={start}-{start + length - 1}"}
        with self._in_words(key):
            answer = self.client.get_object(**where)
            self._check(key, answer, "ContentLength", "ContentRange")
            if answer["ContentLength"] > length:
                answer["Body"].close()
                raise self._no_s3(key, "it returned more than the requested part")
            data: bytes = answer["Body"].read()
        return data

    def digest(self, key: str) -> str:
        """See Store."""
        digest, size = hashlib.sha256(), 0
        with self._in_words(key):
            answer = self._opened(key)
            for chunk in answer["Body"].iter_chunks(CHUNK):
                digest.update(chunk)
                size += len(chunk)
        self._compare(key, answer, digest.hexdigest(), size)
        return digest.hexdigest()

    def _opened(self, key: str) -> dict[str, Any]:
        """Return the response to a GET before reading its body. Raises StorageError if it lacks its length."""
        try:
            answer: dict[str, Any] = self.client.get_object(Bucket=self.settings.bucket, Key=self._key(key))
        except ClientError as error:
            if not isinstance(self._refusal(key, error), NoAccess) or self._is_listed(key):
                raise
            raise NotThere(f"{key} does not exist in {self.url}") from None
        self._check(key, answer, "ContentLength", "LastModified")
        return answer

    def _check(self, key: str, answer: dict[str, Any], *wanted: str) -> None:
        """Check that a response has these fields. Raises StorageError."""
        missing = [name for name in wanted if name not in answer]
        if missing or answer.get("ContentLength", 0) < 0:
            raise self._no_s3(key, f"the response has no {' and no '.join(missing) or 'length'}")

    def _check_kind(self, http_response: Any, model: Any, **_: Any) -> None:
        """Handle botocore's event after each call: reject HTML responses. Raises StorageError."""
        kind = http_response.headers.get("content-type", "")
        if kind.startswith("text/html") and http_response.status_code < 300 and model.name not in OBJECTS:
            raise self._no_s3("", "it returned an HTML page")

    def _no_s3(self, key: str, why: str) -> NoStore:
        what = key or self.url
        return NoStore(f"{self._where} does not respond like S3 for {what}: {why}; check S3_ENDPOINT_URL")

    def stat(self, key: str) -> Stat | None:
        """See Store. Also raises NoBucket: HEAD does not distinguish a missing object from a missing bucket."""
        try:
            with self._in_words(key):
                answer = self.client.head_object(Bucket=self.settings.bucket, Key=self._key(key))
                self._check(key, answer, "ContentLength", "LastModified")
        except (NotThere, NoAccess) as error:
            if self._is_listed(key) and isinstance(error, NoAccess):
                raise
            return None
        sha256 = answer.get("Metadata", {}).get("sha256")
        return Stat(key, answer["ContentLength"], sha256, answer["LastModified"].timestamp())

    def _is_listed(self, key: str) -> bool:
        """Return whether a listing has this object. Raises StorageError.

        A user who may list some prefixes only is also refused objects that do not exist.
        """
        with self._in_words(key):
            page = self.client.list_objects_v2(Bucket=self.settings.bucket, Prefix=self._key(key), MaxKeys=1)
            self._check("", page, *LISTING)
        return any(row.get("Key") == self._key(key) for row in page.get("Contents", []))

    def list(self, prefix: str = "") -> Iterator[Stat]:
        """See Store."""
        with self._in_words(prefix):
            pages = self.client.get_paginator("list_objects_v2").paginate(
                Bucket=self.settings.bucket, Prefix=self.prefix + prefix
            )
            for count, page in enumerate(pages):
                self._check(prefix, page, *LISTING)
                if count == MOST_PAGES:
                    raise self._no_s3(prefix, f"its listing has more than {count:,} pages")
                for row in page.get("Contents", []):
                    yield self._listed(prefix, row)

    def _listed(self, prefix: str, row: dict[str, Any]) -> Stat:
        """Return one row of a listing. Raises StorageError."""
        self._check(prefix, row, "Key", "Size", "LastModified")
        key = str(row["Key"])
        if not key.startswith(self.prefix + prefix) or row["Size"] < 0:
            raise self._no_s3(prefix, f"its listing has {foreign(key, self._secrets)!r} with {row['Size']} bytes")
        return Stat(key.removeprefix(self.prefix), row["Size"], None, row["LastModified"].timestamp())

    def presigned(self, key: str, seconds: int) -> str:
        """Return a presigned URL for reading the object, valid for at most a week (a limit of S3).

        The URL is created locally, even for missing objects. It contains a signature but no secret.
        """
        with self._in_words(key):
            where = {"Bucket": self.settings.bucket, "Key": self._key(key)}
            return str(self.client.generate_presigned_url("get_object", Params=where, ExpiresIn=seconds))

    def delete(self, key: str) -> None:
        """See Store."""
        with self._in_words(key):
            self.client.delete_object(Bucket=self.settings.bucket, Key=self._key(key))

    def _key(self, key: str) -> str:
        return self.prefix + check_key(key)

    def _compare(self, key: str, answer: dict[str, Any], found: str, size: int) -> None:
        known = answer.get("Metadata", {}).get("sha256")
        if size != answer["ContentLength"] or known not in (None, found):
            raise Damaged(
                f"{key} in {self.url} has {size} bytes and checksum {found[:12]} instead of "
                f"{answer['ContentLength']} and {str(known)[:12]}: its contents changed; use another publication"
            )

    @contextmanager
    def _in_words(self, key: str) -> Iterator[None]:
        """Translate server and network errors. Messages never include the request, which contains secrets."""
        try:
            yield
        except ClientError as error:
            raise self._refusal(key, error) from None
        except NoCredentialsError:
            raise NoAccess("no S3 credentials: set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY") from None
        except SSLError:
            raise NoAccess(
                f"the certificate of {self._where} is not trusted: set S3_CA_BUNDLE to its authority's file, "
                "or use http:// if the server does"
            ) from None
        except (NoConnection, HTTPClientError, IncompleteReadError, BodyError) as error:
            if isinstance(getattr(error, "kwargs", {}).get("error"), RecursionError):  # raised within an HTTP request
                raise self._no_s3(key, LOOP) from None
            raise Unreachable(
                f"{self._where} does not respond ({type(error).__name__}): check S3_ENDPOINT_URL and the server"
            ) from None
        except FlexibleChecksumError:
            raise Damaged(f"{key} from {self._where} has a wrong checksum: retry, or use another publication") from None
        except (ResponseParserError, PaginationError, ValueError, RecursionError) as error:
            if isinstance(error, BalatroError):
                raise
            invalid = f"invalid response ({type(error).__name__})"
            raise self._no_s3(key, LOOP if isinstance(error, RecursionError) else invalid) from None
        except BotoCoreError as error:
            raise StorageError(f"{key}: {type(error).__name__} at {self._where}") from None

    def _refusal(self, key: str, error: ClientError) -> StorageError:
        code = foreign(error.response.get("Error", {}).get("Code", ""), self._secrets, longest=60)
        status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        if code in CLOCK:
            return NoAccess(
                f"{self._where} rejects {key} ({code}): the clock of this machine or of the server is wrong"
            )
        if 300 <= status < 400:
            return StorageError(f"{self._where} redirects {key} ({status}): set S3_ENDPOINT_URL to the right server")
        if code in REFUSED or status in (401, 403):
            check = "S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY, and the permissions of the key"
            if code == "AccessDenied":  # also for a missing bucket, if the key must not create one
                check = f"that bucket {self.settings.bucket} exists and that the key has access to it"
            return NoAccess(f"{self._where} rejects these credentials for {self.url} ({code}): check {check}")
        if code == "NoSuchBucket":
            return NoBucket(
                f"bucket {self.settings.bucket} does not exist at {self._where}: create it, or use another one"
            )
        if code in ("NoSuchKey", "404"):
            return NotThere(f"{key} does not exist in {self.url}: ante artifacts ls lists the publications")
        if code in WRONG_SUM:
            return Damaged(f"{self._where} received {key} with a wrong checksum and rejected it ({code})")
        if code in FULL or status == 507:
            return StoreFull(f"{self._where} has no space for {key} ({code}): free some, or prune old runs")
        if status >= 500 or code in ("SlowDown", "RequestTimeout"):
            # botocore also reports 500 if a body is not valid XML
            return Unreachable(
                f"{self._where} returned {code or status}, or a response unlike S3's: it is overloaded or failing, "
                "or S3_ENDPOINT_URL is another server's"
            )
        return StorageError(f"{self._where} rejects {key}: {code or status}")

    @property
    def _where(self) -> str:
        return masked(self.settings.endpoint or f"AWS {self.settings.region}", self._secrets)

    @property
    def _secrets(self) -> tuple[str | None, ...]:
        return self.settings.secret_key, self.settings.session_token
