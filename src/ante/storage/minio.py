"""Users of a MinIO server, managed through its admin API.

MinIO requires bodies with secrets to be encrypted with the caller's secret key (package madmin-go, EncryptData): salt,
kind, nonce, then AES-256-GCM with a key derived by PBKDF2. A package contains up to 16 KiB.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import BotoCoreError
from botocore.httpsession import URLLib3Session
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from ante.http.connections import be_steady
from ante.messages import masked
from ante.storage.errors import NoAccess, StorageError, Unreachable
from ante.storage.settings import S3Settings

KIND, ROUNDS, PACKAGE = b"\x02", 8192, 1 << 14  # PBKDF2 with AES-GCM; its rounds; bytes of one package
LAST = b"\x80"  # marks the last package


def encrypted(secret_key: str, data: bytes) -> bytes:
    """Return a body encrypted with the secret key."""
    assert len(data) <= PACKAGE
    salt, nonce = os.urandom(32), os.urandom(8)
    cipher = AESGCM(hashlib.pbkdf2_hmac("sha256", secret_key.encode(), salt, ROUNDS, 32))
    tag = cipher.encrypt(nonce + (0).to_bytes(4, "little"), b"", None)
    package = cipher.encrypt(nonce + (1).to_bytes(4, "little"), data, LAST + tag)
    return salt + KIND + nonce + package


def bucket_policy(bucket: str, prefixes: Sequence[str] = ("",)) -> dict[str, Any]:
    """Return the policy of a bucket's user: the permissions of a training, for keys below these prefixes only."""
    own = f"arn:aws:s3:::{bucket}"
    places = [f"{prefix.strip('/')}/" if prefix.strip("/") else "" for prefix in prefixes]
    done = ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"]
    listing: dict[str, Any] = {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": [own]}
    if "" not in places:
        listing["Condition"] = {"StringLike": {"s3:prefix": [f"{place}*" for place in places]}}
    return {
        "Version": "2012-10-17",
        "Statement": [
            listing,
            {"Effect": "Allow", "Action": ["s3:GetBucketLocation"], "Resource": [own]},
            {"Effect": "Allow", "Action": done, "Resource": [f"{own}/{place}*" for place in places]},
        ],
    }


class MinioAdmin:
    """Client of a server's admin API."""

    def __init__(self, settings: S3Settings) -> None:
        self.settings, self.session = settings, URLLib3Session(verify=settings.verify, timeout=30)
        be_steady(self.session)

    def add_bucket_user(self, access_key: str, secret_key: str, prefixes: Sequence[str] = ("",)) -> None:
        """Create or update a user with access to these prefixes of the settings' bucket only. Raises StorageError."""
        assert self.settings.secret_key
        whole = "" in prefixes
        policy = f"ante-{self.settings.bucket}" + ("" if whole else f"-{access_key}")
        user = json.dumps({"secretKey": secret_key, "status": "enabled"}).encode()
        document = json.dumps(bucket_policy(self.settings.bucket, prefixes)).encode()
        self._put("add-canned-policy", {"name": policy}, document)
        self._put("add-user", {"accessKey": access_key}, encrypted(self.settings.secret_key, user))
        self._put(
            "set-user-or-group-policy", {"policyName": policy, "userOrGroup": access_key, "isGroup": "false"}, b""
        )

    def _put(self, call: str, parameters: dict[str, str], body: bytes) -> None:
        settings, where = self.settings, masked(self.settings.endpoint)
        url = f"{settings.endpoint}/minio/admin/v3/{call}?{urlencode(parameters)}"
        digest = hashlib.sha256(body).hexdigest()
        request = AWSRequest("PUT", url, {"X-Amz-Content-SHA256": digest}, body, stream_output=True)
        SigV4Auth(Credentials(settings.access_key, settings.secret_key), "s3", settings.region).add_auth(request)
        try:
            answer = self.session.send(request.prepare())  # its body is not read
            answer.raw.release_conn()
        except BotoCoreError as error:
            raise Unreachable(f"{where} does not respond ({type(error).__name__})") from None
        if answer.status_code == 200:
            return
        if answer.status_code in (401, 403):
            raise NoAccess(
                f"{where} rejects the administrator's credentials ({answer.status_code}): "
                "check MINIO_ROOT_USER and MINIO_ROOT_PASSWORD"
            )
        raise StorageError(
            f"{where} rejects {call} ({answer.status_code}): if it lacks MinIO's admin API, "
            "set objectStore.scopedUser false"
        )
