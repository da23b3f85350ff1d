"""Create a bucket and its user on a self-hosted server. Existing ones are not changed.

    python -m ante.storage.provision [--user] [--seconds 240]

Endpoint and bucket come from S3_ENDPOINT_URL and S3_BUCKET_NAME, the user to be from S3_ACCESS_KEY_ID and
S3_SECRET_ACCESS_KEY, the server's own credentials from MINIO_ROOT_USER and MINIO_ROOT_PASSWORD.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed

from ante.errors import BalatroError
from ante.storage.errors import NoAccess, NoBucket, StorageError
from ante.storage.minio import MinioAdmin
from ante.storage.s3 import S3Store
from ante.storage.settings import S3Settings
from ante.storage.store import Progress, no_progress


def root_settings(environment: Mapping[str, str]) -> S3Settings:
    """Return the settings of the bucket with the administrator's credentials. Raises BadStore, NoAccess."""
    user, word = environment.get("MINIO_ROOT_USER"), environment.get("MINIO_ROOT_PASSWORD")
    if not (user and word):
        raise NoAccess("MINIO_ROOT_USER and MINIO_ROOT_PASSWORD are not set: a bucket is made with the server's own")
    return replace(S3Settings.read(environment), access_key=user, secret_key=word)


def make_bucket(settings: S3Settings) -> bool:
    """Create the bucket if needed, and return whether it is new. Raises StorageError."""
    store = S3Store(settings)
    try:
        next(store.list(), None)
        return False
    except NoBucket:
        store.create_bucket()
        return True


def provision(environment: Mapping[str, str], user: bool, seconds: float, progress: Progress = no_progress) -> str:
    """Create bucket and user if needed, and return a description. Waits for the server. Raises StorageError."""
    root, asked = root_settings(environment), S3Settings.read(environment)
    if user and not (asked.access_key and asked.secret_key):
        raise NoAccess("S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY are not set: they are the user to be")
    patient = Retrying(
        retry=retry_if_exception(lambda error: isinstance(error, StorageError) and error.passing),
        stop=stop_after_delay(seconds),
        wait=wait_fixed(2),
        before_sleep=lambda _: progress(1),
        reraise=True,
    )
    new = patient(make_bucket, root)
    if user:
        assert asked.access_key and asked.secret_key
        patient(MinioAdmin(root).add_bucket_user, asked.access_key, asked.secret_key)
        next(S3Store(asked).list(), None)  # the user can see it
    words = f"bucket {root.bucket} {'made' if new else 'was there'}"
    return f"{words}, and its user may use it" if user else words


def main(arguments: Sequence[str] | None = None) -> int:
    """Create them. Errors print one sentence and return exit code 2."""
    parser = argparse.ArgumentParser(
        prog="python -m ante.storage.provision", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--user", action="store_true", help="make the user too, by MinIO's admin API")
    parser.add_argument("--seconds", type=float, default=240.0, help="how long to wait for the server")
    chosen = parser.parse_args(arguments)
    try:
        print(provision(os.environ, chosen.user, chosen.seconds))
    except BalatroError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
